/**
 * The sessions of one host, port and login. A lease is the right to use one channel of one session for the length of
 * one operation. Waiters are served in order, clients' requests before watched folders; an operation takes all its
 * leases at once and never waits for one while holding another.
 * Free channels of open sessions are used first, then another session below the limit, then the queue. Under load one
 * more session is opened in the background, so that transfers are spread over the server's processes.
 */
import { setMaxListeners } from 'node:events';
import { onAbort } from '../base/deadline.js';
import { Periodic } from '../base/periodic.js';
import { retryDelay } from '../base/retry-schedule.js';
import type { Grant } from '../budgets/budget.js';
import { GatewayError, hasCode, toGatewayError } from '../base/errors.js';
import { OpenSessions, TryNext, type PooledSession } from './open-sessions.js';
import { LearnedLimit } from '../shares/learned-limit.js';
import type { SessionPermits } from '../shares/permits.js';
import type { SessionNeeds } from '../shares/share-messages.js';
import { type SessionPlace, PlaceLine, type PoolBudgets, unboundedBudgets } from './places.js';
import type { OpenSession, Session } from './session.js';
import type { PoolLimits } from '../contract/connection/fields.js';
import { type GiveWayLimits, SlowLeases } from './slow-leases.js';
import { enqueue, mustBeServed, newWaiter, type AcquireOptions, type Lease, type Waiter } from './waiters.js';

export interface PoolGauge {
  readonly host: string;
  readonly open: number;
  readonly leased: number;
  readonly waiting: number;
  /** The sessions that the server was found to admit; absent = it has refused none. */
  readonly learned?: number;
}

interface PoolOptions<T> {
  /** host:port, for error texts and gauges. */
  readonly host: string;
  readonly limits: PoolLimits;
  /** The expected leases per session, before the first session has reported its capacity. */
  readonly leasesPerSession: number;
  readonly open: OpenSession<T>;
  /** Absent = no bounds except its own limits. */
  readonly budgets?: PoolBudgets;
  /** Present if pools of other threads share the limit of sessions. */
  readonly permits?: SessionPermits;
  /** Absent: no lease is ended for waiters. */
  readonly giveWay?: GiveWayLimits;
}

/** Everything that the pool may have is in use or wanted: a probe does not wait for it. */
export class PoolBusy extends Error {
  constructor(host: string) {
    super(`no session on ${host} is free`);
  }
}

/** The delay after a failed attempt to open one more session while others are open. */
const REOPEN_DELAY_MS = 1_000;
/** After attempts that the server refused because it has too many sessions. */
const REFUSED_OPENS = { firstMs: 250, longestMs: 2_000 };
/**
 * Refused connections in a row, while sessions are open, that count as a limit of the server: one may be an accident.
 */
const REFUSED_BESIDE = 2;
/** Leases per open session from which another session is opened in the background. */
const SPREAD_FROM = 4;
const MAX_GRANT_ATTEMPTS = 4;
/** The interval of the search for slow leases while requests wait. The first search comes this late, because most waits are shorter. */
const SLOW_SEARCH_MS = 1_000;
/**
 * How long a thread keeps sessions that it has just opened and still uses: each login serves many leases. Also how long
 * a waiter waits for the sessions of its own thread only.
 */
const TURN_MS = 1_000;
/** A session returned a moment ago is about to be used again by a client that sends one request after the other. */
const REST_MS = 100;
const NEVER_GIVES_WAY = { belowBytesPerSecond: 0, afterMs: 0 };

