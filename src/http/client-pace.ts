import { TransferPace } from '../base/transfer-pace.js';

export interface PaceLimits {
  /** 0 = off. */
  readonly idleTimeoutMs: number;
  /** 0 = off. */
  readonly minBytesPerSecond: number;
}

/** The rate is measured over this period, so that a short pause of the network is allowed. */
const RATE_WINDOW_MS = 10_000;

/**
 * Measures a client by the bytes that it moves while it is its turn; time that the gateway itself takes does not count.
 */
export class ClientPace {
  readonly #limits: PaceLimits;
  #moved = 0;
  #movedAt: number;
  #windowBytes = 0;
  #windowAt: number;
  readonly #pace: TransferPace;

  constructor(limits: PaceLimits, now: number) {
    this.#limits = limits;

    this.#movedAt = this.#windowAt = now;
    this.#pace = new TransferPace(now);
  }

  /** Returns the violation, or undefined. `moved` counts all bytes so far; `now` is in milliseconds. */
  check(isItsTurn: boolean, moved: number, now: number): string | undefined {
    this.#pace.sample(isItsTurn, moved, now);
    if (!isItsTurn || moved > this.#moved) {
      this.#moved = moved;
      this.#movedAt = now;
    }
    if (!isItsTurn) this.#openWindow(moved, now);
    const { idleTimeoutMs, minBytesPerSecond } = this.#limits;
    if (idleTimeoutMs > 0 && now - this.#movedAt > idleTimeoutMs) {
      return `the client moved no byte for ${idleTimeoutMs} ms`;
    }
    const elapsed = now - this.#windowAt;
    if (elapsed < RATE_WINDOW_MS) return undefined;
    const isSlow = ((moved - this.#windowBytes) * 1_000) / elapsed < minBytesPerSecond;
    this.#openWindow(moved, now);
    return isSlow ? `the client moved fewer than ${minBytesPerSecond} bytes a second` : undefined;
  }

  /**
   * The client's rate over the last `overMs`; undefined: the gateway was as slow, or the period is not known
   * completely.
   */
  bytesPerSecond(overMs: number): number | undefined {
    return this.#pace.bytesPerSecond(overMs);
  }

  #openWindow(moved: number, now: number): void {
    this.#windowBytes = moved;
    this.#windowAt = now;
  }
}
