import { describe, expect, test } from "vitest";

import type { Episode, Job } from "../src/api/types";
import { episodeOf, firstOf, numberOf } from "../src/job/choose";
import { commandsOf, quoted } from "../src/job/commandtext";

const wait = (episode: number, started_ms: number, ended_ms: number | null) => ({ episode, started_ms, ended_ms }) as Episode;
const waits = [wait(2, 500, null), wait(1, 100, 300)];

describe("which wait is shown", () => {
  test("the one the address names", () => {
    expect(episodeOf(waits, "1", null)?.episode).toBe(1);
  });

  test("else the one that a moment falls into, or the last that had begun", () => {
    expect(episodeOf(waits, undefined, 200)?.episode).toBe(1);
    expect(episodeOf(waits, undefined, 400)?.episode).toBe(1);
    expect(episodeOf(waits, undefined, 600)?.episode).toBe(2);
  });

  test("else the latest", () => {
    expect(episodeOf(waits, undefined, null)?.episode).toBe(2);
    expect(episodeOf(waits, "7", null)?.episode).toBe(2);
    expect(episodeOf([], undefined, null)).toBeNull();
  });
});

test("what is no number of a wait is not asked about", () => {
  expect(["2", "0", "-1", "x", "1e3", "99999999999", undefined].map(numberOf)).toEqual([2, null, null, null, null, null, null]);
});

describe("the first moment", () => {
  test("is that of the first wait, or of the job's creation before it", () => {
    expect(firstOf(waits.map((one) => ({ ...one, created_ms: 100 })))).toBe(100);
    expect(firstOf(waits.map((one) => ({ ...one, created_ms: 40 })))).toBe(40);
    expect(firstOf(waits.map((one) => ({ ...one, created_ms: null })))).toBe(100);
  });

  test("is none of a job without a wait", () => {
    expect(firstOf([])).toBeNull();
  });
});

describe("commands", () => {
  const job = { namespace: "team-vision", kind: "PyTorchJob", name: "llama" } as Job;

  test("are ready to paste", () => {
    expect(commandsOf(job, null)).toEqual(["kube-collector why llama -n team-vision", "kubectl describe pytorchjob llama -n team-vision"]);
  });

  test("name cluster and uid where the name alone would not do", () => {
    const exact = commandsOf({ ...job, cluster: "a@replay", uid: "u-1" }, null, { cluster: true, uid: true });
    expect(exact[0]).toBe("kube-collector why llama -n team-vision --cluster a@replay --uid u-1");
  });

  test("name the moment that is looked at", () => {
    expect(commandsOf(job, null, { at_ms: Date.UTC(2026, 0, 1, 0, 20) })[0]).toBe(
      "kube-collector why llama -n team-vision --at 2026-01-01T00:20:00.000Z",
    );
    expect(commandsOf(job, null, { at_ms: null })[0]).toBe("kube-collector why llama -n team-vision");
  });

  test("name Volcano's jobs so that kubectl finds them, not Kubernetes' own", () => {
    const named = (group: string | null) => commandsOf({ ...job, kind: "Job" }, group)[1];
    expect(named("batch.volcano.sh")).toBe("kubectl describe vcjob llama -n team-vision");
    expect(named("batch")).toBe("kubectl describe job llama -n team-vision");
    expect(named(null)).toBe("kubectl describe job llama -n team-vision");
  });

  test("quote what a shell would read otherwise", () => {
    expect(quoted("a b")).toBe("'a b'");
    expect(quoted("$(reboot)")).toBe("'$(reboot)'");
    expect(quoted("it's")).toBe(`'it'\\''s'`);
  });
});
