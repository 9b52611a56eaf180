/**
 * Places for open sessions, over all pools of an event loop (budgets.sessions), divided by account. If none is left, or
 * not for this account, an idle session is closed: the one that has been idle longest of the account that holds most,
 * but never one of an account that holds less than the one that asks.
 */
import { Budget, type Grant } from '../budgets/budget.js';
import { type GatewayError, toGatewayError } from '../base/errors.js';

/** The session on a place. */
export interface Occupant {
  /** On the clock of performance.now(); undefined while it is in use. */
  readonly idleSince: number | undefined;
  close(): void;
}

export interface SessionPlace {
  /** From now on the occupant may be closed while it is idle. */
  offer(occupant: Occupant): void;
  /** Later calls do nothing. */
  release(): void;
}

/** What pools share with those of other hosts and accounts. */
export interface PoolBudgets {
  readonly places: SessionPlaces;
  /** Operations that wait for a session. */
  readonly waiting: Budget;
}

interface Taken {
  readonly owner: string;
  occupant: Occupant | undefined;
  isClosing: boolean;
}

/** For pools outside of a gateway. */
export function unboundedBudgets(): PoolBudgets {
  const capacity = Number.MAX_SAFE_INTEGER;
  return {
    places: new SessionPlaces(new Budget({ name: 'sessions', unit: 'sessions', capacity })),
    waiting: new Budget({ name: 'waiting', unit: 'places of operations that wait', capacity }),
  };
}

export class SessionPlaces {
  readonly #budget: Budget;
  readonly #taken = new Set<Taken>();
  readonly #wanting = new Set<{ readonly owner: string }>();
  #closing = 0;
  #isMakingRoom = false;

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  /** Takes a place now, without waiting. */
  tryTake(owner: string): SessionPlace | undefined {
    return this.#budget.refusalOf({ owner }) === undefined
      ? this.#placeOf(owner, this.#budget.take({ owner }))
      : undefined;
  }

  /** Takes a place for more speed only: not while a waiter needs it. */
  trySpare(owner: string): SessionPlace | undefined {
    return this.#wanting.size === 0 ? this.tryTake(owner) : undefined;
  }

  /** Waits in turn; rejects with the signal's reason. */
  async wait(owner: string, signal: AbortSignal): Promise<SessionPlace> {
    const claim = { owner };
    this.#wanting.add(claim);
    try {
      const granting = this.#budget.wait(claim, { signal });
      this.#makeRoom();
      return this.#placeOf(owner, await granting);
    } finally {
      this.#wanting.delete(claim);
    }
  }

  /** The reason why this account gets no place now; counts as a refusal. */
  refusal(owner: string): GatewayError | undefined {
    try {
      this.#budget.take({ owner }).release();
      return undefined;
    } catch (error) {
      return toGatewayError(error);
    }
  }

  /** A session has become idle: a waiter may need its place. */
  rested(): void {
    if (this.#wanting.size > 0) this.#makeRoom();
  }

  #placeOf(owner: string, grant: Grant): SessionPlace {
    const taken: Taken = { owner, occupant: undefined, isClosing: false };
    this.#taken.add(taken);
    return {
      offer: (occupant) => void (taken.occupant = occupant),
      release: () => {
        if (!this.#taken.delete(taken)) return;
        if (taken.isClosing) this.#closing--;
        grant.release();
        // In a microtask: the waiter that got it has left the queue by then.
        if (this.#wanting.size > 0) queueMicrotask(() => this.#makeRoom());
      },
    };
  }

  /** Closes one idle session for each waiter. Closing may let pools call this again, recursively. */
  #makeRoom(): void {
    if (this.#isMakingRoom) return;
    this.#isMakingRoom = true;
    for (const { owner } of this.#wanting) {
      if (this.#budget.gauge.waiting <= this.#closing) break;
      const idle = this.#longestIdle(owner);
      if (idle === undefined) continue;
      this.#closing++;
      idle.isClosing = true;
      idle.occupant?.close();
    }
    this.#isMakingRoom = false;
  }

  #longestIdle(asking: string): Taken | undefined {
    let best: { readonly taken: Taken; readonly holds: number; readonly since: number } | undefined;
    const least = this.#budget.of(asking).used;
    for (const taken of this.#taken) {
      const since = taken.isClosing ? undefined : taken.occupant?.idleSince;
      const holds = this.#budget.of(taken.owner).used;
      if (since === undefined || holds < least) continue;
      if (best === undefined || holds > best.holds || (holds === best.holds && since < best.since)) {
        best = { taken, holds, since };
      }
    }
    return best?.taken;
  }
}

/** The places that one pool waits for. */
export class PlaceLine {
  readonly #places: SessionPlaces;
  readonly #waits = new Set<AbortController>();

  constructor(places: SessionPlaces) {
    this.#places = places;
  }

  get length(): number {
    return this.#waits.size;
  }

  /** undefined: the waiters that it was for have left. */
  async wait(owner: string): Promise<SessionPlace | undefined> {
    const wait = new AbortController();
    this.#waits.add(wait);
    try {
      return await this.#places.wait(owner, wait.signal);
    } catch {
      return undefined;
    } finally {
      this.#waits.delete(wait);
    }
  }

  /** The waiters that the places were for have left. */
  leave(): void {
    for (const wait of this.#waits) wait.abort(new Error('no one waits any longer'));
  }
}
