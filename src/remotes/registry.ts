/** Connection → protocol → pool → lease → Remote. The only file that lists the protocols. */
import { Periodic } from '../base/periodic.js';
import { type Hold, type Memory, UNCOUNTED } from '../budgets/memory.js';
import { hash } from 'node:crypto';
import { abortSignalOf, type EndSignal } from '../base/ending.js';
import { GatewayError, hasCode, toGatewayError } from '../base/errors.js';
import { Budget, type Grant } from '../budgets/budget.js';
import { type ListingReader, ListingTurns } from '../budgets/listing-turns.js';
import { Pool, PoolBusy, type PoolGauge } from '../pools/pool.js';
import type { GiveWayLimits, Yielding } from '../pools/slow-leases.js';
import type { Lease, Priority } from '../pools/waiters.js';
import { type ByteRates, NodeRates } from '../shares/byte-rates.js';
import type { Shares } from '../shares/permits.js';
import type { Connection } from '../connections/connection.js';
import type { PoolLimits } from '../contract/connection/fields.js';
import { isPublicServer, serverOf, wayOf } from './dial/dial.js';
import { createFtp } from './ftp/protocol.js';
import type { KnownPlaces } from './known-places.js';
import { type MoreSessions, NO_MORE_SESSIONS, Recall } from './more-sessions.js';
import type { RemotePath } from './path.js';
import { limitsFor, type OperatorLimits } from './pool-limits.js';
import type { AnyProtocol, ProtocolDeps } from './protocol.js';
import { asOfReaching, isOfReaching, type Reach, UNHEARD } from './reach.js';
import type { Leftovers } from './leftovers.js';
import { limitRate, RateFlow } from './rate-limit.js';
import type { Mark, Remote, RemoteContext } from './remote.js';
import { haveReferences, type PresentSecrets, withPresentSecrets } from './renewed-login.js';
import { createS3 } from './s3/protocol.js';
import { createJumps, createSftp } from './sftp/protocol.js';
import { SharedLimits } from './pool-limits.js';

export { PoolBusy, type Priority, type Yielding };

export interface UseOptions {
  readonly signal: EndSignal;
  readonly leftovers: (connection: Connection) => Leftovers;
  readonly priority?: Priority;
  readonly mark?: Mark;
  readonly irrevocable?: () => void;
  readonly unverified?: RemoteContext['unverified'];
  readonly memory?: Memory | undefined;
  /** Shared by many files that are written one after the other. */
  readonly places?: KnownPlaces | undefined;
  /** Absent: no client counts as slow. With two connections: for the lease on the target. */
  readonly yielding?: Yielding | undefined;
  /** With two connections: for the lease on the source. */
  readonly sourceYielding?: Yielding | undefined;
  /** Id of the link that the operation came by: links have a part of each pool. */
  readonly linkId?: string | undefined;
}

/** Calls that the work of an operation may make about itself. */
export interface Attempt {
  /** From here on the work must not run a second time: a byte was sent, or something was changed on the remote. */
  committed(): void;
}

export interface Remotes {
  /**
   * Runs `work` on a leased Remote. The lease lasts until `work` settles; its outcome decides whether the session is
   * kept. A probe rejects with PoolBusy where a client would have to wait. If a pooled session turns out to be lost
   * before `attempt.committed()`, the work runs again on another one, three times in all.
   */
  use<R>(
    connection: Connection,
    options: UseOptions,
    work: (remote: Remote, attempt: Attempt) => Promise<R>,
  ): Promise<R>;
  /** The same with two Remotes; both leases are taken at once (one login) or in a fixed order of pools (two logins). */
  useBoth<R>(
    from: Connection,
    to: Connection,
    options: UseOptions,
    work: (source: Remote, target: Remote, attempt: Attempt) => Promise<R>,
  ): Promise<R>;
  /** `host:port`, as used by the pools. */
  host(connection: Connection): string;
  /** One name for the server, the same for every connection that leads there by the same way. */
  server(connection: Connection): string;
  /** One name for a place on that server. */
  place(connection: Connection, path: RemotePath): string;
  /** The same by any way, for locks: one server may be reached by several ways. */
  placeByAnyWay(connection: Connection, path: RemotePath): string;
  /** The same by any way if the server is public, for the checks whether one folder lies in another. */
  placeInTree(connection: Connection, path: RemotePath): string;
  gauges(): readonly PoolGauge[];
  /**
   * The state of the pool that this connection shares with others of the same login (`key`); undefined while there is
   * none.
   */
  gaugeOf(connection: Connection): (PoolGauge & { readonly key: string; readonly maxSessions: number }) | undefined;
  close(): void;
}

