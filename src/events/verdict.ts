/** What becomes of a delivery after a try: pure, so that the tables of pauses can be held against it. */
import { retryDelay, type RetrySchedule } from '../base/retry-schedule.js';
import type { AttemptVerdict } from '../storage/storage.js';

/** The schedule of `webhooks.retryMs`. */
export function scheduleOf(delaysMs: readonly number[]): RetrySchedule {
  return { delaysMs, spread: [0.9, 1.1] };
}

interface Answer {
  /** Null when none came. */
  readonly status: number | null;
  readonly retryAfterMs: number | undefined;
}

/** `attempt`: how many tries there were, this one included. */
export function verdictOf(
  { status, retryAfterMs }: Answer,
  attempt: number,
  retry: RetrySchedule,
  now: number,
  random?: () => number,
): AttemptVerdict {
  if (status !== null && status >= 200 && status <= 299) return { kind: 'delivered' };
  if (status === 410) return { kind: 'gone' };
  const delayMs = retryDelay(retry, attempt, retryAfterMs, random);
  return delayMs === undefined ? { kind: 'dead' } : { kind: 'retry', at: new Date(now + delayMs) };
}
