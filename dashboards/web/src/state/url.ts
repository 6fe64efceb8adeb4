/**
 * State is the URL: the part after `#` holds the page and everything chosen on it, so that a copied link shows the same
 * picture and Back works. It is a fragment and not a path so that the page needs nothing of its server: it works under
 * any sub-path, behind any proxy, and never asks for a file that is not there.
 *
 *   #/jobs?phase=waiting&sort=-wait
 *   #/jobs/CLUSTER/NAMESPACE/KIND/NAME?uid=…&episode=2&at=2026-11-29T14:02:11.000Z
 */

export type Query = Readonly<Record<string, string>>;

export interface Route {
  path: readonly string[];
  query: Query;
}

export function parse(hash: string): Route {
  const text = hash.replace(/^#?\/?/, "");
  const cut = text.indexOf("?");
  const pathText = cut < 0 ? text : text.slice(0, cut);
  const query: Record<string, string> = {};
  for (const [key, value] of new URLSearchParams(cut < 0 ? "" : text.slice(cut + 1))) if (value !== "") query[key] = value;
  return { path: pathText.split("/").filter(Boolean).map(decode), query };
}

/** The fragment of a route. Empty values are left out; the order of keys is fixed, so one state has one address. */
export function format(path: readonly string[], query: Readonly<Record<string, string | number | null | undefined>> = {}): string {
  const pairs = new URLSearchParams();
  for (const key of Object.keys(query).sort()) {
    const value = query[key];
    if (value !== undefined && value !== null && value !== "") pairs.set(key, String(value));
  }
  const search = pairs.toString();
  return readable(`#/${path.map(encodeURIComponent).join("/")}${search ? `?${search}` : ""}`);
}

/** These mean nothing in a fragment, so a person who reads the address need not see them escaped. */
const readable = (hash: string): string => hash.replaceAll("%40", "@").replaceAll("%3A", ":");

/** The query with some keys changed; null removes one. */
export function changed(query: Query, changes: Readonly<Record<string, string | number | null | undefined>>): Record<string, string> {
  const next: Record<string, string> = { ...query };
  for (const [key, value] of Object.entries(changes)) {
    if (value === null || value === undefined || value === "") delete next[key];
    else next[key] = String(value);
  }
  return next;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
