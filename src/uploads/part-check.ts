/** Reads the stored bytes of all parts again, and compares each part with what was sent. */
import { pipeline } from 'node:stream/promises';
import { GatewayError } from '../base/errors.js';
import type { MultipartPart } from '../contract/upload.js';
import { ContentHash } from '../operations/content-hash.js';
import type { Operation } from '../operations/operation.js';
import type { Commit } from '../remotes/remote.js';
import { streamOf } from '../remotes/whole.js';

export function checkParts(
  operation: Operation,
  parts: readonly Pick<MultipartPart, 'number' | 'size' | 'digest'>[],
): NonNullable<Commit['check']> {
  return async (open) => {
    operation.mark('verify');
    const file = new ReadParts(parts);
    const { signal } = operation;
    await pipeline(
      streamOf(await open()),
      async (chunks: AsyncIterable<Buffer>) => {
        for await (const chunk of chunks) file.take(chunk);
      },
      { signal },
    );
    file.end();
    operation.evidence.readBack();
  };
}

/** What is read, part by part. */
class ReadParts {
  readonly #parts: readonly Pick<MultipartPart, 'number' | 'size' | 'digest'>[];
  #at = 0;
  #left: number;
  #hash = new ContentHash();

  constructor(parts: readonly Pick<MultipartPart, 'number' | 'size' | 'digest'>[]) {
    this.#parts = parts;

    this.#left = parts[0]?.size ?? 0;
  }

  take(chunk: Buffer): void {
    for (let rest = chunk; rest.length > 0;) {
      if (this.#left === 0) this.#next();
      const bytes = rest.subarray(0, this.#left);
      this.#hash.update(bytes);
      this.#left -= bytes.length;
      rest = rest.subarray(bytes.length);
    }
  }

  end(): void {
    while (this.#at < this.#parts.length) this.#next();
  }

  #next(): void {
    const part = this.#parts[this.#at];
    if (part === undefined || this.#left > 0 || part.digest?.equals(this.#hash.value) !== true) {
      const text = `what the server has stored of part ${part?.number ?? 'after the last one'} is not what it was sent`;
      throw new GatewayError('readback_mismatch', text, { step: 'verify' });
    }
    this.#at += 1;
    this.#left = this.#parts[this.#at]?.size ?? 0;
    this.#hash = new ContentHash();
  }
}
