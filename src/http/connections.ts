/**
 * Bounds of open client connections, which hold before anybody has said who it is: of one address, and of all, so that
 * outbound sockets and the database keep descriptors of their own. What is beyond is closed at once.
 */
import { readFileSync } from 'node:fs';
import type net from 'node:net';
import { isInBlocks, networkOf } from './client-address.js';

export type ConnectionRefusal = 'address' | 'total';

export interface ConnectionsOptions {
  /** Of one IPv4 address or IPv6 /64; 0 = any number. */
  readonly perAddress: number;
  /** Of the process. */
  readonly total: number;
  /** Addresses or CIDR blocks that may have any number: many clients come from them. */
  readonly unbounded: readonly string[];
  /** Event loops that the connections are dealt out to in turn; each counts its own. */
  readonly loops: number;
  log(level: 'warn', message: string, facts?: Record<string, unknown>): void;
}

/** `server.connectionsPerAddress: auto`. */
export const CONNECTIONS_PER_ADDRESS = 256;
export const LOOPBACK = ['127.0.0.0/8', '::1/128'] as const;
/** Counting them again takes at most this part of the event loop's time, and so much at once. */
const RECOUNT_SHARE = 1 / 20;
const RECOUNT_BURST_MS = 20;
/** Networks remembered beyond those that can have a connection. */
const STALE_NETWORKS = 10_000;
const LOG_EVERY_MS = 60_000;
/** Of the descriptors. */
const CLIENT_SHARE = 3 / 4;

export class Connections {
  readonly refused: Record<ConnectionRefusal, number> = { address: 0, total: 0 };
  private open = 0;
  private held = new Map<string, number>();
  /** Of the event loop, for counting again. */
  private creditMs = RECOUNT_BURST_MS;
  private creditedAt = 0;
  private logFrom = 0;
  private unlogged = 0;

  /**
   * `recount`: for a front end that cannot tell whose connection has ended; finds how many each network has in the whole
   * process. What is counted between two such is an upper bound.
   */
  constructor(
    private readonly options: ConnectionsOptions,
    private readonly recount?: () => Map<string, number>,
  ) {}

  /** Of each new connection. False: it must be closed at once. */
  opened(address: string): boolean {
    const { perAddress, total, loops } = this.options;
    this.open++;
    const network = networkOf(address);
    // The other loops have been dealt as many meanwhile.
    if (perAddress > 0) this.held.set(network, this.of(network) + (this.recount === undefined ? 1 : loops));
    if (this.held.size > this.open + STALE_NETWORKS) this.countAgain();
    if (this.open > Math.ceil(total / loops)) return this.refuse('total', address);
    return !this.isOver(network, address) || this.refuse('address', address);
  }

  /** Of each one that was opened, a refused one too. Without an address where the front end does not tell it. */
  closed(address?: string): void {
    this.open--;
    if (address === undefined || this.options.perAddress === 0) return;
    const network = networkOf(address);
    const left = this.of(network) - 1;
    if (left > 0) this.held.set(network, left);
    else this.held.delete(network);
  }

  private of(network: string): number {
    return this.held.get(network) ?? 0;
  }

  private isOver(network: string, address: string): boolean {
    const { perAddress, unbounded } = this.options;
    if (perAddress === 0 || this.of(network) <= perAddress || isInBlocks(address, unbounded)) return false;
    this.countAgain();
    return this.of(network) > perAddress;
  }

  private countAgain(): void {
    if (this.recount === undefined) return;
    const startedAt = performance.now();
    const earnedMs = (startedAt - this.creditedAt) * RECOUNT_SHARE;
    this.creditMs = Math.min(RECOUNT_BURST_MS, this.creditMs + earnedMs);
    this.creditedAt = startedAt;
    if (this.creditMs <= 0) return;
    this.held = this.recount();
    this.creditMs -= performance.now() - startedAt;
  }

  private refuse(reason: ConnectionRefusal, address: string): false {
    this.refused[reason]++;
    this.unlogged++;
    const now = performance.now();
    if (now < this.logFrom) return false;
    const bound = reason === 'address' ? 'server.connectionsPerAddress' : 'three quarters of the open files';
    this.options.log('warn', `client connections were refused: ${bound} are in use`, {
      remoteAddress: address,
      refused: this.unlogged,
    });
    this.logFrom = now + LOG_EVERY_MS;
    this.unlogged = 0;
    return false;
  }
}

/** Holds the connections of a listener of Node.js to their bounds. Returns them, and what was counted. */
export function boundSockets(
  server: net.Server,
  options: ConnectionsOptions,
): { readonly sockets: ReadonlySet<net.Socket>; readonly connections: Connections } {
  const sockets = new Set<net.Socket>();
  const connections = new Connections(options);
  server.on('connection', (socket: net.Socket) => {
    // Absent where it has ended already.
    const { remoteAddress = '' } = socket;
    sockets.add(socket);
    socket.once('close', () => {
      sockets.delete(socket);
      connections.closed(remoteAddress);
    });
    if (!connections.opened(remoteAddress)) socket.destroy();
  });
  return { sockets, connections };
}

/** What the limit of open files leaves to clients. */
export function mostConnections(): number {
  try {
    const [, files] = /^Max open files +(\d+) /m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? [];
    return files === undefined ? Infinity : Math.floor(Number(files) * CLIENT_SHARE);
  } catch {
    return Infinity;
  }
}
