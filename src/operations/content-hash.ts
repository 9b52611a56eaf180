/** The SHA-256 of a file's bytes, computed while they pass. */
import { createHash, type Hash } from 'node:crypto';

export class ContentHash {
  readonly #hash: Hash = createHash('sha256');

  update(bytes: Buffer): void {
    this.#hash.update(bytes);
  }

  /** The digest of all bytes so far. */
  get value(): Buffer {
    return this.#hash.copy().digest();
  }
}
