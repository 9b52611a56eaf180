import { spread } from './retry-schedule.js';

interface Pace {
  /** Between the end of one run and the beginning of the next; absent = none. */
  readonly restMs?: number;
  /** It wakes itself this long after a run, less up to a fifth at random; absent = never. */
  readonly everyMs?: number;
}

const SPREAD = [0.8, 1] as const;

/** Work that runs whenever it is woken: one run at a time, and once more if it was woken during a run. */
export class WokenWork {
  readonly #work: () => Promise<unknown>;
  readonly #onFailure: (error: unknown) => void;
  readonly #pace: Pace;
  #running: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isWoken = false;
  #isStopped = false;
  #endedAt = -Infinity;

  constructor(work: () => Promise<unknown>, onFailure: (error: unknown) => void, pace: Pace = {}) {
    this.#work = work;
    this.#onFailure = onFailure;
    this.#pace = pace;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  wake(): void {
    this.#isWoken = true;
    if (this.#isStopped || this.#running !== undefined) return;
    clearTimeout(this.#timer);
    const restMs = this.#endedAt + (this.#pace.restMs ?? 0) - performance.now();
    if (restMs > 0) this.#timer = setTimeout(() => this.#run(), restMs).unref();
    else this.#run();
  }

  /** Begins no further run, and waits for the one under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #run(): void {
    this.#isWoken = false;
    this.#running = this.#tried().finally(() => {
      this.#running = undefined;
      this.#endedAt = performance.now();
      if (this.#isStopped) return;
      if (this.#isWoken) return this.wake();
      const { everyMs } = this.#pace;
      if (everyMs === undefined) return;
      this.#timer = setTimeout(() => this.wake(), spread(everyMs, SPREAD)).unref();
    });
  }

  async #tried(): Promise<void> {
    try {
      await this.#work();
    } catch (error) {
      this.#onFailure(error);
    }
  }
}
