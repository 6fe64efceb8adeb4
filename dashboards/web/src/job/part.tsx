/** All that is known of one part of a wait: what was said, about how many nodes, how it is known. */
import type { Episode, Segment } from "../api/types";
import { Icon } from "../components/icons";
import { Moment } from "../components/moment";
import { Swatch } from "../components/reason";
import { duration } from "../format/duration";
import { percent } from "../format/number";
import { detailWord, useTranslate } from "../i18n";
import { titles } from "../state/known";
import { prefs } from "../state/prefs";
import { useStore } from "../state/store";
import { knownFrom } from "./evidence";

interface Props {
  episode: Episode;
  segment: Segment;
  now_ms: number;
  held: boolean;
  onMoment: (ms: number | null) => void;
}

export function Part({ episode, segment, now_ms, held, onMoment }: Props) {
  const t = useTranslate();
  const { lang } = useStore(prefs);
  const end = segment.to_ms ?? now_ms;
  return (
    <div class={`part${held ? " held" : ""}`}>
      <h3>
        <Swatch reason={segment.reason} />
        {segment.title}
        {segment.resource && <span class="part-resource">{segment.resource}</span>}
        {segment.detail && <span class="tag" title={segment.detail}>{detailWord(lang, segment.reason, segment.detail, segment.to_ms !== null)}</span>}
        {segment.estimated && <span class="tag" title={t("job.estimated_what")}>{t("job.estimated")}</span>}
      </h3>
      <p class="part-figures num">
        <b>{duration(segment.ms)}</b>
        <span>{percent(Math.min(1, segment.ms / Math.max(1, episode.wait_ms)), lang, 1)}</span>
        <span>
          <Moment ms={segment.from_ms} near_ms={now_ms} /> – {segment.to_ms === null ? t("job.now") : <Moment ms={end} near_ms={now_ms} />}
        </span>
        <button type="button" class="link" onClick={() => onMoment(Math.max(segment.from_ms, end - 1))}>{t("job.this_moment")}</button>
      </p>
      <Nodes nodes={segment.nodes} total={segment.total_nodes} />
      {segment.message ? <p class="part-message mono" tabIndex={0}>{segment.message}</p> : <p class="part-none faint">{t(segment.reason === "gap" ? "job.gap_what" : "job.no_message")}</p>}
      {segment.also.length > 0 && <AlsoTrue also={segment.also} />}
      {segment.evidence && (
        <p class="part-evidence faint">
          <Icon name="help" size={14} />
          {t("job.known_from", { what: knownFrom(lang, segment) })}
        </p>
      )}
    </div>
  );
}

function Nodes({ nodes, total }: { nodes: number | null; total: number | null }) {
  const t = useTranslate();
  if (nodes === null) return null;
  if (!total) return <p class="part-nodes num">{t("job.nodes_n", { nodes })}</p>;
  return (
    <p class="part-nodes num">
      <span class="meter" aria-hidden="true"><span style={{ width: `${Math.min(1, nodes / total) * 100}%` }} /></span>
      {t("job.nodes_of", { nodes, total })}
    </p>
  );
}

function AlsoTrue({ also }: { also: readonly string[] }) {
  const t = useTranslate();
  const known = useStore(titles);
  return (
    <p class="part-also">
      <span class="faint">{t("job.also")}</span>
      {also.map((code) => (
        <span key={code} class="part-also-one">
          <Swatch reason={code} />
          {known[code] ?? code}
        </span>
      ))}
    </p>
  );
}
