/** A value that changes outside of components. */
import { useSyncExternalStore } from 'react';

interface Store<T> {
  readonly get: () => T;
  /** Redraws the components that use the value. */
  readonly set: (next: T) => void;
  /** The hook that reads the value. */
  readonly use: () => T;
}

/** @param whileUsed runs while a component uses the value, until its result is called */
export function store<T>(initial: T, whileUsed?: () => () => void): Store<T> {
  const listeners = new Set<() => void>();
  let value = initial;
  let end: (() => void) | undefined;
  const subscribe = (listener: () => void): (() => void) => {
    if (listeners.size === 0) end = whileUsed?.();
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) end?.();
    };
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
