import { describe, expect, test } from "vitest";

import type { Episode, Job } from "../src/api/types";
import { episodeOf, whyAt } from "../src/job/choose";
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

describe("the moment of the question", () => {
  test("is none for the latest wait, so that the answer goes on", () => {
    expect(whyAt(waits, waits[0]!, null)).toBeNull();
  });

  test("is the end of an earlier wait", () => {
    expect(whyAt(waits, waits[1]!, null)).toBe(300);
  });

  test("is the one that the address names, before anything else", () => {
    expect(whyAt(waits, waits[1]!, 250)).toBe(250);
  });
});

describe("commands", () => {
  const job = { namespace: "team-vision", kind: "PyTorchJob", name: "llama" } as Job;

  test("are ready to paste", () => {
    expect(commandsOf(job)).toEqual(["kube-collector why llama -n team-vision", "kubectl describe pytorchjob llama -n team-vision"]);
  });

  test("quote what a shell would read otherwise", () => {
    expect(quoted("a b")).toBe("'a b'");
    expect(quoted("$(reboot)")).toBe("'$(reboot)'");
    expect(quoted("it's")).toBe(`'it'\\''s'`);
  });
});
