/** What becomes of a delivery after a try: pure, so that the tables of pauses can be held against it. */
import type { AttemptVerdict } from '../storage/storage.js';

/** A spread of a tenth, so that what failed together does not come back together. */
const JITTER = 0.1;
const MAX_RETRY_AFTER_MS = 24 * 3_600_000;

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
  random: () => number = Math.random,
): AttemptVerdict {
  if (status !== null && status >= 200 && status <= 299) return { kind: 'delivered' };
  if (status === 410) return { kind: 'gone' };
  const pause = retryMs[attempt - 1];
  if (pause === undefined) return { kind: 'dead' };
  const jittered = pause * (1 - JITTER + 2 * JITTER * random());
  return { kind: 'retry', at: new Date(now + Math.max(jittered, Math.min(retryAfterMs ?? 0, MAX_RETRY_AFTER_MS))) };
}

/** Retry-After as seconds or a date (RFC 9110, 10.2.3); undefined when it is neither. */
export function parseRetryAfter(field: string | undefined, now: number): number | undefined {
  if (field === undefined) return undefined;
  if (/^\d{1,9}$/.test(field.trim())) return Number(field) * 1000;
  const date = Date.parse(field);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
