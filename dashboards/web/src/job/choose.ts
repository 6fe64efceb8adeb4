/** Which wait of a job is shown, and from when on anything is known of it. Pure. */
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

/** The number of a wait in the URL; null if it is none. */
export const numberOf = (named: string | undefined): number | null => (/^[1-9]\d{0,8}$/.test(named ?? "") ? Number(named) : null);

/** The first moment at which anything is known of the job; null if nothing is. */
export function firstOf(episodes: readonly Episode[]): number | null {
  const known = episodes.flatMap((one) => [one.started_ms, one.created_ms ?? one.started_ms]);
  return known.length > 0 ? Math.min(...known) : null;
}