interface RemotesOptions extends Omit<ProtocolDeps, 'jumps'> {
  readonly limits: OperatorLimits;
  /** Absent: no operation yields its session. */
  readonly giveWay?: GiveWayLimits;
  /** The percentage of a pool's sessions that links may use; absent = all. */
  readonly linkPercent?: number;
  /** Present if threads share the limits. */
  readonly shares?: Shares;
  /** The rates of connections; absent: this is the only event loop. */
  readonly rates?: ByteRates;
  readonly protocols?: readonly ((deps: ProtocolDeps) => AnyProtocol)[];
  /** Is notified which servers can be reached. */
  readonly reach?: Reach;
  /** Absent: no connection has secrets that are read from elsewhere. */
  readonly secrets?: PresentSecrets;
}

const PROTOCOLS: NonNullable<RemotesOptions['protocols']> = [createSftp, createFtp, createS3];

/**
 * A server that drops one pooled session has usually dropped the others as well; those in use are not known to be lost
 * yet.
 */
const MOST_TRIES = 3;
/** Pools that are unused for this long are forgotten; a new one is made when it is needed. */
const FORGET_POOL_AFTER_MS = 300_000;
const SWEEP_EVERY_MS = 60_000;

/** The target of a connection, and its limits. */
interface Place {
  readonly protocol: AnyProtocol;
  readonly host: string;
  /** See serverOf. */
  readonly server: string;
  /** The key of its pool. */
  readonly key: string;
  readonly limits: PoolLimits;
}

/** The pool of one login and the connections that use it. */
interface SharedPool {
  readonly key: string;
  readonly pool: Pool<unknown>;
  readonly limits: SharedLimits;
  /** Leases that links hold, divided by link. */
  readonly links: Budget;
  /** The connection that asked last: further sessions are opened for it. */
  connection: Connection;
}

/** What an operation holds while it runs. */
interface Taken {
  readonly leases: readonly Lease<unknown>[];
  /** The operation no longer counts for the limits of the pools. */
  leave(): void;
}

function giveBack(taken: Taken, fate: 'keep' | 'discard'): void {
  taken.leave();
  for (const lease of taken.leases) lease.release(fate);
}

