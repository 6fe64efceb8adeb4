/** The route in use, and how to change it. */
import { heed } from "./prefs";
import { store, useStore } from "./store";
import { changed, format, parse, type Query, type Route } from "./url";

const route = store<Route>(parse(location.hash));
addEventListener("hashchange", () => {
  const next = parse(location.hash);
  heed(next.query);
  route.set(next);
});

export const useRoute = (): Route => useStore(route);

/** Filters that stay when one goes from page to page. */
const KEPT = ["cluster", "lang", "theme"];

export function kept(query: Query): Record<string, string> {
  return Object.fromEntries(KEPT.flatMap((key) => (query[key] ? [[key, query[key]]] : [])));
}

/** Address of a page; what is kept from page to page is added. */
export function href(path: readonly string[], query: Readonly<Record<string, string | number | null | undefined>> = {}): string {
  return format(path, { ...kept(route.get().query), ...query });
}

/** Change part of the query of the page in use. `replace`: leave no step in the history (typing, dragging). */
export function adjust(changes: Readonly<Record<string, string | number | null | undefined>>, replace = false): void {
  const now = parse(location.hash);
  const next = format(now.path, changed(now.query, changes));
  if (next === location.hash) return;
  if (replace) history.replaceState(null, "", next);
  else history.pushState(null, "", next);
  route.set(parse(next));
}
