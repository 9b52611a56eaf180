/** Moves a body into a remote: counts, hashes and limits it, and ends both sides with the first error. */
import { createHash, timingSafeEqual, type Hash } from 'node:crypto';
import { Transform, type Readable, type TransformCallback, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { orAbort } from '../base/deadline.js';
import { GatewayError, refusal } from '../base/errors.js';
import { type Borrower, borrows, lendPast } from '../base/lent.js';
import { flowOf, type RateFlow } from '../remotes/rate-limit.js';
import type { ContentHash } from './content-hash.js';

/** A short body, requested once, by an operation that holds no session yet: so a slow client blocks no other. */
export type WholeBody = () => Promise<Buffer>;

/**
 * The digest of the body that a Content-Digest or Repr-Digest field (RFC 9530), or the checksum of a piece, promises.
 */
export interface ExpectedDigest {
  /** The name of the field; absent = Content-Digest. */
  readonly field?: string;
  readonly algorithm: 'sha1' | 'sha256' | 'sha512';
  readonly value: Buffer;
}

interface PumpOptions {
  readonly signal: AbortSignal;
  /** Beyond it: too_large. 0 = no limit. */
  readonly maxBytes?: number;
  /** More or fewer bytes than this are a size_mismatch. */
  readonly size?: number | undefined;
  readonly digest?: ExpectedDigest | undefined;
  /** Updated with the bytes that pass. */
  readonly hash?: ContentHash | undefined;
  /** The target stays open. */
  readonly isMoreToCome?: boolean;
  /** Called as the count grows, for live progress. */
  readonly onBytes?: (total: number) => void;
  /** Resolves when this many bytes may be sent. */
  readonly pace?: ((bytes: number) => Promise<void>) | undefined;
}

/** The meters of bodies that are being moved. */
const meters = new WeakMap<Readable, Meter>();

/** Bytes of it wait for the limit of a job or of the target's connection: who sends it is not slow. */
export function waitsForLimit(body: Readable): boolean {
  return meters.get(body)?.isWaiting === true;
}

/**
 * Moves `source` into `target` under back-pressure; resolves with the number of bytes once `target` has finished or,
 * with `isMoreToCome`, has taken them. Any failure destroys both. The first error wins.
 */
export async function pump(source: Readable, target: Writable, options: PumpOptions): Promise<number> {
  const flow = flowOf(target);
  const meter = new Meter(options, flow);
  meters.set(source, meter);
  const { signal, isMoreToCome = false } = options;
  const isPaced = options.pace !== undefined || flow !== undefined;
  if (borrows(target) && !isPaced) meter.lend(source, target);
  try {
    await pipeline(source, meter, target, { signal, end: !isMoreToCome });
  } catch (error) {
    // An abort appears as a bare AbortError; the signal has the cause.
    throw signal.aborted && !(error instanceof GatewayError) ? signal.reason : error;
  }
  meter.verify();
  return meter.bytes;
}

/** The same checks for the bytes of a short body. */
export async function takeWhole(
  body: WholeBody,
  { signal, maxBytes = 0, size, digest, hash }: Omit<PumpOptions, 'isMoreToCome' | 'onBytes'>,
): Promise<Buffer> {
  const bytes = await orAbort(body(), signal);
  if (maxBytes > 0 && bytes.length > maxBytes) throw tooLarge(maxBytes);
  if (size !== undefined && bytes.length !== size)
    throw sizeMismatch(`${bytes.length} bytes came of the announced ${size}`);
  hash?.update(bytes);
  if (digest !== undefined) verifyDigest(digest, createHash(digest.algorithm).update(bytes));
  return bytes;
}

/**
 * For a stream that is not read yet: a failure before the pump begins is reported by the pump then. Without a listener
 * Node.js would end the process.
 */
export function leaveErrorsToPump(source: Readable): void {
  source.on('error', () => undefined);
}

/** Passes chunks through unchanged. */
class Meter extends Transform {
  readonly #options: PumpOptions;
  /** The limit of the target's connection, if it has one. */
  readonly #flow: RateFlow | undefined;
  bytes = 0;
  isWaiting = false;
  /** The hash for the promised digest; undefined if the same hash is computed anyway. */
  readonly #promised: Hash | undefined;

  constructor(options: PumpOptions, flow: RateFlow | undefined) {
    super();
    this.#options = options;
    this.#flow = flow;

    const { digest, hash } = options;
    const isTaken = digest === undefined || (hash !== undefined && digest.algorithm === 'sha256');
    this.#promised = isTaken ? undefined : createHash(digest.algorithm);
  }

  /** Bytes that `target` borrows are counted and hashed like those of the stream. */
  lend(source: Readable, target: Writable & Borrower): void {
    lendPast(this, { source, borrower: target }, (chunk) => {
      if (target.writableLength > 0 || this.#excess(chunk) !== undefined) return 0;
      const taken = target.borrow(chunk);
      if (taken > 0) this.#count(chunk.subarray(0, taken));
      return taken;
    });
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const excess = this.#excess(chunk);
    if (excess !== undefined) return done(excess);
    if (this.#flow !== undefined) return void this.#passSlowly(chunk, this.#flow).then(() => done(), done);
    this.#count(chunk);
    const { pace } = this.#options;
    if (pace === undefined) return done(null, chunk);
    void this.#await(pace(chunk.length)).then(() => done(null, chunk), done);
  }

  async #passSlowly(chunk: Buffer, flow: RateFlow): Promise<void> {
    for (const slice of flow.slices(chunk)) {
      await this.#await(this.#options.pace?.(slice.length));
      // The flow has left the rate.
      if (this.destroyed) return;
      await this.#await(flow.take(slice.length));
      if (this.destroyed) return;
      this.#count(slice);
      this.push(slice);
    }
  }

  async #await(limit: Promise<void> | undefined): Promise<void> {
    this.isWaiting = true;
    await limit;
    this.isWaiting = false;
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#flow?.end();
    done(error);
  }

  #excess(chunk: Buffer): GatewayError | undefined {
    const bytes = this.bytes + chunk.length;
    const { maxBytes = 0, size } = this.#options;
    if (maxBytes > 0 && bytes > maxBytes) return tooLarge(maxBytes);
    return size !== undefined && bytes > size ? sizeMismatch(`more than the announced ${size} bytes came`) : undefined;
  }

  #count(chunk: Buffer): void {
    this.bytes += chunk.length;
    const { hash, onBytes } = this.#options;
    hash?.update(chunk);
    this.#promised?.update(chunk);
    onBytes?.(this.bytes);
  }

  override _flush(done: TransformCallback): void {
    const { size } = this.#options;
    if (size !== undefined && this.bytes < size) {
      return done(sizeMismatch(`${this.bytes} bytes came of the announced ${size}`));
    }
    done();
  }

  /** @throws GatewayError digest_mismatch */
  verify(): void {
    const { digest, hash } = this.#options;
    if (digest !== undefined) requireDigest(digest, this.#promised?.digest() ?? hash?.value);
  }
}

