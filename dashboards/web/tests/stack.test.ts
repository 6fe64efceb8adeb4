import { describe, expect, test } from "vitest";

import { bands, folded, options, type Band } from "../src/charts/stack";

const answer = {
  bucket_ms: 1000,
  buckets: [0, 1000, 2000],
  to_ms: 2250,
  series: [
    { reason: "unknown", title: "Unknown", values: [0, 500, 0] },
    { reason: "quota", title: "Quota", values: [2000, 1000, 500] },
    { reason: "binding", title: "Binding", values: [0, 0, 0] },
    { reason: "not_admitted", title: "Not admitted", values: [1000, 0, 0] },
  ],
};

describe("bands", () => {
  test("stand in the fixed order, without those that are nothing", () => {
    expect(bands(answer).map((band) => band.reason)).toEqual(["not_admitted", "quota", "unknown"]);
  });

  test("are mean numbers, the last over what the range has of it", () => {
    expect(bands(answer)[1]!.values).toEqual([2, 1, 2]);
  });
});

describe("folding", () => {
  const band = (reason: string, value: number): Band => ({ reason, title: reason, values: [value, value] });
  const all = [band("quota", 5), band("outranked", 1), band("volume", 2), band("dra", 9), band("unknown", 0.1), band("gap", 0.1)];

  test("keeps the largest in their order, then the rest, then what is not known", () => {
    expect(folded(all, 2, "Other").map((one) => one.reason)).toEqual(["quota", "dra", "other", "unknown", "gap"]);
  });

  test("loses nothing", () => {
    const sum = (some: readonly Band[]): number => some.reduce((total, one) => total + one.values[0]!, 0);
    expect(sum(folded(all, 2, "Other"))).toBeCloseTo(sum(all));
  });

  test("does not fold one alone", () => {
    expect(folded(all, 3, "Other")).toEqual(all);
  });
});

test("few buckets are bars, many are areas", () => {
  const paint = { dark: false, ink: "#000", line: "#eee", surface: "#fff", font: "sans" };
  const kind = (n: number): unknown => {
    const shown = [{ reason: "quota", title: "Quota", values: Array<number>(n).fill(1) }];
    const made = options({ answer: { buckets: [...Array(n).keys()] }, shown, paint, label: String, tip: () => null as never });
    return (made["series"] as { type: string }[])[0]!.type;
  };
  expect(kind(3)).toBe("bar");
  expect(kind(60)).toBe("line");
});
