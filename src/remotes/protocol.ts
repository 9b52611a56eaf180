import type { AwsEnvironment } from '../base/aws-environment.js';
import type { PoolBudgets } from '../pools/places.js';
import type { Session } from '../pools/session.js';
import type { Connection } from '../connections/connection.js';
import type { PoolLimits } from '../contract/connection/fields.js';
import type { Dialer, DialObserver } from './dial/dial.js';
import type { Jumps } from './dial/tunnel.js';
import type { MoreSessions } from './more-sessions.js';
import type { RemotePath } from './path.js';
import type { Remote, RemoteContext } from './remote.js';
import type { Trust } from './trust.js';

export interface Tuning {
  /** Outstanding SFTP requests of one transfer. */
  readonly sftpInFlight: number;
  readonly s3PartBytes: number;
  readonly s3PartsInFlight: number;
  /** Sessions that may carry one file; 1 = only its own. */
  readonly connectionsPerFile: number;
}

/**
 * Receives the steps on the way to an open session, and what the server shows there; for tests of a connection. A
 * protocol calls `secured` if it starts TLS itself. Host keys go to Trust, which decides about them.
 */
export interface SessionObserver extends DialObserver {
  /** S3: the keys that sign are not those of the connection; `identity` says in words whose they are. */
  identified?(identity: string): void;
  /** SSH: the login is next. `algorithms` are all agreed ones, for either direction. */
  handshaken?(software: string, algorithms: readonly string[]): void;
}

/** What a protocol needs to open sessions. */
export interface ProtocolDeps {
  readonly dialer: Dialer;
  readonly trust: Trust;
  readonly tuning: Tuning;
  /** The budgets that the pools share with those of all other hosts and accounts; absent = no bounds. */
  readonly budgets?: PoolBudgets;
  /** Absent: no connection leads through a jump host. */
  readonly jumps?: Jumps;
  readonly observer?: SessionObserver;
  /** The gateway's own identity at AWS; absent = none. */
  readonly env?: AwsEnvironment;
  /** Debug facts about a server (algorithms, features); never secrets. */
  log(message: string, facts?: Record<string, unknown>): void;
  /** What an operator must know: the gateway could not fully use an answer of a server. */
  warn(message: string, facts: Record<string, unknown>): void;
}

/**
 * Each folder under remotes/ makes one of these; registry.ts lists the makers. It owns what it has learned about its
 * servers and what its sessions share.
 */
export interface Protocol<C extends Connection, Lease> {
  /** The type of its connections. */
  readonly type: string;
  /** `host:port` (S3: of the endpoint) as operators write it under pools.hosts. */
  host(connection: C): string;
  /** The name of `path` on the server, the same for every connection that leads there. */
  place(connection: C, path: RemotePath): string;
  /**
   * What must be equal, besides the host, for two connections to share sessions: login, credentials, trust. Hashed by
   * the pool's owner.
   */
  identity(connection: C): readonly string[];
  /** Operations that one session can serve at once. */
  leasesPerSession(limits: PoolLimits): number;
  openSession(connection: C, limits: PoolLimits, signal: AbortSignal): Promise<Session<Lease>>;
  /** `more`: absent = one session for each file. */
  openRemote(
    lease: Lease,
    connection: C,
    limits: PoolLimits,
    context: RemoteContext,
    more?: MoreSessions<Lease>,
  ): Remote;
}

/** A protocol whose connection and lease types are hidden: a connection is only ever passed to its own protocol. */
export type AnyProtocol = Protocol<Connection, unknown>;
