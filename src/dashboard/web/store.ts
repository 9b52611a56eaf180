/** A value that changes outside of components. */
import { useSyncExternalStore } from 'react';

interface Store<T> {
  readonly get: () => T;
  /** Redraws the components that use the value. */
  readonly set: (next: T) => void;
  /** The hook that reads the value. */
  readonly use: () => T;
}

export function store<T>(initial: T): Store<T> {
  const listeners = new Set<() => void>();
  let value = initial;
  const subscribe = (listener: () => void): (() => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  const get = (): T => value;
  const set = (next: T): void => {
    if (Object.is(value, next)) return;
    value = next;
    for (const listener of listeners) listener();
  };
  const useValue = (): T => useSyncExternalStore(subscribe, get);
  return { get, set, use: useValue };
}
