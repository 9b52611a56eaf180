import type { PoolBudgets } from '../pools/places.js';
import type { Session } from '../pools/session.js';
import type { Connection, PoolLimits } from '../connections/connection.js';
import type { Dialer, DialObserver } from './dial/dial.js';
import type { RemotePath } from './path.js';
import type { Remote, RemoteContext } from './remote.js';
import type { Trust } from './trust.js';

export interface Tuning {
  /** Outstanding SFTP requests of one transfer. */
  readonly sftpInFlight: number;
  readonly s3PartBytes: number;
  readonly s3PartsInFlight: number;
}

/**
 * Hears of the stations on the way to an open session, and of what the server shows there; for tests of a connection. A
 * protocol tells `secured` where it begins TLS by itself. Host keys are shown to Trust, which decides about them.
 */
export interface SessionObserver extends DialObserver {
  /** SSH: the login follows. `algorithms` are all that were agreed on, for either direction. */
  handshaken?(software: string, algorithms: readonly string[]): void;
}

/** What a protocol is given to open sessions with. */
export interface ProtocolDeps {
  readonly dialer: Dialer;
  readonly trust: Trust;
  readonly tuning: Tuning;
  /** What the pools share with those of all other hosts and accounts; absent = no bounds. */
  readonly budgets?: PoolBudgets;
  readonly observer?: SessionObserver;
  /** Debug facts about a server (algorithms, features); never secrets. */
  log(message: string, facts?: Record<string, unknown>): void;
  /** What an operator has to know: an answer that a server gave and the gateway could not use whole. */
  warn(message: string, facts: Record<string, unknown>): void;
}

/**
 * One folder under remotes/ makes one of these; registry.ts lists the makers. It owns what it has learned of its servers
 * and what its sessions share.
 */
export interface Protocol<C extends Connection, Lease> {
  /** That of its connections. */
  readonly type: string;
  /** `host:port` (S3: the endpoint's) as operators write it under pools.hosts. */
  host(connection: C): string;
  /** What `path` is called on the server, whichever connection leads there. */
  place(connection: C, path: RemotePath): string;
  /** What must be equal for two connections to share sessions besides the host: login, credentials, trust. Hashed by the pool's owner. */
  identity(connection: C): readonly string[];
  /** Operations that one session may serve at once. */
  leasesPerSession(limits: PoolLimits): number;
  openSession(connection: C, limits: PoolLimits, signal: AbortSignal): Promise<Session<Lease>>;
  openRemote(lease: Lease, connection: C, limits: PoolLimits, context: RemoteContext): Remote;
}

/** A protocol whose connection and lease types are its own secret: a connection only ever meets its own protocol. */
export type AnyProtocol = Protocol<Connection, unknown>;
