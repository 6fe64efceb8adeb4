/**
 * A list that refreshes under the reader's eyes must not jump: rows keep their places and only their figures change.
 * What the new answer orders differently, adds or leaves out is counted, and shown when the reader asks for it.
 */

export interface Shown<T> {
  rows: { row: T; gone: boolean }[];
  /** How many rows the new answer has that are not shown, or no longer has. */
  news: number;
}

export function merge<T>(shown: readonly T[], fresh: readonly T[], keyOf: (row: T) => string): Shown<T> {
  const byKey = new Map(fresh.map((row) => [keyOf(row), row]));
  const rows = shown.map((row) => ({ row: byKey.get(keyOf(row)) ?? row, gone: !byKey.has(keyOf(row)) }));
  const held = new Set(shown.map(keyOf));
  const added = fresh.reduce((n, row) => n + (held.has(keyOf(row)) ? 0 : 1), 0);
  return { rows, news: added + rows.reduce((n, { gone }) => n + (gone ? 1 : 0), 0) };
}
