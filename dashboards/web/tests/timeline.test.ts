import { describe, expect, test } from "vitest";

import type { Episode, Segment } from "../src/api/types";
import { layout, partAt } from "../src/timeline/layout";
import { scale, widen } from "../src/timeline/scale";
import { ticks } from "../src/timeline/ticks";

const segment = (n: number, from_ms: number, to_ms: number | null, now_ms = 0): Segment => ({
  n, from_ms, to_ms, ms: (to_ms ?? now_ms) - from_ms, reason: "quota", detail: null, resource: null, title: "Quota",
  nodes: null, total_nodes: null, message: null, also: [], evidence: "event", estimated: false,
});

const episode = (segments: Segment[], more: Partial<Episode> = {}): Episode => ({
  job: { cluster: "c", namespace: "n", kind: "Job", name: "j", uid: "u", tenant: "", queue: "" },
  episode: 1, episodes: 1, phase: "scheduled", cause: null, created_ms: 0, started_ms: segments[0]?.from_ms ?? 0, scheduled_ms: null,
  ended_ms: segments[segments.length - 1]?.to_ms ?? null, wait_ms: 0, promise_ms: null, deadline_ms: null, sla: "none", overrun_ms: null,
  leading: null, now: null, tasks: 1, minimum: 1, gpus: 0, cpus_milli: 0, memory_bytes: 0, priority_class: null, partial: false,
  segments, promise_source: null, misconfigured: null, first_task_ms: null, running_ms: null, startup_ms: null, estimated_ms: 0, gap_ms: 0,
  ...more,
});

describe("widening", () => {
  test("nothing small: the plain shares", () => {
    expect(widen([1, 3], 0.01)).toEqual([0.25, 0.75]);
  });

  test("small parts get the least width and the long ones pay in proportion", () => {
    const shares = widen([1, 100_000, 300_000], 0.02);
    expect(shares[0]).toBeCloseTo(0.02);
    expect(shares[2]! / shares[1]!).toBeCloseTo(3);
    expect(shares.reduce((a, b) => a + b)).toBeCloseTo(1);
  });

  test("hundreds of small parts never take more than half", () => {
    const shares = widen([...Array<number>(400).fill(1), 1e9], 0.02);
    expect(shares[400]!).toBeGreaterThan(0.49);
    expect(shares.reduce((a, b) => a + b)).toBeCloseTo(1);
  });

  test("no length at all is shared evenly", () => {
    expect(widen([0, 0], 0.1)).toEqual([0.5, 0.5]);
  });
});

describe("the scale", () => {
  const line = scale([0, 7, 40_000, 40_007], 0.01);

  test("rises from 0 to 1 and goes back and forth", () => {
    const places = [0, 3, 7, 100, 20_000, 40_000, 40_003, 40_007].map(line.place);
    expect(places[0]).toBe(0);
    expect(places[places.length - 1]).toBe(1);
    for (let i = 1; i < places.length; i += 1) expect(places[i]!).toBeGreaterThan(places[i - 1]!);
    for (const ms of [0, 5, 7, 12_345, 40_002, 40_007]) expect(line.time(line.place(ms))).toBe(ms);
  });

  test("clamps what lies outside", () => {
    expect(line.place(-5)).toBe(0);
    expect(line.place(1e9)).toBe(1);
  });
});

describe("the bar of a wait", () => {
  test("its parts tile it", () => {
    const { parts } = layout(episode([segment(1, 0, 10), segment(2, 10, 4000), segment(3, 4000, 9000)]), 9000, 1000);
    expect(parts[0]!.left).toBe(0);
    parts.slice(1).forEach((part, i) => expect(part.left).toBeCloseTo(parts[i]!.left + parts[i]!.width));
    expect(parts[2]!.left + parts[2]!.width).toBeCloseTo(1);
  });

  test("a promise that was broken stands on it, before its end", () => {
    const line = layout(episode([segment(1, 0, 90_000)], { deadline_ms: 30_000, promise_ms: 30_000 }), 90_000, 1000);
    expect(line.promise).toBeCloseTo(1 / 3);
    expect(line.end).toBe(1);
    expect(line.beyond_ms).toBeNull();
  });

  test("a promise within reach makes room behind the wait", () => {
    const line = layout(episode([segment(1, 0, null, 60_000)], { phase: "waiting", ended_ms: null, deadline_ms: 100_000 }), 60_000, 1000);
    expect(line.promise!).toBeGreaterThan(line.end);
    expect(line.promise!).toBeLessThan(1);
    expect(line.open).toBe(true);
    expect(line.parts[0]!.open).toBe(true);
  });

  test("a promise far away is said, not drawn: the wait would be a sliver", () => {
    const line = layout(episode([segment(1, 0, 1000)], { deadline_ms: 3_600_000 }), 1000, 1000);
    expect(line.promise).toBeNull();
    expect(line.beyond_ms).toBe(3_599_000);
    expect(line.end).toBe(1);
  });

  test("a wait that has just begun can be drawn", () => {
    const line = layout(episode([segment(1, 500, null, 500)], { phase: "waiting", ended_ms: null }), 500, 0);
    expect(line.parts).toHaveLength(1);
    expect(Number.isFinite(line.parts[0]!.width)).toBe(true);
  });
});

test("the part at a moment is the one that holds then; after the end, the last", () => {
  const parts = [segment(1, 0, 10), segment(2, 10, 20)];
  expect(partAt(parts, 9)?.n).toBe(1);
  expect(partAt(parts, 10)?.n).toBe(2);
  expect(partAt(parts, 99)?.n).toBe(2);
  expect(partAt([], 5)).toBeNull();
});

test("ticks are round and not too many", () => {
  expect(ticks(47 * 60_000, 10)).toEqual([0, 5, 10, 15, 20, 25, 30, 35, 40, 45].map((m) => m * 60_000));
  expect(ticks(19, 8)).toEqual([0, 5, 10, 15]);
  expect(ticks(0, 8)).toEqual([0]);
  for (const span of [3, 950, 61_000, 7e6, 9e8, 9e10]) expect(ticks(span, 8).length).toBeLessThanOrEqual(9);
});
