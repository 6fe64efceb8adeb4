/** Where everything of one wait stands on its bar; pure, so that it can be tested without a browser. */
import type { Episode, Segment } from "../api/types";
import { scale, type Scale } from "./scale";
import { ticks } from "./ticks";

export interface Placed {
  segment: Segment;
  left: number;
  width: number;
  /** Until the end of the bar for the part that still lasts. */
  open: boolean;
}

export interface Layout {
  scale: Scale;
  parts: Placed[];
  ticks: { at: number; elapsed_ms: number }[];
  /** Place of the promise; null: no promise, or so far away that the bar would vanish beside it. */
  promise: number | null;
  /** How far behind the bar's end the promise lies, if it is not on it. */
  beyond_ms: number | null;
  /** Where the wait ends (or is now), 0 to 1; the rest of the bar is time left. */
  end: number;
  open: boolean;
}

/** The bar reaches as far as the promise only if the wait fills this share of it; else the wait would be a sliver. */
const LEAST_FILL = 0.3;

/** `width_px`: of the bar, for least widths and the number of ticks. */
export function layout(episode: Episode, now_ms: number, width_px: number): Layout {
  const { segments } = episode;
  const from = segments[0]?.from_ms ?? episode.started_ms;
  const open = episode.phase === "waiting";
  const end = Math.max(from + 1, ...segments.map((s) => s.to_ms ?? now_ms), episode.ended_ms ?? (open ? now_ms : from + 1));
  const deadline = episode.deadline_ms;
  const onBar = deadline !== null && (end - from) / Math.max(1, deadline - from) >= LEAST_FILL;
  const to = onBar && deadline > end ? deadline + (deadline - from) * 0.04 : end;
  const bounds = [from, ...segments.map((s) => Math.min(end, s.to_ms ?? end)), end, to];
  const line = scale(bounds, 4 / Math.max(200, width_px));
  return {
    scale: line,
    parts: segments.map((segment) => place(segment, line, end)),
    ticks: ticks(to - from, Math.max(2, Math.floor(width_px / 88))).map((elapsed_ms) => ({ elapsed_ms, at: line.place(from + elapsed_ms) })),
    promise: onBar ? line.place(deadline) : null,
    beyond_ms: deadline !== null && !onBar ? deadline - end : null,
    end: line.place(end),
    open,
  };
}

function place(segment: Segment, line: Scale, end: number): Placed {
  const left = line.place(segment.from_ms);
  return { segment, left, width: line.place(segment.to_ms ?? end) - left, open: segment.to_ms === null };
}

/** The part that holds at a moment; the last one if the moment is after all of them. */
export function partAt(segments: readonly Segment[], ms: number): Segment | null {
  for (const segment of segments) if (ms < (segment.to_ms ?? Infinity)) return segment;
  return segments[segments.length - 1] ?? null;
}