export function createRemotes(options: RemotesOptions): Remotes {
  const jumps = createJumps(options, (jump) => limitsFor(jump, `${jump.host}:${jump.port}`, options.limits));
  const protocols = new Map(
    (options.protocols ?? PROTOCOLS).map((create) => create({ ...options, jumps })).map((one) => [one.type, one]),
  );
  const pools = new Map<string, SharedPool>();
  /** A connection object never changes: an edited connection is another object. */
  const places = new WeakMap<Connection, Place>();
  const turns = new ListingTurns();
  const { rates = new NodeRates() } = options;
  let isClosed = false;
  const reach = options.reach ?? UNHEARD;
  const sweep = (): void => {
    for (const [key, { pool, limits }] of pools) {
      if (pool.unusedMs > FORGET_POOL_AFTER_MS) {
        pools.delete(key);
        options.shares?.forget(key);
      } else limits.forget(FORGET_POOL_AFTER_MS);
    }
  };
  const sweeping = new Periodic(sweep, SWEEP_EVERY_MS).start();

  function protocolOf({ type }: Connection): AnyProtocol {
    const protocol = protocols.get(type);
    if (protocol !== undefined) return protocol;
    throw new GatewayError('unsupported_operation', `no protocol of this gateway is called ${type}`);
  }

  function placeOf(connection: Connection): Place {
    const known = places.get(connection);
    if (known !== undefined) return known;
    const protocol = protocolOf(connection);
    const host = protocol.host(connection);
    const key = digest([connection.type, host, ...protocol.identity(connection), ...wayOf(connection)]);
    const limits = limitsFor(connection, host, options.limits);
    const place = { protocol, host, server: serverOf(host, connection), key, limits };
    places.set(connection, place);
    return place;
  }

  function placeBy(connection: Connection, path: RemotePath): string {
    const { protocol, server } = placeOf(connection);
    return `${server}:${protocol.place(connection, path)}`;
  }

  function placeByAnyWay(connection: Connection, path: RemotePath): string {
    const { protocol, host } = placeOf(connection);
    return `${host}:${protocol.place(connection, path)}`;
  }

  function poolOf(connection: Connection): SharedPool {
    const place = placeOf(connection);
    let shared = pools.get(place.key);
    if (shared === undefined) {
      shared = makePool(place, connection);
      pools.set(place.key, shared);
    }
    shared.connection = connection;
    shared.pool.limits = shared.limits.use(connection, place.limits);
    if (isClosed) shared.pool.close();
    return shared;
  }

  function makePool({ protocol, host, key, limits: own }: Place, connection: Connection): SharedPool {
    const limits = new SharedLimits();
    const first = limits.use(connection, own);
    const permits = options.shares?.of(key);
    const shared: SharedPool = {
      key,
      links: new Budget({
        name: 'links',
        unit: 'sessions for links',
        setting: 'links.poolPercent',
        get capacity() {
          const { linkPercent = 100 } = options;
          return Math.max(1, Math.floor((shared.pool.capacity * linkPercent) / 100 / (permits?.pools ?? 1)));
        },
      }),
      connection,
      limits,
      pool: new Pool({
        host,
        limits: first,
        leasesPerSession: protocol.leasesPerSession(first),
        ...(options.budgets === undefined ? {} : { budgets: options.budgets }),
        ...(permits === undefined ? {} : { permits }),
        ...(options.giveWay === undefined ? {} : { giveWay: options.giveWay }),
        open: (signal) => openSession(protocol, shared, signal),
      }),
    };
    return shared;
  }

  async function openSession(protocol: AnyProtocol, { connection, pool }: SharedPool, signal: AbortSignal) {
    try {
      return await protocol.openSession(connection, pool.limits, signal);
    } catch (error) {
      // Beside other sessions, no operation fails that would have its secrets read again.
      const isBeside = pool.gauge.open > 1;
      if (isBeside && hasCode(error, 'login_refused') && haveReferences([connection]))
        void options.secrets?.renewed(connection);
      throw error;
    }
  }

  /** Links have a part of each pool: their operations get no session in addition. */
  function moreSessions(connection: Connection, { signal, linkId }: UseOptions): MoreSessions<unknown> {
    const most = options.tuning.connectionsPerFile - 1;
    if (most === 0 || linkId !== undefined) return NO_MORE_SESSIONS;
    const take: MoreSessions<unknown>['take'] = async () => {
      const recalled = new Recall();
      const asked = { signal, owner: connection.accountId, priority: 'spare', recall: () => recalled.call() } as const;
      try {
        const [lease] = await poolOf(connection).pool.acquire(asked);
        if (lease === undefined) return undefined;
        const { item } = lease;
        return { item, onRecall: (listener) => recalled.listen(listener), release: (fate) => lease.release(fate) };
      } catch {
        return undefined;
      }
    };
    return { most, take };
  }

  function open(lease: Lease<unknown>, connection: Connection, use: UseOptions): Remote {
    const { protocol, limits } = placeOf(connection);
    const context = new UseContext(use, connection);
    const remote = protocol.openRemote(lease.item, connection, limits, context, moreSessions(connection, use));
    return listingInTurns(
      asFastAsAllowed(remote, connection, use.signal),
      turns.reader(connection.accountId, () => abortSignalOf(use.signal)),
    );
  }

  /** Where secrets are read from elsewhere, a refused login is not the last word. */
  function failed(connection: Connection, error: GatewayError): void {
    if (error.code !== 'login_refused' || !mayRenew([connection])) reach.failed(connection, error);
  }

  function mayRenew(connections: readonly Connection[]): boolean {
    return options.secrets !== undefined && haveReferences(connections);
  }

  /** Runs it with the present secrets, `work` with an attempt that both tries share. */
  async function renewing<R>(
    secrets: PresentSecrets,
    connections: readonly Connection[],
    signal: EndSignal,
    run: (present: readonly Connection[], committed: () => void) => Promise<R>,
  ): Promise<R> {
    try {
      return await withPresentSecrets(secrets, connections, signal, run);
    } catch (error) {
      const [party, other] = connections;
      if (party !== undefined && other === undefined && hasCode(error, 'login_refused')) reach.failed(party, error);
      throw error;
    }
  }

  function useOne<R>(
    connection: Connection,
    use: UseOptions,
    work: (remote: Remote, attempt: Attempt) => Promise<R>,
  ): Promise<R> {
    return withLeases(
      [connection],
      (prove) => take(connection, use, prove),
      ([lease], attempt) => work(open(lease as Lease<unknown>, connection, use), attempt),
    );
  }

  function useTwo<R>(
    from: Connection,
    to: Connection,
    use: UseOptions,
    work: (source: Remote, target: Remote, attempt: Attempt) => Promise<R>,
  ): Promise<R> {
    return withLeases(
      [from, to],
      (prove) => takeBoth(from, to, use, prove),
      ([source, target], attempt) =>
        work(open(source as Lease<unknown>, from, use), open(target as Lease<unknown>, to, use), attempt),
    );
  }

  function asFastAsAllowed(remote: Remote, connection: Connection, signal: EndSignal): Remote {
    const { accountId, id, bytesPerSecond } = connection;
    if (bytesPerSecond === undefined) return remote;
    const key = `${accountId}/${id}`;
    return limitRate(remote, { flow: () => new RateFlow(rates, key, bytesPerSecond), signal });
  }

  /** `parties`: the connections whose servers the leases lead to. */
  async function withLeases<R>(
    parties: readonly Connection[],
    take: (isRetry: boolean) => Promise<Taken>,
    work: (leases: readonly Lease<unknown>[], attempt: Attempt) => Promise<R>,
  ): Promise<R> {
    for (let tries = 1; ; tries++) {
      const taken = await take(tries > 1);
      let isCommitted = false;
      try {
        const result = await work(taken.leases, { committed: () => (isCommitted = true) });
        giveBack(taken, 'keep');
        for (const party of parties) reach.reached(party);
        return result;
      } catch (thrown) {
        const error = toGatewayError(thrown);
        giveBack(taken, error.keepsSession ? 'keep' : 'discard');
        const [party, other] = parties;
        // With two servers it is unknown which one failed; S3 is reached and logged in to only by the requests of the
        // work.
        if (party !== undefined && other === undefined) {
          if (isOfReaching(error)) failed(party, error);
          else if (error.remote !== undefined) reach.reached(party);
        }
        const mayRetry = tries < MOST_TRIES && !isCommitted && error.mayRetry;
        if (!mayRetry || !taken.leases.some((lease) => lease.reused)) throw error;
      }
    }
  }

  async function take(
    connection: Connection,
    { signal, priority = 'request', mark, yielding, linkId }: UseOptions,
    prove: boolean,
    count = 1,
  ): Promise<Taken> {
    const { pool, limits, links } = poolOf(connection);
    const leave = limits.enter(connection);
    const since = performance.now();
    mark?.('queue', since);
    let place: Grant | undefined;
    const left = (): void => {
      leave();
      place?.release();
    };
    try {
      if (linkId !== undefined) place = await placeForLink(links, linkId, signal, pool);
      const leases = await pool.acquire({ signal, owner: connection.accountId, priority, prove, count, yielding });
      if (mark !== undefined) markOpening(mark, since, leases);
      return { leases, leave: left };
    } catch (error) {
      left();
      // FTP may be lost at the greeting already, before any step is known.
      if (error instanceof GatewayError && isOfReaching(asOfReaching(error))) failed(connection, error);
      throw error;
    }
  }

  /**
   * Every operation takes its pools in the order of their keys, so two copies in opposite directions cannot deadlock.
   */
  async function takeBoth(from: Connection, to: Connection, use: UseOptions, prove: boolean): Promise<Taken> {
    const [source, target] = [poolOf(from), poolOf(to)];
    // Within one pool nothing yields: a slow server occupies no session of another server.
    if (source.key === target.key) return take(to, { ...use, yielding: undefined }, prove, 2);
    const isInOrder = source.key < target.key;
    const takeSource = (): Promise<Taken> => take(from, { ...use, yielding: use.sourceYielding }, prove);
    const takeTarget = (): Promise<Taken> => take(to, use, prove);
    const first = await (isInOrder ? takeSource() : takeTarget());
    try {
      const second = await (isInOrder ? takeTarget() : takeSource());
      const [one, other] = isInOrder ? [first, second] : [second, first];
      return {
        leases: [...one.leases, ...other.leases],
        leave: () => {
          one.leave();
          other.leave();
        },
      };
    } catch (error) {
      giveBack(first, 'keep');
      throw error;
    }
  }

  return {
    use: (connection, use, work) => {
      const { secrets } = options;
      if (secrets === undefined || !haveReferences([connection])) return useOne(connection, use, work);
      return renewing(secrets, [connection], use.signal, ([present = connection], committed) =>
        useOne(present, use, (remote, attempt) => work(remote, both(attempt, committed))),
      );
    },

    useBoth: (from, to, use, work) => {
      const { secrets } = options;
      if (secrets === undefined || !haveReferences([from, to])) return useTwo(from, to, use, work);
      return renewing(secrets, [from, to], use.signal, ([source = from, target = to], committed) =>
        useTwo(source, target, use, (reading, writing, attempt) => work(reading, writing, both(attempt, committed))),
      );
    },

    host: (connection) => placeOf(connection).host,
    server: (connection) => placeOf(connection).server,
    place: placeBy,
    placeByAnyWay,
    placeInTree: (connection, path) =>
      (isPublicServer(placeOf(connection).host) ? placeByAnyWay : placeBy)(connection, path),
    gaugeOf: (connection) => {
      const shared = pools.get(placeOf(options.secrets?.known(connection) ?? connection).key);
      if (shared === undefined) return undefined;
      return { ...shared.pool.gauge, key: shared.key, maxSessions: shared.pool.limits.maxSessions };
    },
    gauges: () => [...pools.values()].map(({ pool }) => pool.gauge),
    close: () => {
      isClosed = true;
      void sweeping.stop();
      for (const { pool } of pools.values()) pool.close();
      jumps.close();
    },
  };
}

