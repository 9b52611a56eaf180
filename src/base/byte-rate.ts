/** Limits bytes per second over several flows, which take turns by the bytes that each has moved. */

/** What may pass at once after a rest, before the request that goes beyond it. */
const BURST_MS = 50;

interface Waiter {
  readonly flow: string;
  /** The share of the flow at which this request begins: the smallest is served first. */
  readonly begins: number;
  readonly costMs: number;
  readonly go: () => void;
}

export class ByteRate {
  /** When all bytes that have been granted are paid for. */
  #freeAt = -Infinity;
  /** The share of the request that was served last: a flow that joins begins there. */
  #served = 0;
  /** Where the next request of each flow begins. */
  readonly #flows = new Map<string, number>();
  #waiting: readonly Waiter[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** Resolves when the flow may move as many bytes, or has left. */
  take(flow: string, bytes: number, bytesPerSecond: number): Promise<void> {
    const costMs = (bytes * 1000) / bytesPerSecond;
    const begins = Math.max(this.#served, this.#flows.get(flow) ?? 0);
    this.#flows.set(flow, begins + costMs);
    return new Promise((go) => {
      this.#waiting = [...this.#waiting, { flow, begins, costMs, go }];
      this.#serve();
    });
  }

  /** The flow moves no more bytes: it waits no longer. */
  leave(flow: string): void {
    this.#flows.delete(flow);
    const left = this.#waiting.filter((waiter) => waiter.flow === flow);
    this.#waiting = this.#waiting.filter((waiter) => waiter.flow !== flow);
    for (const { go } of left) go();
    if (this.#waiting.length === 0) this.#stop();
  }

  /** No flow uses it, and all bytes have had their time. */
  get isIdle(): boolean {
    return this.#flows.size === 0 && this.#freeAt <= performance.now();
  }

  #serve(): void {
    if (this.#timer !== undefined) return;
    while (this.#waiting.length > 0) {
      const now = performance.now();
      const waitMs = this.#freeAt - now - BURST_MS;
      if (waitMs > 0) {
        this.#timer = setTimeout(() => {
          this.#stop();
          this.#serve();
        }, waitMs);
        return;
      }
      const next = this.#waiting.reduce((first, other) => (other.begins < first.begins ? other : first));
      this.#waiting = this.#waiting.filter((waiter) => waiter !== next);
      this.#served = next.begins;
      this.#freeAt = Math.max(now, this.#freeAt) + next.costMs;
      next.go();
    }
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
