/** The proof: the bar of reasons against the promise, the part one looks at, shares by reason, and all parts as a table. */
import { useCallback, useState } from "preact/hooks";

import type { Episode, Why } from "../api/types";
import { Panel } from "../components/panel";
import { ReasonBars, reasonKey } from "../components/reasonbars";
import { Empty } from "../components/states";
import { duration } from "../format/duration";
import { dayClock } from "../format/time";
import { useTranslate } from "../i18n";
import { prefs } from "../state/prefs";
import { useStore } from "../state/store";
import { partAt } from "../timeline/layout";
import { Part } from "./part";
import { Parts } from "./parts";
import { Timeline } from "./timeline";

interface Props {
  episode: Episode;
  why: Why | null;
  now_ms: number;
  at_ms: number | null;
  onMoment: (ms: number | null) => void;
}

export function WhyPanel({ episode, why, now_ms, at_ms, onMoment }: Props) {
  const t = useTranslate();
  const { lang, zone } = useStore(prefs);
  const [pointed, setPointed] = useState<number | null>(null);
  const [held, setHeld] = useState<number | null>(null);
  const hold = useCallback((n: number | null) => setHeld((was) => (was === n ? null : n)), []);
  const { segments } = episode;
  if (segments.length === 0) {
    return <Panel title={t("job.timeline")}><Empty title={t("job.no_wait")} what={t("job.no_wait_what")} /></Panel>;
  }
  const marked = pointed ?? held;
  const shown = segments.find((one) => one.n === marked) ?? (at_ms !== null ? partAt(segments, at_ms) : defaultPart(episode));
  const open = episode.phase === "waiting";
  return (
    <Panel
      title={t(open ? "job.timeline_now" : "job.timeline")}
      class="why"
      aside={<span class="faint num">{t("job.timeline_summary", { n: segments.length, wait: duration(episode.wait_ms) })}</span>}
    >
      <Timeline episode={episode} now_ms={now_ms} at_ms={at_ms} marked={marked} held={held} onPoint={setPointed} onHold={hold} onMoment={onMoment} />
      <div class="why-below">
        {shown && <Part episode={episode} segment={shown} now_ms={now_ms} held={held === shown.n} onMoment={onMoment} />}
        <div class="why-shares">
          <h3>{at_ms === null ? t("job.breakdown") : t("job.breakdown_at", { at: dayClock(at_ms, lang, zone) })}</h3>
          <ReasonBars of={why?.episode === episode.episode ? why.reasons : []} exact over={(one) => !why?.now || reasonKey(why.now) !== reasonKey(one)} marked={marked !== null && shown ? reasonKey(shown) : null} />
        </div>
      </div>
      <Parts episode={episode} now_ms={now_ms} marked={marked} onPoint={setPointed} onHold={hold} />
    </Panel>
  );
}

/** What to show before anyone points: what holds it now, else what held it longest. */
function defaultPart(episode: Episode) {
  const { segments } = episode;
  return segments.find((one) => one.to_ms === null) ?? segments.reduce((most, one) => (one.ms > most.ms ? one : most));
}
