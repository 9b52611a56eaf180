/** Reads a body in steps: the next step, or the end of a complete body, is known before the last step is processed. */
import { createHash, type Hash } from 'node:crypto';
import { addAbortSignal, Readable } from 'node:stream';
import { leaveErrorsToPump, verifyDigest, type ExpectedDigest } from './pump.js';

/**
 * Content that waits in memory until it is complete; there are many clients, and none holds a session while it sends
 * this much.
 */
export const HELD_BYTES = 1024 * 1024;

interface ContentReaderOptions {
  readonly signal: AbortSignal;
  readonly digest?: ExpectedDigest | undefined;
}

export class ContentReader {
  /** Bytes passed on so far. */
  bytes = 0;
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #hash: Hash | undefined;
  readonly #digest: ExpectedDigest | undefined;
  #next: Promise<IteratorResult<Buffer, unknown>> | undefined;
  #hasEnded = false;

  constructor(body: Readable, { signal, digest }: ContentReaderOptions) {
    leaveErrorsToPump(body);
    addAbortSignal(signal, body);
    this.#chunks = (body as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
    this.#digest = digest;
    this.#hash = digest === undefined ? undefined : createHash(digest.algorithm);
  }

  /** The body has ended completely and matches its digest. */
  get ended(): boolean {
    return this.#hasEnded;
  }

  /** Yields chunks until at least `bytes` have arrived, or all. Throws the body's failure, and digest_mismatch. */
  async *upTo(bytes: number): AsyncGenerator<Buffer, void> {
    for (let taken = 0; taken < bytes;) {
      const { done, value } = await this.#ahead();
      if (done === true) return;
      this.#next = undefined;
      this.#hash?.update(value);
      this.bytes += value.length;
      taken += value.length;
      yield value;
    }
    await this.#ahead();
  }

  async #ahead(): Promise<IteratorResult<Buffer, unknown>> {
    this.#next ??= this.#chunks.next();
    const result = await this.#next;
    if (result.done === true && !this.#hasEnded) {
      if (this.#digest !== undefined && this.#hash !== undefined) verifyDigest(this.#digest, this.#hash);
      this.#hasEnded = true;
    }
    return result;
  }
}

/**
 * The same bytes; when this resolves, up to HELD_BYTES of them have arrived and were compared with the digest. Throws
 * the body's failure until then, and digest_mismatch.
 */
export async function wholeWhereShort(body: Readable, options: ContentReaderOptions): Promise<Readable> {
  const content = new ContentReader(body, options);
  const head: Buffer[] = [];
  for await (const chunk of content.upTo(HELD_BYTES)) head.push(chunk);
  const chunks = async function* (): AsyncGenerator<Buffer> {
    yield* head;
    yield* content.upTo(Infinity);
  };
  return Readable.from(chunks(), { objectMode: false });
}
