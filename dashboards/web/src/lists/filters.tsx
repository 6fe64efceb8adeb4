/** The row of filters above a list of jobs. */
import type { Meta, Sla } from "../api/types";
import { Segmented, Select } from "../components/controls";
import { useTranslate } from "../i18n";
import { adjust } from "../state/route";
import type { Query } from "../state/url";
import { FILTERS, NONE } from "./query";

const PROMISES: Sla[] = ["on_track", "at_risk", "violated", "met", "met_late", "cancelled", "none"];

const set = (key: string) => (value: string): void => adjust({ [key]: value, cursor: null, page: null });

export function Filters({ query, meta }: { query: Query; meta: Meta | null }) {
  const t = useTranslate();
  const plain = (values: readonly string[] | undefined) => (values ?? []).map((value) => ({ value, label: value }));
  const of = (key: string): string => query[key] ?? "";
  return (
    <div class="filters" role="group" aria-label={t("jobs.filters")}>
      <Segmented
        label={t("jobs.phase")}
        choices={[
          { value: "", label: t("jobs.all") },
          { value: "waiting", label: t("phase.waiting") },
          { value: "scheduled", label: t("phase.scheduled") },
          { value: "cancelled", label: t("phase.cancelled") },
        ]}
        value={of("phase")}
        onChange={set("phase")}
      />
      <Select label={t("jobs.sla")} any={t("jobs.any_sla")} choices={PROMISES.map((value) => ({ value, label: t(`sla.${value}`) }))} value={of("sla")} onChange={set("sla")} />
      <Select label={t("col.reason")} any={t("jobs.any_reason")} choices={(meta?.reasons ?? []).map(({ code, title }) => ({ value: code, label: title }))} value={of("reason")} onChange={set("reason")} />
      <Select label={t("col.queue")} any={t("jobs.any_queue")} choices={[...plain(meta?.queues), { value: NONE, label: t("queues.no_queue") }]} value={of("queue")} onChange={set("queue")} />
      <Select label={t("fact.namespace")} any={t("jobs.any_namespace")} choices={plain(meta?.namespaces)} value={of("namespace")} onChange={set("namespace")} />
      <Select label={t("col.tenant")} any={t("jobs.any_tenant")} choices={plain(meta?.tenants)} value={of("tenant")} onChange={set("tenant")} />
      {FILTERS.some((key) => query[key]) && (
        <button type="button" class="button quiet" onClick={() => adjust(Object.fromEntries([...FILTERS, "cursor", "page"].map((key) => [key, null])))}>
          {t("jobs.clear")}
        </button>
      )}
    </div>
  );
}
