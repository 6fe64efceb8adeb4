/** Ranges of time that end now. */
export const SPANS = ["15m", "1h", "6h", "24h", "7d"] as const;

/** What the server gives without a range: as much of the last day as it has data of. */
export const USUAL_SPAN = "24h";

const SPAN_MS: Readonly<Record<string, number>> = { "15m": 900_000, "1h": 3_600_000, "6h": 21_600_000, "24h": 86_400_000, "7d": 604_800_000 };

/** Begin of a range, in steps of a sixtieth of it: a new address for every refresh would defeat `304 Not Modified`. */
export function since(span: string, now_ms: number): number | null {
  const length = SPAN_MS[span];
  if (!length) return null;
  const step = length / 60;
  return Math.floor((now_ms - length) / step) * step;
}
