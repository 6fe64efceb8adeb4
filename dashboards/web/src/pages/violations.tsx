/** Every promise that was broken. */
import { address } from "../api/client";
import { OPEN_MS, useResource } from "../api/resource";
import type { Violations } from "../api/types";
import { Segmented } from "../components/controls";
import { Pages } from "../components/pages";
import { Empty, ProblemNote, Skeleton } from "../components/states";
import { useTitle } from "../components/title";
import { ViolationTable } from "../components/violations";
import { count } from "../format/number";
import { useTranslate } from "../i18n";
import { PAGE_SIZE } from "../lists/query";
import { prefs } from "../state/prefs";
import { adjust, useRoute } from "../state/route";
import { useStore } from "../state/store";

export function ViolationsView() {
  const t = useTranslate();
  const { lang } = useStore(prefs);
  const { query } = useRoute();
  const state = query["state"] ?? "";
  const { cluster, namespace, tenant, queue, reason, q, cursor } = query;
  const url = address(["violations"], { cluster, namespace, tenant, queue, reason, q, state, limit: PAGE_SIZE, cursor });
  const { data, problem, dim, reload } = useResource<Violations>(url, { of: "violations", every: () => OPEN_MS * 2 });
  useTitle(t("violations.title"));
  const choices = [
    { value: "", label: t("jobs.all") },
    ...(["open", "resolved", "withdrawn"] as const).map((value) => ({ value, label: t(`violation.${value}`) })),
  ];
  return (
    <div class="page">
      <div class="page-head">
        <h1>{t("violations.title")}</h1>
        {data && <span class="page-count num">{count(data.total, lang)}</span>}
      </div>
      <p class="lead">{t("violations.what")}</p>
      <div class="filters">
        <Segmented label={t("col.state")} choices={choices} value={state} onChange={(value) => adjust({ state: value, cursor: null, page: null })} />
      </div>
      {problem && <ProblemNote problem={problem} retry={reload} kept={data !== null} />}
      <div class={`panel${dim ? " dim" : ""}`} aria-busy={dim}>
        {!data ? !problem && <Skeleton /> : data.items.length === 0 ? (
          <Empty title={t(state ? "violations.empty_state" : "violations.empty")} what={t(state ? "violations.empty_what" : "overview.none_violated_what")} />
        ) : (
          <>
            <ViolationTable items={data.items} now_ms={data.now_ms} />
            <Pages label={t("violations.title")} shown={data.items.length} total={data.total} next={data.next} />
          </>
        )}
      </div>
    </div>
  );
}