export class Pool<T> {
  readonly host: string;
  #currentLimits: PoolLimits;
  readonly #openSession: OpenSession<T>;
  readonly #permits: SessionPermits | undefined;
  readonly #budgets: PoolBudgets;
  readonly #line: PlaceLine;
  readonly #sessions: OpenSessions<T>;
  readonly #queue: Waiter<T>[] = [];
  readonly #closing = new AbortController();
  #expectedCapacity: number;
  #events = 0;
  /** Attempts to open a session, each with the waiters for it. */
  readonly #opening = new Set<Set<Waiter<T>>>();
  #granting = 0;
  readonly #learned = new LearnedLimit(() => this.#serve());
  #holdOpensUntil = 0;
  #openFailures = 0;
  #refusedBeside = 0;
  #isOpenFailing = false;
  #lastRefusal: GatewayError | undefined;
  #reopenTimer: NodeJS.Timeout | undefined;
  #lastUsed = performance.now();
  #lastOwner = '';
  #openedAt = -Infinity;
  readonly #slow: SlowLeases<PooledSession<T>>;
  /** What to call for each spare lease once others wait. */
  readonly #recalls = new Set<() => void>();
  readonly #slowSearch = new Periodic(() => this.#endSlow(), SLOW_SEARCH_MS);

  constructor(options: PoolOptions<T>) {
    this.host = options.host;
    this.#currentLimits = options.limits;
    this.#openSession = options.open;
    this.#expectedCapacity = options.leasesPerSession;
    this.#permits = options.permits;
    this.#budgets = options.budgets ?? unboundedBudgets();
    this.#slow = new SlowLeases(options.host, options.giveWay ?? NEVER_GIVES_WAY);
    this.#line = new PlaceLine(this.#budgets.places);
    this.#sessions = new OpenSessions({
      limits: () => this.#currentLimits,
      mayKeep: () => Math.min(this.limits.maxSessions, this.#permits?.cap ?? Infinity),
      isWanted: () => this.#queue.length > 0,
      closing: this.#closing.signal,
    });
    this.#permits?.bind({
      granted: () => (this.#sessionsToOpen() > 0 ? void this.#openOne() : this.#permits?.giveBack(false)),
      changed: () => {
        this.#sessions.retireSurplus();
        this.#serve();
        if (this.#isOverCap) this.#recallSpares();
        this.#startSlowSearch();
      },
      // Probes and spare leases end before other users are asked to give something up.
      scarce: () => {
        this.#endProbes(this.#queue);
        this.#recallSpares();
      },
      needs: () => this.#needs(),
    });
    this.#permits?.limit(options.limits.maxSessions);
    // Every login under way listens to it, and there may be hundreds.
    setMaxListeners(0, this.#closing.signal);
  }

  get limits(): PoolLimits {
    return this.#currentLimits;
  }

