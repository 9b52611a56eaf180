/** When a call is made again, and after how long. */
import type { FtgError } from './errors.js';
import { type FtgErrorCode } from './errors.js';

export interface RetryOptions {
  /** Tries in all, the first included. Default 4; 1 = no second one. */
  readonly attempts?: number;
  /** Milliseconds before the second try; it doubles from there. Default 500. */
  readonly delayMs?: number;
  /** Longest wait in milliseconds; a Retry-After beyond it ends the tries. Default 60,000. */
  readonly maxDelayMs?: number;
}

/**
 * repeatable: the second run ends as the first one would have; an Idempotency-Key makes it so where the operation alone
 * does not. once: a second run could do it twice, so only what surely was not begun is sent again.
 */
export type Repetition = 'repeatable' | 'once';

/** Refused before anything was begun. */
const NOT_BEGUN: readonly FtgErrorCode[] = ['rate_limited', 'pool_full', 'acquire_timeout', 'overloaded'];
/** May go better the next time, whether begun or not. */
const PASSING: readonly FtgErrorCode[] = [
  ...NOT_BEGUN,
  'draining',
  'database_away',
  'connection_lost',
  'unreachable',
  'connect_timeout',
  'stall_timeout',
  'network_error',
  // The first try still runs; its answer is given once it has ended.
  'idempotency_in_progress',
];
/** A load balancer without a gateway behind it. */
const PASSING_STATUSES: readonly number[] = [502, 503, 504];

/** Milliseconds to wait before the next try; undefined = give up. `attempt` counts from 1. */
export function delayBefore(
  error: FtgError,
  repetition: Repetition,
  attempt: number,
  { attempts = 4, delayMs = 500, maxDelayMs = 60_000 }: RetryOptions,
): number | undefined {
  if (attempt >= attempts || !isPassing(error, repetition)) return undefined;
  if (error.retryAfter !== undefined) {
    const asked = error.retryAfter * 1_000;
    return asked <= maxDelayMs ? asked : undefined;
  }
  // Spread, so that clients which failed together do not come back together.
  return Math.min(maxDelayMs, delayMs * 2 ** (attempt - 1)) * (0.5 + Math.random() / 2);
}

function isPassing({ code, status }: FtgError, repetition: Repetition): boolean {
  if (repetition === 'once') return NOT_BEGUN.includes(code);
  return PASSING.includes(code) || (code === 'invalid_answer' && PASSING_STATUSES.includes(status));
}

/** Rejects with the signal's reason. */
export function wait(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    if (signal?.aborted === true) return reject(signal.reason as Error);
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', end, { once: true });
  });
}
