/**
 * A wait against its promise. The promise stands at the same place in every row, so that down a list it is one straight
 * line and the eye compares how much of each promise is used, not how long each promise is.
 */
import type { JobRow } from "../api/types";
import { duration } from "../format/duration";
import { useTranslate } from "../i18n";
import { toneOf } from "./state";

/** Where the promise stands, of the bar's width; the rest is room for waits that went past it. */
export const PROMISE_AT = 2 / 3;

/** Filled part (0 to 1) up to the promise, and past it; waits beyond one and a half promises are cut there. */
export function filled(wait_ms: number, promise_ms: number): { kept: number; past: number; cut: boolean } {
  const used = wait_ms / promise_ms;
  return {
    kept: Math.min(1, used) * PROMISE_AT,
    past: Math.min(1 - PROMISE_AT, Math.max(0, used - 1) * PROMISE_AT),
    cut: used > 1 / PROMISE_AT,
  };
}

export function WaitBar({ row }: { row: Pick<JobRow, "wait_ms" | "promise_ms" | "sla"> }) {
  const t = useTranslate();
  const wait = duration(row.wait_ms);
  if (!row.promise_ms) return <span class="waitbar waitbar-none" role="img" aria-label={t("wait.bar_none", { wait })} />;
  const { kept, past, cut } = filled(row.wait_ms, row.promise_ms);
  return (
    <span class={`waitbar tone-${toneOf(row)}`} role="img" aria-label={t("wait.bar", { wait, promise: duration(row.promise_ms) })}>
      <span class="waitbar-kept" style={{ width: `${kept * 100}%` }} />
      {past > 0 && <span class={`waitbar-past${cut ? " cut" : ""}`} style={{ left: `${PROMISE_AT * 100}%`, width: `${past * 100}%` }} />}
      <span class="waitbar-promise" style={{ left: `${PROMISE_AT * 100}%` }} />
    </span>
  );
}
