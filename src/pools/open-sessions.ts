/** The open sessions of a pool: their users, whether they are alive, and when they are closed. */
import { hasCode } from '../base/errors.js';
import { Periodic } from '../base/periodic.js';
import type { Occupant, SessionPlace } from './places.js';
import type { Session } from './session.js';
import type { PoolLimits } from '../contract/connection/fields.js';

/** When a session was opened, on the clock of performance.now(). */
export interface Opening {
  readonly startedAt: number;
  readonly connectedAt: number;
  readonly readyAt: number;
}

/** An open session in its pool. */
export interface PooledSession<T> {
  readonly session: Session<T>;
  /** Its place in the order of events, comparable with a waiter's. */
  readonly opened: number;
  /** Absent if nothing had to be opened. */
  readonly opening: Opening | undefined;
  used: number;
  /** When the last lease was returned; undefined while one is in use. */
  idleSince: number | undefined;
  /** The round trip under way that checks whether the session is alive. */
  proof: Promise<void> | undefined;
  /** Above a lowered limit: takes no further lease and is closed after its last one. */
  isSurplus: boolean;
  /** Opened for a probe and used by nothing else: it is closed after the probe. */
  isForProbe: boolean;
}

/**
 * The slot was not usable: a dead session, or one with less capacity than promised. Costs the waiter nothing, and ends
 * by itself.
 */
export class TryNext extends Error {}

/** A session that was idle for longer is checked by one round trip before it is used. */
const CHECK_AFTER_IDLE_MS = 5_000;
const CHECK_EVERY_MS = 5_000;

interface OpenSessionsOptions {
  limits(): PoolLimits;
  /** How many sessions may stay: those above it take no further lease. */
  mayKeep(): number;
  /** A request waits: idle sessions are about to be used. */
  isWanted(): boolean;
  /** The pool is closing: no session is kept. */
  readonly closing: AbortSignal;
}

export class OpenSessions<T> {
  readonly #options: OpenSessionsOptions;
  readonly #entries = new Set<PooledSession<T>>();
  #expiring: Periodic | undefined;

  constructor(options: OpenSessionsOptions) {
    this.#options = options;
  }

  get all(): ReadonlySet<PooledSession<T>> {
    return this.#entries;
  }

  get size(): number {
    return this.#entries.size;
  }

  hasFree(isUnused: boolean): boolean {
    return this.#leastLoaded(isUnused) !== undefined;
  }

