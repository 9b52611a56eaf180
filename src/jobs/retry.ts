/** Decides about a file, or a whole job, by the class of its error. */
import type { GatewayError } from '../base/errors.js';

/** The delays before each further try. */
export const RETRY_AFTER_MS = [1_000, 5_000, 30_000, 120_000] as const;

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
  const afterMs = isTried ? RETRY_AFTER_MS[tries] : undefined;
  return afterMs === undefined ? { kind: 'failed' } : { kind: 'again', afterMs };
}
