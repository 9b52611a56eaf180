/** One signed attempt to send a message to a receiver: the request and the answer. */
import { type GatewayError, hasCode, toGatewayError } from '../base/errors.js';
import type { NewAttempt } from '../contract/delivery.js';
import { withoutLogin } from '../storage/storage.js';
import { type ReceiverAnswer, requestHeaders, type Sender, signatures } from './send.js';
import { loginTexts, shownHeaders, without } from './shown.js';

interface Message {
  /** The `webhook-id`. */
  readonly id: string;
  readonly body: string;
  readonly contentType: string;
  /** Including a login. */
  readonly url: string;
  readonly secrets: readonly string[];
  /** The account. */
  readonly owner: string;
  /** By the database's clock. */
  readonly startedAt: Date;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Tried {
  readonly attempt: NewAttempt;
  readonly retryAfter: string | undefined;
  readonly error: GatewayError | undefined;
}

/** Failures are part of the result. @throws GatewayError draining if the gateway stops meanwhile */
export async function trySending(
  sender: Pick<Sender, 'send'>,
  { id, body, contentType, url, secrets, owner, startedAt, headers = {} }: Message,
  signal: AbortSignal,
): Promise<Tried> {
  const timestamp = Math.floor(startedAt.getTime() / 1000);
  const signed = {
    'content-type': contentType,
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures(secrets, id, timestamp, body),
    ...headers,
  };
  const begin = performance.now();
  let delivery: ReceiverAnswer | undefined;
  let error: GatewayError | undefined;
  try {
    delivery = await sender.send(url, signed, body, { owner, signal });
  } catch (thrown) {
    error = toGatewayError(thrown);
    if (hasCode(error, 'draining')) throw error;
  }
  const hidden = URL.canParse(url) ? loginTexts(url) : [];
  const attempt = {
    startedAt,
    durationMs: Math.round(performance.now() - begin),
    status: delivery?.status ?? null,
    errorCode: error?.code ?? null,
    errorMessage: error?.clientText ?? null,
    answer: delivery === undefined ? null : without(delivery.answer, hidden),
    url: withoutLogin(url).url,
    requestHeaders: URL.canParse(url) ? shownHeaders(Object.entries(requestHeaders(new URL(url), signed, body))) : null,
    answerHeaders: delivery === undefined ? null : shownHeaders(delivery.headers, hidden),
  };
  return { attempt, retryAfter: delivery?.retryAfter, error };
}
