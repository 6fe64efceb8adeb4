/**
 * Asking the API. An answer that has not changed (304) is the same object as before, so nothing is drawn again.
 * Addresses are relative to the page, which is what lets it live under a sub-path.
 */
import { prefs } from "../state/prefs";
import { store } from "../state/store";
import type { Fresh } from "./types";

export interface Problem {
  status: number;
  title: string;
  detail?: string;
  hint?: string;
  type?: string;
  instance?: string;
}

export class ApiError extends Error {
  constructor(readonly problem: Problem) {
    super(problem.title);
  }
}

/** How fresh the last answer was. */
export const freshness = store<Fresh | null>(null);

/** Whether the last question reached the server. */
export const reached = store(true);

const META = "api/v1/meta?";
const LAG_HEADER = "Kube-Collector-Lag-Ms";

const KEEP = 60;
const kept = new Map<string, { tag: string; data: unknown }>();

export type Params = Readonly<Record<string, string | number | null | undefined>>;

/** Path and query of an endpoint, relative to the page; the language is added. */
export function address(path: readonly string[], params: Params = {}): string {
  const query = new URLSearchParams();
  const all: Params = { ...params, lang: prefs.get().lang };
  for (const [key, value] of Object.entries(all)) {
    if (value !== null && value !== undefined && value !== "") query.set(key, String(value));
  }
  return `api/v1/${path.map(encodeURIComponent).join("/")}?${query}`;
}

/** The answer, or an `ApiError` with what the server (or this page, if it was not reached) says is wrong. */
export async function get<T>(url: string, signal: AbortSignal): Promise<T> {
  const before = kept.get(url);
  const headers: Record<string, string> = { Accept: "application/json" };
  if (before) headers["If-None-Match"] = before.tag;
  const answer = await fetch(url, { headers, signal, cache: "no-store" }).catch((error: unknown) => {
    if (signal.aborted) throw error;
    reached.set(false);
    throw new ApiError({ status: 0, title: "" });
  });
  reached.set(true);
  const same = answer.status === 304 && before;
  const body: unknown = same ? before.data : await answer.json().catch(() => null);
  if (!same) {
    if (!answer.ok || body === null) throw new ApiError(problemOf(answer, body));
    remember(url, answer.headers.get("ETag"), body);
  }
  note(url, body, answer.headers.get(LAG_HEADER));
  return body as T;
}

/** What is true of all clusters together says nothing about the page of one; the choices are such an answer. */
function note(url: string, body: unknown, lag: string | null): void {
  if (!isFresh(body) || (url.startsWith(META) && freshness.get())) return;
  const { now_ms, data_until_ms, lag_ms, replay, replay_over } = body;
  freshness.set({ now_ms, data_until_ms, lag_ms: lag === null ? lag_ms : Number(lag), replay, replay_over });
}

function problemOf(answer: Response, body: unknown): Problem {
  const given = (typeof body === "object" ? body : null) as Partial<Problem> | null;
  return { ...given, status: answer.status, title: given?.title ?? `${answer.status} ${answer.statusText}`.trim() };
}

function remember(url: string, tag: string | null, data: unknown): void {
  kept.delete(url);
  if (!tag) return;
  kept.set(url, { tag, data });
  if (kept.size > KEEP) kept.delete(kept.keys().next().value!);
}

function isFresh(body: unknown): body is Fresh {
  return typeof body === "object" && body !== null && "lag_ms" in body && "replay" in body;
}
