/** The SHA-256 of a file's bytes, taken while they pass. */
import { createHash, type Hash } from 'node:crypto';

/** Why there is no digest of a file although one was wanted. */
export const DIGEST_GAPS = [
  ...(['server_side_copy', 'server_side_move', 'append', 'range', 'pieces', 'not_sent'] as const),
  'earlier_try',
] as const;
export type DigestGap = (typeof DIGEST_GAPS)[number];

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
