import { PADDING } from './base64-codec.js';
import { badBase64, type Base64Workers } from './base64-workers.js';
import type { Conversion } from './ordered-transform.js';

export const EMPTY = Buffer.alloc(0);

/** Cuts a stream at whole groups: the rest of a chunk is put in front of the next one. */
class Grouping {
  readonly #size: number;
  #carry: Buffer = EMPTY;

  constructor(size: number) {
    this.#size = size;
  }

  /** Whole groups: `head` is the one that began in an earlier chunk, `body` the rest, as a view. */
  take(chunk: Buffer): { readonly head: Buffer; readonly body: Buffer } {
    const missing = this.#carry.length === 0 ? 0 : this.#size - this.#carry.length;
    const joined = missing === 0 ? EMPTY : Buffer.concat([this.#carry, chunk.subarray(0, missing)]);
    if (joined.length > 0 && joined.length < this.#size) {
      this.#carry = joined;
      return { head: EMPTY, body: EMPTY };
    }
    const end = chunk.length - ((chunk.length - missing) % this.#size);
    this.#carry = Buffer.from(chunk.subarray(end));
    return { head: joined, body: chunk.subarray(missing, end) };
  }

  /** The bytes of the incomplete group. */
  get rest(): Buffer {
    return this.#carry;
  }
}

/** Text to bytes, chunk by chunk. */
export class Decoding implements Conversion {
  readonly #workers: Base64Workers;
  readonly #groups = new Grouping(4);
  /** Position in the text of the first group that was not yet taken. */
  #offset = 0;
  #isPadded = false;
  readonly #mayMove: boolean;

  /** `mayMove`: ownership of the chunks is transferred (Base64Workers.decode). */
  constructor(workers: Base64Workers, mayMove = false) {
    this.#workers = workers;
    this.#mayMove = mayMove;
  }

  convert(chunk: Buffer): Buffer | Promise<Buffer> {
    // Padding ends the text (RFC 4648, section 3.2), regardless of how the chunks are cut.
    if (this.#isPadded && chunk.length > 0) throw badBase64(this.#offset);
    const { head, body } = this.#groups.take(chunk);
    const offset = this.#offset;
    if (head.at(-1) === PADDING && body.length > 0) throw badBase64(offset + head.length);
    this.#offset += head.length + body.length;
    this.#isPadded = (body.at(-1) ?? head.at(-1)) === PADDING;
    return this.#workers.decode(head, body, offset, this.#mayMove);
  }

  finish(): Buffer {
    if (this.#groups.rest.length > 0) throw badBase64(this.#offset + this.#groups.rest.length);
    return EMPTY;
  }
}

/** Bytes to text, chunk by chunk. */
export class Encoding implements Conversion {
  readonly #workers: Base64Workers;
  readonly #groups = new Grouping(3);

  constructor(workers: Base64Workers) {
    this.#workers = workers;
  }

  convert(chunk: Buffer): Buffer | Promise<Buffer> {
    const { head, body } = this.#groups.take(chunk);
    return this.#workers.encode(head, body);
  }

  finish(): Buffer {
    return Buffer.from(this.#groups.rest.toString('base64'), 'latin1');
  }
}
