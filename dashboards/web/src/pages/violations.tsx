/** Every promise that was broken. */
import { address } from "../api/client";
import { OPEN_MS, useResource } from "../api/resource";
import type { Violations } from "../api/types";
import { Segmented } from "../components/controls";
import { Empty, ProblemNote, Skeleton } from "../components/states";
import { useTitle } from "../components/title";
import { ViolationTable } from "../components/violations";
import { useTranslate } from "../i18n";
import { filtersOf } from "../lists/query";
import { adjust, useRoute } from "../state/route";

export function ViolationsView() {
  const t = useTranslate();
  const { query } = useRoute();
  const state = query["state"] ?? "";
  const url = address(["violations"], { ...filtersOf(query), cluster: query["cluster"], state });
  const { data, problem, busy, reload } = useResource<Violations>(url, { of: "violations", every: () => OPEN_MS * 2 });
  useTitle(t("violations.title"));
  const choices = [
    { value: "", label: t("jobs.all") },
    ...(["open", "resolved", "withdrawn"] as const).map((value) => ({ value, label: t(`violation.${value}`) })),
  ];
  return (
    <div class="page">
      <h1>{t("violations.title")}</h1>
      <p class="lead">{t("violations.what")}</p>
      <div class="filters">
        <Segmented label={t("col.state")} choices={choices} value={state} onChange={(value) => adjust({ state: value })} />
      </div>
      {problem && <ProblemNote problem={problem} retry={reload} kept={data !== null} />}
      <div class={`panel${busy && data ? " dim" : ""}`} aria-busy={busy}>
        {!data ? !problem && <Skeleton /> : data.items.length === 0 ? (
          <Empty title={t(state ? "violations.empty_state" : "violations.empty")} what={t(state ? "violations.empty_what" : "overview.none_violated_what")} />
        ) : (
          <ViolationTable items={data.items} now_ms={data.now_ms} />
        )}
      </div>
    </div>
  );
}
