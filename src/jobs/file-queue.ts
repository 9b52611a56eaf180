/** The files of a slot: claimed in advance, so that no worker waits for the database. */
import type { JobFile } from '../storage/storage.js';

const CLAIMED_AT_ONCE = 100;
const CLAIMED_BYTES = 256 * 1024 * 1024;
/** With fewer waiting files, more are claimed. */
const FEW = 20;

export class FileQueue {
  readonly #claim: (limit: number, bytes: number) => Promise<readonly JobFile[]>;
  /** Claimed and not yet done: until then each further claim returns them again. */
  readonly #claimed = new Map<string, number>();
  #waiting: JobFile[] = [];
  #claiming: Promise<void> | undefined;
  #isExhausted = false;

  constructor(claim: (limit: number, bytes: number) => Promise<readonly JobFile[]>) {
    this.#claim = claim;
  }

  get isEmpty(): boolean {
    return this.#claimed.size === 0;
  }

  /** The last claim has returned nothing new. */
  get isExhausted(): boolean {
    return this.#isExhausted;
  }

  /** `mayClaim`: whether more files than those claimed are wanted. undefined = no more. Rejects as the claim does. */
  async next(mayClaim: () => boolean): Promise<JobFile | undefined> {
    if (this.#waiting.length < FEW && !this.#isExhausted && mayClaim()) {
      this.#claiming ??= this.refill().finally(() => (this.#claiming = undefined));
      // A failure is reported to the worker that needs the files.
      this.#claiming.catch(() => undefined);
    }
    if (this.#waiting.length === 0) await this.#claiming;
    return this.#waiting.shift();
  }

  async refill(): Promise<void> {
    // A file that ends during the claim may be in its result.
    const known = new Set(this.#claimed.keys());
    const bytes = [...this.#claimed.values()].reduce((sum, size) => sum + size, 0);
    const found = await this.#claim(known.size + CLAIMED_AT_ONCE, bytes + CLAIMED_BYTES);
    const fresh = found.filter(({ path }) => !known.has(nameOf(path)));
    for (const { path, size } of fresh) this.#claimed.set(nameOf(path), size);
    this.#waiting.push(...fresh);
    this.#isExhausted = fresh.length === 0;
  }

  done({ path }: JobFile): void {
    this.#claimed.delete(nameOf(path));
  }
}

const nameOf = (path: Buffer): string => path.toString('latin1');
