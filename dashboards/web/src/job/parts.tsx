/** The bar as a table: same parts, same order. Pointing at a row marks its part on the bar, and the other way round. */
import type { Episode } from "../api/types";
import { Moment } from "../components/moment";
import { ReasonName } from "../components/reason";
import { duration } from "../format/duration";
import { percent } from "../format/number";
import { useTranslate } from "../i18n";
import { prefs } from "../state/prefs";
import { useStore } from "../state/store";
import { knownFrom } from "./evidence";

interface Props {
  episode: Episode;
  now_ms: number;
  marked: number | null;
  onPoint: (n: number | null) => void;
  onHold: (n: number | null) => void;
}

export function Parts({ episode, now_ms, marked, onPoint, onHold }: Props) {
  const t = useTranslate();
  const { lang } = useStore(prefs);
  const total = Math.max(1, episode.wait_ms);
  return (
    <div class="parts scroll" tabIndex={0} role="group" aria-label={t("job.segments")}>
      <table class="table dense" onMouseLeave={() => onPoint(null)}>
        <caption class="sr-only">{t("job.segments")}</caption>
        <thead>
          <tr>
            <th scope="col" class="right">#</th>
            <th scope="col">{t("col.reason")}</th>
            <th scope="col" class="right">{t("col.from")}</th>
            <th scope="col" class="right">{t("col.to")}</th>
            <th scope="col" class="right">{t("col.wait")}</th>
            <th scope="col" class="right">{t("col.share")}</th>
            <th scope="col" class="right">{t("col.nodes")}</th>
            <th scope="col">{t("col.evidence")}</th>
          </tr>
        </thead>
        <tbody>
          {episode.segments.map((one) => (
            <tr key={one.n} class={one.n === marked ? "marked" : ""} onMouseEnter={() => onPoint(one.n)} onClick={() => onHold(one.n)}>
              <td class="right num faint">{one.n}</td>
              <td><ReasonName of={one} over={one.to_ms !== null} /></td>
              <td class="right"><Moment ms={one.from_ms} near_ms={now_ms} /></td>
              <td class="right">{one.to_ms === null ? t("job.now") : <Moment ms={one.to_ms} near_ms={now_ms} />}</td>
              <td class="right num strong">{duration(one.ms)}</td>
              <td class="right num">{percent(Math.min(1, one.ms / total), lang, 1)}</td>
              <td class="right num">{one.nodes === null ? <span class="faint">–</span> : one.total_nodes ? `${one.nodes} / ${one.total_nodes}` : one.nodes}</td>
              <td class="faint">
                {knownFrom(lang, one)}
                {one.estimated && `, ${t("job.estimated")}`}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
