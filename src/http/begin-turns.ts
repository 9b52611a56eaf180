/** How long one turn of the event loop begins waiting requests, in ms. */
const TURN_MS = 5;
/** Requests begun in each later turn. */
const AT_ONCE = 8;

/**
 * Spreads requests that arrive at once over turns of the event loop, in their order: requests under way continue in
 * between, and a burst does not block it.
 */
export class BeginTurns {
  readonly #waiting: (() => void)[] = [];
  /** When the current turn began its first request; undefined before that. */
  #began: number | undefined;

  /** Undefined: begin now. */
  next(): Promise<void> | undefined {
    if (this.#waiting.length === 0 && !this.#isLong()) return undefined;
    return new Promise((resolve) => {
      if (this.#waiting.push(resolve) === 1) setImmediate(() => this.#go());
    });
  }

  #isLong(): boolean {
    const now = performance.now();
    if (this.#began !== undefined) return now - this.#began > TURN_MS;
    this.#began = now;
    setImmediate(() => {
      this.#began = undefined;
    });
    return false;
  }

  #go(): void {
    for (const begin of this.#waiting.splice(0, AT_ONCE)) begin();
    if (this.#waiting.length > 0) setImmediate(() => this.#go());
  }
}
