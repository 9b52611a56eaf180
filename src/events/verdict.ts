/** Decides the next step of a delivery after an attempt. */
import { retryDelay, type RetrySchedule } from '../base/retry-schedule.js';
import type { AttemptVerdict } from '../storage/storage.js';

/** The schedule of `webhooks.retryMs`. */
export function scheduleOf(delaysMs: readonly number[]): RetrySchedule {
  return { delaysMs, spread: [0.9, 1.1] };
}

interface Answer {
  /** Null if there was no answer. */
  readonly status: number | null;
  readonly retryAfterMs: number | undefined;
}

/** `attempt`: the number of attempts, including this one. */
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