  /** May change while the pool runs (an edited connection); sessions above a lowered limit take no further lease. */
  set limits(limits: PoolLimits) {
    if (limits === this.#currentLimits) return;
    this.#currentLimits = limits;
    this.#permits?.limit(limits.maxSessions);
    this.#sessions.retireSurplus();
    if (this.#queue.length > 0 && !this.#closing.signal.aborted) this.#serve();
  }

  get gauge(): PoolGauge {
    return {
      host: this.host,
      open: this.#sessions.size + this.#opening.size - this.#line.length,
      leased: this.#sessions.leased,
      waiting: this.#queue.length,
      ...(this.#learnedSessions < Infinity ? { learned: this.#learnedSessions } : {}),
    };
  }

  /** Milliseconds without a lease, a waiter or an open session; 0 while in use. */
  get unusedMs(): number {
    return this.#sessions.size + this.#opening.size + this.#queue.length + this.#granting > 0
      ? 0
      : performance.now() - this.#lastUsed;
  }

  /**
   * Waits for `count` leases at once. Errors: pool_full, acquire_timeout, overloaded and share_exceeded
   * (budgets.waiting, budgets.sessions), sessions_exhausted (this login can never have that many), draining, the error
   * of a failed login, or the signal's reason. A probe and a spare lease get PoolBusy instead of the errors of waiting.
   */
  acquire(options: AcquireOptions): Promise<Lease<T>[]> {
    const { signal, owner = '', priority } = options;
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    if (this.#closing.signal.aborted) return Promise.reject(this.#closing.signal.reason as Error);
    this.#lastUsed = performance.now();
    this.#lastOwner = owner;
    if (priority === 'probe' || priority === 'spare')
      return this.#isRoomBeside(priority) ? this.#wait(options) : Promise.reject(new PoolBusy(this.host));
    const lease = this.#leaseNow(options);
    return lease === undefined ? this.#wait(options) : Promise.resolve([lease]);
  }

  /** The path of nearly every operation of a busy pool: nothing is allocated for a wait that does not happen. */
  #leaseNow({ count = 1, prove = false, yielding }: AcquireOptions): Lease<T> | undefined {
    if (count > 1 || prove || this.#queue.length > 0) return undefined;
    const taken = this.#sessions.leaseNow();
    if (taken === undefined) return undefined;
    this.#events++;
    this.#openForDemand();
    return this.#leaseOf(taken.entry, taken.item, true, { yielding });
  }

  #wait(options: AcquireOptions): Promise<Lease<T>[]> {
    return new Promise((resolve, reject) => {
      const { signal, owner = '' } = options;
      let turn: Grant | undefined;
      const late = (): void => this.#giveUp(waiter, this.#whyLate(owner));
      const timer = setTimeout(late, this.limits.acquireTimeoutMs);
      const waiter = newWaiter<T>(options, ++this.#events, {
        grant: resolve,
        fail: reject,
        settled: () => {
          clearTimeout(timer);
          turn?.release();
          stopListening();
          const index = this.#queue.indexOf(waiter);
          if (index >= 0) this.#queue.splice(index, 1);
        },
      });
      const stopListening = onAbort(signal, (reason) => this.#giveUp(waiter, reason));
      enqueue(this.#queue, waiter);
      this.#serve();
      this.#startSlowSearch();
      if (this.#queue.lastIndexOf(waiter) < 0 || !mustBeServed(waiter)) return;
      if (this.#isOverfull()) return this.#giveUp(waiter, poolFull(this.host, this.limits));
      try {
        turn = this.#budgets.waiting.take({ owner });
      } catch (error) {
        this.#giveUp(waiter, toGatewayError(error));
      }
    });
  }

  /** Rejects every waiter, closes idle sessions now and leased ones when they are returned. */
  close(): void {
    const reason = new GatewayError('draining', 'the gateway is stopping', { retryAfterMs: 1_000 });
    this.#closing.abort(reason);
    clearTimeout(this.#reopenTimer);
    void this.#slowSearch.stop();
    this.#learned.forget();
    this.#line.leave();
    this.#permits?.want(0);
    for (const waiter of [...this.#queue]) waiter.fail(reason);
    this.#sessions.close();
  }

  /** With one waiter less, a pair that waits after it may fit. */
  #giveUp(waiter: Waiter<T>, error: Error): void {
    waiter.fail(error);
    this.#serve();
  }

  /** If no session could even be opened, the gateway's own bound is the cause. */
  #whyLate(owner: string): GatewayError {
    const refusal = this.#line.length > 0 ? this.#budgets.places.refusal(owner) : undefined;
    return refusal ?? waitedTooLong(this.host, this.limits, this.#lastRefusal);
  }

  /** What the pool reports about itself if threads share the limit of its login. */
  #needs(): SessionNeeds {
    const now = performance.now();
    const nowOfAll = Date.now();
    const opening = this.#opening.size;
    const isFresh = opening > 0 || now - this.#openedAt < TURN_MS;
    const [head] = this.#queue;
    if (head === undefined) {
      const used = [...this.#sessions.all].filter(({ used, idleSince = 0 }) => used > 0 || now - idleSince < REST_MS);
      return { sessions: opening + used.length, atOnce: 1, since: nowOfAll, isRequest: false, isFresh };
    }
    // The leases on its thread's sessions may run for hours: then sessions of other threads are owed to it.
    const isOverdue = nowOfAll - head.since >= TURN_MS;
    let free = 0;
    for (const entry of this.#sessions.all) free += this.#sessions.capacityOf(entry) - entry.used;
    return {
      sessions: opening + this.#sessions.size,
      atOnce: isOverdue
        ? this.#sessions.size + Math.ceil(Math.max(0, head.count - free) / this.#expectedCapacity)
        : Math.ceil(head.count / this.#expectedCapacity),
      since: head.since,
      isRequest: head.priority === 'request',
      isFresh,
    };
  }

  /** Whether more waiters exist than allowed, without those for whom sessions are being opened. */
  #isOverfull(): boolean {
    const mayWait = this.limits.maxWaiting / (this.#permits?.pools ?? 1);
    if (this.#queue.length <= mayWait) return false;
    const clients = this.#queue.filter(mustBeServed).length;
    return clients - (this.#opening.size - this.#line.length) * this.#expectedCapacity > mayWait;
  }

  #isRoomBeside(priority: 'probe' | 'spare'): boolean {
    if (priority === 'probe' ? this.#queue.length > 0 : this.#queue.some(mustBeServed)) return false;
    const room = this.#mostSessions - this.#sessions.size - this.#opening.size;
    return room > 0 || this.#sessions.hasFree(priority === 'spare');
  }

  /** Ends the waits of probes and for spare leases. */
  #endProbes(waiters: Iterable<Waiter<T>>): void {
    for (const waiter of [...waiters]) if (!mustBeServed(waiter)) this.#giveUp(waiter, new PoolBusy(this.host));
  }

  #recallSpares(): void {
    for (const recall of this.#recalls) recall();
    this.#recalls.clear();
  }

  /** Grants free slots in order, and starts to open sessions for the rest. */
  #serve(): void {
    for (;;) {
      const waiter = this.#queue[0];
      if (waiter === undefined) break;
      if (waiter.count > this.#mostLeases()) {
        waiter.fail(exhausted(this.host, waiter.count));
        continue;
      }
      const slots = this.#sessions.reserve(waiter.count, waiter.priority === 'spare');
      if (slots === undefined) break;
      this.#queue.shift();
      void this.#grant(waiter, slots);
    }
    if (this.#queue.length === 0) this.#line.leave();
    this.#openForDemand();
    if (this.#recalls.size > 0 && this.#isStarved) this.#recallSpares();
    this.#budgets.places.rested();
  }

  /** Whether an operation waits that no session under way will serve. */
  get #isStarved(): boolean {
    const wanted = this.#queue.reduce((sum, waiter) => sum + (mustBeServed(waiter) ? waiter.count : 0), 0);
    if (wanted <= this.#opening.size * this.#expectedCapacity) return false;
    const mayOpen = this.#mostSessions > this.#sessions.size + this.#opening.size;
    return !mayOpen || this.#isOpenFailing || this.#holdOpensUntil > performance.now();
  }

  /** Leases that this login could ever have at once, by the limits and what the server has shown. */
  #mostLeases(): number {
    let perSession = this.#expectedCapacity;
    for (const entry of this.#sessions.all) perSession = Math.max(perSession, this.#sessions.capacityOf(entry));
    return this.#mostSessions * perSession;
  }

  #startSlowSearch(): void {
    if (this.#isShort && !this.#closing.signal.aborted) this.#slowSearch.start();
  }

  /** Whether a request waits here, or on another event loop or node that is owed sessions of this one. */
  get #isShort(): boolean {
    return this.#queue.length > 0 || this.#isOverCap;
  }

  get #isOverCap(): boolean {
    return this.#permits !== undefined && this.#sessions.size > this.#permits.cap;
  }

  #endSlow(): void {
    if (!this.#isShort) return void this.#slowSearch.stop();
    const before = Date.now() - SLOW_SEARCH_MS;
    const waiting = this.#queue.filter((waiter) => mustBeServed(waiter) && waiter.since <= before);
    const opening = (this.#opening.size - this.#line.length) * this.#expectedCapacity;
    this.#slow.giveWay(waiting.reduce((sum, { count }) => sum + count, 0) - opening, () => true);
    if (this.#isOverCap) this.#slow.giveWay(Infinity, ({ isSurplus }) => isSurplus);
  }

  /** Leases that this login could have at once, by the limits and what the server has shown. */
  get capacity(): number {
    return this.#mostLeases();
  }

  get #mostSessions(): number {
    return Math.min(this.limits.maxSessions, this.#learnedSessions);
  }

  get #learnedSessions(): number {
    return Math.min(this.#learned.sessions, this.#permits?.learned ?? Infinity);
  }

  async #grant(waiter: Waiter<T>, slots: PooledSession<T>[]): Promise<void> {
    this.#granting++;
    const outcomes = await Promise.allSettled(slots.map((entry) => this.#leaseOn(entry, waiter)));
    this.#granting--;
    const leases = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    const isClosing = this.#closing.signal.aborted;
    if (leases.length === slots.length && !isClosing) {
      waiter.grant(leases);
      this.#serve();
      return;
    }
    for (const lease of leases) lease.release('keep');
    if (isClosing) return waiter.fail(this.#closing.signal.reason as Error);
    const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as Error] : []));
    if (!waiter.settled && failures.every((failure) => this.#mayTryAgain(waiter, failure))) {
      enqueue(this.#queue, waiter);
      this.#startSlowSearch();
    } else waiter.fail(failures.find((failure) => !(failure instanceof TryNext)) ?? toGatewayError(failures[0]));
    this.#serve();
  }

  /** The session died or admits no further channel: the waiter keeps its place and gets the next slot. */
  #mayTryAgain(waiter: Waiter<T>, failure: Error): boolean {
    if (failure instanceof TryNext) return true;
    if (!hasCode(failure, 'connection_lost', 'stall_timeout', 'protocol_error', 'too_many_sessions')) return false;
    return ++waiter.attempts < MAX_GRANT_ATTEMPTS;
  }

  /** A lease on a slot that is already counted in `entry.used`; returns the slot if it fails. */
  async #leaseOn(entry: PooledSession<T>, waiter: Waiter<T>): Promise<Lease<T>> {
    const { session } = entry;
    try {
      // A session opened for this waiter is proven to be alive; a later failure on it is the waiter's to report.
      const isProbe = waiter.priority === 'probe';
      // A probe is a check itself.
      if (!isProbe || waiter.prove) await this.#sessions.prove(entry, waiter.prove && entry.opened < waiter.arrived);
      const item = await session.lease(waiter.signal);
      if (!isProbe) this.#sessions.use(entry);
      return this.#leaseOf(entry, item, entry.opened < waiter.arrived, waiter);
    } catch (error) {
      const isRefusal = hasCode(error, 'too_many_sessions');
      const hasLearned = isRefusal && session.capacity < entry.used;
      if (isRefusal) this.#expectedCapacity = Math.max(1, session.capacity);
      else if (!waiter.signal.aborted && !toGatewayError(error).keepsSession) session.close();
      this.#giveBack(entry);
      throw hasLearned ? new TryNext('the session admits no further lease', { cause: error }) : error;
    }
  }

  #leaseOf(
    entry: PooledSession<T>,
    item: T,
    reused: boolean,
    { yielding, recall }: Pick<AcquireOptions, 'yielding' | 'recall'>,
  ): Lease<T> {
    let released = false;
    const isBack = yielding && this.#slow.add(entry, yielding);
    if (recall !== undefined) this.#recalls.add(recall);
    return {
      item,
      reused,
      opening: entry.opening,
      release: (fate) => {
        if (released) return;
        released = true;
        if (recall !== undefined) this.#recalls.delete(recall);
        entry.session.release(item, fate);
        if (fate === 'keep') this.#giveBackAndServe(entry, isBack);
        else void this.#takeBack(entry, isBack);
      },
    };
  }

  /**
   * A session that stays open after a lease of it failed is checked before it is used again: its connection may be
   * dead. Not while other leases transfer: the answer would wait for their data, and their progress is better proof.
   */
  async #takeBack(entry: PooledSession<T>, isBack: (() => void) | undefined): Promise<void> {
    if (entry.session.alive && entry.used === 1 && !entry.isForProbe && !this.#closing.signal.aborted) {
      entry.idleSince ??= performance.now();
      await this.#sessions.prove(entry, true)?.catch(() => undefined);
    }
    this.#giveBackAndServe(entry, isBack);
  }

  #giveBackAndServe(entry: PooledSession<T>, isBack: (() => void) | undefined): void {
    isBack?.();
    this.#giveBack(entry);
    this.#serve();
  }

  #giveBack(entry: PooledSession<T>): void {
    this.#lastUsed = performance.now();
    this.#sessions.giveBack(entry);
  }

  #openForDemand(): void {
    const count = this.#sessionsToOpen();
    if (count === 0) this.#shareAttempts();
    if (this.#permits !== undefined) return this.#permits.want(count);
    for (let opened = 0; opened < count; opened++) void this.#openOne();
  }

  /** Sessions to open in addition to those being opened. */
  #sessionsToOpen(): number {
    // While attempts fail, those under way decide for all waiters.
    if (this.#closing.signal.aborted || this.#isOpenFailing) return 0;
    const room = this.#mostSessions - this.#sessions.size - this.#opening.size;
    if (room <= 0) return 0;
    const delay = this.#holdOpensUntil - performance.now();
    if (delay > 0) {
      if (this.#queue.length > 0) {
        this.#reopenTimer ??= setTimeout(() => {
          this.#reopenTimer = undefined;
          this.#serve();
        }, delay);
      }
      return 0;
    }
    let wanted = this.#wantedLeases - this.#opening.size * this.#expectedCapacity;
    const { size, leased } = this.#sessions;
    const crowded = size > 0 && this.#opening.size === 0 && leased >= size * SPREAD_FROM;
    if (wanted <= 0 && crowded) wanted = 1;
    return Math.min(room, Math.max(0, Math.ceil(wanted / this.#expectedCapacity)));
  }

  /** A spare lease needs a whole session. */
  get #wantedLeases(): number {
    return this.#queue.reduce(
      (sum, { count, priority }) => sum + (priority === 'spare' ? this.#expectedCapacity : count),
      0,
    );
  }

  /** Waiters without their own attempt share those under way, which were also meant to serve them. */
  #shareAttempts(): void {
    for (const sharing of this.#opening) for (const waiter of this.#queue) sharing.add(waiter);
  }

  async #openOne(): Promise<void> {
    // All current waiters share the result of this attempt; later ones get their own attempt, if it cannot serve them.
    const sharing = new Set(this.#queue);
    this.#opening.add(sharing);
    const owner = this.#queue[0]?.owner ?? this.#lastOwner;
    const { places } = this.#budgets;
    // For more speed, or for a probe: takes no place that other pools could need.
    const isSpare = ![...sharing].some(mustBeServed);
    const free = isSpare ? places.trySpare(owner) : places.tryTake(owner);
    const place = free ?? (isSpare ? undefined : await this.#line.wait(owner));
    if (place === undefined || (free === undefined && !this.#isWanted())) return this.#dismiss(sharing, place);
    let opened: Session<T> | GatewayError;
    const startedAt = performance.now();
    try {
      opened = await this.#openSession(this.#closing.signal);
    } catch (error) {
      opened = toGatewayError(error);
    }
    this.#opening.delete(sharing);
    if (opened instanceof GatewayError) {
      place.release();
      const isFull = this.#isFull(opened);
      this.#permits?.giveBack(isFull);
      this.#openFailed(opened, isFull, sharing);
    } else {
      const isForProbe = sharing.size > 0 && [...sharing].every(({ priority }) => priority === 'probe');
      this.#adopt(opened, startedAt, place, isForProbe);
    }
    this.#serve();
  }

  /** While an attempt waited for its place, sessions may have become idle. */
  #isWanted(): boolean {
    if (this.#closing.signal.aborted) return false;
    return this.#wantedLeases > (this.#opening.size - 1) * this.#expectedCapacity;
  }

  #dismiss(sharing: Set<Waiter<T>>, place: SessionPlace | undefined): void {
    this.#opening.delete(sharing);
    place?.release();
    this.#permits?.giveBack(false);
    this.#endProbes(sharing);
    // It was for more speed only.
    if (place === undefined && sharing.size === 0) this.#holdOpensUntil = performance.now() + REOPEN_DELAY_MS;
    if (!this.#closing.signal.aborted) this.#serve();
  }

  #adopt(session: Session<T>, startedAt: number, place: SessionPlace, isForProbe: boolean): void {
    session.onClose(() => {
      this.#permits?.giveBack(false);
      place.release();
    });
    if (this.#closing.signal.aborted) return session.close();
    this.#openFailures = 0;
    this.#isOpenFailing = false;
    for (const waiter of this.#queue) waiter.loginFailure = undefined;
    this.#openedAt = performance.now();
    this.#refusedBeside = 0;
    this.#expectedCapacity = session.capacity;
    const entry = this.#sessions.add(session, ++this.#events, startedAt, place, () => {
      if (!this.#closing.signal.aborted) this.#serve();
    });
    entry.isForProbe = isForProbe;
    session.onRoom?.(() => {
      if (!this.#closing.signal.aborted) this.#serve();
    });
    this.#learned.admitted(this.#sessions.size);
  }

  /** Some servers say that they have too many sessions; others refuse the connection while ours are open. */
  #isFull({ code, step }: GatewayError): boolean {
    if (code === 'too_many_sessions') return true;
    if (code !== 'unreachable' || step === 'resolve' || this.#sessions.size === 0) return false;
    return ++this.#refusedBeside >= REFUSED_BESIDE;
  }

  #openFailed(error: GatewayError, isFull: boolean, sharing: ReadonlySet<Waiter<T>>): void {
    if (this.#closing.signal.aborted) return;
    const live = this.#sessions.size;
    if (isFull) {
      this.#lastRefusal = error;
      // The waiters stay: one of our sessions is returned, or the server has room again later.
      const others = live + this.#opening.size;
      if (others > 0 && this.#permits === undefined) this.#learned.learn(Math.min(others, this.#learned.sessions));
      else {
        // Not even one: others use the server now, and their number says nothing about ours.
        this.#learned.forget();
        this.#holdOpensUntil = performance.now() + (retryDelay(REFUSED_OPENS, ++this.#openFailures) ?? 0);
      }
    } else if (live > 0) {
      // An attempt for more speed only: the waiters get what other leases return.
      this.#holdOpensUntil = performance.now() + REOPEN_DELAY_MS;
    } else {
      for (const waiter of sharing) waiter.loginFailure = error;
    }
    // The last one of several concurrent attempts decides.
    this.#isOpenFailing = this.#opening.size > 0;
    // The probe's question stays open: others may try.
    if (live > 0 || isFull) this.#endProbes(sharing);
    if (this.#isOpenFailing || live > 0) return;
    for (const waiter of [...this.#queue]) if (waiter.loginFailure !== undefined) waiter.fail(waiter.loginFailure);
  }
}

function poolFull(host: string, { maxWaiting }: PoolLimits): GatewayError {
  return new GatewayError(
    'pool_full',
    `${maxWaiting} requests already wait for a session on ${host} (pools maxWaiting)`,
    { step: 'acquire', retryAfterMs: 1_000 },
  );
}

/** `refusal`: the server's last words when it admitted no further session. */
function waitedTooLong(
  host: string,
  { acquireTimeoutMs }: PoolLimits,
  refusal: GatewayError | undefined,
): GatewayError {
  return new GatewayError(
    'acquire_timeout',
    `no session on ${host} became free within ${acquireTimeoutMs} ms (pools maxSessions, acquireTimeoutMs)`,
    { step: 'acquire', retryAfterMs: 1_000, remote: refusal?.remote },
  );
}

function exhausted(host: string, count: number): GatewayError {
  return new GatewayError(
    'sessions_exhausted',
    `this operation needs ${count} sessions on ${host} at once, which maxSessions (and the server) do not allow; raise maxSessions`,
    { step: 'acquire' },
  );
}
