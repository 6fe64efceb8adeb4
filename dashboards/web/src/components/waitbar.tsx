/**
 * A wait against its promise. The promise stands at the same place in every row, so that down a list it is one straight
 * line and the eye compares how much of each promise is used, not how long each promise is.
 */
import type { JobRow } from "../api/types";
import { duration } from "../format/duration";
import { useTranslate } from "../i18n";
import { filled, PROMISE_AT } from "../lists/bar";
import { toneOf } from "./state";

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
