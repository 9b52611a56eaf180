import { pause } from '../../base/deadline.js';
import { toGatewayError } from '../../base/errors.js';

interface Reading {
  /** The least time between the beginnings of two reads. */
  readonly betweenMs: number;
  read(): Promise<string>;
  /** Called after a read that changed something. */
  changed(value: ReferencedValue, before: { readonly value: string | undefined }): void;
}

/** The secret that a reference leads to: the last one that was read, and why there is no newer one. */
export class ReferencedValue {
  readonly reference: string;
  readonly #reading: Reading;
  #value: string | undefined;
  #problem: string | undefined;
  #readAt = -Infinity;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(reference: string, reading: Reading) {
    this.reference = reference;
    this.#reading = reading;
  }

  get value(): string | undefined {
    return this.#value;
  }

  /** Follows the reference in a sentence: `does not exist`. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /**
   * Resolves after a read that began after this call; never rejects. A read under way may have
   * missed the change that the caller looks for, so callers share the next one.
   */
  renew(): Promise<void> {
    return (this.#next ??= this.#readNext());
  }

  async #readNext(): Promise<void> {
    await this.#running;
    const early = this.#readAt + this.#reading.betweenMs - performance.now();
    if (early > 0) await pause(early);
    this.#next = undefined;
    this.#readAt = performance.now();
    this.#running = this.#read();
    await this.#running;
  }

  async #read(): Promise<void> {
    const before = { value: this.#value, problem: this.#problem };
    try {
      const value = await this.#reading.read();
      this.#problem = value === '' ? 'is empty' : undefined;
      if (value !== '') this.#value = value;
    } catch (error) {
      this.#problem = toGatewayError(error).clientText;
    }
    if (before.value !== this.#value || before.problem !== this.#problem) this.#reading.changed(this, before);
  }
}
