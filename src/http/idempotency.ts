/** Idempotency-Key: the same key and request give the first answer again. */
import { createHash } from 'node:crypto';
import { pipeline, Transform, type TransformCallback } from 'node:stream';
import { finished } from 'node:stream/promises';
import { ERROR_RULES, GatewayError } from '../errors.js';
import type { IdempotencyClaim, IdempotencyStore, StoredAnswer } from '../storage/storage.js';
import type { Caller, HttpAnswer, HttpRequest } from './types.js';

/** The key a request carries, bare or as a quoted string (RFC 8941). @throws GatewayError bad_request */
export function idempotencyKey(request: HttpRequest): string | undefined {
  const field = request.headers.get('idempotency-key')?.trim();
  if (field === undefined) return undefined;
  const key =
    field.startsWith('"') && field.endsWith('"') && field.length > 1
      ? field.slice(1, -1).replace(/\\(["\\])/g, '$1')
      : field;
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw new GatewayError('bad_request', 'Idempotency-Key must be 1 to 255 visible ASCII characters', {
      step: 'request',
    });
  }
  return key;
}

/**
 * Runs `work` once for all requests of one API key with this key. A body that streams is hashed on its way, and again
 * when it is repeated. Errors: idempotency_in_progress, idempotency_mismatch, and what a repeated body may fail with.
 */
export async function once(
  store: IdempotencyStore,
  caller: Caller,
  key: string,
  request: HttpRequest,
  body: Uint8Array | undefined,
  work: (request: HttpRequest) => Promise<HttpAnswer>,
): Promise<HttpAnswer> {
  const claim = await store.claim(caller.accountId, `${caller.keyId}:${key}`, fingerprint(request, body));
  const hashed = body === undefined && isComparable(request) ? hashOnTheWay(request) : undefined;
  switch (claim.state) {
    case 'running':
      throw new GatewayError('idempotency_in_progress', 'a request with this Idempotency-Key still runs', {
        step: 'request',
        retryAfterMs: 1_000,
      });
    case 'mismatch':
      throw anotherRequest();
    case 'done':
      if (claim.answer.requestDigest !== undefined && hashed !== undefined) {
        await finished(hashed.body.resume());
        if (hashed.body.digest !== claim.answer.requestDigest) throw anotherRequest();
      }
      return replay(claim.answer);
    case 'mine':
      return settle(claim, () => work(hashed?.request ?? request), hashed?.body);
  }
}

async function settle(
  claim: Extract<IdempotencyClaim, { state: 'mine' }>,
  work: () => Promise<HttpAnswer>,
  hashed: HashedBody | undefined,
): Promise<HttpAnswer> {
  let answer: HttpAnswer;
  try {
    answer = await work();
  } catch (error) {
    await claim.release();
    throw error;
  }
  if (!isDefinitive(answer)) {
    await claim.release();
    return answer;
  }
  await claim.complete(stored(answer, hashed?.digest));
  return answer;
}

/** Passes a body through and knows its SHA-256 once it has ended whole. */
class HashedBody extends Transform {
  digest: string | undefined;
  private readonly hash = createHash('sha256');

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.hash.update(chunk);
    done(null, chunk);
  }

  override _flush(done: TransformCallback): void {
    this.digest = this.hash.digest('hex');
    done();
  }
}

/** Multipart boundaries differ from try to try. */
function isComparable(request: HttpRequest): boolean {
  return request.hasBody && mediaType(request) !== 'multipart/form-data';
}

function hashOnTheWay(request: HttpRequest): { readonly request: HttpRequest; readonly body: HashedBody } {
  // Whoever reads the body sees its errors.
  const body = pipeline(request.body, new HashedBody(), () => undefined);
  body.on('error', () => undefined);
  return { request: { ...request, body }, body };
}

function anotherRequest(): GatewayError {
  return new GatewayError('idempotency_mismatch', 'this Idempotency-Key was used with another request', {
    step: 'request',
  });
}

/** A retry of anything else should run again. */
function isDefinitive({ status }: HttpAnswer): boolean {
  const passing: number[] = [ERROR_RULES.client_gone.status, ERROR_RULES.rate_limited.status];
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

/** Fields that say what a streamed body is. */
const BODY_FIELDS = ['content-digest', 'content-disposition'] as const;

/**
 * What makes two requests the same before their bodies have come: method, path, query in any order, media type, and the
 * body where it is held already. One that streams is stood for by its length, Content-Digest and Content-Disposition.
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

function mediaType(request: HttpRequest): string {
  return (request.headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}
