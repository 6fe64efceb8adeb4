import { describe, expect, test } from "vitest";

import { brief, duration } from "../src/format/duration";
import { cores, memory, percent } from "../src/format/number";
import { clock, full, moment, rfc3339 } from "../src/format/time";
import durations from "./durations.json";

describe("durations", () => {
  test.each(durations as [number, string][])("%i ms reads as it does in the sentence: %s", (ms, text) => {
    expect(duration(ms)).toBe(text);
  });

  test("a brief one keeps the two largest parts", () => {
    expect(brief(90_061_000)).toBe("1d1h");
    expect(brief(7_261_000)).toBe("2h1m");
    expect(brief(2_832_000)).toBe("47m12s");
    expect(brief(86_400_000)).toBe("1d");
    expect(brief(-7_200_000)).toBe("-2h");
  });
});

describe("shares", () => {
  test("what is not whole never reads 0 % or 100 %", () => {
    expect(percent(0.999, "en")).toBe("> 99%");
    expect(percent(0.001, "en")).toBe("< 1%");
    expect(percent(0.0002, "en", 1)).toBe("< 0.1%");
    expect(percent(0, "en")).toBe("0%");
    expect(percent(1, "en")).toBe("100%");
  });

  test("the rest is rounded as everywhere else", () => {
    expect(percent(0.991, "en")).toBe("99%");
    expect(percent(0.6568, "zh")).toBe("66%");
    expect(percent(0.6568, "en", 1)).toBe("65.7%");
  });
});

test("memory and cores are written as Kubernetes does", () => {
  expect(memory(64 * 2 ** 30)).toBe("64 Gi");
  expect(memory(1536 * 2 ** 20)).toBe("1.5 Gi");
  expect(memory(512)).toBe("512 B");
  expect(cores(500)).toBe("0.5");
  expect(cores(136_000)).toBe("136");
});

describe("moments", () => {
  const ms = Date.UTC(2026, 10, 29, 14, 2, 11, 5);

  test("a link names one by RFC 3339 or by milliseconds", () => {
    expect(moment(rfc3339(ms))).toBe(ms);
    expect(moment("2026-11-29T14:02:11.005Z")).toBe(ms);
    expect(moment("2026-11-29T22:02:11.005+08:00")).toBe(ms);
    expect(moment(String(ms))).toBe(ms);
  });

  test("anything else is no moment", () => {
    expect(moment(undefined)).toBeNull();
    expect(moment("")).toBeNull();
    expect(moment("soon")).toBeNull();
  });

  test("midnight is 00, and the zone is named where all is said", () => {
    expect(clock(Date.UTC(2026, 0, 1, 0, 0, 5), "en", "utc")).toBe("00:00:05");
    expect(full(ms, "en", "utc")).toContain("UTC");
  });
});
