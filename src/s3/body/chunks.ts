/**
 * A body in chunks of S3's own form (aws-chunked): each with its signature, or with a trailer that has the checksum
 * ("Signature calculations for the authorization header: transferring payload in multiple chunks").
 */
import { createHash, createHmac, hash, type Hash } from 'node:crypto';
import type { Readable, TransformCallback } from 'node:stream';
import { EMPTY_DIGEST } from '../../base/aws-signature.js';
import { type Borrower, type Lender, lendPast } from '../../base/lent.js';
import { Turns } from '../../base/turns.js';
import { S3Error } from '../errors.js';
import { isSameSignature } from '../signature/verify.js';
import type { Checksum } from './checksums.js';
import { BodyStage } from './stage.js';

/** How the chunks are signed. */
interface ChunkSigner {
  readonly key: Buffer;
  readonly date: string;
  readonly scope: string;
  /** The signature of the head. */
  readonly seed: string;
}

interface ChunkedOptions {
  /** x-amz-decoded-content-length. */
  readonly size: number;
  /** Absent: the chunks are not signed. */
  readonly signer: ChunkSigner | undefined;
  /** Filled in by the trailer. */
  readonly trailing: Checksum | undefined;
}

const CRLF = Buffer.from('\r\n');
/** A chunk's line has a size and a signature. */
const MOST_LINE_BYTES = 256;
const MOST_TRAILER_BYTES = 4_096;
/** Smaller pieces are passed on together: each costs more memory than it holds. */
const SMALL_BYTES = 4_096;
/** Lines between chunks, in bytes that are lent at once. */
const MOST_LENT_LINES = 64;
const LINE = /^([\da-f]{1,16})(?:;chunk-signature=([\da-f]{64}))?$/i;

type State = 'line' | 'data' | 'data-end' | 'trailer' | 'over';

export class ChunkedBody extends BodyStage implements Lender {
  readonly #options: ChunkedOptions;
  #state: State = 'line';
  /** The beginning of a line whose end has not arrived. */
  #line = Buffer.alloc(0);
  /** Bytes of this chunk to come. */
  #left = 0;
  #decoded = 0;
  #hash: Hash | undefined;
  #signature = '';
  #previous: string;
  readonly #trailer = new Map<string, string>();
  #trailerBytes = 0;
  /** Small pieces that have not been passed on. */
  #gathered: Buffer[] = [];

  constructor(source: Readable, options: ChunkedOptions) {
    super(source);
    this.#options = options;
    this.#previous = options.signer?.seed ?? '';
  }

  lendTo(borrower: Borrower): void {
    lendPast(this, { source: this.source, borrower }, (bytes) => {
      try {
        return this.#lend(bytes, borrower);
      } catch (error) {
        this.destroy(error as Error);
        return 0;
      }
    });
  }

  /** Returns how many bytes were taken. Many tiny chunks are left to `_transform`, which takes turns. */
  #lend(bytes: Buffer, borrower: Borrower): number {
    let rest = bytes;
    for (let lines = 0; rest.length > 0 && this.#state !== 'over' && lines < MOST_LENT_LINES;) {
      if (this.#state !== 'data') {
        rest = this.#takeLine(rest);
        lines += 1;
        continue;
      }
      const data = rest.subarray(0, this.#left);
      const taken = borrower.borrow(data);
      if (taken > 0) this.#count(data.subarray(0, taken));
      rest = rest.subarray(taken);
      if (taken < data.length) break;
    }
    return bytes.length - rest.length;
  }

  override _transform(bytes: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#take(bytes).then(() => done(), done);
  }

