/** Waiting by reason over time: chart, legend that links to the jobs behind a band, and the same as a table. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import { address, type Params } from "../api/client";
import { OPEN_MS, useResource, type Resource } from "../api/resource";
import type { Reasons } from "../api/types";
import { Segmented } from "../components/controls";
import { Icon } from "../components/icons";
import { Panel } from "../components/panel";
import { Swatch } from "../components/reason";
import { Empty, ProblemNote, Skeleton } from "../components/states";
import { brief, duration } from "../format/duration";
import { percent } from "../format/number";
import { clock, dayClock, hourMinute } from "../format/time";
import { useTranslate } from "../i18n";
import { colourVar, OTHER, patternClass } from "../reasons/palette";
import { isDark, prefs } from "../state/prefs";
import { adjust, href, useRoute } from "../state/route";
import { useStore } from "../state/store";
import { bands, folded, options, type Band, type Paint } from "./stack";

type Chart = ReturnType<(typeof import("./echarts"))["init"]>;

/** The unit that the URL names. */
export const useUnit = (): "jobs" | "gpus" => (useRoute().query["unit"] === "gpus" ? "gpus" : "jobs");

/** The answer behind the chart. */
export function useReasons(params: Params): Resource<Reasons> {
  const url = address(["reasons"], { ...params, unit: useUnit() });
  return useResource<Reasons>(url, { of: "reasons", every: () => OPEN_MS * 2 });
}

interface Props {
  of: Resource<Reasons>;
  title: string;
  /** How many reasons get a band of their own; all if not said. */
  most?: number;
}

export function WaitingChart({ of: { data, problem, dim, reload }, title, most }: Props) {
  const t = useTranslate();
  const unit = useUnit();
  const [asTable, setAsTable] = useState(false);
  const shown = useMemo(() => {
    const all = data ? bands(data) : [];
    return most === undefined ? all : folded(all, most, t("chart.other"));
  }, [data, most, t]);
  const aside = (
    <>
      <Segmented
        label={t("overview.chart_unit")}
        choices={[{ value: "jobs", label: t("overview.chart_unit_jobs") }, { value: "gpus", label: t("overview.chart_unit_gpus") }]}
        value={unit}
        onChange={(value) => adjust({ unit: value === "jobs" ? null : value }, true)}
      />
      <button type="button" class="button quiet" aria-pressed={asTable} title={t(asTable ? "chart.chart" : "chart.table")} aria-label={t("chart.table")} onClick={() => setAsTable(!asTable)}>
        <Icon name={asTable ? "reasons" : "table"} />
      </button>
    </>
  );
  return (
    <Panel title={title} aside={aside} class="span-all" dim={dim}>
      {problem && !data && <ProblemNote problem={problem} retry={reload} />}
      {!data ? !problem && <Skeleton tall lines={[100]} /> : shown.length === 0 ? (
        <Empty title={t("overview.none_reasons")} what={t("overview.none_reasons_what")} />
      ) : (
        <>
          <Summary answer={data} unit={unit} />
          {asTable ? <Twin answer={data} shown={shown} /> : <Canvas answer={data} shown={shown} />}
        </>
      )}
    </Panel>
  );
}

function Summary({ answer, unit }: { answer: Reasons; unit: "jobs" | "gpus" }) {
  const t = useTranslate();
  return <p class="chart-unit faint">{t(unit === "gpus" ? "chart.per_bucket_gpus" : "chart.per_bucket_jobs", { bucket: duration(answer.bucket_ms) })}</p>;
}

function useLabel(answer: Reasons): (ms: number) => string {
  const { lang, zone } = useStore(prefs);
  const last = answer.buckets[answer.buckets.length - 1] ?? 0;
  const span = last - (answer.buckets[0] ?? 0);
  return useMemo(() => {
    const form = span < 3_600_000 && answer.bucket_ms < 60_000 ? clock : span < 86_400_000 ? hourMinute : dayClock;
    return (ms) => form(ms, lang, zone);
  }, [span, answer.bucket_ms, lang, zone]);
}

