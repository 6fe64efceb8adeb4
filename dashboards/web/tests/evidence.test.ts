import { expect, test } from "vitest";

import { knownFrom } from "../src/job/evidence";

const condition = (detail: string | null, message: string | null = null) => ({ evidence: "condition", detail, message });

test("a condition is that of the object that carries it", () => {
  expect(knownFrom("en", condition("quota_check"))).toBe("condition of its Workload");
  expect(knownFrom("zh", condition("quota_check"))).toBe("其 Workload 的状况");
  expect(knownFrom("en", condition("not_enqueued"))).toBe("phase of its pod group");
});

test("what Kueue says stands in the Workload, also where another's condition has the same detail", () => {
  expect(knownFrom("en", condition(null, "couldn't assign flavors to pod set main: insufficient quota"))).toBe("condition of its Workload");
  expect(knownFrom("en", condition("queue_closed", "ClusterQueue held is inactive"))).toBe("condition of its Workload");
  expect(knownFrom("en", condition("queue_closed"))).toBe("state of its queue");
});

test("no pod is named where none has to exist", () => {
  expect(knownFrom("en", condition(null, "0/4 nodes are available"))).toBe("condition of one of its objects");
  expect(knownFrom("zh", condition("suspended"))).toBe("所属对象的状况");
});

test("other evidence is told as it is, whatever the detail", () => {
  expect(knownFrom("en", { evidence: "count", detail: "quota_check", message: null })).toBe("count of objects");
  expect(knownFrom("en", { evidence: null, detail: null, message: null })).toBe("");
});
