/** Errors by what follows of them, for what is tried again without anybody waiting. */
import type { ErrorCode } from '../base/errors.js';

/** They pass: lines that break, servers that are busy, files that are just being written. */
export const PASSING: ReadonlySet<ErrorCode> = new Set([
  'dns_failed',
  'unreachable',
  'connection_lost',
  'protocol_error',
  'remote_failure',
  'size_mismatch',
  'readback_mismatch',
  'too_many_sessions',
  'pool_full',
  'acquire_timeout',
  'too_slow',
  'overloaded',
  'share_exceeded',
  'connect_timeout',
  'stall_timeout',
  'command_timeout',
]);

/** Every other file would fail of them too, and to try might lock a login. */
export const FATAL: ReadonlySet<ErrorCode> = new Set([
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
export const OURS: ReadonlySet<ErrorCode> = new Set(['draining', 'database_away', 'outcome_unrecorded']);
