import { describe, expect, test } from "vitest";

import { chosen } from "../src/state/choice";
import { changed, format, parse } from "../src/state/url";

describe("the address of a state", () => {
  test("is read back as it was written", () => {
    const path = ["jobs", "kube-a@replay", "team/a b", "Job", "名字-7%"];
    const query = { at: "2026-11-29T14:02:11.000Z", q: "a&b=c d" };
    expect(parse(format(path, query))).toEqual({ path, query });
  });

  test("is one for one state, whatever the order of keys", () => {
    expect(format(["jobs"], { sort: "-wait", phase: "waiting" })).toBe("#/jobs?phase=waiting&sort=-wait");
    expect(format(["jobs"], { phase: "waiting", sort: "-wait" })).toBe("#/jobs?phase=waiting&sort=-wait");
  });

  test("can be read by a person", () => {
    expect(format(["jobs", "a@replay"], { at: "2026-11-29T14:02:11.000Z" })).toBe("#/jobs/a@replay?at=2026-11-29T14:02:11.000Z");
  });

  test("leaves out what is not chosen", () => {
    expect(format(["jobs"], { q: "", phase: null, sla: undefined })).toBe("#/jobs");
    expect(parse("#/jobs?q=&phase=waiting").query).toEqual({ phase: "waiting" });
  });

  test("of nothing is the first page", () => {
    for (const hash of ["", "#", "#/", "/"]) expect(parse(hash)).toEqual({ path: [], query: {} });
  });

  test("that is broken still opens something", () => {
    expect(parse("#/jobs/%E0%A4%A").path).toEqual(["jobs", "%E0%A4%A"]);
  });

  test("changes key by key", () => {
    expect(changed({ phase: "waiting", cursor: "x" }, { cursor: null, page: 2 })).toEqual({ phase: "waiting", page: "2" });
  });
});

describe("preferences", () => {
  test("the URL wins over what was kept, what was kept over the browser", () => {
    expect(chosen({ lang: "en" }, { lang: "zh" }, ["de"]).lang).toBe("zh");
    expect(chosen({ lang: "en" }, {}, ["zh-CN"]).lang).toBe("en");
    expect(chosen({}, {}, ["zh-Hans-CN", "en"]).lang).toBe("zh");
    expect(chosen({}, {}, ["de-DE"]).lang).toBe("en");
  });

  test("what nobody knows is the system's", () => {
    expect(chosen({ theme: "pink" as never }, {}, []).theme).toBe("system");
    expect(chosen({ theme: "dark" }, { theme: "light" }, []).theme).toBe("light");
  });
});
