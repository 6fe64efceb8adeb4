/** A job that was placed and lost its place waits more than once: one tab each, and why the chosen one began. */
import type { Episode } from "../api/types";
import { PhaseState } from "../components/state";
import { duration } from "../format/duration";
import { useTranslate } from "../i18n";
import { adjust } from "../state/route";

export function Waits({ episodes, chosen }: { episodes: readonly Episode[]; chosen: Episode | null }) {
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
        >
          <b>{t("job.wait_n", { n: one.episode })}</b>
          <span class="num">{duration(one.wait_ms)}</span>
          <PhaseState phase={one.phase} />
        </button>
      ))}
      {chosen?.cause && <span class="waits-cause">{t("job.cause", { cause: chosen.cause })}</span>}
    </nav>
  );
}
