/**
 * Permits to hold open sessions, if the pools of several threads share the limit of one login. A pool asks before it
 * opens a session and returns the permit when that is closed; leases of open sessions need none.
 */
import { requireAmount } from '../base/numbers.js';
import type { FromBroker, SessionNeeds, ToBroker } from './share-messages.js';

/** A pool's view of the shared limit. */
export interface SessionPermits {
  /** The number of pools that share the limits. */
  readonly pools: number;
  /** Sessions that this pool may keep for now: fewer than it has while others wait for their share. */
  readonly cap: number;
  /** What the server admits over all pools, as far as its refusals have shown. */
  readonly learned: number;
  /** Sets the limit that all pools together must keep. */
  limit(maxSessions: number): void;
  /** How many permits the pool waits for, in addition to those it has. */
  want(count: number): void;
  /** A session was closed, or not opened; `isRefused`: because the server admits no further one. */
  giveBack(isRefused: boolean): void;
  /** Sets the one pool that gets the calls. */
  bind(holder: PermitHolder): void;
}

interface PermitHolder {
  /** A permit has arrived: the pool opens a session with it, or returns it. */
  granted(): void;
  /** `cap` or `learned` has changed. */
  changed(): void;
  /** Permits have run out, and a pool waits: this pool is asked what it needs. */
  scarce(): void;
  needs(): SessionNeeds;
}

/** The permits of one thread, by the key of the pool. */
export interface Shares {
  of(key: string): SessionPermits;
  /** The pool of this key no longer exists. */
  forget(key: string): void;
}

/** One thread's connection to the broker. */
export class ShareHolder implements Shares {
  readonly #pools: number;
  readonly #send: (message: ToBroker) => void;
  readonly #permits = new Map<string, Permits>();

  constructor(pools: number, send: (message: ToBroker) => void) {
    this.#pools = pools;
    this.#send = send;
  }

  of(key: string): SessionPermits {
    let permits = this.#permits.get(key);
    if (permits === undefined) {
      permits = new Permits(key, this.#pools, this.#send);
      this.#permits.set(key, permits);
    }
    return permits;
  }

  forget(key: string): void {
    this.#permits.delete(key);
  }

  receive(message: FromBroker): void {
    const permits = this.#permits.get(message.key);
    if (permits !== undefined) permits.receive(message);
    else if (message.kind === 'grant') this.#send({ kind: 'back', key: message.key, isRefused: false });
  }
}

class Permits implements SessionPermits {
  readonly #key: string;
  readonly #send: (message: ToBroker) => void;
  cap = Infinity;
  learned = Infinity;
  #held = 0;
  /** The count that the broker knows. */
  #wanted = 0;
  #maxSessions = Infinity;
  #holder: PermitHolder | undefined;

  constructor(
    key: string,
    readonly pools: number,
    send: (message: ToBroker) => void,
  ) {
    this.#key = key;
    this.#send = send;
  }

  bind(holder: PermitHolder): void {
    this.#holder = holder;
  }

  limit(maxSessions: number): void {
    if (this.#maxSessions === maxSessions) return;
    this.#maxSessions = maxSessions;
    // A thread that holds and needs no session is not limited.
    if (this.#held + this.#wanted > 0) this.#report();
  }

  want(count: number): void {
    if (this.#wanted === count) return;
    requireAmount(count);
    this.#wanted = count;
    this.#report();
  }

  giveBack(isRefused: boolean): void {
    requireAmount(this.#held - 1);
    this.#held--;
    this.#send({ kind: 'back', key: this.#key, isRefused });
  }

  receive(message: FromBroker): void {
    if (message.kind === 'grant') {
      this.#held++;
      this.#wanted = Math.max(0, this.#wanted - 1);
      if (this.#holder === undefined) this.giveBack(false);
      else this.#holder.granted();
    } else if (message.kind === 'poll') {
      this.#holder?.scarce();
      this.#report();
    } else {
      this.cap = message.cap;
      this.learned = message.learned;
      this.#holder?.changed();
    }
  }

  #report(): void {
    const key = this.#key;
    const held = this.#held;
    const count = this.#wanted;
    const limit = this.#maxSessions;
    if (this.#holder !== undefined) this.#send({ kind: 'want', key, count, held, limit, ...this.#holder.needs() });
  }
}
