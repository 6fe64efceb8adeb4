/** When data is too old to pass without a word. */
import type { Fresh } from "./types";

/** The loader writes every few seconds, so a minute is several missed rounds. */
export const STALE_MS = 60_000;

/** Never in a replay: there the clock of the data is not the reader's. */
export const isStale = (fresh: Pick<Fresh, "replay" | "lag_ms">): boolean =>
  !fresh.replay && fresh.lag_ms !== null && fresh.lag_ms >= STALE_MS;
