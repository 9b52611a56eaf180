/**
 * The catalogue of everything that can go wrong: one code, one HTTP status, one rule for
 * retrying and one for the session that was in use. Handlers, pool and retry read this
 * table; nobody matches error texts.
 */

/** When the gateway itself may try the same step again, once, on a fresh session. */
type Retry = 'never' | 'before_first_byte';
/** What happens to the session (SFTP: the channel) that the operation held. */
type SessionFate = 'keep' | 'discard';

interface ErrorRule {
  readonly status: number;
  readonly retry: Retry;
  readonly session: SessionFate;
}

const rule = (status: number, session: SessionFate = 'keep', retry: Retry = 'never'): ErrorRule => ({
  status,
  retry,
  session,
});

export const ERROR_RULES = {
  bad_request: rule(400),
  bad_path: rule(400),
  bad_base64: rule(400),
  digest_mismatch: rule(400),
  unsupported_operation: rule(400),
  unauthenticated: rule(401),
  totp_required: rule(401),
  forbidden: rule(403),
  scope_missing: rule(403),
  csrf_rejected: rule(403),
  plan_required: rule(403),
  connection_inactive: rule(403),
  permission_denied: rule(403),
  address_denied: rule(403),
  unknown_route: rule(404),
  unknown_connection: rule(404),
  unknown_watched_folder: rule(404),
  /** A key, a login session, a key pair, a history item of the management API. */
  unknown_item: rule(404),
  unknown_upload: rule(404),
  not_found: rule(404),
  method_not_allowed: rule(405),
  already_exists: rule(409),
  is_a_folder: rule(409),
  not_a_folder: rule(409),
  not_empty: rule(409),
  offset_mismatch: rule(409),
  idempotency_in_progress: rule(409),
  outcome_unknown: rule(409),
  sessions_exhausted: rule(409),
  in_use: rule(409),
  from_configuration: rule(409),
  not_running: rule(409),
  /** The source of a job is empty, or has lost most of its files since the last run. */
  source_suspicious: rule(409),
  /** The account's owner ended the operation. */
  cancelled: rule(409, 'discard'),
  /** It was there once, and will not be again. */
  gone: rule(410),
  /** Of the protocol of resumable uploads. */
  unsupported_version: rule(412),
  too_large: rule(413),
  unsupported_media_type: rule(415),
  bad_range: rule(416),
  idempotency_mismatch: rule(422),
  upload_locked: rule(423),
  rate_limited: rule(429),
  quota_exceeded: rule(429),
  /** The account holds its fair share of something that all accounts of the process use. */
  share_exceeded: rule(429),
  /** tus gives it a status of its own. */
  checksum_mismatch: rule(460),
  /** Nobody is left to answer; the status shows in the log and the history alone (nginx's habit). */
  client_gone: rule(499, 'discard'),
  internal: rule(500, 'discard'),
  resume_unsupported: rule(501),
  dns_failed: rule(502, 'discard'),
  unreachable: rule(502, 'discard'),
  login_refused: rule(502, 'discard'),
  host_key_mismatch: rule(502, 'discard'),
  certificate_rejected: rule(502, 'discard'),
  connection_lost: rule(502, 'discard', 'before_first_byte'),
  protocol_error: rule(502, 'discard', 'before_first_byte'),
  remote_failure: rule(502),
  no_space: rule(502),
  size_mismatch: rule(502),
  readback_mismatch: rule(502),
  /** A copy counts as stored, but its source is not removed on the server's word alone. */
  copy_unverified: rule(502),
  fetch_failed: rule(502),
  /** The remote admits no further session (421, 530 "too many", SSH open failure). The pool learns from it; clients see `pool_full`. */
  too_many_sessions: rule(503, 'discard'),
  pool_full: rule(503),
  acquire_timeout: rule(503),
  /** Its client was slow while others waited for the session, or slower than a link allows. */
  too_slow: rule(503, 'discard'),
  overloaded: rule(503),
  draining: rule(503),
  database_away: rule(503),
  /** Performed on the remote, and the history item is not durable: to repeat it could do it twice. */
  outcome_unrecorded: rule(503),
  connect_timeout: rule(504, 'discard'),
  stall_timeout: rule(504, 'discard'),
  command_timeout: rule(504, 'discard'),
} as const satisfies Record<string, ErrorRule>;

export type ErrorCode = keyof typeof ERROR_RULES;

/** A server could not be reached, or did not let us in, wherever in an operation that was: what makes its connection fail. */
export const UNREACHED: ReadonlySet<ErrorCode> = new Set([
  'dns_failed',
  'unreachable',
  'connect_timeout',
  'certificate_rejected',
  'host_key_mismatch',
  'login_refused',
]);

