/** How far a recording has been played, as the stage that plays it shows. */

export interface ReplayState {
  begin_ms: number;
  end_ms: number;
  at_ms: number;
  done: boolean;
}

/** Found wherever a stage shows it; null if none plays a recording, or it has not begun. */
export function replayOf(process: Readonly<Record<string, unknown>> | null): ReplayState | null {
  for (const stage of Object.values(process ?? {})) {
    const found = (stage as { replay?: Partial<ReplayState> } | null)?.replay;
    if (found && [found.begin_ms, found.end_ms, found.at_ms].every((ms) => typeof ms === "number")) return found as ReplayState;
  }
  return null;
}
