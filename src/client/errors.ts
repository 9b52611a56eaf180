/** What can go wrong with a call. */
import { parseRetryAfter } from '../base/retry-schedule.js';
import { explain, type NetworkReason } from './causes.js';
import type { ErrorCode } from './types.js';

interface FtgErrorFacts {
  readonly status: number;
  readonly code: FtgErrorCode;
  readonly requestId?: string | undefined;
  readonly retryAfter?: number | undefined;
  readonly skipped?: boolean;
  readonly reason?: NetworkReason;
  readonly cause?: unknown;
}

/**
 * The gateway's own codes; `network_error` where no whole answer came, `invalid_answer` where it is none of the gateway's,
 * `invalid_body` where the caller's own body failed, `file_changed` where a download cannot go on since the file is another one.
 */
export type FtgErrorCode = ErrorCode | 'network_error' | 'invalid_answer' | 'invalid_body' | 'file_changed';

/** A call that failed. A call that its own signal ended rejects with the reason of the signal instead. */
export class FtgError extends Error {
  override readonly name = 'FtgError';
  /** HTTP status; 0 when no answer came. */
  readonly status: number;
  /** Stable: decide by it, never by the text. */
  readonly code: FtgErrorCode;
  /** Finds the request in the log of the gateway. */
  readonly requestId: string | undefined;
  /** Seconds after which another try makes sense, where the gateway says so. */
  readonly retryAfter: number | undefined;
  /** An upload or copy with `overwrite: false` found the file there. */
  readonly skipped: boolean;
  /** Why no answer came; only for `network_error`. */
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
  /** Whom was asked. */
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
