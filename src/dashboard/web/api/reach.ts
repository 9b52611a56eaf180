/** Whether the gateway can be reached. A failed request starts a check, which is repeated until the gateway answers. */
import { store } from '../store.ts';

const ASK_MS = 2_000;
const PATIENCE_MS = 5_000;

const isAway = store(false);
let isAsking = false;
let onBack = (): void => undefined;

export function whenBack(callback: () => void): void {
  onBack = callback;
}

/**
 * Reports a request that failed on the way. One failure proves nothing: the gateway is away if it does not answer the check
 * either.
 */
export function reachFailed(): void {
  if (!isAsking) void ask();
}

async function ask(): Promise<void> {
  isAsking = true;
  while (!(await answers())) {
    isAway.set(true);
    await new Promise((resolve) => setTimeout(resolve, ASK_MS));
  }
  isAsking = false;
  if (!isAway.get()) return;
  isAway.set(false);
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

export const useIsAway = isAway.use;

addEventListener('offline', reachFailed);
