/** Waiting by reason as stacked bars: from an answer of the API to what ECharts draws. Pure. */
import type { Reasons } from "../api/types";
import { lookOf, OTHER, rank, type Pattern } from "../reasons/palette";

export interface Band {
  reason: string;
  title: string;
  /** Mean number of jobs (or GPUs) waiting in each bucket. */
  values: number[];
}

/**
 * Bands in the fixed order, without those that are nothing. A bucket's waiting time over its length is a mean number;
 * the last bucket is as long as the range reaches into it, else every curve would seem to fall now.
 */
export function bands(answer: Pick<Reasons, "series" | "bucket_ms" | "buckets" | "to_ms">): Band[] {
  const last = answer.buckets.length - 1;
  const lasted = Math.max(1, Math.min(answer.bucket_ms, answer.to_ms - (answer.buckets[last] ?? 0)));
  return answer.series
    .filter((one) => one.values.some((value) => value > 0))
    .sort((a, b) => rank(a.reason) - rank(b.reason))
    .map(({ reason, title, values }) => ({ reason, title, values: values.map((ms, i) => ms / (i === last ? lasted : answer.bucket_ms)) }));
}

/** Never folded: they say how good the other bands are. */
const KEPT = new Set(["unknown", "gap"]);

/** The `most` largest bands, the rest as one; order stays. One that is left over is no "rest" and keeps its name. */
export function folded(all: readonly Band[], most: number, title: string): Band[] {
  const size = (band: Band): number => band.values.reduce((sum, value) => sum + value, 0);
  const bySize = all.filter((band) => !KEPT.has(band.reason)).sort((a, b) => size(b) - size(a));
  const rest = new Set(bySize.slice(most));
  if (rest.size < 2) return [...all];
  const sums = all[0]!.values.map((_, i) => [...rest].reduce((sum, band) => sum + (band.values[i] ?? 0), 0));
  const other: Band = { reason: OTHER, title, values: sums };
  const stay = all.filter((band) => !rest.has(band));
  const known = stay.filter((band) => !KEPT.has(band.reason));
  return [...known, other, ...stay.filter((band) => KEPT.has(band.reason))];
}

/** Decals that look like the patterns of `styles/reasons.css`. */
export function decal(pattern: Pattern, ink: string): object | undefined {
  const line = { color: ink, dashArrayX: [1, 0], dashArrayY: [1.5, 4], symbolSize: 1 };
  if (pattern === "diagonal" || pattern === "hollow") return { ...line, rotation: -Math.PI / 4 };
  if (pattern === "antidiagonal") return { ...line, rotation: Math.PI / 4 };
  if (pattern === "rows") return { ...line, rotation: 0 };
  if (pattern === "dots") return { color: ink, symbol: "circle", symbolSize: 0.7, dashArrayX: [[4, 4], [0, 4, 4, 0]], dashArrayY: [4, 0] };
  return undefined;
}

export interface Paint {
  dark: boolean;
  ink: string;
  line: string;
  surface: string;
  font: string;
}

/** Fewer buckets than this are drawn as bars: an area between three points would claim more than is known. */
const FEW_BUCKETS = 12;

export interface Picture {
  answer: Pick<Reasons, "buckets">;
  shown: readonly Band[];
  paint: Paint;
  label: (ms: number) => string;
  /** Makes the tooltip's element: ready-made HTML with inline styles would be refused by the page's CSP. */
  tip: (index: number) => HTMLElement;
}

/** Options of ECharts. */
export function options({ answer, shown, paint, label, tip }: Picture): Record<string, unknown> {
  const text = { color: paint.ink, fontFamily: paint.font, fontSize: 11 };
  const bars = answer.buckets.length < FEW_BUCKETS;
  return {
    animation: false,
    grid: { left: 4, right: 8, top: 12, bottom: 4, outerBoundsMode: "same", outerBoundsContain: "axisLabel" },
    xAxis: {
      type: "category",
      boundaryGap: bars,
      data: answer.buckets.map(label),
      axisTick: { show: false },
      axisLine: { lineStyle: { color: paint.line } },
      axisLabel: { ...text, hideOverlap: true, margin: 10, alignMinLabel: "left", alignMaxLabel: "right" },
    },
    yAxis: { type: "value", minInterval: 1, splitNumber: 4, axisLabel: text, splitLine: { lineStyle: { color: paint.line } } },
    tooltip: {
      trigger: "axis",
      axisPointer: { type: bars ? "shadow" : "line", lineStyle: { color: paint.ink, type: "solid", width: 1 }, shadowStyle: { color: paint.line, opacity: 0.4 } },
      renderMode: "html",
      confine: true,
      transitionDuration: 0,
      borderWidth: 0,
      padding: 0,
      backgroundColor: "transparent",
      extraCssText: "box-shadow:none",
      formatter: (at: { dataIndex: number }[]) => tip(at[0]?.dataIndex ?? 0),
    },
    series: shown.map((band) => (bars ? bar(band, paint) : area(band, paint))),
  };
}

function dress(band: Band, paint: Paint): { color: string; decal?: object } {
  const look = lookOf(band.reason);
  const pattern = decal(look.pattern, paint.dark ? "rgba(0,0,0,.32)" : "rgba(255,255,255,.38)");
  return { color: paint.dark ? look.dark : look.light, ...(pattern ? { decal: pattern } : {}) };
}

const common = (band: Band) => ({ id: band.reason, name: band.title, stack: "waiting", data: band.values, emphasis: { focus: "series" } });

function bar(band: Band, paint: Paint): Record<string, unknown> {
  return { ...common(band), type: "bar", barCategoryGap: "20%", itemStyle: { ...dress(band, paint), borderColor: paint.surface, borderWidth: 0.5 } };
}

function area(band: Band, paint: Paint): Record<string, unknown> {
  return {
    ...common(band),
    type: "line",
    symbol: "none",
    itemStyle: dress(band, paint),
    lineStyle: { color: paint.surface, width: 0.75 },
    areaStyle: { opacity: 1 },
  };
}
