/** Are promises kept? */
import { address } from "../api/client";
import { OPEN_MS, QUIET_MS, useResource } from "../api/resource";
import type { JobRow, Overview } from "../api/types";
import { JobLink, jobHref } from "../components/joblink";
import { Panel } from "../components/panel";
import { ReasonBars } from "../components/reasonbars";
import { ReasonName } from "../components/reason";
import { Empty, ProblemNote, Skeleton } from "../components/states";
import { Tile, Tiles } from "../components/tiles";
import { ViolationTable } from "../components/violations";
import { WaitBar } from "../components/waitbar";
import { brief, duration } from "../format/duration";
import { count, percent } from "../format/number";
import { useTranslate } from "../i18n";
import { useTitle } from "../components/title";
import { useReasons, WaitingChart } from "../charts/waiting";
import { prefs } from "../state/prefs";
import { href, useRoute } from "../state/route";
import { useStore } from "../state/store";

/** Reasons with a band of their own on this page; the smaller ones share one. */
const SHOWN_BANDS = 8;

export function OverviewView() {
  const t = useTranslate();
  const { cluster } = useRoute().query;
  const { data, problem, reload } = useResource<Overview>(address(["overview"], { cluster }), {
    of: `overview ${cluster ?? ""}`,
    every: (now) => (now.waiting.jobs > 0 ? OPEN_MS : QUIET_MS / 3),
  });
  useTitle(t("nav.overview"));
  return (
    <div class="page">
      <h1>{t("overview.title")}</h1>
      {problem && <ProblemNote problem={problem} retry={reload} kept={data !== null} />}
      {(data || !problem) && <Picture of={data} cluster={cluster} dim={problem !== null} />}
    </div>
  );
}

function Picture({ of: data, cluster, dim }: { of: Overview | null; cluster: string | undefined; dim: boolean }) {
  const t = useTranslate();
  const waiting = useReasons({ cluster });
  return (
    <div class={`page${dim ? " dim" : ""}`} aria-busy={data === null}>
      {data ? <Figures of={data} /> : <Skeleton tall lines={[100]} />}
      <div class="columns">
        <div class="span-main stackup">
          <WaitingChart of={waiting} title={t("overview.chart")} most={SHOWN_BANDS} />
          <Longest of={data} />
        </div>
        <div class="span-side stackup">
          <AtRisk of={data} />
          <TopReasons of={data} />
        </div>
        <Broken of={data} />
      </div>
    </div>
  );
}

function Figures({ of: { kept, waiting, longest } }: { of: Overview }) {
  const t = useTranslate();
  const { lang } = useStore(prefs);
  const decided = kept.kept + kept.violated_total;
  const share = decided > 0 ? kept.kept / decided : null;
  const first = longest[0];
  return (
    <Tiles>
      <Tile
        label={t("overview.kept")}
        value={share === null ? "–" : percent(share, lang, 1)}
        note={share === null ? t(kept.promised > 0 ? "overview.kept_undecided" : "overview.kept_none") : t("overview.kept_of", { kept: count(kept.kept, lang), decided: count(decided, lang) })}
        meter={share}
        href={href(["jobs"], { sla: "met", sort: "-wait" })}
      />
      <Tile
        label={t("overview.open")}
        value={count(kept.violated_open, lang)}
        tone={kept.violated_open > 0 ? "bad" : "quiet"}
        note={t("overview.open_of", { n: count(kept.violated_total, lang) })}
        href={href(["violations"], { state: kept.violated_open > 0 ? "open" : null })}
      />
      <Tile
        label={t("overview.at_risk")}
        value={count(kept.at_risk, lang)}
        tone={kept.at_risk > 0 ? "warn" : "quiet"}
        note={t("overview.at_risk_what")}
        href={href(["jobs"], { sla: "at_risk", sort: "deadline" })}
      />
      <Tile
        label={t("overview.waiting")}
        value={count(waiting.jobs, lang)}
        note={t("overview.waiting_total", { wait: brief(waiting.wait_ms) })}
        href={href(["jobs"], { phase: "waiting", sort: "-wait" })}
      />
      <Tile label={t("overview.gpus")} value={count(waiting.gpus, lang)} note={t("overview.gpus_what")} href={href(["queues"])} />
      <Tile
        label={t("overview.longest")}
        value={first ? brief(first.wait_ms) : "–"}
        note={first ? first.job.name : t("overview.none_waiting")}
        href={first ? jobHref(first.job) : href(["jobs"], { phase: "waiting" })}
      />
    </Tiles>
  );
}

