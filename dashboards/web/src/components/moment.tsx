/** Times and durations on the page. */
import { clock, dayClock, full, rfc3339 } from "../format/time";
import { prefs } from "../state/prefs";
import { useStore } from "../state/store";

const DAY_MS = 86_400_000;

/** A moment: the clock alone if it is within half a day of `near_ms`, else with its day. All of it in the tooltip. */
export function Moment({ ms, near_ms }: { ms: number | null; near_ms?: number | null | undefined }) {
  const { lang, zone } = useStore(prefs);
  if (ms === null) return <span class="faint">–</span>;
  const close = near_ms !== undefined && near_ms !== null && Math.abs(ms - near_ms) < DAY_MS / 2;
  return (
    <time class="num" dateTime={rfc3339(ms)} title={full(ms, lang, zone)}>
      {close ? clock(ms, lang, zone) : dayClock(ms, lang, zone)}
    </time>
  );
}
