/** What waiting time went to. */
import { freshness } from "../api/client";
import { useReasons, WaitingChart } from "../charts/waiting";
import { Segmented } from "../components/controls";
import { Panel } from "../components/panel";
import { ReasonBars } from "../components/reasonbars";
import { Skeleton } from "../components/states";
import { useTitle } from "../components/title";
import { useTranslate } from "../i18n";
import { since, SPANS, USUAL_SPAN } from "../lists/span";
import { adjust, href, useRoute } from "../state/route";
import { useStore } from "../state/store";

export function ReasonsView() {
  const t = useTranslate();
  const { query } = useRoute();
  const fresh = useStore(freshness);
  const span = query["range"] ?? "";
  const params = { cluster: query["cluster"], queue: query["queue"], from: fresh?.now_ms ? since(span, fresh.now_ms) : null };
  const answer = useReasons(params);
  useTitle(t("reasons.title"));
  return (
    <div class="page">
      <div class="page-head">
        <h1>{t("reasons.title")}</h1>
        <Segmented
          label={t("reasons.range")}
          choices={SPANS.map((value) => ({ value: value === USUAL_SPAN ? "" : value, label: t(`reasons.range.${value}`) }))}
          value={span}
          onChange={(range) => adjust({ range })}
        />
      </div>
      <p class="lead">{t("reasons.what")}</p>
      <div class="columns">
        <WaitingChart of={answer} title={t("overview.chart")} />
        {(answer.data || !answer.problem) && (
          <Panel title={t("job.breakdown")} class="span-all" dim={answer.dim}>
            {answer.data ? <ReasonBars of={answer.data.totals} link={(reason) => href(["jobs"], { reason, sort: "-wait" })} /> : <Skeleton />}
          </Panel>
        )}
      </div>
    </div>
  );
}
