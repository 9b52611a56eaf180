/** Idempotency-Key: the same key and request return the first answer again. */
import { createHash } from 'node:crypto';
import { GatewayError, refusal } from '../base/errors.js';
import { ERRORS } from '../contract/errors.js';
import type { IdempotencyClaim, IdempotencyStore, StoredAnswer } from '../storage/storage.js';
import { BodyDigest, hasDigest, mediaType } from './body-digest.js';
import type { Intent } from '../base/intent.js';
import type { Caller, HttpAnswer, HttpRequest } from './types.js';

/** The key of a request, bare or as a quoted string (RFC 8941). @throws GatewayError bad_request */
export function idempotencyKey(request: HttpRequest): string | undefined {
  const field = request.headers.get('idempotency-key')?.trim();
  if (field === undefined) return undefined;
  const key =
    field.startsWith('"') && field.endsWith('"') && field.length > 1
      ? field.slice(1, -1).replace(/\\(["\\])/g, '$1')
      : field;
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw refusal('bad_request', 'Idempotency-Key must be 1 to 255 visible ASCII characters');
  }
  return key;
}

/** A request with a key either runs, or `recall` reports what is known about one that was lost. */
interface Repeatable {
  readonly run: (changes: { readonly request: HttpRequest; readonly intent: Intent }) => Promise<HttpAnswer>;
  readonly recall: (transferId: string) => Promise<string>;
}

/**
 * Runs the request once for all requests of one API key with this key. A streamed body is hashed as it passes, and
 * again when it is repeated. Errors: idempotency_in_progress, idempotency_mismatch, outcome_unknown, and the failures
 * of a repeated body.
 */
export async function once(
  store: IdempotencyStore,
  caller: Caller,
  key: string,
  { request, body }: { readonly request: HttpRequest; readonly body: Uint8Array | undefined },
  { run, recall }: Repeatable,
): Promise<HttpAnswer> {
  const claim = await store.claim(caller.accountId, `${caller.keyId}:${key}`, fingerprint(request, body));
  const isStreamed = body === undefined && request.hasBody;
  switch (claim.state) {
    case 'running':
      throw new GatewayError('idempotency_in_progress', 'a request with this Idempotency-Key still runs', {
        step: 'request',
        retryAfterMs: 1_000,
      });
    case 'mismatch':
      throw anotherRequest();
    case 'unknown':
      throw refusal('outcome_unknown', `${LOST}: ${await recall(claim.transferId)}`);
    case 'done': {
      const { requestDigest } = claim.answer;
      if (requestDigest !== undefined && isStreamed && !(await hasDigest(request, requestDigest))) {
        throw anotherRequest();
      }
      return replay(claim.answer);
    }
    case 'mine': {
      const digest = isStreamed ? new BodyDigest(request) : undefined;
      return settle(claim, (intent) => run({ request: digest?.request ?? request, intent }), digest);
    }
  }
}

const LOST = 'the first request with this Idempotency-Key had begun when it was lost';

async function settle(
  claim: Extract<IdempotencyClaim, { state: 'mine' }>,
  work: (intent: Intent) => Promise<HttpAnswer>,
  digest: BodyDigest | undefined,
): Promise<HttpAnswer> {
  let isLost = false;
  const intent: Intent = { begin: (transferId) => claim.begin(transferId), lose: () => (isLost = true) };
  let answer: HttpAnswer;
  try {
    answer = await work(intent);
  } catch (error) {
    await claim.release();
    throw error;
  }
  if (isLost) await claim.abandon();
  else if (isDefinitive(answer)) await claim.complete(stored(answer, digest?.value));
  else await claim.release();
  return answer;
}

function anotherRequest(): GatewayError {
  return refusal('idempotency_mismatch', 'this Idempotency-Key was used with another request');
}

/** A retry after anything else should run again. */
function isDefinitive({ status }: HttpAnswer): boolean {
  const passing: number[] = [ERRORS.client_gone.status, ERRORS.rate_limited.status];
  return status < 500 && !passing.includes(status);
}

function stored({ status, headers = {}, body }: HttpAnswer, requestDigest: string | undefined): StoredAnswer {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) if (typeof value === 'string') kept[name] = value;
  return {
    status,
    headers: kept,
    body: typeof body === 'string' ? body : '',
    ...(requestDigest === undefined ? {} : { requestDigest }),
  };
}

function replay({ status, headers, body }: StoredAnswer): HttpAnswer {
  return { status, headers: { ...headers, 'Idempotency-Replayed': 'true' }, body };
}

/** Fields that describe a streamed body. */
const BODY_FIELDS = ['content-digest', 'content-disposition'] as const;

/**
 * What makes two requests equal before their bodies have arrived: method, path, query in any order, media type, and the
 * body if it is in memory already. A streamed body is represented by its length, Content-Digest and
 * Content-Disposition.
 */
function fingerprint(request: HttpRequest, body: Uint8Array | undefined): string {
  const query = new URLSearchParams(request.query);
  query.sort();
  const hash = createHash('sha256');
  hash.update(JSON.stringify([request.method, request.path, query.toString(), mediaType(request)]));
  if (body !== undefined) hash.update(body);
  else {
    const fields = BODY_FIELDS.map((name) => request.headers.get(name) ?? null);
    hash.update(JSON.stringify([request.contentLength ?? null, ...fields]));
  }
  return hash.digest('hex');
}
