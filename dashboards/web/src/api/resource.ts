/**
 * One answer of the API as a component sees it: asked for when the address changes, asked again every so often while the
 * tab is seen, and the last good picture kept when something fails.
 */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";

import { following, seen } from "../state/live";
import { useStore } from "../state/store";
import { ApiError, get, type Problem } from "./client";

export interface Resource<T> {
  data: T | null;
  problem: Problem | null;
  /** The data shown is of an earlier address, or nothing is there yet. */
  busy: boolean;
  /** The data shown is not what was asked for last: it is of an earlier address, or the last question failed. */
  dim: boolean;
  reload(): void;
}

interface State<T> {
  of: string;
  url: string;
  data: T | null;
  problem: Problem | null;
}

export const OPEN_MS = 2_000;
export const QUIET_MS = 15_000;

export interface Options<T> {
  /** Data of another subject is dropped at once; of the same one it stays until the new one is there. */
  of?: string;
  /** Milliseconds until it is asked again; null: never. */
  every?: (data: T) => number | null;
}

export function useResource<T>(url: string | null, options: Options<T> = {}): Resource<T> {
  const of = options.of ?? url ?? "";
  const [state, setState] = useState<State<T>>({ of, url: "", data: null, problem: null });
  const [asked, setAsked] = useState(0);
  const every = useRef(options.every);
  every.current = options.every;
  const polling = [useStore(following), useStore(seen)].every(Boolean);

  useEffect(() => {
    if (url === null) return;
    const stop = new AbortController();
    let timer = 0;
    const ask = async (): Promise<void> => {
      let wait: number | null;
      try {
        const data = await get<T>(url, stop.signal);
        setState((was) => (was.data === data && was.url === url && was.of === of && !was.problem ? was : { of, url, data, problem: null }));
        wait = every.current?.(data) ?? null;
      } catch (error) {
        if (stop.signal.aborted) return;
        const problem = error instanceof ApiError ? error.problem : { status: 0, title: String(error) };
        setState((was) => ({ of, url, data: was.of === of ? was.data : null, problem }));
        wait = problem.status === 0 || problem.status >= 500 ? QUIET_MS / 3 : null;
      }
      if (polling && wait !== null) timer = window.setTimeout(ask, wait);
    };
    void ask();
    return () => {
      stop.abort();
      window.clearTimeout(timer);
    };
  }, [url, of, asked, polling]);

  const data = state.of === of ? state.data : null;
  const problem = state.of === of ? state.problem : null;
  const reload = useCallback(() => setAsked((n) => n + 1), []);
  const busy = url !== null && !problem && (data === null || state.url !== url);
  return { data, problem, busy, dim: data !== null && (busy || problem !== null), reload };
}
