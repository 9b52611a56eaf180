/** What becomes of a delivery after a try: pure, so that the tables of pauses can be held against it. */
import { retryDelay } from '../base/retry-schedule.js';
import type { AttemptVerdict } from '../storage/storage.js';

/** The spread of the delays in `webhooks.retryMs`. */
export const WEBHOOK_SPREAD = [0.9, 1.1] as const;

interface Answer {
  /** Null when none came. */
  readonly status: number | null;
  readonly retryAfterMs: number | undefined;
}

/** `attempt`: how many tries there were, this one included. */
export function verdictOf(
  { status, retryAfterMs }: Answer,
  attempt: number,
  retryMs: readonly number[],
  now: number,
  random?: () => number,
): AttemptVerdict {
  if (status !== null && status >= 200 && status <= 299) return { kind: 'delivered' };
  if (status === 410) return { kind: 'gone' };
  const delayMs = retryDelay({ delaysMs: retryMs, spread: WEBHOOK_SPREAD }, attempt, retryAfterMs, random);
  return delayMs === undefined ? { kind: 'dead' } : { kind: 'retry', at: new Date(now + delayMs) };
}
