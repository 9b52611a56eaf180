/** Ends the data of a server that confirms the transfer but leaves its data connection open. */
import type { Readable } from 'node:stream';

/** How long a data connection must be silent after the last reply before it counts as ended. */
const SILENCE_MS = 5_000;

export class OpenEnd {
  readonly #data: Readable;
  readonly #stallTimeoutMs: number;
  readonly #isWhole: () => boolean;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  /** `isWhole`: whether the received data can be complete; before that the connection does not count as ended. */
  constructor(data: Readable, stallTimeoutMs: number, isWhole: () => boolean) {
    this.#data = data;
    this.#stallTimeoutMs = stallTimeoutMs;
    this.#isWhole = isWhole;
  }

  /** Call when the last reply has arrived. */
  begin(): void {
    if (this.#isOver || this.#data.readableEnded) return;
    this.#timer = setTimeout(() => this.#end(), Math.min(SILENCE_MS, this.#stallTimeoutMs / 2));
  }

  /** Call when more data has arrived. */
  postpone(): void {
    this.#timer?.refresh();
  }

  stop(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  #end(): void {
    // Bytes that wait for their reader do not count as silence.
    if (this.#data.readableLength > 0 || !this.#isWhole()) this.postpone();
    else this.#data.push(null);
  }
}
