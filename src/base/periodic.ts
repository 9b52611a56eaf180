import { every } from './every.js';

const AT_REST = Promise.resolve();

/**
 * Work that runs at a fixed interval while it is started, one run at a time: an interval that ends during a run is
 * skipped. It keeps no process alive. Rejections of `work` are not caught: it handles its own failures.
 */
export class Periodic {
  readonly #work: () => unknown;
  readonly #everyMs: number;
  #end: (() => void) | undefined;
  #running: Promise<void> | undefined;

  constructor(work: () => unknown, everyMs: number) {
    this.#work = work;
    this.#everyMs = everyMs;
  }

  get isStarted(): boolean {
    return this.#end !== undefined;
  }

  /** The first run comes after one interval. Does nothing if it is started. */
  start(): this {
    this.#end ??= every(this.#everyMs, () => this.run());
    return this;
  }

  /** Runs now, unless a run is under way. */
  run(): void {
    if (this.#running !== undefined) return;
    const made = this.#work();
    if (!(made instanceof Promise)) return;
    this.#running = made.then(() => undefined).finally(() => (this.#running = undefined));
  }

  /** No further run begins until the next start. Resolves when the run under way has ended. */
  stop(): Promise<void> {
    this.#end?.();
    this.#end = undefined;
    return this.#running ?? AT_REST;
  }
}