  override _flush(done: TransformCallback): void {
    if (this.#state !== 'over') return done(incomplete('the body ends within its chunks'));
    const { size } = this.#options;
    if (this.#decoded !== size) return done(incomplete(`${this.#decoded} bytes came of the announced ${size}`));
    done();
  }

  /** In turns: one read can hold thousands of chunks, each with a signature. */
  async #take(bytes: Buffer): Promise<void> {
    const turns = new Turns();
    for (let rest = bytes; rest.length > 0;) {
      if (this.#state === 'over') throw incomplete('bytes follow the last chunk');
      rest = this.#state === 'data' ? this.#takeData(rest) : this.#takeLine(rest);
      if (!turns.isOver()) continue;
      this.#passOn();
      await turns.next();
    }
    this.#passOn();
  }

  #passOn(): void {
    const [first, ...others] = this.#gathered;
    if (first === undefined) return;
    this.push(others.length === 0 ? first : Buffer.concat(this.#gathered));
    this.#gathered = [];
  }

  #takeData(bytes: Buffer): Buffer {
    const data = bytes.subarray(0, this.#left);
    this.#count(data);
    if (data.length >= SMALL_BYTES) this.#passOn();
    this.#gathered.push(data);
    if (data.length >= SMALL_BYTES) this.#passOn();
    return bytes.subarray(data.length);
  }

  #count(data: Buffer): void {
    this.#hash?.update(data);
    this.#left -= data.length;
    if (this.#left === 0) this.#state = 'data-end';
  }

  #takeLine(bytes: Buffer): Buffer {
    const joined = this.#line.length === 0 ? bytes : Buffer.concat([this.#line, bytes.subarray(0, MOST_TRAILER_BYTES)]);
    const before = this.#line.length;
    const end = joined.indexOf(CRLF);
    const most = this.#state === 'trailer' ? MOST_TRAILER_BYTES : MOST_LINE_BYTES;
    if ((end < 0 ? joined.length : end) > most) throw incomplete('a line between the chunks is too long');
    if (end < 0) {
      this.#line = Buffer.from(joined);
      return Buffer.alloc(0);
    }
    this.#line = Buffer.alloc(0);
    this.#endLine(joined.toString('latin1', 0, end));
    return bytes.subarray(end + CRLF.length - before);
  }

  #endLine(line: string): void {
    if (this.#state === 'line') this.#beginChunk(line);
    else if (this.#state === 'trailer') this.#takeTrailer(line);
    else {
      if (line !== '') throw incomplete('a chunk is longer than it says');
      this.#verifyChunk();
      this.#state = 'line';
    }
  }

  #beginChunk(line: string): void {
    const { signer, size } = this.#options;
    const [, length = '', signature] = LINE.exec(line) ?? [];
    if (length === '' || (signature === undefined) !== (signer === undefined)) {
      throw incomplete('a chunk must begin with its size, and its signature where chunks are signed');
    }
    this.#left = parseInt(length, 16);
    this.#decoded += this.#left;
    if (this.#decoded > size) throw incomplete(`more than the announced ${size} bytes came`);
    this.#signature = signature ?? '';
    this.#hash = signer === undefined ? undefined : createHash('sha256');
    if (this.#left > 0) this.#state = 'data';
    else {
      this.#verifyChunk();
      this.#state = 'trailer';
    }
  }

  #verifyChunk(): void {
    const { signer } = this.#options;
    if (signer === undefined) return;
    const { date, scope } = signer;
    const digest = this.#hash?.digest('hex') ?? EMPTY_DIGEST;
    const text = `AWS4-HMAC-SHA256-PAYLOAD\n${date}\n${scope}\n${this.#previous}\n${EMPTY_DIGEST}\n${digest}`;
    this.#requireSigned(signer, text, this.#signature, 'a chunk');
    this.#previous = this.#signature;
  }

  #requireSigned({ key }: ChunkSigner, text: string, signature: string, what: string): void {
    if (isSameSignature(createHmac('sha256', key).update(text).digest('hex'), signature)) return;
    throw new S3Error('SignatureDoesNotMatch', `the signature of ${what} is wrong`, 'unauthenticated');
  }

  #takeTrailer(line: string): void {
    if (line === '') return this.#endTrailer();
    this.#trailerBytes += line.length;
    const at = line.indexOf(':');
    const name = line.slice(0, at).trim().toLowerCase();
    if (at <= 0 || this.#trailer.has(name) || this.#trailerBytes > MOST_TRAILER_BYTES) {
      throw incomplete('the trailer must hold short fields, once each');
    }
    this.#trailer.set(name, line.slice(at + 1).trim());
  }

  #endTrailer(): void {
    const { signer, trailing } = this.#options;
    const signature = this.#trailer.get('x-amz-trailer-signature');
    this.#trailer.delete('x-amz-trailer-signature');
    if (trailing === undefined) {
      if (this.#trailer.size > 0) throw incomplete('a trailer came that x-amz-trailer does not announce');
    } else {
      const value = this.#trailer.get(trailing.field);
      if (value === undefined || this.#trailer.size > 1)
        throw incomplete(`the trailer must hold ${trailing.field} alone`);
      trailing.expect(value);
      if (signer !== undefined) this.#verifyTrailer(signer, `${trailing.field}:${value}\n`, signature ?? '');
    }
    this.#state = 'over';
  }

  #verifyTrailer(signer: ChunkSigner, fields: string, signature: string): void {
    const { date, scope } = signer;
    const digest = hash('sha256', fields, 'hex');
    const text = `AWS4-HMAC-SHA256-TRAILER\n${date}\n${scope}\n${this.#previous}\n${digest}`;
    this.#requireSigned(signer, text, signature, 'the trailer');
  }
}

const incomplete = (text: string): S3Error => new S3Error('IncompleteBody', text);
