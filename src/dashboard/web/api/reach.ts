/** Whether the gateway can be reached. Known from requests that fail on the way; asked again until it answers. */
import { useSyncExternalStore } from 'react';

const ASK_MS = 2_000;
const PATIENCE_MS = 5_000;

const listeners = new Set<() => void>();
let isAway = false;
let isAsking = false;
let onBack = (): void => undefined;

export function whenBack(tell: () => void): void {
  onBack = tell;
}

/** A request failed on the way. One may fail by itself: the gateway is away where it does not answer this either. */
export function reachFailed(): void {
  if (!isAsking) void ask();
}

async function ask(): Promise<void> {
  isAsking = true;
  while (!(await answers())) {
    set(true);
    await new Promise((resolve) => setTimeout(resolve, ASK_MS));
  }
  isAsking = false;
  if (!isAway) return;
  set(false);
  onBack();
}

async function answers(): Promise<boolean> {
  try {
    await fetch('/healthz', { cache: 'no-store', signal: AbortSignal.timeout(PATIENCE_MS) });
    return true;
  } catch {
    return false;
  }
}

function set(value: boolean): void {
  if (isAway === value) return;
  isAway = value;
  for (const listener of listeners) listener();
}

export function useIsAway(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => isAway,
  );
}

addEventListener('offline', reachFailed);
