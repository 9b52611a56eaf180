/** Errors of a call. */
import { parseRetryAfter } from '../base/retry-schedule.js';
import { explain, type NetworkReason } from './causes.js';
import type { ClientErrorCode, ErrorCode } from './types.js';

interface FtgErrorFacts {
  readonly status: number;
  readonly code: FtgErrorCode;
  readonly requestId?: string | undefined;
  readonly retryAfter?: number | undefined;
  readonly skipped?: boolean;
  readonly reason?: NetworkReason;
  readonly cause?: unknown;
}

/** The codes of the gateway, and those of the client itself: see ClientErrorCode. */
export type FtgErrorCode = ErrorCode | ClientErrorCode;

/** A failed call. A call that ends through its own signal rejects with the reason of the signal instead. */
export class FtgError extends Error {
  override readonly name = 'FtgError';
  /** HTTP status; 0 without an answer. */
  readonly status: number;
  /** Stable: decide by the code, never by the text. */
  readonly code: FtgErrorCode;
  /** Identifies the request in the gateway's log. */
  readonly requestId: string | undefined;
  /** Seconds after which another attempt makes sense, if the gateway gives them. */
  readonly retryAfter: number | undefined;
  /** The existing file, for an upload or copy with `overwrite: false`. */
  readonly skipped: boolean;
  /** Why there was no answer; only for `network_error`. */
  readonly reason: NetworkReason | undefined;

  constructor(message: string, facts: FtgErrorFacts) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.status = facts.status;
    this.code = facts.code;
    this.requestId = facts.requestId;
    this.retryAfter = facts.retryAfter;
    this.skipped = facts.skipped ?? false;
    this.reason = facts.reason;
  }
}

/** Converts an error answer into an error; `body` is read from it. */
export async function errorOf(response: Response, body = response.text()): Promise<FtgError> {
  const { error, skipped } = parsed(await body.catch(() => ''));
  const code = response.headers.get('x-error-code') as ErrorCode | null;
  const askedMs = parseRetryAfter(response.headers.get('retry-after'), Date.now());
  const foreign = code === null ? `, and not as a gateway does: is ${response.url.split('?')[0]} one?` : '';
  return new FtgError(error ?? `the answer is ${response.status}${foreign}`, {
    status: response.status,
    code: code ?? 'invalid_answer',
    requestId: response.headers.get('x-request-id') ?? undefined,
    retryAfter: askedMs === undefined ? undefined : Math.ceil(askedMs / 1_000),
    skipped: skipped === true,
  });
}

interface NetworkFacts {
  readonly requestId?: string | undefined;
  /** The host of the request. */
  readonly host?: string | undefined;
}

export function networkError(cause: unknown, { requestId, host }: NetworkFacts = {}): FtgError {
  const { reason, text } = explain(cause, host);
  const facts = { status: 0, code: 'network_error', requestId, reason, cause } as const;
  return new FtgError(`no whole answer came from the gateway: ${text}`, facts);
}

function parsed(text: string): { readonly error?: string; readonly skipped?: boolean } {
  try {
    return JSON.parse(text) as { readonly error?: string; readonly skipped?: boolean };
  } catch {
    return {};
  }
}