/** Where in an operation an error arose. */
export type Step =
  | 'request'
  | 'acquire'
  | 'resolve'
  | 'connect'
  | 'login'
  | 'open'
  | 'transfer'
  | 'verify'
  | 'publish'
  | 'fetch'
  | 'history';

/** The remote server's own code and words, as it spoke them. */
export interface RemoteReply {
  readonly code?: string | number;
  readonly text: string;
}

/** A limit that was reached, for the RateLimit fields of a 429. */
interface ReachedLimit {
  /** Lower-case letters. */
  readonly name: string;
  readonly quota: number;
  readonly windowSeconds: number;
}

export interface GatewayErrorDetails {
  readonly step?: Step;
  readonly remote?: RemoteReply | undefined;
  readonly retryAfterMs?: number;
  readonly limit?: ReachedLimit;
  /** Of the file that a range lies outside of. */
  readonly fileSize?: number;
  /** Whoever has time may ask again later; of codes that do not say so themselves. */
  readonly passes?: boolean;
  /** Why the login session of the request is over. */
  readonly sessionEnd?: string | undefined;
  readonly cause?: unknown;
}

/**
 * Every failure the program expects. `message` is written for the client: it names the step,
 * field or path at fault and what would be right, and holds no secret and no local path.
 */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: ErrorCode;
  readonly step: Step | undefined;
  readonly remote: RemoteReply | undefined;
  readonly retryAfterMs: number | undefined;
  readonly limit: ReachedLimit | undefined;
  readonly fileSize: number | undefined;
  readonly passes: boolean;
  readonly sessionEnd: string | undefined;

  constructor(code: ErrorCode, message: string, details: GatewayErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.step = details.step;
    this.remote = details.remote;
    this.retryAfterMs = details.retryAfterMs;
    this.limit = details.limit;
    this.fileSize = details.fileSize;
    this.passes = details.passes === true;
    this.sessionEnd = details.sessionEnd;
  }

  get status(): number {
    return ERROR_RULES[this.code].status;
  }

  get keepsSession(): boolean {
    return ERROR_RULES[this.code].session === 'keep';
  }

  get mayRetry(): boolean {
    return ERROR_RULES[this.code].retry === 'before_first_byte';
  }

  /** The text for the client: the message, then the remote's own code and words where it spoke. */
  get clientText(): string {
    if (this.code === 'internal') return INTERNAL_TEXT;
    const message = printable(this.message);
    const reply = this.remote === undefined ? '' : remoteWords(this.remote);
    return reply === '' || message.includes(reply) ? message : `${message} (remote said: ${reply})`;
  }
}

const INTERNAL_TEXT = 'internal error; the request id in X-Request-Id finds it in the log';
const MAX_REMOTE_WORDS = 500;

/** Remote servers are not trusted: control characters would reach logs, headers and terminals. */
function printable(text: string): string {
  const visible = text.replace(/\p{Cc}+/gu, ' ');
  return visible.toWellFormed().trim();
}

function remoteWords(reply: RemoteReply): string {
  const text = printable(reply.text);
  const coded = reply.code === undefined || text.startsWith(String(reply.code)) ? text : `${reply.code} ${text}`;
  return coded.slice(0, MAX_REMOTE_WORDS).trim();
}

/** What is wrong with the request itself. */
export function refusal(code: ErrorCode, text: string): GatewayError {
  return new GatewayError(code, text, { step: 'request' });
}

/** Narrows whatever was thrown: a GatewayError stays itself, anything else is `internal` with the original as cause. */
export function toGatewayError(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  if (isOutOfDescriptors(thrown)) return outOfDescriptors(thrown);
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return new GatewayError('internal', text, { cause: thrown });
}

/** The process has no free file descriptor (EMFILE), or the machine has none (ENFILE). */
export function isOutOfDescriptors(thrown: unknown): boolean {
  const code = (thrown as NodeJS.ErrnoException | undefined)?.code;
  return code === 'EMFILE' || code === 'ENFILE';
}

export function outOfDescriptors(cause: unknown, step?: Step): GatewayError {
  const text = 'the gateway has no file descriptors left';
  return new GatewayError('overloaded', text, { ...(step && { step }), retryAfterMs: 1_000, cause });
}

/** Whether `thrown` is a GatewayError with one of these codes. */
export function hasCode(thrown: unknown, ...codes: ErrorCode[]): thrown is GatewayError {
  return thrown instanceof GatewayError && codes.includes(thrown.code);
}
