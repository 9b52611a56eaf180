/** Classifies the errors of the driver and the server. */
import { within } from '../../base/deadline.js';
import { GatewayError, type GatewayErrorDetails, refusal, systemCodeOf } from '../../base/errors.js';

const CONNECTION_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'ENOENT',
  'EACCES',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'CONNECTION_ENDED',
  'CONNECT_TIMEOUT',
]);
export const TOO_MANY_CONNECTIONS = '53300';
const READ_ONLY = '25006';
/** Class 08 and: shutting down, crashed, starting up, out of connections or memory, server in recovery. */
const AWAY_STATES = new Set(['57P01', '57P02', '57P03', '53200', TOO_MANY_CONNECTIONS, READ_ONLY]);
/** Waiting does not help: wrong password or role, missing database. */
const REFUSED_STATES = new Set(['28P01', '28000', '3D000', '42501']);
const DISK_FULL = '53100';
const CONFLICT_STATES = new Set(['40P01', '40001', '55P03']);
const CANCELLED = '57014';
const UNIQUE_VIOLATION = '23505';

const RETRY_AFTER_MS = 2000;

/**
 * A statement that the server refused. The driver attaches statement and parameters to its errors, and the server
 * quotes rows in `detail`: none of that may reach a log, so this error keeps only code and message.
 */
export class StatementError extends Error {
  override readonly name = 'StatementError';
  /** SQLSTATE. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** The connection to the database is lost; whether the statement was executed is unknown. */
export function isConnectionLoss(thrown: unknown): boolean {
  const code = systemCodeOf(thrown);
  return CONNECTION_CODES.has(code) || AWAY_STATES.has(code) || code.startsWith('08');
}

/** The server answered, and a retry would get the same answer. */
export function isRefusedState(thrown: unknown): boolean {
  return REFUSED_STATES.has(systemCodeOf(thrown));
}

/** Two statements conflicted; the same one may be sent again. */
export function isConflict(thrown: unknown): boolean {
  return CONFLICT_STATES.has(systemCodeOf(thrown));
}

/** There is no disk space for the write; the same statement succeeds when there is. */
function isFull(thrown: unknown): boolean {
  return systemCodeOf(thrown) === DISK_FULL;
}

/** The server is read-only: a standby, or a database made read-only. */
function isReadOnly(thrown: unknown): boolean {
  return systemCodeOf(thrown) === READ_ONLY;
}

/** The server ended the statement at its time limit. */
export function isCancelled(thrown: unknown): boolean {
  return systemCodeOf(thrown) === CANCELLED;
}

/** Whether the row violates a unique constraint. */
export function isDuplicate(thrown: unknown): boolean {
  return systemCodeOf(thrown) === UNIQUE_VIOLATION;
}

/** A duplicate in `work` becomes the client's answer already_exists with `text`. */
export async function refusingDuplicates<T>(text: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw isDuplicate(error) ? refusal('already_exists', text) : error;
  }
}

/** The client's answer while the database is away, or after conflicts that did not end: 503, retry in a moment. */
export function databaseAway(cause?: unknown): GatewayError {
  return new GatewayError('database_away', awayText(cause), away(cause));
}

function awayText(cause: unknown): string {
  if (isConflict(cause)) return 'the database of the gateway ended a conflict of several requests; repeat this one';
  return systemCodeOf(cause) === TOO_MANY_CONNECTIONS
    ? 'the database of the gateway accepts no more connections'
    : 'the database of the gateway is not reachable at the moment';
}

/** The same when the database answers but would refuse every write for `reason`. */
export class WritesRefused extends GatewayError {
  constructor(reason: string, cause: unknown) {
    super('database_away', `the database of the gateway takes no writes: ${reason}`, away(cause));
  }
}

/** Undefined if the error does not concern other writes. */
export function writesRefused(thrown: unknown): WritesRefused | undefined {
  if (isFull(thrown)) return new WritesRefused('disk full, there is no room left', thrown);
  return isReadOnly(thrown) ? new WritesRefused('it is read-only', thrown) : undefined;
}

function away(cause: unknown): GatewayErrorDetails {
  return { retryAfterMs: RETRY_AFTER_MS, cause: slimCause(cause) };
}

/** Code and message of the error, without anything attached to it. */
export function slimCause(thrown: unknown): Error | undefined {
  if (!(thrown instanceof Error)) return undefined;
  const code = systemCodeOf(thrown);
  return new Error(code === '' ? thrown.message : `${code}: ${thrown.message}`);
}

/** No answer came in time; on a connection to a database this means a dead connection. */
export class Silence extends Error {
  constructor(ms: number) {
    super(`no answer within ${ms} ms`);
  }
}

/** The result of `work`, or a Silence after `ms`. */
export function answerWithin<T>(work: PromiseLike<T>, ms: number): Promise<T> {
  return within(work, ms, () => {
    throw new Silence(ms);
  });
}
