/** A job that was placed and lost its place waits more than once: one tab each. */
import type { Episode } from "../api/types";
import { Moment } from "../components/moment";
import { PhaseState } from "../components/state";
import { duration } from "../format/duration";
import { useTranslate } from "../i18n";
import { adjust } from "../state/route";

export function Waits({ episodes, chosen, now_ms }: { episodes: readonly Episode[]; chosen: Episode | null; now_ms: number }) {
  const t = useTranslate();
  const sorted = [...episodes].sort((a, b) => a.episode - b.episode);
  const latest = sorted[sorted.length - 1]?.episode;
  return (
    <nav class="waits" aria-label={t("job.waits")}>
      {sorted.map((one) => (
        <button
          key={one.episode}
          type="button"
          aria-pressed={one.episode === chosen?.episode}
          onClick={() => adjust({ episode: one.episode === latest ? null : one.episode, at: null })}
          title={one.cause ? t("job.cause", { cause: one.cause }) : undefined}
        >
          <span class="waits-top">
            <b>{t("job.wait_n", { n: one.episode })}</b>
            <span class="num">{duration(one.wait_ms)}</span>
          </span>
          <span class="waits-below">
            <PhaseState phase={one.phase} />
            <Moment ms={one.started_ms} near_ms={now_ms} />
          </span>
          {one.cause && <span class="waits-cause">{t("job.cause", { cause: one.cause })}</span>}
        </button>
      ))}
    </nav>
  );
}
