import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Cuts `bytes` into chunks of the given sizes, in rotation. */
export function cut(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length]!;
    // A copy each: like from a socket, no chunk shares memory with the next.
    chunks.push(Buffer.from(bytes.subarray(at, at + size)));
    at += size;
  }
  return chunks;
}

/** A body that arrives in these chunks and ends, or fails with `failure` at its end. */
export function bodyOf(chunks: Iterable<Buffer>, failure?: Error): Readable {
  const source = chunks[Symbol.iterator]();
  return new Readable({
    highWaterMark: 64 * 1024,
    read() {
      const next = source.next();
      if (next.done !== true) this.push(next.value);
      else if (failure === undefined) this.push(null);
      else this.destroy(failure);
    },
  });
}

/** Reads to the end; `isSlow` lets the event loop turn between chunks. */
export async function collect(stream: Readable, isSlow = false): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    if (isSlow) await nextTurn();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The most bytes that `counted` reaches, once it has not changed for 20 turns of the event loop. */
export async function settled(counted: () => number): Promise<number> {
  let last = -1;
  for (let still = 0; still < 20; still++) {
    if (counted() !== last) still = 0;
    last = counted();
    await nextTurn();
  }
  return last;
}
