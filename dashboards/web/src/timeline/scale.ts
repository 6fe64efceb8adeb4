/**
 * From time to place on the bar.
 *
 * A wait of forty seconds may hold a part of seven milliseconds, which on a true scale nobody could see or hit. So parts
 * get a least width, taken from the long parts in proportion; the scale stays monotone and is used for everything on the
 * bar (parts, ticks, promise, the handle), so that all of it lines up. With nothing to widen it is the plain linear one.
 */

export interface Scale {
  from: number;
  to: number;
  /** Place of a time, 0 to 1, clamped. */
  place(ms: number): number;
  /** Time at a place. */
  time(place: number): number;
}

/** `bounds`: ascending times that cut [first, last]; `least`: least share of the width for each cut, 0 to 1. */
export function scale(bounds: readonly number[], least: number): Scale {
  const from = bounds[0] ?? 0;
  const to = bounds[bounds.length - 1] ?? from;
  const cuts: number[] = [from];
  for (const bound of bounds) if (bound > cuts[cuts.length - 1]!) cuts.push(bound);
  const shares = widen(lengths(cuts), least);
  const places = [0];
  for (const share of shares) places.push(Math.min(1, places[places.length - 1]! + share));
  if (places.length > 1) places[places.length - 1] = 1;
  return {
    from,
    to,
    place: (ms) => interpolate(cuts, places, ms),
    time: (place) => Math.round(interpolate(places, cuts, place)),
  };
}

/** Shares of a whole, each at least `least`; at most half of the whole is spent on widening. */
export function widen(sizes: readonly number[], least: number): number[] {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  if (total <= 0) return sizes.map(() => 1 / Math.max(1, sizes.length));
  const floor = Math.min(least, 0.5 / sizes.length);
  let small = new Set<number>();
  for (;;) {
    const rest = sizes.reduce((sum, size, i) => (small.has(i) ? sum : sum + size), 0);
    const room = 1 - floor * small.size;
    const more = new Set(small);
    sizes.forEach((size, i) => {
      if (!small.has(i) && (size / rest) * room < floor) more.add(i);
    });
    if (more.size === small.size) return sizes.map((size, i) => (small.has(i) ? floor : (size / rest) * room));
    small = more;
  }
}

const lengths = (cuts: readonly number[]): number[] => cuts.slice(1).map((cut, i) => cut - cuts[i]!);

function interpolate(xs: readonly number[], ys: readonly number[], x: number): number {
  const last = xs.length - 1;
  if (last < 1 || x <= xs[0]!) return ys[0] ?? 0;
  if (x >= xs[last]!) return ys[last]!;
  let low = 0;
  let high = last;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (xs[middle]! <= x) low = middle;
    else high = middle;
  }
  const part = (x - xs[low]!) / (xs[high]! - xs[low]!);
  return ys[low]! + part * (ys[high]! - ys[low]!);
}
