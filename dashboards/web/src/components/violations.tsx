/** Broken promises, one row each. */
import type { Violation } from "../api/types";
import { duration } from "../format/duration";
import { useTranslate } from "../i18n";
import { JobLink } from "./joblink";
import { Moment } from "./moment";
import { ReasonName } from "./reason";

export function ViolationTable({ items, now_ms }: { items: readonly Violation[]; now_ms: number | null }) {
  const t = useTranslate();
  return (
    <table class="table stack">
      <thead>
        <tr>
          <th scope="col">{t("col.job")}</th>
          <th scope="col">{t("col.state")}</th>
          <th scope="col">{t("col.reason")}</th>
          <th scope="col" class="right">{t("col.promise")}</th>
          <th scope="col" class="right">{t("col.overrun")}</th>
          <th scope="col" class="right">{t("col.broken_at")}</th>
        </tr>
      </thead>
      <tbody>
        {items.map((item) => (
          <tr key={`${item.job.uid} ${item.episode}`}>
            <td class="cell-job"><JobLink job={item.job} episode={item.episode} /></td>
            <td><ViolationState state={item.state} /></td>
            <td class="cell-reason"><ReasonName of={item} /></td>
            <td class="right num" data-label={t("col.promise")}>{item.promise_ms === null ? "–" : duration(item.promise_ms)}</td>
            <td class="right num strong" data-label={t("col.overrun")}>{duration(item.overrun_ms)}</td>
            <td class="right" data-label={t("col.broken_at")}><Moment ms={item.violated_ms} near_ms={now_ms} /></td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function ViolationState({ state }: { state: Violation["state"] }) {
  const t = useTranslate();
  return (
    <span class={`pill tone-${state === "open" ? "bad" : "quiet"}`}>
      <span class={`dot ${state === "open" ? "dot-broken" : "dot-off"}`} aria-hidden="true" />
      {t(`violation.${state}`)}
    </span>
  );
}
