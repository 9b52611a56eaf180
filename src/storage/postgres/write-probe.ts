import { BroadcastChannel } from 'node:worker_threads';
import type { GatewayError } from '../../base/errors.js';

const ASK_EVERY_MS = 1000;

/**
 * Whether the database takes writes. Nothing is asked while they succeed; once one was refused, a tiny write decides,
 * at most once a second for all who want to know.
 */
export class WriteProbe {
  readonly #ask: () => Promise<GatewayError | undefined>;
  /** The other event loops serve the same database: where one is refused, all have to ask. */
  readonly #threads = new BroadcastChannel('ftg-write-refused');
  #refusal: GatewayError | undefined;
  #isDoubted = false;
  #asking: Promise<void> | undefined;
  #reportedAt = -Infinity;
  #askedAt = -Infinity;

  /** `ask` tries a write; it resolves to why none is taken. */
  constructor(ask: () => Promise<GatewayError | undefined>) {
    this.#ask = ask;
    this.#threads.onmessage = () => (this.#isDoubted = true);
    this.#threads.unref();
  }

  /** A write was refused, and others will be. */
  refused(refusal: GatewayError): void {
    this.#refusal = refusal;
    if (performance.now() - this.#reportedAt < ASK_EVERY_MS) return;
    this.#reportedAt = performance.now();
    this.#threads.postMessage('');
  }

  /** Rejects with the reason while no writes are taken; `isDoubted` where the caller has cause to ask. */
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
