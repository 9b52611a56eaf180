/** Compares the signature of a request with that of its access key, in constant time (AWS Signature Version 4). */
import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { signingKeyOf, uriEncoded } from '../../base/aws-signature.js';
import { atMost } from '../../base/cache-size.js';
import type { HttpRequest } from '../../http/types.js';
import type { SignedRequest } from './signed-request.js';

const MAX_KEYS = 1_000;

export class SignatureCheck {
  /** By access key, secret and scope: each is valid for one day. */
  readonly #keys = new LRUCache<string, Buffer>(atMost(MAX_KEYS));

  /** The key that signs this request and its chunks. */
  keyOf({ accessKeyId, scope }: SignedRequest, secretAccessKey: string): Buffer {
    const name = `${accessKeyId} ${secretAccessKey} ${scope}`;
    let key = this.#keys.get(name);
    if (key === undefined) {
      key = signingKeyOf(scope, secretAccessKey);
      this.#keys.set(name, key);
    }
    return key;
  }

  isRight(
    request: Pick<HttpRequest, 'method' | 'path' | 'query' | 'headers'>,
    signed: SignedRequest,
    key: Buffer,
  ): boolean {
    const digest = hash('sha256', canonicalRequest(request, signed), 'hex');
    const text = `AWS4-HMAC-SHA256\n${signed.date}\n${signed.scope}\n${digest}`;
    return isSameSignature(createHmac('sha256', key).update(text).digest('hex'), signed.signature);
  }
}

/** Both have the same length. */
export function isSameSignature(own: string, given: string): boolean {
  return own.length === given.length && timingSafeEqual(Buffer.from(own), Buffer.from(given));
}

function canonicalRequest(
  { method, path, query, headers }: Pick<HttpRequest, 'method' | 'path' | 'query' | 'headers'>,
  { signedHeaders, payload }: SignedRequest,
): string {
  let lines = '';
  for (const name of signedHeaders) lines += `${name}:${canonicalValue(headers.get(name) ?? '')}\n`;
  return `${method}\n${canonicalPath(path)}\n${canonicalQuery(query)}\n${lines}\n${signedHeaders.join(';')}\n${payload}`;
}

const canonicalValue = (value: string): string => value.trim().replace(/ {2,}/g, ' ');

/** Clients encode more or less of a path than the signature does. */
function canonicalPath(path: string): string {
  if (/^[A-Za-z\d\-._~/]*$/.test(path)) return path;
  return path
    .split('/')
    .map((segment) => uriEncoded(decodeURIComponent(segment)))
    .join('/');
}

function canonicalQuery(query: URLSearchParams): string {
  const pairs: [string, string][] = [];
  for (const [name, value] of query) if (name !== 'X-Amz-Signature') pairs.push([uriEncoded(name), uriEncoded(value)]);
  pairs.sort(([nameA, valueA], [nameB, valueB]) => compare(nameA, nameB) || compare(valueA, valueB));
  return pairs.map(([name, value]) => `${name}=${value}`).join('&');
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
