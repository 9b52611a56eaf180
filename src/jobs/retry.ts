/** What becomes of a file, or of a whole job, by the class of what went wrong. */
import type { GatewayError } from '../base/errors.js';
import { type ErrorCode } from '../base/errors.js';

/** Before each further try. */
export const RETRY_AFTER_MS = [1_000, 5_000, 30_000, 120_000] as const;

/** They pass: lines that break, servers that are busy, files that are just being written. */
const PASSING: ReadonlySet<ErrorCode> = new Set([
  'dns_failed',
  'unreachable',
  'connection_lost',
  'protocol_error',
  'remote_failure',
  'size_mismatch',
  'too_many_sessions',
  'pool_full',
  'acquire_timeout',
  'overloaded',
  'share_exceeded',
  'connect_timeout',
  'stall_timeout',
  'command_timeout',
]);

/** Every other file would fail of them too, and to try might lock a login. */
const FATAL: ReadonlySet<ErrorCode> = new Set([
  'unknown_connection',
  'connection_inactive',
  'plan_required',
  'quota_exceeded',
  'address_denied',
  'login_refused',
  'host_key_mismatch',
  'certificate_rejected',
]);

/** The gateway's own: it stops, or its database is away. The file is done again, and nothing is said of it. */
const OURS: ReadonlySet<ErrorCode> = new Set(['draining', 'database_away']);

export type Verdict =
  /** Tried again after so many milliseconds. */
  | { readonly kind: 'again'; readonly afterMs: number }
  /** Not this file's matter. */
  | { readonly kind: 'stop'; readonly isFatal: boolean }
  | { readonly kind: 'failed' };

/** `tries`: how often it has failed before. */
export function verdictOn(error: GatewayError, tries: number): Verdict {
  if (OURS.has(error.code)) return { kind: 'stop', isFatal: false };
  if (FATAL.has(error.code)) return { kind: 'stop', isFatal: true };
  const afterMs = PASSING.has(error.code) || error.passes ? RETRY_AFTER_MS[tries] : undefined;
  return afterMs === undefined ? { kind: 'failed' } : { kind: 'again', afterMs };
}
