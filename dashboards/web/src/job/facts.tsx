/** What is known about the job itself. */
import type { ComponentChildren } from "preact";

import type { Episode, Job } from "../api/types";
import { CopyButton } from "../components/controls";
import { Moment } from "../components/moment";
import { Panel } from "../components/panel";
import { duration } from "../format/duration";
import { cores, count, memory } from "../format/number";
import { useTranslate, type MessageId } from "../i18n";
import { prefs } from "../state/prefs";
import { href } from "../state/route";
import { useStore } from "../state/store";

type Fact = [MessageId, ComponentChildren];

export function Facts({ episode, job, now_ms }: { episode: Episode; job: Job; now_ms: number }) {
  const t = useTranslate();
  const { lang } = useStore(prefs);
  const at = (ms: number | null) => (ms === null ? null : <Moment ms={ms} near_ms={now_ms} />);
  const long = (ms: number | null) => (ms ? duration(ms) : null);
  const facts: Fact[] = [
    ["fact.queue", job.queue && <a href={href(["jobs"], { queue: job.queue })}>{job.queue}</a>],
    ["fact.tenant", job.tenant && <a href={href(["jobs"], { tenant: job.tenant })}>{job.tenant}</a>],
    ["fact.tasks", episode.tasks === null ? null : count(episode.tasks, lang)],
    ["fact.minimum", episode.minimum === null ? null : count(episode.minimum, lang)],
    ["fact.gpus", episode.gpus ? count(episode.gpus, lang) : null],
    ["fact.cpus", episode.cpus_milli ? cores(episode.cpus_milli) : null],
    ["fact.memory", episode.memory_bytes ? memory(episode.memory_bytes) : null],
    ["fact.priority", episode.priority_class],
    ["fact.promise", long(episode.promise_ms)],
    ["fact.promise_source", episode.promise_source && <span class="mono">{episode.promise_source}</span>],
    ["fact.created", at(episode.created_ms)],
    ["fact.wait_began", at(episode.started_ms)],
    ["fact.deadline", at(episode.deadline_ms)],
    ["fact.first_task", at(episode.first_task_ms)],
    [episode.phase === "cancelled" ? "fact.ended" : "fact.placed", at(episode.scheduled_ms ?? episode.ended_ms)],
    ["fact.running", at(episode.running_ms)],
    ["fact.startup", long(episode.startup_ms)],
    ["fact.estimated", long(episode.estimated_ms)],
    ["fact.gap", long(episode.gap_ms)],
    ["fact.cluster", job.cluster],
    ["fact.uid", <span class="uid"><span class="mono">{job.uid}</span><CopyButton quiet text={job.uid} label={t("fact.uid")} /></span>],
  ];
  return (
    <Panel title={t("job.facts")}>
      <dl class="facts">
        {facts.filter(([, value]) => value !== null && value !== undefined && value !== "").map(([id, value]) => [
          <dt key={`${id}-name`}>{t(id)}</dt>,
          <dd key={id} class="num">{value}</dd>,
        ])}
      </dl>
    </Panel>
  );
}
