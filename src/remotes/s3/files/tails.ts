/**
 * Bytes too few for a part are stored between two pieces as objects of their own, under hidden names: a piece adds one,
 * and the next part begins with all of them. As in log-structured stores, a tail merges those before it once there are
 * enough of its size: there are few objects, and none of their bytes is sent often.
 */
import { buffer } from 'node:stream/consumers';
import { sumOfSizes } from '../../../base/numbers.js';
import { hasCode } from '../../../base/errors.js';
import { piecesAreGone } from '../../obstacles.js';
import type { RemotePath } from '../../path.js';
import type { StoredTail } from '../../remote.js';
import type { Bucket } from './bucket.js';

/** This many of about one size are merged into one. */
const FAN = 8;
/** The limit regardless of their length. */
const MOST = 32;

/** Those of all noted tails that count: consecutive ones from the beginning of the part. */
export function countedTails(noted: readonly StoredTail[], part: number): readonly StoredTail[] {
  const counted: StoredTail[] = [];
  const bySlot = new Map(noted.filter((tail) => tail.part === part).map((tail) => [tail.slot, tail]));
  // A tail that was merged into a longer one begins before that one's end.
  for (let next = bySlot.get(0); next?.start === sumOfSizes(counted); next = bySlot.get(next.slot + 1))
    counted.push(next);
  return counted;
}

/** The index of the first tail that a new one of `size` bytes merges; their number = none. */
export function firstTakenIn(tails: readonly StoredTail[], size: number): number {
  let first = tails.length;
  for (let taken = size; ;) {
    let next = first;
    let bytes = taken;
    for (let tail = tails[next - 1]; tail !== undefined && tail.size < taken * FAN; tail = tails[next - 1]) {
      bytes += tail.size;
      next -= 1;
    }
    if (first - next < FAN - 1) return first < MOST ? first : 0;
    [first, taken] = [next, bytes];
  }
}

/** The tail objects of one file. */
export class TailObjects {
  readonly #bucket: Bucket;
  readonly #path: RemotePath;
  readonly #hidden: RemotePath;

  constructor(bucket: Bucket, path: RemotePath, hidden: RemotePath) {
    this.#bucket = bucket;
    this.#path = path;
    this.#hidden = hidden;
  }

  /** Replaces the former tail in its slot, which has the same first bytes. */
  async put(slot: number, body: Buffer): Promise<void> {
    await this.#bucket.put(this.#keyOf(slot), body, this.#hidden, { exclusive: false });
  }

  async read(tails: readonly StoredTail[]): Promise<readonly Buffer[]> {
    const bodies: Buffer[] = [];
    for (const { slot, size } of tails) bodies.push(await this.#readOne(slot, size));
    return bodies;
  }

  /** `noted`: all that were ever noted. */
  async remove(noted: readonly StoredTail[]): Promise<void> {
    // A process that was killed may have stored one more than it could note.
    const slots = Math.max(-1, ...noted.map(({ slot }) => slot)) + 2;
    const signal = this.#bucket.calls.cleanupSignal();
    const keys = Array.from({ length: slots }, (_, slot) => this.#keyOf(slot));
    await Promise.all(keys.map((key) => this.#bucket.remove(key, this.#hidden, signal)));
  }

  async #readOne(slot: number, size: number): Promise<Buffer> {
    const { facts, body } = await this.#bucket.get(this.#keyOf(slot), this.#hidden).catch((error: unknown) => {
      throw hasCode(error, 'not_found') ? piecesAreGone(this.#path, error) : error;
    });
    if (facts.size < size) {
      body.destroy();
      throw piecesAreGone(this.#path);
    }
    return (await buffer(body)).subarray(0, size);
  }

  #keyOf(slot: number): string {
    const key = this.#bucket.fileKey(this.#hidden);
    return slot === 0 ? key : `${key}.${slot}`;
  }
}
