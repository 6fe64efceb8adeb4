import { describe, expect, test } from "vitest";

import { isStale, USUAL_ALARM_MS } from "../src/api/stale";
import { replayOf } from "../src/api/replay";
import { filled, PROMISE_AT } from "../src/lists/bar";
import { merge } from "../src/lists/merge";
import { filtersOf } from "../src/lists/query";
import { since } from "../src/lists/span";

interface Row {
  id: string;
  wait: number;
}

const keyOf = (row: Row): string => row.id;

describe("a list that refreshes", () => {
  const shown: Row[] = [{ id: "a", wait: 9 }, { id: "b", wait: 5 }];

  test("keeps its order and takes the new figures", () => {
    const { rows, news } = merge(shown, [{ id: "b", wait: 20 }, { id: "a", wait: 10 }], keyOf);
    expect(rows.map(({ row }) => [row.id, row.wait])).toEqual([["a", 10], ["b", 20]]);
    expect(news).toBe(0);
  });

  test("keeps a row that left, marked, and counts it", () => {
    const { rows, news } = merge(shown, [{ id: "b", wait: 6 }], keyOf);
    expect(rows.map(({ gone }) => gone)).toEqual([true, false]);
    expect(rows[0]!.row.wait).toBe(9);
    expect(news).toBe(1);
  });

  test("does not push rows in, but counts them", () => {
    const { rows, news } = merge(shown, [{ id: "c", wait: 99 }, ...shown], keyOf);
    expect(rows).toHaveLength(2);
    expect(news).toBe(1);
  });
});

describe("the bar against the promise", () => {
  test("half of a promise is half the way to it", () => {
    expect(filled(15, 30)).toEqual({ kept: PROMISE_AT / 2, past: 0, cut: false });
  });

  test("past it, the part beyond begins at the promise", () => {
    const { kept, past, cut } = filled(36, 30);
    expect(kept).toBe(PROMISE_AT);
    expect(past).toBeCloseTo(PROMISE_AT * 0.2);
    expect(cut).toBe(false);
  });

  test("never leaves the bar", () => {
    const { kept, past, cut } = filled(9000, 30);
    expect(kept + past).toBeCloseTo(1);
    expect(cut).toBe(true);
  });
});

test("a range begins at a step, so that its address stays the same for a while", () => {
  const now = 1_796_000_000_000;
  const from = since("1h", now)!;
  expect(now - from).toBeGreaterThanOrEqual(3_600_000);
  expect(now - from).toBeLessThan(3_660_001);
  expect(since("1h", from + 3_600_000 + 59_999)).toBe(from);
  expect(since("", now)).toBeNull();
});

test("a recording that is played shows how far it has come", () => {
  const replay = { begin_ms: 1, end_ms: 9, at_ms: 4, done: false };
  expect(replayOf({ sinks: { failure: null }, collector: { replay } })).toEqual(replay);
  expect(replayOf({ collector: { replay: { begin_ms: 1 } } })).toBeNull();
  expect(replayOf({ odd: null })).toBeNull();
  expect(replayOf(null)).toBeNull();
});

test("only filters are asked for", () => {
  expect(filtersOf({ phase: "waiting", theme: "dark", sort: "name", q: "x" })).toEqual({ phase: "waiting", q: "x" });
});

test("old data is an alarm when live and never in a replay", () => {
  expect(isStale({ replay: false, lag_ms: USUAL_ALARM_MS }, USUAL_ALARM_MS)).toBe(true);
  expect(isStale({ replay: false, lag_ms: USUAL_ALARM_MS - 1 }, USUAL_ALARM_MS)).toBe(false);
  expect(isStale({ replay: true, lag_ms: 86_400_000 }, USUAL_ALARM_MS)).toBe(false);
  expect(isStale({ replay: false, lag_ms: null }, USUAL_ALARM_MS)).toBe(false);
});
