/** What becomes of a file, or of a whole job, by the class of what went wrong. */
import type { GatewayError } from '../base/errors.js';

/** Before each further try. */
export const RETRY_AFTER_MS = [1_000, 5_000, 30_000, 120_000] as const;

/** A server that answered and gives no reason: a busy one does otherwise soon, a full disk does not. */
const TRIES_OF_A_FAILURE = 2;

export type Verdict =
  /** Tried again after so many milliseconds. */
  | { readonly kind: 'again'; readonly afterMs: number }
  /** Not this file's matter. */
  | { readonly kind: 'stop'; readonly isFatal: boolean }
  | { readonly kind: 'failed' };

/** `tries`: how often it has failed before. */
export function verdictOn(error: GatewayError, tries: number): Verdict {
  const { inJobs } = error;
  if (inJobs === 'again' || inJobs === 'stop') return { kind: 'stop', isFatal: inJobs === 'stop' };
  const isHopeless = error.code === 'remote_failure' && !error.passes && tries >= TRIES_OF_A_FAILURE;
  const isTried = !isHopeless && (inJobs === 'retry' || error.passes);
  const afterMs = isTried ? RETRY_AFTER_MS[tries] : undefined;
  return afterMs === undefined ? { kind: 'failed' } : { kind: 'again', afterMs };
}