/** @throws GatewayError digest_mismatch */
export function verifyDigest(digest: ExpectedDigest, hash: Hash): void {
  requireDigest(digest, hash.digest());
}

/** @throws GatewayError digest_mismatch */
export function requireDigest(digest: ExpectedDigest, actual: Buffer | undefined): void {
  if (actual?.length === digest.value.length && timingSafeEqual(actual, digest.value)) return;
  const text = `the body does not match its ${digest.field ?? 'Content-Digest'} (${digest.algorithm})`;
  throw new GatewayError('digest_mismatch', text, { step: 'verify' });
}

function tooLarge(maxBytes: number): GatewayError {
  return new GatewayError('too_large', `the body is larger than ${maxBytes} bytes`, { step: 'transfer' });
}

function sizeMismatch(text: string): GatewayError {
  return new GatewayError('size_mismatch', `the transfer is not whole: ${text}`, { step: 'transfer' });
}

const ALGORITHMS: Record<string, 'sha256' | 'sha512'> = { 'sha-256': 'sha256', 'sha-512': 'sha512' };
const DIGEST_BYTES = { sha256: 32, sha512: 64 };

/**
 * The digest that a request promises for its content: for a whole file, Repr-Digest means the same as Content-Digest.
 * @throws GatewayError bad_request
 */
export function promisedDigest(headers: ReadonlyMap<string, string>): ExpectedDigest | undefined {
  const ofContent = parseContentDigest(headers.get('content-digest'));
  const ofFile = parseContentDigest(headers.get('repr-digest'), 'Repr-Digest');
  if (ofContent === undefined || ofFile === undefined) return ofContent ?? ofFile;
  if (ofContent.algorithm !== ofFile.algorithm) return ofContent.algorithm === 'sha512' ? ofContent : ofFile;
  if (!ofContent.value.equals(ofFile.value)) throw badDigest('Repr-Digest', 'it contradicts Content-Digest');
  return ofContent;
}

/**
 * Parses such a field, e.g. `sha-256=:…base64…:`; the strongest known algorithm counts, unknown ones are ignored (RFC
 * 9530, section 2). @throws GatewayError bad_request
 */
export function parseContentDigest(field: string | undefined, name?: string): ExpectedDigest | undefined {
  if (field === undefined) return undefined;
  let best: ExpectedDigest | undefined;
  for (const member of field.split(',')) {
    const match = /^\s*([a-z0-9-]+)=:([A-Za-z0-9+/]*={0,2}):\s*$/.exec(member);
    if (match === null) throw badDigest(name, 'expected `sha-256=:<base64>:` or `sha-512=:<base64>:`');
    const algorithm = ALGORITHMS[match[1] ?? ''];
    if (algorithm === undefined) continue;
    const value = Buffer.from(match[2] ?? '', 'base64');
    if (value.length !== DIGEST_BYTES[algorithm])
      throw badDigest(name, `a ${match[1]} value has ${DIGEST_BYTES[algorithm]} bytes`);
    if (best === undefined || algorithm === 'sha512')
      best = { ...(name === undefined ? {} : { field: name }), algorithm, value };
  }
  return best;
}

function badDigest(field: string | undefined, text: string): GatewayError {
  return refusal('bad_request', `${field ?? 'Content-Digest'}: ${text}`);
}