  get leased(): number {
    let leased = 0;
    for (const { used } of this.#entries) leased += used;
    return leased;
  }

  /** Adds a session that has just been opened, since `startedAt`, in its place. `ended` is called when it is gone. */
  add(
    session: Session<T>,
    opened: number,
    startedAt: number,
    place: SessionPlace,
    ended: () => void,
  ): PooledSession<T> {
    const { connectedAt } = session;
    const entry: PooledSession<T> = {
      session,
      opened,
      opening: connectedAt === undefined ? undefined : { startedAt, connectedAt, readyAt: performance.now() },
      used: 0,
      idleSince: performance.now(),
      proof: undefined,
      isSurplus: false,
      isForProbe: false,
    };
    this.#entries.add(entry);
    place.offer(this.#occupantOf(entry));
    session.onClose(() => {
      this.#entries.delete(entry);
      ended();
    });
    this.retireSurplus();
    const { idleTimeoutMs } = this.#options.limits();
    this.#expiring ??= new Periodic(() => this.#expire(), Math.min(CHECK_EVERY_MS, idleTimeoutMs)).start();
    return entry;
  }

  capacityOf({ session }: PooledSession<T>): number {
    return Math.min(session.capacity, this.#options.limits().maxChannelsPerSession);
  }

  /** Takes `count` free slots, least loaded sessions first, or none; `isUnused`: only on sessions without a lease. */
  reserve(count: number, isUnused = false): PooledSession<T>[] | undefined {
    const slots: PooledSession<T>[] = [];
    for (let taken = 0; taken < count; taken++) {
      const best = this.#leastLoaded(isUnused);
      if (best === undefined) {
        for (const entry of slots) entry.used--;
        return undefined;
      }
      best.used++;
      slots.push(best);
    }
    return slots;
  }

  /**
   * Leases from the least loaded session without a wait; undefined if the session must be checked first, or must open
   * something for the lease.
   */
  leaseNow(): { readonly entry: PooledSession<T>; readonly item: T } | undefined {
    const entry = this.#leastLoaded();
    if (entry === undefined || this.#needsProof(entry)) return undefined;
    const item = entry.session.leaseNow?.();
    if (item === undefined) return undefined;
    entry.used++;
    this.use(entry);
    return { entry, item };
  }

  /**
   * One round trip on a session that was idle for long, shared by all who want the session; it continues if a waiter
   * leaves. `always`: also on a session in use, or one that was idle only a moment.
   */
  prove(entry: PooledSession<T>, always: boolean): Promise<void> | undefined {
    if (entry.proof !== undefined) return entry.proof;
    if (!always && !this.#needsProof(entry)) return undefined;
    entry.proof = entry.session
      .check(this.#options.closing)
      .then(() => {
        if (entry.idleSince !== undefined) entry.idleSince = performance.now();
      })
      .catch((error: unknown) => {
        if (entry.session.alive && entry.idleSince === undefined) {
          // Other work on the session continues: the answer may only wait for its data, or only one channel is dead.
          if (hasCode(error, 'too_many_sessions')) throw error;
          return;
        }
        entry.session.close();
        // The cause that cut one idle session (a firewall, a restart) has probably cut the others too.
        this.#dropIdle();
        throw new TryNext('an idle session did not answer', { cause: error });
      })
      .finally(() => (entry.proof = undefined));
    return entry.proof;
  }

  /** Marks the session as used by work; a probe does not count, and leaves it as idle as it was. */
  use(entry: PooledSession<T>): void {
    entry.idleSince = undefined;
    entry.isForProbe = false;
  }

  giveBack(entry: PooledSession<T>): void {
    entry.used--;
    if (entry.used === 0) entry.idleSince ??= performance.now();
    const isSpare = entry.isForProbe && !this.#options.isWanted();
    const isLeaving = entry.used === 0 && (this.#options.closing.aborted || isSpare);
    if (!entry.session.alive || isLeaving) this.#drop(entry);
    // The first session without a lease is closed, even if another one is marked: the lease of that one may last for
    // hours.
    else if (entry.used === 0 && (entry.isSurplus || this.#surplus > 0)) this.retireSurplus();
  }

  /** Marks the least used sessions above the limit; idle ones are closed at once. */
  retireSurplus(): void {
    const surplus = this.#surplus;
    const byUse = [...this.#entries].sort((a, b) => a.used - b.used);
    for (const [index, entry] of byUse.entries()) {
      entry.isSurplus = index < surplus;
      if (entry.isSurplus && entry.used === 0) this.#drop(entry);
    }
  }

  /** Sessions in use are closed when they are returned. */
  close(): void {
    void this.#expiring?.stop();
    this.#dropIdle();
  }

  /** Among those with a free slot. */
  #leastLoaded(isUnused = false): PooledSession<T> | undefined {
    let best: PooledSession<T> | undefined;
    for (const entry of this.#entries) {
      if (entry.isSurplus || !entry.session.alive || entry.used >= this.capacityOf(entry)) continue;
      if (best === undefined || entry.used < best.used) best = entry;
    }
    return isUnused && best !== undefined && best.used > 0 ? undefined : best;
  }

  #needsProof({ proof, idleSince }: PooledSession<T>): boolean {
    return proof !== undefined || (idleSince !== undefined && performance.now() - idleSince > CHECK_AFTER_IDLE_MS);
  }

  get #surplus(): number {
    return this.#entries.size - this.#options.mayKeep();
  }

  /** The session as a pool that lacks a place sees it. */
  #occupantOf(entry: PooledSession<T>): Occupant {
    const isBusy = (): boolean => this.#options.isWanted() || entry.used > 0 || entry.proof !== undefined;
    return {
      get idleSince() {
        return isBusy() ? undefined : entry.idleSince;
      },
      close: () => this.#drop(entry),
    };
  }

  #expire(): void {
    const before = performance.now() - this.#options.limits().idleTimeoutMs;
    for (const entry of this.#entries) {
      const isIdle = entry.used === 0 && (entry.idleSince ?? before) < before;
      if (!entry.session.alive || isIdle) this.#drop(entry);
    }
    if (this.#entries.size > 0) return;
    void this.#expiring?.stop();
    // The time limit may have changed by the next session.
    this.#expiring = undefined;
  }

  #dropIdle(): void {
    for (const entry of this.#entries) if (entry.used === 0) this.#drop(entry);
  }

  #drop(entry: PooledSession<T>): void {
    this.#entries.delete(entry);
    entry.session.close();
  }
}
