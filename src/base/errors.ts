/**
 * The error that the program throws, with a code of the catalogue (src/contract/errors.ts). The program compares codes,
 * never texts.
 */
import { type ErrorCode, errorCodes, type ErrorDefinition, ERRORS } from '../contract/errors.js';

export type { ErrorCode };

/**
 * A server could not be reached, or refused the login, at any step of an operation: such errors make its connection
 * fail.
 */
export const UNREACHED: ReadonlySet<ErrorCode> = new Set(errorCodes(({ isUnreached }) => isUnreached === true));

/** The step of an operation in which an error arose. */
export type Step =
  | 'request'
  | 'acquire'
  | 'resolve'
  | 'connect'
  | 'proxy'
  | 'login'
  | 'open'
  | 'transfer'
  | 'verify'
  | 'publish'
  | 'fetch'
  | 'history';

/** The remote server's own code and words, unchanged. */
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
  /** Size of the file that a range is outside of. */
  readonly fileSize?: number;
  /** A later try may succeed; for codes that do not imply it themselves. */
  readonly passes?: boolean;
  /** Why the login session of the request is over. */
  readonly sessionEnd?: string | undefined;
  readonly cause?: unknown;
}

/**
 * Every failure that the program expects. `message` is written for the client: it names the step, field or path at
 * fault and what would be right, and contains no secret and no local path.
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
    return ERRORS[this.code].status;
  }

  get keepsSession(): boolean {
    return ERRORS[this.code].endsSession !== true;
  }

  get mayRetry(): boolean {
    return ERRORS[this.code].isTriedAgain === true;
  }

  /** How a job, or a copy of a watched folder, handles it. */
  get inJobs(): ErrorDefinition['inJobs'] {
    return ERRORS[this.code].inJobs;
  }

  /** The text for the client: the message, then the remote's own code and words if there are any. */
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

export const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

/** The code of an error of the system, or of a library that has such codes; '' = none. */
export function systemCodeOf(thrown: unknown): string {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : '';
}

/** The error for a mistake in the request itself. */
export function refusal(code: ErrorCode, text: string): GatewayError {
  return new GatewayError(code, text, { step: 'request' });
}

const UNKNOWN: Readonly<Record<string, ErrorCode>> = {
  connection: 'unknown_connection',
  'watched folder': 'unknown_watched_folder',
  upload: 'unknown_upload',
  'webhook event': 'not_found',
};

/**
 * Nothing of this kind has the id. It may be another account's, or out of the key's reach: the answers must be equal.
 */
export function unknown(kind: string, id: string): GatewayError {
  return refusal(UNKNOWN[kind] ?? 'unknown_item', `there is no ${kind} ${id.slice(0, 64)}`);
}

/** For a request whose upload another request has taken over. */
export function goneOn(): GatewayError {
  return new GatewayError('upload_locked', 'another request has continued this upload', { step: 'transfer' });
}

/**
 * Converts anything that was thrown: a GatewayError is unchanged, anything else is `internal` with the original as
 * cause.
 */
export function toGatewayError(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  if (isOutOfDescriptors(thrown)) return outOfDescriptors(thrown);
  const text = messageOf(thrown);
  return new GatewayError('internal', text, { cause: thrown });
}

/** The process has no free file descriptor (EMFILE), or the machine has none (ENFILE). */
export function isOutOfDescriptors(thrown: unknown): boolean {
  const code = systemCodeOf(thrown);
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
