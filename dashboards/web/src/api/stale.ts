/** When data is too old to pass without a word. */
import type { Fresh } from "./types";

/** Until the server has said what it calls stale. */
export const USUAL_ALARM_MS = 60_000;

/** Never in a replay: there the clock of the data is not the reader's. */
export const isStale = (fresh: Pick<Fresh, "replay" | "lag_ms">, alarm_ms: number): boolean =>
  !fresh.replay && fresh.lag_ms !== null && fresh.lag_ms >= alarm_ms;
