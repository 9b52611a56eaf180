/** What the pool needs to know of a protocol's session; the pool itself knows no protocol. */

/** One login on a server: an SSH connection, an FTP control connection, an S3 slot. */
export interface Session<Lease> {
  /** When its connection stood and the login began, on the clock of performance.now(); absent where there is none to open. */
  readonly connectedAt?: number;
  /** False once the connection is gone or may no longer be used. */
  readonly alive: boolean;
  /** Leases this session can carry at once (SFTP: channels, others: 1). Shrinks when the server refuses a channel. */
  readonly capacity: number;
  /**
   * Takes an idle channel or opens one; the pool never asks beyond `capacity`.
   * too_many_sessions when the server refuses another channel: `capacity` has then shrunk to what it admits.
   */
  lease(signal: AbortSignal): Promise<Lease>;
  /** The same where that takes no time; undefined, and nothing is taken, where `lease` would have to open one or fail. */
  leaseNow?(): Lease | undefined;
  /** `discard`: the lease was cut and is closed; a session that cannot go on without it becomes not alive. */
  release(lease: Lease, fate: 'keep' | 'discard'): void;
  /**
   * One cheap round trip, with its own deadline, before it is used again. Rejects when it is dead; too_many_sessions where
   * others use it and the server admits nothing beside them.
   */
  check(signal: AbortSignal): Promise<void>;
  /** Ends the connection now; idempotent, never throws. */
  close(): void;
  /** Called once when nothing is left of the connection, after it ended by itself or by close(). */
  onClose(listener: () => void): void;
}

/** Opens one session; rejects with a GatewayError, too_many_sessions when the server admits no further one. */
export type OpenSession<Lease> = (signal: AbortSignal) => Promise<Session<Lease>>;

export interface PoolLimits {
  /** Open sessions to one host, port and login: a hard limit. */
  readonly maxSessions: number;
  /** SFTP channels that share one SSH connection. */
  readonly maxChannelsPerSession: number;
  readonly idleTimeoutMs: number;
  /** Requests that may wait for a session. */
  readonly maxWaiting: number;
  readonly acquireTimeoutMs: number;
  readonly connectTimeoutMs: number;
  /** No byte moved for this long ends a transfer. */
  readonly stallTimeoutMs: number;
}
