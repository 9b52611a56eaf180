/** A body read in steps: what comes next, or whether it has ended whole, is known before anything is done with the last step. */
import { createHash, type Hash } from 'node:crypto';
import { addAbortSignal, Readable } from 'node:stream';
import { leaveErrorsToPump, verifyDigest, type ExpectedDigest } from './pump.js';

/** Content that waits in memory until it is known to be whole; clients are many, and hold no session while they send it. */
export const HELD_BYTES = 1024 * 1024;

interface ContentReaderOptions {
  readonly signal: AbortSignal;
  readonly digest?: ExpectedDigest | undefined;
}

export class ContentReader {
  /** Bytes handed on so far. */
  bytes = 0;
  private readonly chunks: AsyncIterator<Buffer>;
  private readonly hash: Hash | undefined;
  private readonly digest: ExpectedDigest | undefined;
  private next: Promise<IteratorResult<Buffer, unknown>> | undefined;
  private hasEnded = false;

  constructor(body: Readable, { signal, digest }: ContentReaderOptions) {
    leaveErrorsToPump(body);
    addAbortSignal(signal, body);
    this.chunks = (body as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
    this.digest = digest;
    this.hash = digest === undefined ? undefined : createHash(digest.algorithm);
  }

  /** The body has ended whole and is what its digest says. */
  get ended(): boolean {
    return this.hasEnded;
  }

  /** Chunks until at least `bytes` have come, or all. Throws what the body fails with, and digest_mismatch. */
  async *upTo(bytes: number): AsyncGenerator<Buffer, void> {
    for (let taken = 0; taken < bytes;) {
      const { done, value } = await this.ahead();
      if (done === true) return;
      this.next = undefined;
      this.hash?.update(value);
      this.bytes += value.length;
      taken += value.length;
      yield value;
    }
    await this.ahead();
  }

  private async ahead(): Promise<IteratorResult<Buffer, unknown>> {
    this.next ??= this.chunks.next();
    const result = await this.next;
    if (result.done === true && !this.hasEnded) {
      if (this.digest !== undefined && this.hash !== undefined) verifyDigest(this.digest, this.hash);
      this.hasEnded = true;
    }
    return result;
  }
}

/**
 * The same bytes; up to HELD_BYTES of them have come whole, and are what the digest says, before this resolves.
 * Throws what the body fails with until then, and digest_mismatch.
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
