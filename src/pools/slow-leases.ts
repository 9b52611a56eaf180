/**
 * The leases of a pool whose work waits for a slow client, and which of them are ended for requests that wait for a
 * session.
 */
import { GatewayError } from '../base/errors.js';
import { PassingSet } from '../base/passing-set.js';

/** A lease yields if its client moves fewer than this many bytes per second for this long. */
export interface GiveWayLimits {
  /** 0 = no lease yields. */
  readonly belowBytesPerSecond: number;
  readonly afterMs: number;
}

/** Work on a lease that may be ended for others. */
export interface Yielding {
  /** The client's rate over the last `overMs`; undefined: the work does not wait for the client. */
  bytesPerSecond(overMs: number): number | undefined;
  /**
   * Ends it with this error. The lease is returned once nothing is left of the work; work that can no longer be undone
   * is left to end.
   */
  giveWay(error: GatewayError): void;
}

interface Held<E> {
  readonly entry: E;
  readonly yielding: Yielding;
  isAsked: boolean;
}

export class SlowLeases<E> {
  readonly #host: string;
  readonly #limits: GiveWayLimits;
  readonly #held = new PassingSet<Held<E>>();

  constructor(host: string, limits: GiveWayLimits) {
    this.#host = host;
    this.#limits = limits;
  }

  /** Returns a function to call when the lease is returned. */
  add(entry: E, yielding: Yielding): () => void {
    return this.#held.add({ entry, yielding, isAsked: false });
  }

  /** Ends the slowest until `count` leases are being returned; only those on an entry that `isWanted`. */
  giveWay(count: number, isWanted: (entry: E) => boolean): void {
    const { belowBytesPerSecond, afterMs } = this.#limits;
    if (belowBytesPerSecond === 0) return;
    const wanted = this.#held.items().filter(({ entry }) => isWanted(entry));
    const missing = count - wanted.filter(({ isAsked }) => isAsked).length;
    if (missing <= 0) return;
    const slow = wanted
      .filter(({ isAsked }) => !isAsked)
      .flatMap((held) => {
        const rate = held.yielding.bytesPerSecond(afterMs);
        return rate === undefined || rate >= belowBytesPerSecond ? [] : [{ held, rate }];
      })
      .sort((a, b) => a.rate - b.rate);
    for (const { held } of slow.slice(0, missing)) {
      held.isAsked = true;
      held.yielding.giveWay(this.#tooSlow());
    }
  }

  #tooSlow(): GatewayError {
    const { belowBytesPerSecond, afterMs } = this.#limits;
    return new GatewayError(
      'too_slow',
      `others wait for a session on ${this.#host}, and this transfer moved fewer than ${belowBytesPerSecond} bytes a second for ${afterMs} ms (pools.giveWay)`,
      { step: 'transfer', retryAfterMs: 1_000 },
    );
  }
}