/**
 * What a use lends to its remote. A class, because V8 gives each object literal with a getter a layout of its own, which
 * keeps everything that the getter can see until the next full garbage collection.
 */
class UseContext implements RemoteContext {
  readonly ending: EndSignal;
  readonly leftovers: Leftovers;
  readonly mark: Mark | undefined;
  readonly irrevocable: (() => void) | undefined;
  readonly unverified: RemoteContext['unverified'];
  readonly places: KnownPlaces | undefined;
  readonly #memory: Memory | undefined;

  constructor(use: UseOptions, connection: Connection) {
    this.ending = use.signal;
    this.leftovers = use.leftovers(connection);
    this.mark = use.mark;
    this.irrevocable = use.irrevocable;
    this.unverified = use.unverified;
    this.places = use.places;
    this.#memory = use.memory;
  }

  get signal(): AbortSignal {
    return abortSignalOf(this.ending);
  }

  hold(): Hold {
    return this.#memory?.hold() ?? UNCOUNTED;
  }
}

/** Waits until links have few enough leases of this pool. @throws GatewayError acquire_timeout */
async function placeForLink(
  links: Budget,
  linkId: string,
  ending: EndSignal,
  { host, limits }: Pool<unknown>,
): Promise<Grant> {
  const claim = { owner: linkId };
  const free = links.refusalOf(claim) === undefined ? links.tryTake(claim) : undefined;
  if (free !== undefined) return free;
  const signal = abortSignalOf(ending);
  return links.wait(claim, { signal, timeoutMs: limits.acquireTimeoutMs }).catch((error: unknown) => {
    throw hasCode(error, 'overloaded', 'share_exceeded') ? linksAreFull(host, limits) : error;
  });
}

