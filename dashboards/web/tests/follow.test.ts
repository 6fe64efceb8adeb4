import { expect, test } from "vitest";

import { followOf } from "../src/state/follow";

test("what is followed is live while news can come", () => {
  expect(followOf({ on: true, answered: true, over: false })).toEqual(["dot-live", "frame.live"]);
});

test("nothing is live beside a replay that is over", () => {
  expect(followOf({ on: true, answered: true, over: true })).toBeNull();
});

test("a server that is away and a reader's stop are always told", () => {
  for (const over of [false, true]) {
    expect(followOf({ on: true, answered: false, over })).toEqual(["dot-broken", "frame.unreached"]);
    expect(followOf({ on: false, answered: true, over })).toEqual(["dot-off", "frame.paused"]);
  }
});
