/** Ticks of elapsed time: round steps a person would choose. */
const STEPS_MS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 900_000,
  1_800_000, 3_600_000, 7_200_000, 10_800_000, 21_600_000, 43_200_000, 86_400_000, 172_800_000, 604_800_000,
];

/** Elapsed times from 0 up to `span_ms`, at most `most` of them. */
export function ticks(span_ms: number, most: number): number[] {
  if (span_ms <= 0) return [0];
  const step = STEPS_MS.find((size) => span_ms / size < most) ?? Math.ceil(span_ms / most / 604_800_000) * 604_800_000;
  const out: number[] = [];
  for (let at = 0; at <= span_ms; at += step) out.push(at);
  return out;
}
