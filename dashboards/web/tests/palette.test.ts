import { describe, expect, test } from "vitest";

import { LOOKS, lookOf, ORDER, patternClass, rank, shades, type Look } from "../src/reasons/palette";

type Rgb = [number, number, number];

/** How eyes without one kind of cone see linear light (Machado, Oliveira and Fernandes 2009, full severity). */
const EYES: Record<string, number[][]> = {
  usual: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protan: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deutan: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritan: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};

const linear = (hex: string): Rgb =>
  [1, 3, 5].map((at) => {
    const value = parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  }) as Rgb;

const luminance = (hex: string): number => {
  const [r, g, b] = linear(hex);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};

const contrast = (a: string, b: string): number => {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];
  return (high + 0.05) / (low + 0.05);
};

/** Oklab, in which distance is close to how different two colours look; times 100. */
function oklab([r, g, b]: Rgb): Rgb {
  const [l, m, s] = [
    0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b,
    0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b,
    0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b,
  ].map((value) => Math.cbrt(Math.max(0, value))) as Rgb;
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

function difference(a: string, b: string, eye: number[][]): number {
  const [x, y] = [a, b].map((hex) => {
    const light = linear(hex);
    return oklab(eye.map((row) => row.reduce((sum, factor, i) => sum + factor * light[i]!, 0)) as Rgb);
  }) as [Rgb, Rgb];
  return 100 * Math.hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]);
}

const looks = Object.entries(LOOKS);
const pairs = looks.flatMap(([a, lookA], i) => looks.slice(i + 1).map(([b, lookB]) => [a, lookA, b, lookB] as [string, Look, string, Look]));

describe("every reason", () => {
  test.each(looks)("%s stands out from the page in light and in dark", (_reason, look) => {
    expect(contrast(look.light, "#ffffff")).toBeGreaterThan(3);
    expect(contrast(look.dark, "#13161b")).toBeGreaterThan(3);
  });

  test.each(Object.entries(EYES))("with %s eyes differs from every other that has its pattern", (_name, eye) => {
    const alike = pairs
      .filter(([, a, , b]) => a.pattern === b.pattern)
      .filter(([, a, , b]) => Math.min(difference(a.light, b.light, eye), difference(a.dark, b.dark, eye)) < 6.9)
      .map(([a, , b]) => `${a} and ${b}`);
    expect(alike).toEqual([]);
  });

  test("has a shade of its own in both themes", () => {
    expect(new Set(looks.map(([, look]) => look.light)).size).toBe(looks.length);
    expect(new Set(looks.map(([, look]) => look.dark)).size).toBe(looks.length);
    expect(shades(true)).toContainEqual(["quota", LOOKS["quota"]!.dark]);
  });
});

test("a reason that this page does not know looks unknown and stacks before the unknown", () => {
  expect(lookOf("brand_new")).toBe(LOOKS["unknown"]);
  expect(patternClass("brand_new")).toBe("pattern-dots");
  const sorted = ["gap", "brand_new", "quota", "unknown"].sort((a, b) => rank(a) - rank(b));
  expect(sorted).toEqual(["quota", "brand_new", "unknown", "gap"]);
});

test("what is not known comes last in a stack", () => {
  expect(ORDER.slice(-2)).toEqual(["unknown", "gap"]);
});
