import { describe, expect, test } from "vitest";

import { CATALOGUES, detailWord, translate, word } from "../src/i18n/catalogue";

const { en, zh } = CATALOGUES;
const sources = Object.values(import.meta.glob("../src/**/*.{ts,tsx}", { query: "?raw", import: "default", eager: true })) as string[];
const code = sources.join("\n");
const places = (text: string): string[] => [...text.matchAll(/\{(\w+)\}/g)].map((found) => found[1]!).sort();

test("the sources were read", () => {
  expect(code).toContain("useTranslate");
});

describe("both languages", () => {
  test("say the same things, but for the singular, which Chinese has not", () => {
    expect(Object.keys(zh).sort()).toEqual(Object.keys(en).filter((id) => !id.endsWith(".one")).sort());
  });

  test("fill the same places", () => {
    for (const [id, text] of Object.entries(zh)) expect([id, places(text)]).toEqual([id, places(en[id]!)]);
  });

  test("Chinese texts are in Chinese", () => {
    const latin = Object.entries(zh).filter(([, text]) => !/[\u4e00-\u9fff]/.test(text)).map(([id]) => id);
    expect(latin.sort()).toEqual(["col.gpus", "fact.gpus", "fact.uid", "overview.chart_unit_gpus", "prefs.zone.utc"]);
  });
});

test("every text is used", () => {
  const unused = Object.keys(en).filter((id) => {
    const plain = id.replace(/\.one$/, "");
    const prefix = plain.slice(0, plain.lastIndexOf("."));
    return !code.includes(`"${plain}"`) && !code.includes(`\`${prefix}.\${`) && !code.includes(`word(lang, "${prefix}"`);
  });
  expect(unused).toEqual([]);
});

test("one is singular", () => {
  expect(translate("en", "jobs.total", { n: "1" })).toBe("1 job");
  expect(translate("en", "jobs.total", { n: "2" })).toBe("2 jobs");
  expect(translate("zh", "jobs.total", { n: "1" })).toBe("1 个任务");
});

test("Chinese has a blank wherever it meets Latin letters or figures, also those that are filled in", () => {
  const tight = /[\u4e00-\u9fff][A-Za-z0-9]|[A-Za-z0-9%][\u4e00-\u9fff]/;
  expect(Object.entries(zh).filter(([, text]) => tight.test(text))).toEqual([]);
  expect(translate("zh", "jobs.sort", { column: "GPU" })).toBe("按 GPU 排序");
  expect(translate("zh", "jobs.sort", { column: "等待" })).toBe("按等待排序");
});

test("a word that is not known is shown as it came", () => {
  expect(word("zh", "phase", "waiting")).toBe("等待中");
  expect(word("zh", "phase", "levitating")).toBe("levitating");
});

test("what could never fit only did not when that is over", () => {
  expect(detailWord("en", "insufficient_resource", "never_fits", false)).toBe("can never fit");
  expect(detailWord("en", "insufficient_resource", "never_fits", true)).toBe("did not fit any node then");
  expect(detailWord("en", "scheduler_backlog", "not_tried", true)).toBe("not tried yet");
});