function Canvas({ answer, shown }: { answer: Reasons; shown: Band[] }) {
  const t = useTranslate();
  const dark = useStore(isDark);
  const { lang } = useStore(prefs);
  const label = useLabel(answer);
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<Chart | null>(null);
  const [ready, setReady] = useState(false);

  useEffect(() => {
    let gone = false;
    const resized = new ResizeObserver(() => chart.current?.resize());
    void import("./echarts").then(({ init }) => {
      if (gone || !box.current) return;
      chart.current = init(box.current);
      resized.observe(box.current);
      setReady(true);
    });
    return () => {
      gone = true;
      resized.disconnect();
      chart.current?.dispose();
      chart.current = null;
    };
  }, []);

  useEffect(() => {
    if (!ready || !box.current) return;
    const tip = (index: number): HTMLElement => tipOf(label(answer.buckets[index] ?? 0), shown, index);
    chart.current?.setOption(options({ answer, shown, paint: paintOf(box.current, dark), label, tip }), { replaceMerge: ["series"] });
  }, [ready, answer, shown, dark, label]);

  const total = answer.totals.reduce((sum, one) => sum + one.ms, 0);
  const top = answer.totals[0];
  const summary = t("chart.summary", { total: brief(total), n: answer.buckets.length, bucket: duration(answer.bucket_ms), top: top ? `${top.title} (${percent(top.share, lang)})` : "–" });
  return (
    <>
      <div class="chart" ref={box} role="img" aria-label={summary} />
      <ul class="legend">
        {shown.map((band) => (
          <li key={band.reason}>
            <a
              href={band.reason === OTHER ? href(["reasons"]) : href(["jobs"], { reason: band.reason, sort: "-wait" })}
              title={band.reason === OTHER ? t("overview.all_reasons") : t("chart.reason_link", { title: band.title })}
              onMouseEnter={() => chart.current?.dispatchAction({ type: "highlight", seriesId: band.reason })}
              onMouseLeave={() => chart.current?.dispatchAction({ type: "downplay", seriesId: band.reason })}
            >
              <Swatch reason={band.reason} />
              {band.title}
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}

function Twin({ answer, shown }: { answer: Reasons; shown: Band[] }) {
  const t = useTranslate();
  const label = useLabel(answer);
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label={t("chart.table")}>
      <table class="table dense">
        <thead>
          <tr>
            <th scope="col">{t("col.time")}</th>
            {shown.map((band) => <th key={band.reason} scope="col" class="right"><Swatch reason={band.reason} /> {band.title}</th>)}
            <th scope="col" class="right">{t("chart.total")}</th>
          </tr>
        </thead>
        <tbody>
          {answer.buckets.map((bucket, i) => (
            <tr key={bucket}>
              <th scope="row" class="num">{label(bucket)}</th>
              {shown.map((band) => <td key={band.reason} class="right num">{figure(band.values[i] ?? 0)}</td>)}
              <td class="right num strong">{figure(shown.reduce((sum, band) => sum + (band.values[i] ?? 0), 0))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const figure = (value: number): string => (value === 0 ? "·" : value >= 100 ? String(Math.round(value)) : value.toFixed(value >= 10 ? 1 : 2));

function paintOf(box: HTMLElement, dark: boolean): Paint {
  const style = getComputedStyle(box);
  const read = (name: string): string => style.getPropertyValue(name).trim();
  return { dark, ink: read("--ink-3"), line: read("--line"), surface: read("--surface"), font: style.fontFamily };
}

/** Built from elements, with classes: HTML text with inline styles would be refused by the page's CSP. */
function tipOf(head: string, shown: readonly Band[], index: number): HTMLElement {
  const tip = element("div", "tip");
  const rows = shown.filter((band) => (band.values[index] ?? 0) > 0).reverse();
  const sum = rows.reduce((all, band) => all + band.values[index]!, 0);
  const top = element("div", "tip-head");
  top.append(element("span", "num", head), element("b", "num", figure(sum)));
  tip.append(top);
  for (const band of rows) {
    const row = element("div", "tip-row");
    const swatch = element("span", `swatch ${patternClass(band.reason)}`);
    swatch.style.setProperty("--c", colourVar(band.reason));
    row.append(swatch, element("span", "tip-name", band.title), element("span", "num", figure(band.values[index]!)));
    tip.append(row);
  }
  return tip;
}

function element(tag: string, className: string, text = ""): HTMLElement {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  return made;
}
