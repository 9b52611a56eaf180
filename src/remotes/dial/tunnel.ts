import type net from 'node:net';
import type { EndSignal } from '../../base/ending.js';
import type { SftpConnection } from '../../connections/connection.js';

export interface TunnelOptions {
  readonly signal: EndSignal;
  readonly timeoutMs: number;
}

/** Connects to servers through jump hosts. */
export interface Jumps {
  /**
   * A connection from the jump host to the server, whose name the jump host resolves. Errors: those of a login to the
   * jump host, unreachable, connect_timeout, or the signal's reason.
   */
  connect(jump: SftpConnection, host: string, port: number, options: TunnelOptions): Promise<net.Socket>;
}

/** For people. */
export const nameOfJump = ({ id, host, port }: SftpConnection): string => `the jump host ${id} (${host}:${port})`;

/** The way through one jump host. */
export interface Tunnel {
  /** For people. */
  readonly name: string;
  connect(host: string, port: number, options: TunnelOptions): Promise<net.Socket>;
}