function AtRisk({ of }: { of: Overview | null }) {
  const t = useTranslate();
  return (
    <Panel title={t("overview.at_risk")} flush>
      {!of ? <Skeleton /> : of.at_risk.length === 0 ? (
        <Empty title={t("overview.none_at_risk")} what={t("overview.none_at_risk_what")} />
      ) : (
        <ul class="lines">
          {of.at_risk.map((row) => (
            <li key={row.job.uid}>
              <JobLink job={row.job} />
              <span class="lines-figure tone-warn">
                <b class="num">{t("wait.left", { left: duration(Math.max(0, (row.deadline_ms ?? 0) - (of.now_ms ?? 0))) })}</b>
                <WaitBar row={row} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

function Longest({ of }: { of: Overview | null }) {
  const t = useTranslate();
  return (
    <Panel
      title={t("overview.longest_waits")}
      flush
      aside={<a href={href(["jobs"], { phase: "waiting", sort: "-wait" })}>{t("overview.all_jobs")}</a>}
    >
      {!of ? <Skeleton /> : of.longest.length === 0 ? (
        <Empty title={t("overview.none_waiting")} what={t("overview.none_waiting_what")} />
      ) : (
        <table class="table stack">
          <thead>
            <tr>
              <th scope="col">{t("col.job")}</th>
              <th scope="col">{t("col.now")}</th>
              <th scope="col" class="col-against">{t("col.against")}</th>
              <th scope="col" class="right">{t("col.wait")}</th>
            </tr>
          </thead>
          <tbody>{of.longest.map((row) => <LongestRow key={row.job.uid} row={row} />)}</tbody>
        </table>
      )}
    </Panel>
  );
}

function LongestRow({ row }: { row: JobRow }) {
  const reason = row.now ?? row.leading;
  return (
    <tr class="longest">
      <td class="cell-job"><JobLink job={row.job} /></td>
      <td class="cell-reason">{reason && <ReasonName of={reason} over={row.phase !== "waiting"} />}</td>
      <td class="col-against"><WaitBar row={row} /></td>
      <td class="right num strong cell-wait">{duration(row.wait_ms)}</td>
    </tr>
  );
}

function TopReasons({ of }: { of: Overview | null }) {
  const t = useTranslate();
  return (
    <Panel title={t("overview.top_reasons")} aside={<a href={href(["reasons"])}>{t("overview.all_reasons")}</a>}>
      {!of ? <Skeleton /> : of.top_reasons.length === 0 ? (
        <Empty title={t("overview.none_reasons")} what={t("overview.none_reasons_what")} />
      ) : (
        <ReasonBars of={of.top_reasons.slice(0, 8)} link={(reason) => href(["jobs"], { reason, sort: "-wait" })} />
      )}
    </Panel>
  );
}

function Broken({ of }: { of: Overview | null }) {
  const t = useTranslate();
  return (
    <Panel title={t("overview.violations")} flush class="span-all" aside={<a href={href(["violations"])}>{t("overview.all_violations")}</a>}>
      {!of ? <Skeleton /> : of.recent_violations.length === 0 ? (
        <Empty title={t("overview.none_violated")} what={t("overview.none_violated_what")} />
      ) : (
        <ViolationTable items={of.recent_violations} now_ms={of.now_ms} />
      )}
    </Panel>
  );
}
