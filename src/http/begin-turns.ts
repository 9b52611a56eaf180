/** How long a turn of the event loop goes on beginning what has come, in ms. */
const TURN_MS = 5;
/** Begun in each turn behind that. */
const AT_ONCE = 8;

/**
 * Requests that come all at once are begun in turns of the event loop, in their order: those that are under way go on in
 * between, and no crowd holds it.
 */
export class BeginTurns {
  readonly #waiting: (() => void)[] = [];
  /** When the present turn began its first one; undefined before that. */
  #began: number | undefined;

  /** Undefined: now. */
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
