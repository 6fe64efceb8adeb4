/** Is the picture complete and fresh? Also answered when the store is down: then parts are not known and say so. */
import { address } from "../api/client";
import { OPEN_MS, useResource } from "../api/resource";
import { isStale } from "../api/stale";
import { replayOf, type ReplayState } from "../api/replay";
import type { Pipeline, StageState, WatchState } from "../api/types";
import { Moment } from "../components/moment";
import { Panel } from "../components/panel";
import { Empty, Note, ProblemNote, Skeleton } from "../components/states";
import { useTitle } from "../components/title";
import { brief, duration } from "../format/duration";
import { count } from "../format/number";
import { useTranslate } from "../i18n";
import { alarmMs } from "../state/known";
import { prefs } from "../state/prefs";
import { useStore } from "../state/store";

export function PipelineView() {
  const t = useTranslate();
  const { data, problem, dim, reload } = useResource<Pipeline>(address(["pipeline"]), { of: "pipeline", every: () => OPEN_MS });
  useTitle(t("pipeline.title"));
  return (
    <div class="page">
      <h1>{t("pipeline.title")}</h1>
      <p class="lead">{t("pipeline.what")}</p>
      {problem && <ProblemNote problem={problem} retry={reload} kept={data !== null} />}
      {!data ? !problem && <Skeleton tall lines={[100]} /> : (
        <div class={`page${dim ? " dim" : ""}`} aria-busy={dim}>
          {data.warehouse && (
            <Note tone="warn" icon="broken" title={t("pipeline.warehouse")}>
              <p>{data.warehouse}</p>
            </Note>
          )}
          <Replay of={replayOf(data.process)} />
          <Stages of={data} />
          <Watches of={data} />
          <div class="columns">
            <DeadLetters of={data} />
            <Counters of={data} />
          </div>
        </div>
      )}
    </div>
  );
}

/** How far the recording has been played. */
function Replay({ of }: { of: ReplayState | null }) {
  const t = useTranslate();
  if (!of) return null;
  const played = Math.max(0, Math.min(of.at_ms, of.end_ms) - of.begin_ms);
  const whole = Math.max(1, of.end_ms - of.begin_ms);
  return (
    <section class="panel replay" aria-label={t("fresh.replay")}>
      <b>{t("fresh.replay")}</b>
      <span class="meter" aria-hidden="true"><span style={{ width: `${(played / whole) * 100}%` }} /></span>
      <span class="num">{t(of.done ? "pipeline.replay_done" : "pipeline.replay_at", { played: duration(played), whole: duration(whole) })}</span>
    </section>
  );
}

function NotKnown() {
  const t = useTranslate();
  return <Empty icon="help" title={t("pipeline.part_missing")} what={t("pipeline.part_missing_what")} />;
}

function Stages({ of }: { of: Pipeline }) {
  const t = useTranslate();
  if (!of.stages?.length) return <Panel title={t("pipeline.stages")}><NotKnown /></Panel>;
  const clusters = new Set(of.stages.map((stage) => stage.cluster));
  return (
    <section aria-label={t("pipeline.stages")}>
      <ol class="stages">
        {of.stages.map((stage) => <Stage key={`${stage.cluster} ${stage.stage}`} of={stage} replay={of.replay} now_ms={of.now_ms} manyClusters={clusters.size > 1} />)}
      </ol>
    </section>
  );
}

interface StageProps {
  of: StageState;
  replay: boolean;
  now_ms: number | null;
  manyClusters: boolean;
}

function Stage({ of, replay, now_ms, manyClusters }: StageProps) {
  const t = useTranslate();
  const alarm = useStore(alarmMs);
  const late = isStale({ replay, lag_ms: of.lag_ms }, alarm);
  return (
    <li class={`stage${late ? " tone-warn" : ""}`}>
      <span class="stage-name">
        <span class={`dot ${late ? "dot-stale" : of.lag_ms === null ? "dot-off" : "dot-fresh"}`} aria-hidden="true" />
        {of.stage}
        {manyClusters && <span class="faint">{of.cluster}</span>}
      </span>
      <span class="stage-lag num">{of.lag_ms === null ? "–" : duration(of.lag_ms)}</span>
      <span class="stage-label">{t("pipeline.lag")}</span>
      <dl>
        <dt>{t("pipeline.log_time")}</dt>
        <dd><Moment ms={of.log_ms} near_ms={now_ms} /></dd>
        <dt>{t("pipeline.loaded")}</dt>
        <dd><Moment ms={of.loaded_ms} near_ms={of.loaded_ms ?? undefined} /></dd>
      </dl>
    </li>
  );
}

/** States of a watch as the collector names them; any other is shown as on its way. */
const DOTS: Readonly<Record<string, string>> = {
  watching: "dot-fresh",
  replay: "dot-fresh",
  forbidden: "dot-broken",
  stopped: "dot-off",
  not_served: "dot-off",
};

