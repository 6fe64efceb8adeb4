/** Waiting time by reason as bars: swatch, title, share, time. */
import type { Reason } from "../api/types";
import { brief, duration } from "../format/duration";
import { percent } from "../format/number";
import { colourVar, patternClass } from "../reasons/palette";
import { prefs } from "../state/prefs";
import { useStore } from "../state/store";
import { ReasonName } from "./reason";

interface Props {
  of: readonly Reason[];
  link?: (reason: string) => string;
  /** Reason to stress, with its resource, when one points at it elsewhere. */
  marked?: string | null;
  exact?: boolean;
  /** Of one job: which reasons hold it no more. */
  over?: (one: Reason) => boolean;
}

export const reasonKey = (of: { reason: string; detail: string | null; resource: string | null }): string =>
  `${of.reason}/${of.detail ?? ""}/${of.resource ?? ""}`;

export function ReasonBars({ of, link, marked = null, exact = false, over = () => false }: Props) {
  const { lang } = useStore(prefs);
  const most = Math.max(1, ...of.map((one) => one.ms));
  return (
    <ul class="bars">
      {of.map((one) => (
        <li key={reasonKey(one)} class={marked === reasonKey(one) ? "marked" : ""}>
          {link ? <a class="bars-name" href={link(one.reason)}><ReasonName of={one} over={over(one)} /></a> : <span class="bars-name"><ReasonName of={one} over={over(one)} /></span>}
          <span class="bars-share num">{percent(one.share || (one.ms > 0 ? Number.MIN_VALUE : 0), lang)}</span>
          <span class="bars-time num">{exact ? duration(one.ms) : brief(one.ms)}</span>
          <span class="bars-track" aria-hidden="true">
            <span class={patternClass(one.reason)} style={{ "--c": colourVar(one.reason), width: `${(one.ms / most) * 100}%` }} />
          </span>
        </li>
      ))}
    </ul>
  );
}
