/** One job: why it waits, what would help, and the proof. Works as well for jobs that no longer exist. */
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";

import { address, type Problem } from "../api/client";
import { OPEN_MS, QUIET_MS, useResource } from "../api/resource";
import type { Episode, JobPage, Why } from "../api/types";
import { Answer, Heading } from "../job/answer";
import { Commands } from "../job/commands";
import { Events } from "../job/events";
import { Facts } from "../job/facts";
import { Waits } from "../job/waits";
import { WhyPanel } from "../job/whypanel";
import { Empty, Note, ProblemNote, Skeleton } from "../components/states";
import { useTitle } from "../components/title";
import { moment } from "../format/time";
import { useTranslate } from "../i18n";
import { episodeOf, whyAt } from "../job/choose";
import { adjust, href, useRoute } from "../state/route";

type Where = [cluster: string, namespace: string, kind: string, name: string];

export function JobView({ where }: { where: Where }) {
  const { query } = useRoute();
  const t = useTranslate();
  useTitle(where[3]);
  const of = where.join("/");
  const page = useResource<JobPage>(address(["jobs", ...where], { uid: query["uid"] }), {
    of,
    every: ({ episodes }) => (episodes.some((one) => one.phase === "waiting") ? OPEN_MS : QUIET_MS),
  });
  const at_ms = moment(query["at"]);
  const episode = page.data ? episodeOf(page.data.episodes, query["episode"], at_ms) : null;
  const asked = whyAt(page.data?.episodes ?? [], episode, at_ms);
  const why = useResource<Why>(address(["jobs", ...where, "why"], { uid: query["uid"], at: asked }), {
    of: `${of} ${query["episode"] ?? ""}`,
    every: (now) => (asked === null && now.phase === "waiting" ? OPEN_MS : null),
  });
  if (page.problem?.status === 404 && !page.data) return <NotFound where={where} problem={page.problem} />;
  return (
    <div class="page job">
      <Trail where={where}>
        {why.data && <Heading why={why.data} />}
      </Trail>
      {page.problem && <ProblemNote problem={page.problem} retry={page.reload} kept={page.data !== null} />}
      {why.problem && !page.problem && (
        at_ms !== null && why.problem.status === 404 ? <TooEarly problem={why.problem} /> : <ProblemNote problem={why.problem} retry={why.reload} kept={why.data !== null} />
      )}
      <Answer why={why.data} episode={episode} at_ms={at_ms} dim={why.busy} failed={why.problem !== null} />
      {page.data && page.data.episodes.length > 1 && <Waits episodes={page.data.episodes} chosen={episode} />}
      {page.data && episode ? (
        <Body data={page.data} episode={episode} why={why.data} at_ms={at_ms} />
      ) : page.data ? (
        <Empty icon="check" title={t("job.no_wait")} what={t("job.no_wait_what")} />
      ) : (
        !page.problem && <div class="panel"><Skeleton tall lines={[100, 60, 80]} /></div>
      )}
    </div>
  );
}

function Body({ data, episode, why, at_ms }: { data: JobPage; episode: Episode; why: Why | null; at_ms: number | null }) {
  const t = useTranslate();
  const now_ms = data.now_ms ?? episode.started_ms + episode.wait_ms;
  const onMoment = useMemo(
    () => (ms: number | null) => adjust({ at: ms === null ? null : new Date(ms).toISOString() }, true),
    [],
  );
  return (
    <>
      {episode.misconfigured && (
        <Note tone="warn" icon="violations" title={t("job.misconfigured", { text: episode.misconfigured })}>
          <p>{t("job.misconfigured_what")}</p>
        </Note>
      )}
      {episode.partial && (
        <Note tone="calm" icon="help" title={t("job.partial")}>
          <p>{t("job.partial_what")}</p>
        </Note>
      )}
      <WhyPanel key={episode.episode} episode={episode} why={why} now_ms={now_ms} at_ms={at_ms} onMoment={onMoment} />
      <div class="columns">
        <Events events={data.events} now_ms={now_ms} />
        <div class="span-side stackup">
          <Facts episode={episode} job={data.job} now_ms={now_ms} />
          <Commands job={data.job} ended={episode.phase !== "waiting"} />
        </div>
      </div>
    </>
  );
}

function Trail({ where: [cluster, namespace, kind, name], children }: { where: Where; children?: ComponentChildren }) {
  const t = useTranslate();
  return (
    <header class="trail">
      <nav aria-label={t("jobs.title")}>
        <a href={href(["jobs"])}>{t("nav.jobs")}</a>
        <span aria-hidden="true">/</span>
        <a href={href(["jobs"], { namespace })} title={`${cluster} · ${namespace}`}>{namespace}</a>
        <span aria-hidden="true">/</span>
        <span class="faint">{kind}</span>
      </nav>
      <div class="trail-name">
        <h1>{name}</h1>
        {children}
      </div>
    </header>
  );
}

/** The moment of the link is before anything of the job was seen. */
function TooEarly({ problem }: { problem: Problem }) {
  const t = useTranslate();
  return (
    <Note tone="calm" icon="clock" title={problem.detail ?? problem.title}>
      {problem.hint && <p>{problem.hint}</p>}
      <button type="button" class="link" onClick={() => adjust({ at: null })}>{t("job.back_to_now")}</button>
    </Note>
  );
}

function NotFound({ where, problem }: { where: Where; problem: Problem }) {
  const t = useTranslate();
  return (
    <div class="page job">
      <Trail where={where} />
      <div class="panel">
        <Empty icon="search" title={t("job.not_found")} what={problem.detail || t("job.not_found_what")}>
          {problem.hint && <p class="empty-what">{problem.hint}</p>}
          <a class="button" href={href(["jobs"], { q: where[3] })}>{t("job.find_like")}</a>
        </Empty>
      </div>
    </div>
  );
}
