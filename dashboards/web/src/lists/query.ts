/** Which keys of the URL filter a list. */
import type { Query } from "../state/url";

export const FILTERS = ["phase", "sla", "reason", "queue", "namespace", "tenant", "q"] as const;

export const PAGE_SIZE = 100;

/** Stands for "without one" in the filters by queue and tenant. */
export const NONE = "-";

export const filtersOf = (query: Query): Record<string, string> =>
  Object.fromEntries(FILTERS.flatMap((key) => (query[key] ? [[key, query[key]]] : [])));
