/** What the pool needs to know of a protocol's session; the pool itself knows no protocol. */
import type { EndSignal } from '../base/ending.js';

/** One login on a server: an SSH connection, an FTP control connection, an S3 slot. */
export interface Session<Lease> {
  /**
   * When its connection was ready and the login began, on the clock of performance.now(); absent if there is none to
   * open.
   */
  readonly connectedAt?: number;
  /** False once the connection is gone or must no longer be used. */
  readonly alive: boolean;
  /** Leases this session can have at once (SFTP: channels, others: 1). Shrinks when the server refuses a channel. */
  readonly capacity: number;
  /**
   * Takes an idle channel or opens one; the pool never asks beyond `capacity`. too_many_sessions if the server refuses
   * another channel: `capacity` has then shrunk to what it admits.
   */
  lease(signal: EndSignal): Promise<Lease>;
  /**
   * The same if that takes no time; undefined, and nothing is taken, if `lease` would have to open a channel or fail.
   */
  leaseNow?(): Lease | undefined;
  /** `discard`: the lease was cut and is closed; a session that cannot continue without it is no longer alive. */
  release(lease: Lease, fate: 'keep' | 'discard'): void;
  /**
   * One cheap round trip, with its own deadline, before the session is used again. Rejects if it is dead;
   * too_many_sessions if others use it and the server admits nothing more.
   */
  check(signal: AbortSignal): Promise<void>;
  /** Calls `listener` each time that its capacity has grown; absent = it only shrinks. */
  onRoom?(listener: () => void): void;
  /** Ends the connection now; idempotent, never throws. */
  close(): void;
  /**
   * Called once when nothing is left of the connection, after it ended by itself or by close(); in a moment if that was
   * before: a connection may end while its login succeeds.
   */
  onClose(listener: () => void): void;
}

/** Opens one session; rejects with a GatewayError, too_many_sessions if the server admits no further one. */
export type OpenSession<Lease> = (signal: AbortSignal) => Promise<Session<Lease>>;
