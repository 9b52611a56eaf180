/**
 * Identifies a streamed body for a repeated request: the SHA-256 of all of it, or of the bytes read before the answer.
 * A form is identified by its parts, because the boundary between them differs from try to try.
 */
import { createHash } from 'node:crypto';
import { pipeline, Transform, type Readable, type TransformCallback } from 'node:stream';
import { Dicer } from '@fastify/busboy';
import { parseBoundary } from './body/form-headers.js';
import type { HttpRequest } from './types.js';

/** Takes a body piece by piece; `text` is the value to store and to compare. */
interface Digest {
  update(piece: Buffer): void;
  /** undefined: too little is known about a form that was not read to its end. */
  text(isWhole: boolean): string | undefined;
}

/** Hashes a request's body on its way to the handler. */
export class BodyDigest {
  readonly request: HttpRequest;
  readonly #body: HashedBody;

  constructor(request: HttpRequest) {
    // The reader of the body gets its errors.
    this.#body = pipeline(request.body, new HashedBody(digestFor(request)), () => undefined);
    this.#body.on('error', () => undefined);
    this.request = withBody(request, this.#body);
  }

  /** The digest of the bytes read so far. */
  get value(): string | undefined {
    return this.#body.digest.text(this.#body.isWhole);
  }
}

function withBody(request: HttpRequest, body: Readable): HttpRequest {
  const { method, path, queryText, headers, remoteAddress, contentLength, hasBody, claims, ending } = request;
  return {
    method,
    path,
    queryText,
    headers,
    remoteAddress,
    contentLength,
    hasBody,
    claims,
    ending,
    body,
    get query() {
      return request.query;
    },
    get signal() {
      return request.signal;
    },
    expectBodyWithin: (ms) => request.expectBodyWithin(ms),
    expectPace: (bytesPerSecond) => request.expectPace(bytesPerSecond),
    bytesPerSecond: (overMs) => request.bytesPerSecond(overMs),
    // A body that may end early has no digest, and its request cannot be repeated.
    bodyInPieces: () => request.bodyInPieces(),
  };
}

/** Reads the body as far as `wanted` covers it. Rejects as the body does. */
export async function hasDigest(request: HttpRequest, wanted: string): Promise<boolean> {
  const [, prefixBytes] = /^(\d+):/.exec(wanted) ?? [];
  const digest = digestFor(request);
  let left = prefixBytes === undefined ? Infinity : Number(prefixBytes);
  if (left > 0) {
    for await (const piece of request.body as AsyncIterable<Buffer>) {
      digest.update(piece.subarray(0, left));
      left -= Math.min(left, piece.length);
      if (left === 0) break;
    }
  }
  return digest.text(prefixBytes === undefined) === wanted;
}

export function mediaType(request: HttpRequest): string {
  return (request.headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}

class HashedBody extends Transform {
  isWhole = false;

  constructor(readonly digest: Digest) {
    super();
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.digest.update(chunk);
    done(null, chunk);
  }

  override _flush(done: TransformCallback): void {
    this.isWhole = true;
    done();
  }
}

function digestFor(request: HttpRequest): Digest {
  if (mediaType(request) !== 'multipart/form-data') return new RawDigest();
  try {
    return new FormDigest(parseBoundary(request.headers.get('content-type') ?? ''));
  } catch {
    // Such a form is unreadable; its handler says why.
    return new RawDigest();
  }
}

class RawDigest implements Digest {
  readonly #hash = createHash('sha256');
  #bytes = 0;

  update(piece: Buffer): void {
    this.#bytes += piece.length;
    this.#hash.update(piece);
  }

  text(isWhole: boolean): string {
    const hex = this.#hash.copy().digest('hex');
    return isWhole ? hex : `${this.#bytes}:${hex}`;
  }
}

/** Hashes each part's headers and bytes with their lengths, so that no part can pass for another one's end. */
class FormDigest implements Digest {
  readonly #hash = createHash('sha256');
  readonly #parser: Dicer;
  #isBroken = false;
  #isOver = false;

  constructor(boundary: string) {
    this.#parser = new Dicer({ boundary });
    this.#parser.on('error', () => (this.#isBroken = true));
    this.#parser.on('finish', () => (this.#isOver = true));
    this.#parser.on('part', (part) => {
      let bytes = 0;
      part.on('error', () => (this.#isBroken = true));
      part.on('header', (headers) => this.#hash.update(`${JSON.stringify(headers)}\n`));
      // Taken at once, like the form's own reader does: a part's stream would hold data.
      part.push = (piece: Buffer | null) => {
        if (piece === null) {
          this.#hash.update(`\n${bytes}\n`);
          part.emit('end');
        } else {
          bytes += piece.length;
          this.#hash.update(piece);
        }
        return true;
      };
    });
  }

  update(piece: Buffer): void {
    if (this.#isBroken || this.#isOver) return;
    try {
      this.#parser.write(piece);
    } catch {
      this.#isBroken = true;
    }
  }

  text(isWhole: boolean): string | undefined {
    return isWhole ? this.#hash.copy().digest('hex') : undefined;
  }
}
