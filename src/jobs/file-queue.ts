/** The files that a seat has in hand: claimed ahead of those who do them, so that nobody waits for the database. */
import type { JobFile } from '../storage/storage.js';

const CLAIMED_AT_ONCE = 100;
const CLAIMED_BYTES = 256 * 1024 * 1024;
/** With fewer that wait more are claimed. */
const FEW = 20;

export class FileQueue {
  /** Claimed and not yet done: until then each further claim finds them again. */
  readonly #inHand = new Map<string, number>();
  #waiting: JobFile[] = [];
  #claiming: Promise<void> | undefined;
  #isExhausted = false;

  constructor(private readonly claim: (limit: number, bytes: number) => Promise<readonly JobFile[]>) {}

  get isEmpty(): boolean {
    return this.#inHand.size === 0;
  }

  /** The last claim has brought nothing new. */
  get isExhausted(): boolean {
    return this.#isExhausted;
  }

  /** `mayClaim`: whether more than what is in hand is wanted. undefined = no more. Rejects as the claim does. */
  async next(mayClaim: () => boolean): Promise<JobFile | undefined> {
    if (this.#waiting.length < FEW && !this.#isExhausted && mayClaim()) {
      this.#claiming ??= this.refill().finally(() => (this.#claiming = undefined));
      // Whoever needs them hears of a failure.
      this.#claiming.catch(() => undefined);
    }
    if (this.#waiting.length === 0) await this.#claiming;
    return this.#waiting.shift();
  }

  async refill(): Promise<void> {
    // What ends while the claim is on its way may be among what it brings.
    const known = new Set(this.#inHand.keys());
    const bytes = [...this.#inHand.values()].reduce((sum, size) => sum + size, 0);
    const found = await this.claim(known.size + CLAIMED_AT_ONCE, bytes + CLAIMED_BYTES);
    const fresh = found.filter(({ path }) => !known.has(nameOf(path)));
    for (const { path, size } of fresh) this.#inHand.set(nameOf(path), size);
    this.#waiting.push(...fresh);
    this.#isExhausted = fresh.length === 0;
  }

  done({ path }: JobFile): void {
    this.#inHand.delete(nameOf(path));
  }
}

const nameOf = (path: Buffer): string => path.toString('latin1');
