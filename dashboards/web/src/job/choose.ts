/** Which wait of a job is shown, and for which moment the answer is asked. Pure. */
import type { Episode } from "../api/types";

/** The wait that the URL names; else the one that a moment falls into; else the latest. */
export function episodeOf(episodes: readonly Episode[], named: string | undefined, at_ms: number | null): Episode | null {
  const byNumber = episodes.find((one) => String(one.episode) === named);
  if (byNumber) return byNumber;
  const sorted = [...episodes].sort((a, b) => a.episode - b.episode);
  if (at_ms !== null) {
    const begun = sorted.filter((one) => one.started_ms <= at_ms);
    if (begun.length > 0) return begun[begun.length - 1]!;
  }
  return sorted[sorted.length - 1] ?? null;
}

/** The `at` of the question: the moment itself; the end of an earlier wait; null for the latest, which needs none. */
export function whyAt(episodes: readonly Episode[], chosen: Episode | null, at_ms: number | null): number | null {
  if (at_ms !== null) return at_ms;
  if (!chosen) return null;
  const latest = Math.max(...episodes.map((one) => one.episode));
  return chosen.episode < latest ? chosen.ended_ms : null;
}
