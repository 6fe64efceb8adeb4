/** Which page the route names. */
import { useEffect } from "preact/hooks";

import { address } from "./api/client";
import { useResource } from "./api/resource";
import type { Meta } from "./api/types";
import { Frame } from "./components/frame";
import { Guard } from "./components/guard";
import { Empty } from "./components/states";
import { useTranslate } from "./i18n";
import { JobView } from "./pages/job";
import { JobsView } from "./pages/jobs";
import { OverviewView } from "./pages/overview";
import { PipelineView } from "./pages/pipeline";
import { QueuesView } from "./pages/queues";
import { ReasonsView } from "./pages/reasons";
import { ViolationsView } from "./pages/violations";
import { alarmMs, manyClusters, titles } from "./state/known";
import { prefs } from "./state/prefs";
import { href, useRoute } from "./state/route";
import { useStore } from "./state/store";

const META_MS = 60_000;

export function App() {
  useStore(prefs);
  const meta = useResource<Meta>(address(["meta"]), { of: "meta", every: () => META_MS });
  const { path } = useRoute();
  useEffect(() => {
    if (!meta.data) return;
    titles.set(Object.fromEntries(meta.data.reasons.map(({ code, title }) => [code, title])));
    alarmMs.set(meta.data.lag_alarm_ms);
    manyClusters.set(meta.data.clusters.length > 1);
  }, [meta.data]);
  const place = path.join("/");
  useEffect(() => scrollTo(0, 0), [place]);
  return (
    <Frame meta={meta.data}>
      <Guard place={place}>
        <Page path={path} meta={meta.data} />
      </Guard>
    </Frame>
  );
}

function Page({ path, meta }: { path: readonly string[]; meta: Meta | null }) {
  const [page, cluster, namespace, kind, name, ...more] = path;
  if (page === undefined) return <OverviewView />;
  if (page === "jobs" && name !== undefined && more.length === 0) return <JobView key={path.join("/")} where={[cluster!, namespace!, kind!, name]} />;
  if (path.length === 1) {
    if (page === "jobs") return <JobsView meta={meta} />;
    if (page === "reasons") return <ReasonsView />;
    if (page === "violations") return <ViolationsView />;
    if (page === "queues") return <QueuesView />;
    if (page === "pipeline") return <PipelineView />;
  }
  return <Missing />;
}

function Missing() {
  const t = useTranslate();
  return (
    <div class="page">
      <h1 class="sr-only">{t("state.not_found")}</h1>
      <Empty icon="help" title={t("state.not_found")} what={t("state.not_found_what")}>
        <a class="button" href={href([])}>{t("state.back_home")}</a>
      </Empty>
    </div>
  );
}
