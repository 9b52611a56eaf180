import { createHash, type Hash } from 'node:crypto';
import { Readable, Writable } from 'node:stream';

export const MiB = 1024 * 1024;
const BLOCK = 64 * 1024;

/** Bytes of which every 4 depend on their position, so that a lost, doubled or moved piece changes the digest. */
function blockAt(offset: number, length: number): Buffer {
  const block = Buffer.allocUnsafe(length);
  let at = 0;
  for (; at + 4 <= length; at += 4) block.writeUInt32LE(((offset + at) * 2_654_435_761) >>> 0, at);
  block.fill(7, at);
  return block;
}

export interface Source {
  readonly stream: Readable;
  /** Bytes taken from it so far. */
  given: number;
  readonly hash: Hash;
}

/** A stream of `length` bytes that counts the bytes taken from it; fails with `failure` at its end. */
export function source(length: number, { failure, block = BLOCK }: { failure?: Error; block?: number } = {}): Source {
  const hash = createHash('sha256');
  const stream = new Readable({
    highWaterMark: block,
    read() {
      const left = length - state.given;
      if (left > 0) {
        const chunk = blockAt(state.given, Math.min(block, left));
        state.given += chunk.length;
        hash.update(chunk);
        this.push(chunk);
      } else if (failure === undefined) this.push(null);
      else this.destroy(failure);
    },
  });
  const state: Source = { stream, given: 0, hash };
  return state;
}

/** Takes everything and keeps only digest and size; `pauseMs` between chunks makes it slow. */
export class Sink extends Writable {
  readonly #pauseMs: number;
  size = 0;
  readonly #hash = createHash('sha256');

  constructor(pauseMs = 0) {
    super({ highWaterMark: 1 });
    this.#pauseMs = pauseMs;
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.size += chunk.length;
    this.#hash.update(chunk);
    if (this.#pauseMs > 0) setTimeout(done, this.#pauseMs);
    else done();
  }

  digest(): string {
    return this.#hash.copy().digest('hex');
  }
}
