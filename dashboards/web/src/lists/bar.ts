/** How much of its promise a wait has used, as parts of a bar. */

/** Where the promise stands, of the bar's width; the rest is room for waits that went past it. */
export const PROMISE_AT = 2 / 3;

/** Filled part (0 to 1) up to the promise, and past it; waits beyond one and a half promises are cut there. */
export function filled(wait_ms: number, promise_ms: number): { kept: number; past: number; cut: boolean } {
  const used = wait_ms / promise_ms;
  return {
    kept: Math.min(1, used) * PROMISE_AT,
    past: Math.min(1 - PROMISE_AT, Math.max(0, used - 1) * PROMISE_AT),
    cut: used > 1 / PROMISE_AT,
  };
}
