/** Decides about a file, or a whole job, by the class of its error. */
import type { GatewayError } from '../base/errors.js';
import { retryDelay, type RetrySchedule } from '../base/retry-schedule.js';

/** For a file, a folder, and a slice whose files all fail. */
export const JOB_RETRIES: RetrySchedule = { delaysMs: [1_000, 5_000, 30_000, 120_000] };

/** A server that answered without a reason: a busy one soon answers otherwise, a full disk does not. */
const TRIES_OF_A_FAILURE = 2;

export type Verdict =
  /** Tried again after this many milliseconds. */
  | { readonly kind: 'again'; readonly afterMs: number }
  /** The error does not concern this file only. */
  | { readonly kind: 'stop'; readonly isFatal: boolean }
  | { readonly kind: 'failed' };

/** `tries`: how often it has failed before. */
export function verdictOn(error: GatewayError, tries: number): Verdict {
  const { inJobs } = error;
  if (inJobs === 'again' || inJobs === 'stop') return { kind: 'stop', isFatal: inJobs === 'stop' };
  const isHopeless = error.code === 'remote_failure' && !error.passes && tries >= TRIES_OF_A_FAILURE;
  const isTried = !isHopeless && (inJobs === 'retry' || error.passes);
  const afterMs = isTried ? retryDelay(JOB_RETRIES, tries + 1) : undefined;
  return afterMs === undefined ? { kind: 'failed' } : { kind: 'again', afterMs };
}