function Watches({ of }: { of: Pipeline }) {
  const t = useTranslate();
  if (!of.watches) return <Panel title={t("pipeline.watches")}><NotKnown /></Panel>;
  if (of.watches.every((watch) => watch.frames === undefined)) return <WatchNames of={of.watches} />;
  return (
    <Panel title={t("pipeline.watches")} flush>
      <div class="scroll" tabIndex={0} role="group" aria-label={t("pipeline.watches")}>
        <table class="table dense">
          <thead>
            <tr>
              <th scope="col">{t("pipeline.watch")}</th>
              <th scope="col">{t("col.state")}</th>
              <th scope="col" class="right">{t("pipeline.frames")}</th>
              <th scope="col" class="right">{t("pipeline.last_frame")}</th>
              <th scope="col" class="right">{t("pipeline.silence")}</th>
              <th scope="col" class="right">{t("pipeline.last_list")}</th>
              <th scope="col">{t("pipeline.version")}</th>
              <th scope="col">{t("pipeline.error")}</th>
            </tr>
          </thead>
          <tbody>{of.watches.map((watch) => <Watch key={watch.watch} of={watch} near_ms={of.now_ms} />)}</tbody>
        </table>
      </div>
    </Panel>
  );
}

/** A replay plays the watches that were recorded; there is nothing more to say of each. */
function WatchNames({ of }: { of: readonly WatchState[] }) {
  const t = useTranslate();
  return (
    <Panel title={t("pipeline.watches")} aside={<span class="faint num">{of.length}</span>}>
      <ul class="names">
        {of.map(({ watch, state }) => (
          <li key={watch} title={state}>
            <span class={`dot ${DOTS[state] ?? "dot-stale"}`} aria-hidden="true" />
            {watch}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function Watch({ of, near_ms }: { of: WatchState; near_ms: number | null }) {
  const { lang } = useStore(prefs);
  return (
    <tr>
      <th scope="row">{of.watch}</th>
      <td><span class="phase"><span class={`dot ${DOTS[of.state] ?? "dot-stale"}`} aria-hidden="true" />{of.state}</span></td>
      <td class="right num">{of.frames === null || of.frames === undefined ? <None /> : count(of.frames, lang)}</td>
      <td class="right"><Moment ms={of.last_frame_ms ?? null} near_ms={near_ms} /></td>
      <td class="right num">{of.silent_ms === null || of.silent_ms === undefined ? <None /> : brief(of.silent_ms)}</td>
      <td class="right"><Moment ms={of.last_list_ms ?? null} near_ms={near_ms} /></td>
      <td class="mono faint">{of.version || "–"}</td>
      <td class="cell-error" title={of.error ?? undefined}>{of.error || <None />}</td>
    </tr>
  );
}

/** Known, but there are none: no reason to show a part for them. */
const noCounters = (of: Pipeline): boolean => of.counters !== null && Object.keys(of.counters).length === 0;

const None = () => <span class="faint">–</span>;

function DeadLetters({ of }: { of: Pipeline }) {
  const t = useTranslate();
  const { lang } = useStore(prefs);
  const dead = of.dead_letters;
  return (
    <Panel title={t("pipeline.dead")} flush class={noCounters(of) ? "span-all" : "span-main"} aside={dead && dead.count > 0 ? <span class="num tone-bad">{t("pipeline.dead_count", { n: count(dead.count, lang) })}</span> : undefined}>
      {!dead ? <NotKnown /> : dead.latest.length === 0 ? (
        <Empty title={t("pipeline.dead_none")} what={t("pipeline.dead_none_what")} />
      ) : (
        <table class="table stack">
          <thead>
            <tr>
              <th scope="col">{t("pipeline.stage")}</th>
              <th scope="col">{t("pipeline.error")}</th>
              <th scope="col" class="right">{t("col.time")}</th>
            </tr>
          </thead>
          <tbody>
            {dead.latest.map((letter, i) => (
              <tr key={i}>
                <th scope="row">
                  {letter.stage}
                  {letter.kind && <span class="faint"> · {letter.kind}</span>}
                </th>
                <td class="cell-wrap">{letter.error}</td>
                <td class="right"><Moment ms={letter.observed_ms} near_ms={of.now_ms} /></td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  );
}

/** Counters come as `cluster/stage/name`; the cluster is said elsewhere. */
const nameOf = (counter: string): string => counter.split("/").slice(-2).join(" · ").replaceAll("_", " ");

function Counters({ of }: { of: Pipeline }) {
  const t = useTranslate();
  const { lang } = useStore(prefs);
  if (noCounters(of)) return null;
  const entries = Object.entries(of.counters ?? {});
  return (
    <Panel title={t("pipeline.counters")} class="span-side">
      {entries.length === 0 ? <NotKnown /> : (
        <dl class="facts">
          {entries.map(([name, value]) => [
            <dt key={`${name}-name`}>{nameOf(name)}</dt>,
            <dd key={name} class="num">{count(value, lang)}</dd>,
          ])}
        </dl>
      )}
    </Panel>
  );
}
