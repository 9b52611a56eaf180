import { waitFor } from '../../../base/deadline.js';

/** Counts a request out; may be called once, by whoever sees the request's socket free again. */
export type Leave = () => void;

/** Of all sessions of the gateway (budgets.sessions); the one request that a lease is sure of has its session's own. */
interface Place {
  release(): void;
}

const UNBOUNDED = { release: (): void => undefined };

interface Waiter {
  readonly lease: LeaseGate;
  readonly admit: (leave: Leave) => void;
}

/**
 * Bounds the requests under way, and so the sockets, to one store. (An http.Agent does not: it counts a socket when it
 * has been dialled, so that a burst of requests dials past its limit.) Each lease is sure of one request; what is left
 * over goes to further ones at the same time, such as the parts of an upload. A lease therefore waits for parts of others
 * at most, which end, and never for their readers, which may rest as long as they like.
 */
export class SocketGate {
  readonly #leases = new Set<LeaseGate>();
  readonly #waiting = new Set<Waiter>();
  #underWay = 0;

  /** `takePlace`: for each further request; undefined = none is left now, and the lease's own ones have to do. */
  constructor(
    private readonly most: number,
    private readonly takePlace: () => Place | undefined = () => UNBOUNDED,
  ) {}

  openLease(): LeaseGate {
    const lease = new LeaseGate(this);
    this.#leases.add(lease);
    return lease;
  }

  closeLease(lease: LeaseGate): void {
    this.#leases.delete(lease);
    this.#admitNext();
  }

  enter(lease: LeaseGate, signal: AbortSignal): Promise<Leave> {
    return waitFor({ signal }, (admit) => {
      const waiter: Waiter = { lease, admit };
      this.#waiting.add(waiter);
      this.#admitNext();
      return () => this.#waiting.delete(waiter);
    });
  }

  #admitNext(): void {
    for (const wantsFirst of [true, false]) {
      for (const waiter of this.#waiting) {
        if ((waiter.lease.underWay === 0) === wantsFirst && this.#hasRoom(waiter.lease)) this.#admit(waiter);
      }
    }
  }

  #hasRoom(lease: LeaseGate): boolean {
    if (lease.underWay === 0) return this.#underWay < this.most;
    let reserved = 0;
    for (const { underWay } of this.#leases) if (underWay === 0) reserved += 1;
    return this.#underWay < this.most - reserved;
  }

  #admit(waiter: Waiter): void {
    const place = waiter.lease.underWay === 0 ? UNBOUNDED : this.takePlace();
    if (place === undefined) return;
    this.#waiting.delete(waiter);
    this.#underWay += 1;
    waiter.lease.underWay += 1;
    let hasLeft = false;
    waiter.admit(() => {
      if (hasLeft) return;
      hasLeft = true;
      // The socket goes back to its agent in this turn of the event loop; the next request must find it there.
      setImmediate(() => {
        place.release();
        this.#underWay -= 1;
        waiter.lease.underWay -= 1;
        this.#admitNext();
      });
    });
  }
}

/** One lease's way through the gate. */
export class LeaseGate {
  /** Requests of this lease that hold a socket. */
  underWay = 0;

  constructor(private readonly gate: SocketGate) {}

  /** Resolves when a request may be sent; rejects with the signal's reason. */
  enter(signal: AbortSignal): Promise<Leave> {
    return this.gate.enter(this, signal);
  }

  close(): void {
    this.gate.closeLease(this);
  }
}