/** Returns the same remote, whose listings share the event loop fairly: with pages, jobs and watched folders. */
function listingInTurns(remote: Remote, reader: ListingReader): Remote {
  const list = remote.list.bind(remote);
  remote.list = (folder, options) => reader.read(list(folder, options));
  const listTree = remote.listTree?.bind(remote);
  if (listTree !== undefined) remote.listTree = (folder, options) => reader.read(listTree(folder, options));
  return remote;
}

/** Marks the part of the wait in which a session was opened; others may have waited for the same one, and longer. */
function markOpening(mark: Mark, since: number, leases: readonly Lease<unknown>[]): void {
  let last: Lease<unknown>['opening'];
  for (const { opening } of leases) {
    if (opening !== undefined && opening.readyAt > Math.max(since, last?.readyAt ?? 0)) last = opening;
  }
  if (last !== undefined) {
    mark('connect', Math.max(since, last.startedAt));
    mark('auth', Math.max(since, last.connectedAt));
    mark('queue', last.readyAt);
  }
  mark('open');
}

/** The same attempt, which also notifies another one. */
function both(attempt: Attempt, committed: () => void): Attempt {
  return {
    committed: () => {
      attempt.committed();
      committed();
    },
  };
}

/** Credentials are part of the key: two accounts share sessions only if the login is identical. */
function digest(parts: readonly string[]): string {
  return hash('sha256', JSON.stringify(parts), 'hex');
}

function linksAreFull(host: string, { acquireTimeoutMs }: PoolLimits): GatewayError {
  return new GatewayError(
    'acquire_timeout',
    `links use all sessions on ${host} that they may, and none became free within ${acquireTimeoutMs} ms (links.poolPercent)`,
    { step: 'acquire', retryAfterMs: 1_000 },
  );
}
