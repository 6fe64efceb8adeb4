/** The list of jobs: filters, order and page are in the URL; rows refresh in place. */
import { useMemo, useState } from "preact/hooks";

import { address } from "../api/client";
import { OPEN_MS, QUIET_MS, useResource } from "../api/resource";
import type { JobRow, Jobs, Meta } from "../api/types";
import { Head, type Column } from "../components/table";
import { JobLink } from "../components/joblink";
import { Moment } from "../components/moment";
import { Pages } from "../components/pages";
import { ReasonName } from "../components/reason";
import { PhaseState, PromiseState } from "../components/state";
import { Empty, ProblemNote, Skeleton } from "../components/states";
import { useTitle } from "../components/title";
import { WaitBar } from "../components/waitbar";
import { duration } from "../format/duration";
import { count } from "../format/number";
import { useTranslate } from "../i18n";
import { Filters } from "../lists/filters";
import { FILTERS, filtersOf, PAGE_SIZE } from "../lists/query";
import { merge } from "../lists/merge";
import { prefs } from "../state/prefs";
import { adjust, href, useRoute } from "../state/route";
import { useStore } from "../state/store";

const keyOf = (row: JobRow): string => row.job.uid;

export function JobsView({ meta }: { meta: Meta | null }) {
  const t = useTranslate();
  const { lang } = useStore(prefs);
  const { query } = useRoute();
  const filters = filtersOf(query);
  const sort = query["sort"] ?? "-wait";
  const url = address(["jobs"], { ...filters, cluster: query["cluster"], sort, limit: PAGE_SIZE, cursor: query["cursor"] });
  const { data, problem, busy, dim, reload } = useResource<Jobs>(url, {
    of: "jobs",
    every: ({ items }) => (items.some((row) => row.phase === "waiting") ? OPEN_MS : QUIET_MS / 3),
  });
  useTitle(t("jobs.title"));
  return (
    <div class="page wide">
      <div class="page-head">
        <h1>{t("jobs.title")}</h1>
        {data && <span class="page-count num">{t("jobs.total", { n: count(data.total, lang) })}</span>}
      </div>
      <Filters query={query} meta={meta} />
      {problem && <ProblemNote problem={problem} retry={reload} kept={data !== null} />}
      {data ? (
        <List key={busy ? "before" : url} data={data} sort={sort} dim={dim} />
      ) : (
        !problem && <div class="panel"><Skeleton lines={[100, 100, 100, 100, 100, 100, 100, 100]} /></div>
      )}
    </div>
  );
}

/** Holds the order that was first shown for this question; see `lists/merge.ts`. */
function List({ data, sort, dim }: { data: Jobs; sort: string; dim: boolean }) {
  const t = useTranslate();
  const { lang } = useStore(prefs);
  const [held, setHeld] = useState(data.items);
  const { rows, news } = useMemo(() => merge(held, data.items, keyOf), [held, data.items]);
  if (rows.length === 0 && news === 0) return <Nothing unknown={data.unknown} />;
  const columns: Column[] = [
    { id: "job", label: t("col.job"), sort: "name" },
    { id: "state", label: t("col.state") },
    { id: "reason", label: t("col.reason") },
    { id: "wait", label: t("col.wait"), sort: "wait", right: true },
    { id: "against", label: t("col.against"), sort: "deadline" },
    { id: "gpus", label: t("col.gpus"), right: true },
    { id: "queue", label: t("col.queue") },
    { id: "created", label: t("col.created"), sort: "created", right: true },
  ];
  return (
    <div class={`panel${dim ? " dim" : ""}`} aria-busy={dim}>
      {news > 0 && (
        <div class="news" role="status">
          <span>{t("jobs.news", { n: count(news, lang) })}</span>
          <button type="button" class="button" onClick={() => setHeld(data.items)}>{t("jobs.show_news")}</button>
        </div>
      )}
      <table class="table stack jobs">
        <Head columns={columns} sort={sort} onSort={(next) => adjust({ sort: next === "-wait" ? null : next, cursor: null, page: null })} />
        <tbody>{rows.map(({ row, gone }) => <Row key={keyOf(row)} row={row} gone={gone} now_ms={data.now_ms} />)}</tbody>
      </table>
      <Pages label={t("jobs.title")} shown={rows.length} total={data.total} next={data.next} />
    </div>
  );
}

function Row({ row, gone, now_ms }: { row: JobRow; gone: boolean; now_ms: number | null }) {
  const t = useTranslate();
  const reason = row.phase === "waiting" ? (row.now ?? row.leading) : row.leading;
  const note = row.episodes > 1 ? t("jobs.episode_of", { n: row.episode, total: row.episodes }) : undefined;
  return (
    <tr class={gone ? "gone" : ""}>
      <td class="cell-job"><JobLink job={row.job} note={note} /></td>
      <td class="cell-state">
        {gone ? <span class="faint">{t("jobs.gone")}</span> : <PhaseState phase={row.phase} />}
        {!gone && row.sla !== "none" && row.sla !== "cancelled" && <PromiseState sla={row.sla} />}
      </td>
      <td class="cell-reason">{reason ? <ReasonName of={reason} over={row.phase !== "waiting"} /> : <span class="faint">–</span>}</td>
      <td class="right num strong cell-wait" data-label={t("col.wait")}>{duration(row.wait_ms)}</td>
      <td class="cell-against">
        <WaitBar row={row} />
        <Against row={row} now_ms={now_ms} />
      </td>
      <td class="right num cell-gpus" data-label={t("col.gpus")}>{row.gpus || <span class="faint">–</span>}</td>
      <td class="cell-queue" data-label={t("col.queue")}>{row.job.queue || <span class="faint">–</span>}</td>
      <td class="right cell-created" data-label={t("col.created")}><Moment ms={row.created_ms} near_ms={now_ms} /></td>
    </tr>
  );
}

/** The promise in words: how long it is, and what is left of it or how far it is passed. */
function Against({ row, now_ms }: { row: JobRow; now_ms: number | null }) {
  const t = useTranslate();
  if (!row.promise_ms) return <span class="cell-note">{t("wait.no_promise")}</span>;
  const left = row.phase === "waiting" && row.deadline_ms !== null && now_ms !== null ? row.deadline_ms - now_ms : null;
  return (
    <span class="cell-note num">
      <span>{t("wait.of", { promise: duration(row.promise_ms) })}</span>
      {row.overrun_ms ? <span class="tone-bad">{t("wait.over", { over: duration(row.overrun_ms) })}</span>
        : left !== null && left > 0 ? <span>{t("wait.left", { left: duration(left) })}</span> : null}
    </span>
  );
}

function Nothing({ unknown }: { unknown: Jobs["unknown"] }) {
  const t = useTranslate();
  const { query } = useRoute();
  const names = unknown.map(({ value }) => value).join(", ");
  const filtered = FILTERS.some((key) => query[key]) || query["cluster"];
  return (
    <div class="panel">
      {filtered ? (
        <Empty icon="search" title={t("jobs.empty")} what={names ? t("jobs.unknown", { names }) : t("jobs.empty_what")}>
          <button type="button" class="button" onClick={() => adjust(Object.fromEntries([...FILTERS, "cluster", "cursor", "page"].map((key) => [key, null])))}>{t("jobs.clear")}</button>
        </Empty>
      ) : (
        <Empty icon="jobs" title={t("jobs.none")} what={t("jobs.none_what")}>
          <a class="button" href={href(["pipeline"])}>{t("nav.pipeline")}</a>
        </Empty>
      )}
    </div>
  );
}
