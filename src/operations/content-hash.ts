/** The SHA-256 of a file's bytes, taken while they pass. */
import { createHash, type Hash } from 'node:crypto';

export class ContentHash {
  private readonly hash: Hash = createHash('sha256');

  update(bytes: Buffer): void {
    this.hash.update(bytes);
  }

  /** Of all that has passed so far. */
  get value(): Buffer {
    return this.hash.copy().digest();
  }
}
