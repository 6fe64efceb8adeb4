/** One job: why it waits, what would help, and the proof. Works as well for jobs that no longer exist. */
import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";

import { address, type Problem } from "../api/client";
import { OPEN_MS, QUIET_MS, useResource } from "../api/resource";
import type { Episode, JobPage, Why } from "../api/types";
import { Answer, Heading } from "../job/answer";
import { Commands } from "../job/commands";
import { Events } from "../job/events";
import { Facts } from "../job/facts";
import { Lives } from "../job/lives";
import { SchedulerPanel } from "../job/scheduler";
import { Waits } from "../job/waits";
import { WhyPanel } from "../job/whypanel";
import { Empty, Note, ProblemNote, Skeleton } from "../components/states";
import { useTitle } from "../components/title";
import { dayClock, moment } from "../format/time";
import { useTranslate } from "../i18n";
import { episodeOf, firstOf, numberOf } from "../job/choose";
import { prefs } from "../state/prefs";
import { adjust, href, useRoute } from "../state/route";
import { useStore } from "../state/store";

type Where = [cluster: string, namespace: string, kind: string, name: string];

export function JobView({ where }: { where: Where }) {
  const { query } = useRoute();
  const t = useTranslate();
  useTitle(where[3]);
  const of = [...where, query["uid"] ?? ""].join("/");
  const page = useResource<JobPage>(address(["jobs", ...where], { uid: query["uid"] }), {
    of,
    every: ({ episodes }) => (episodes.some((one) => one.phase === "waiting") ? OPEN_MS : QUIET_MS),
  });
  const at_ms = moment(query["at"]);
  const episode = page.data ? episodeOf(page.data.episodes, query["episode"], at_ms) : null;
  const first_ms = page.data ? firstOf(page.data.episodes) : null;
  const early = at_ms !== null && first_ms !== null && at_ms < first_ms;
  // A moment is asked about once it is known whose it is: of that name there may have been several jobs.
  const uid = query["uid"] ?? (at_ms === null ? undefined : page.data?.job.uid);
  const known = at_ms === null || (page.data !== null && !early);
  const [wanted_ms, setWanted] = useState<number | null>(null);
  const rebuild = at_ms !== null && wanted_ms === at_ms ? "true" : undefined;
  const why = useResource<Why>(known ? address(["jobs", ...where, "why"], { uid, at: at_ms, episode: numberOf(query["episode"]), rebuild }) : null, {
    of: `${of} ${query["episode"] ?? ""} ${early}`,
    every: (now) => (at_ms === null && now.phase === "waiting" ? OPEN_MS : null),
  });
  if (page.problem?.status === 404 && !page.data) return <NotFound where={where} problem={page.problem} />;
  return (
    <div class="page job">
      <Trail where={where}>
        {why.data && <Heading why={why.data} />}
      </Trail>
      {page.problem && <ProblemNote problem={page.problem} retry={page.reload} kept={page.data !== null} />}
      {page.data && page.data.lives.length > 1 && <Lives of={page.data} />}
      {why.problem && !page.problem && <ProblemNote problem={why.problem} retry={why.reload} kept={why.data !== null} />}
      {query["at"] && at_ms === null && <NoMoment text={query["at"]} />}
      {early ? <TooEarly at_ms={at_ms} first_ms={first_ms} /> : (
        <Answer why={why.data} episode={episode} at_ms={at_ms} dim={why.dim} failed={(page.problem ?? why.problem) !== null} />
      )}
      {why.data && !early && <SchedulerPanel why={why.data} at_ms={at_ms} dim={why.dim} asked={rebuild !== undefined} onRebuild={() => setWanted(at_ms)} />}
      {page.data && episode && at_ms !== null && !early && <Whole now_ms={page.data.now_ms} />}
      {page.data && page.data.episodes.length > 1 && <Waits episodes={page.data.episodes} chosen={episode} />}
      {page.data && episode ? (
        <Body data={page.data} episode={episode} why={why.data} at_ms={early ? null : at_ms} dim={page.problem !== null} />
      ) : page.data ? (
        <Empty icon="check" title={t("job.no_wait")} what={t("job.no_wait_what")} />
      ) : (
        !page.problem && <div class="panel"><Skeleton tall lines={[100, 60, 80]} /></div>
      )}
    </div>
  );
}

interface BodyProps {
  data: JobPage;
  episode: Episode;
  why: Why | null;
  at_ms: number | null;
  /** What is shown is the last picture that arrived. */
  dim: boolean;
}

function Body({ data, episode, why, at_ms, dim }: BodyProps) {
  const t = useTranslate();
  const now_ms = data.now_ms ?? episode.started_ms + episode.wait_ms;
  const onMoment = useMemo(
    () => (ms: number | null) => adjust({ at: ms === null ? null : new Date(ms).toISOString() }, true),
    [],
  );
  return (
    <div class={`page job${dim ? " dim" : ""}`} aria-busy={dim}>
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
          <Commands job={data.job} group={data.api_group} ended={episode.phase !== "waiting"} newest={data.lives[0]?.uid === data.job.uid} at_ms={at_ms} />
        </div>
      </div>
    </div>
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

/** Above is the answer of a moment; what comes below is not cut there. */
function Whole({ now_ms }: { now_ms: number | null }) {
  const t = useTranslate();
  const { lang, zone } = useStore(prefs);
  return <p class="as-of whole num">{now_ms === null ? t("job.whole") : t("job.whole_at", { at: dayClock(now_ms, lang, zone) })}</p>;
}

/** The moment of the link is before anything of the job was seen. */
function TooEarly({ at_ms, first_ms }: { at_ms: number; first_ms: number }) {
  const t = useTranslate();
  const { lang, zone } = useStore(prefs);
  return (
    <Note tone="calm" icon="clock" title={t("job.too_early", { at: dayClock(at_ms, lang, zone) })}>
      <p>{t("job.too_early_what", { at: dayClock(first_ms, lang, zone) })}</p>
      <button type="button" class="link" onClick={() => adjust({ at: null })}>{t("job.back_to_now")}</button>
    </Note>
  );
}

/** What the link says after `at=` is no moment, so the latest is shown. */
function NoMoment({ text }: { text: string }) {
  const t = useTranslate();
  return (
    <Note tone="warn" icon="clock" title={t("job.no_moment", { text })}>
      <p>{t("job.no_moment_what")}</p>
      <button type="button" class="link" onClick={() => adjust({ at: null })}>{t("job.no_moment_drop")}</button>
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
