/** Waiting by reason as stacked bars: from an answer of the API to what ECharts draws. Pure. */
import type { Reasons } from "../api/types";
import { lookOf, rank, type Pattern } from "../reasons/palette";

export interface Band {
  reason: string;
  title: string;
  /** Mean number of jobs (or GPUs) waiting in each bucket. */
  values: number[];
}

/** Bands in the fixed order, without those that are nothing. A bucket's waiting time over its length is a mean number. */
export function bands(answer: Pick<Reasons, "series" | "bucket_ms">): Band[] {
  return answer.series
    .filter((one) => one.values.some((value) => value > 0))
    .sort((a, b) => rank(a.reason) - rank(b.reason))
    .map(({ reason, title, values }) => ({ reason, title, values: values.map((ms) => ms / answer.bucket_ms) }));
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

/** Options of ECharts. `tip` makes the tooltip's element: inline styles of ready-made HTML would break the page's CSP. */
export function options(answer: Reasons, paint: Paint, label: (ms: number) => string, tip: (index: number) => HTMLElement): Record<string, unknown> {
  const text = { color: paint.ink, fontFamily: paint.font, fontSize: 11 };
  const patternInk = paint.dark ? "rgba(0,0,0,.42)" : "rgba(255,255,255,.5)";
  return {
    animation: false,
    grid: { left: 4, right: 4, top: 12, bottom: 4, outerBoundsMode: "same", outerBoundsContain: "axisLabel" },
    xAxis: {
      type: "category",
      data: answer.buckets.map(label),
      axisTick: { show: false },
      axisLine: { lineStyle: { color: paint.line } },
      axisLabel: { ...text, hideOverlap: true, margin: 10 },
    },
    yAxis: {
      type: "value",
      minInterval: 1,
      splitNumber: 4,
      axisLabel: text,
      splitLine: { lineStyle: { color: paint.line, type: [2, 3] } },
    },
    tooltip: {
      trigger: "axis",
      axisPointer: { type: "shadow", shadowStyle: { color: paint.dark ? "rgba(255,255,255,.05)" : "rgba(15,20,30,.05)" } },
      renderMode: "html",
      confine: true,
      transitionDuration: 0,
      className: "chart-tip",
      borderWidth: 0,
      padding: 0,
      backgroundColor: "transparent",
      extraCssText: "box-shadow:none",
      formatter: (at: { dataIndex: number }[]) => tip(at[0]?.dataIndex ?? 0),
    },
    series: bands(answer).map((band) => {
      const look = lookOf(band.reason);
      const dressed = decal(look.pattern, patternInk);
      return {
        id: band.reason,
        name: band.title,
        type: "bar",
        stack: "waiting",
        barCategoryGap: "12%",
        data: band.values,
        emphasis: { focus: "series" },
        itemStyle: {
          color: paint.dark ? look.dark : look.light,
          borderColor: paint.surface,
          borderWidth: 0.5,
          ...(dressed ? { decal: dressed } : {}),
        },
      };
    }),
  };
}
