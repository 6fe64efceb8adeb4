/** A value that components can watch: the whole state management of this page. */
import { useEffect, useState } from "preact/hooks";

export interface Store<T> {
  get(): T;
  set(next: T): void;
  watch(heard: (value: T) => void): () => void;
}

export function store<T>(initial: T): Store<T> {
  let value = initial;
  const watchers = new Set<(value: T) => void>();
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const heard of [...watchers]) heard(value);
    },
    watch(heard) {
      watchers.add(heard);
      return () => watchers.delete(heard);
    },
  };
}

export function useStore<T>(source: Store<T>): T {
  const [value, setValue] = useState(source.get());
  useEffect(() => {
    setValue(source.get());
    return source.watch(setValue);
  }, [source]);
  return value;
}
