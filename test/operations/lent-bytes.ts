import { Writable } from 'node:stream';
import type { Borrower } from '../../src/base/lent.js';
import { BodyReader } from '../../src/http/body/body-reader.js';
import { type Hold, UNCOUNTED } from '../../src/budgets/memory.js';

/** Keeps all bytes; takes up to `most` of each chunk before it is copied, and has no room after every third. */
export class BorrowingSink extends Writable implements Borrower {
  readonly chunks: Buffer[] = [];
  borrowed = 0;
  #offers = 0;

  constructor(readonly most: number) {
    super();
  }

  borrow(chunk: Buffer): number {
    const taken = Math.min(this.most, chunk.length);
    this.chunks.push(Buffer.from(chunk.subarray(0, taken)));
    this.borrowed += taken;
    return taken;
  }

  awaitRoom(roomy: () => void): boolean {
    this.#offers += 1;
    if (this.#offers % 3 !== 0) return true;
    setImmediate(roomy);
    return false;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.chunks.push(chunk);
    setImmediate(done);
  }
}

/** A request's body that arrives in chunks of these sizes, in rotation; the memory of each is used for the next. */
export function lentBody(bytes: Buffer, sizes: readonly number[], hold: Hold = UNCOUNTED): BodyReader {
  const memory = Buffer.alloc(Math.max(...sizes));
  let at = 0;
  let chunks = 0;
  let isPaused = true;
  let isDue = false;
  const arrive = (): void => {
    isDue = false;
    if (isPaused || body.complete) return;
    const chunk = bytes.subarray(at, at + (sizes[chunks++ % sizes.length] as number));
    at += chunk.length;
    chunk.copy(memory);
    body.accept(memory.subarray(0, chunk.length), at === bytes.length, true);
    memory.fill(0xee);
    expect();
  };
  const expect = (): void => {
    if (isDue || isPaused) return;
    isDue = true;
    setImmediate(arrive);
  };
  const socket = {
    pause: () => void (isPaused = true),
    resume: () => {
      isPaused = false;
      expect();
    },
  };
  const refused = (error: Error): void => {
    throw error;
  };
  const body = new BodyReader(socket, bytes.length, hold, refused);
  return body;
}
