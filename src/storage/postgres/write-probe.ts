import { BroadcastChannel } from 'node:worker_threads';
import type { GatewayError } from '../../base/errors.js';

const ASK_EVERY_MS = 1000;

/**
 * Knows whether the database accepts writes. Asks nothing while they succeed; after a refused write, a tiny write
 * decides, at most once a second for all callers.
 */
export class WriteProbe {
  readonly #ask: () => Promise<GatewayError | undefined>;
  /** The other event loops use the same database: after a refusal in one, all of them have to ask. */
  readonly #threads = new BroadcastChannel('ftg-write-refused');
  #refusal: GatewayError | undefined;
  #isDoubted = false;
  #asking: Promise<void> | undefined;
  #reportedAt = -Infinity;
  #askedAt = -Infinity;

  /** `ask` tries a write and resolves with the reason for a refusal, if any. */
  constructor(ask: () => Promise<GatewayError | undefined>) {
    this.#ask = ask;
    this.#threads.onmessage = () => (this.#isDoubted = true);
    this.#threads.unref();
  }

  /** A write was refused, and so will others be. */
  refused(refusal: GatewayError): void {
    this.#refusal = refusal;
    if (performance.now() - this.#reportedAt < ASK_EVERY_MS) return;
    this.#reportedAt = performance.now();
    this.#threads.postMessage('');
  }

  /** Rejects with the reason while writes are refused. `isDoubted`: the caller has a reason to ask. */
  async check(isDoubted: boolean): Promise<void> {
    this.#isDoubted ||= isDoubted;
    if (this.#refusal === undefined && !this.#isDoubted) return;
    if (performance.now() - this.#askedAt >= ASK_EVERY_MS) {
      this.#asking ??= this.#decide().finally(() => (this.#asking = undefined));
    }
    await this.#asking;
    if (this.#refusal !== undefined) throw this.#refusal;
  }

  close(): void {
    this.#threads.close();
  }

  async #decide(): Promise<void> {
    this.#isDoubted = false;
    this.#refusal = await this.#ask();
    this.#askedAt = performance.now();
  }
}
