import { waitFor } from '../../../base/deadline.js';
import type { EndSignal } from '../../../base/ending.js';
import { PassingSet } from '../../../base/passing-set.js';

/** Ends a request's use of its socket; called once, by the code that sees the socket free again. */
export type Leave = () => void;

/**
 * A place in the limit of all sessions of the gateway (budgets.sessions); the guaranteed request of a lease uses its
 * session's place.
 */
interface Place {
  release(): void;
}

const UNBOUNDED = { release: (): void => undefined };

interface Waiter {
  readonly lease: LeaseGate;
  readonly admit: (leave: Leave) => void;
}

/**
 * Bounds the requests under way, and so the sockets, to one store. (An http.Agent does not: it counts a socket only
 * once it has been dialled, so a burst of requests exceeds its limit.) Each lease is guaranteed one request; the rest
 * is used for additional ones, such as the parts of an upload. So a lease waits at most for parts of others, which end,
 * and never for their readers, which may pause as long as they like.
 */
export class SocketGate {
  readonly #most: number;
  readonly #takePlace: () => Place | undefined;
  readonly #leases = new PassingSet<LeaseGate>();
  /** A list, although they leave in any order: a Set would keep them (base/passing-set.ts). */
  readonly #waiting: Waiter[] = [];
  #underWay = 0;

  /**
   * `takePlace`: called for each additional request; undefined = none is left now, and the lease's guaranteed request
   * must do.
   */
  constructor(most: number, takePlace: () => Place | undefined = () => UNBOUNDED) {
    this.#most = most;
    this.#takePlace = takePlace;
  }

  openLease(): LeaseGate {
    const lease = new LeaseGate(this, () => {
      leave();
      this.#admitNext();
    });
    const leave = this.#leases.add(lease);
    return lease;
  }

  enter(lease: LeaseGate, signal: EndSignal): Promise<Leave> {
    return waitFor({ signal }, (admit) => {
      const waiter: Waiter = { lease, admit };
      this.#waiting.push(waiter);
      this.#admitNext();
      return () => this.#leave(waiter);
    });
  }

  #leave(waiter: Waiter): void {
    const at = this.#waiting.indexOf(waiter);
    if (at !== -1) this.#waiting.splice(at, 1);
  }

  #admitNext(): void {
    for (const wantsFirst of [true, false]) {
      for (const waiter of [...this.#waiting]) {
        if ((waiter.lease.underWay === 0) === wantsFirst && this.#hasRoom(waiter.lease)) this.#admit(waiter);
      }
    }
  }

  #hasRoom(lease: LeaseGate): boolean {
    if (lease.underWay === 0) return this.#underWay < this.#most;
    let reserved = 0;
    for (const { underWay } of this.#leases.items()) if (underWay === 0) reserved += 1;
    return this.#underWay < this.#most - reserved;
  }

  #admit(waiter: Waiter): void {
    const place = waiter.lease.underWay === 0 ? UNBOUNDED : this.#takePlace();
    if (place === undefined) return;
    this.#leave(waiter);
    this.#underWay += 1;
    waiter.lease.underWay += 1;
    let hasLeft = false;
    waiter.admit(() => {
      if (hasLeft) return;
      hasLeft = true;
      // The socket returns to its agent in this turn of the event loop; the next request must find it there.
      setImmediate(() => {
        place.release();
        this.#underWay -= 1;
        waiter.lease.underWay -= 1;
        this.#admitNext();
      });
    });
  }
}

/** The requests of one lease. */
export class LeaseGate {
  readonly #gate: SocketGate;
  /** The lease is over. */
  readonly close: () => void;
  /** Requests of this lease that hold a socket. */
  underWay = 0;

  constructor(gate: SocketGate, close: () => void) {
    this.#gate = gate;
    this.close = close;
  }

  /** Resolves when a request may be sent; rejects with the signal's reason. */
  enter(signal: EndSignal): Promise<Leave> {
    return this.#gate.enter(this, signal);
  }
}
