/**
 * Bounds for open client connections, which apply before a client is authenticated: per address, and in total, so that
 * outbound sockets and the database have descriptors left. Connections beyond a bound are closed at once.
 */
import { readFileSync } from 'node:fs';
import type net from 'node:net';
import { isInBlocks, networkOf } from './client-address.js';

export type ConnectionRefusal = 'address' | 'total';

export interface ConnectionsOptions {
  /** Per IPv4 address or IPv6 /64; 0 = any number. */
  readonly perAddress: number;
  /** For the process. */
  readonly total: number;
  /** Addresses or CIDR blocks that may have any number: many clients share them. */
  readonly unbounded: readonly string[];
  /** Event loops that the connections are distributed to in turn; each counts its own. */
  readonly loops: number;
  log(level: 'warn', message: string, facts?: Record<string, unknown>): void;
}

/** The value of `server.connectionsPerAddress: auto`. */
export const CONNECTIONS_PER_ADDRESS = 256;
export const LOOPBACK = ['127.0.0.0/8', '::1/128'] as const;
/** Recounting takes at most this part of the event loop's time, and at most this long at once. */
const RECOUNT_SHARE = 1 / 20;
const RECOUNT_BURST_MS = 20;
/** Networks remembered in addition to those that can have a connection. */
const STALE_NETWORKS = 10_000;
const LOG_EVERY_MS = 60_000;
/** The share of the descriptors. */
const CLIENT_SHARE = 3 / 4;

export class ClientConnections {
  readonly #options: ConnectionsOptions;
  readonly #recount: (() => Map<string, number>) | undefined;
  readonly refused: Record<ConnectionRefusal, number> = { address: 0, total: 0 };
  #open = 0;
  #held = new Map<string, number>();
  /** Time of the event loop that recounting may use. */
  #creditMs = RECOUNT_BURST_MS;
  #creditedAt = 0;
  #logFrom = 0;
  #unlogged = 0;

  /**
   * `recount`: for a front end that does not report whose connection has ended; counts the connections of each network
   * in the whole process. Between two recounts the count is an upper bound.
   */
  constructor(options: ConnectionsOptions, recount?: () => Map<string, number>) {
    this.#options = options;
    this.#recount = recount;
  }

  /** Call for each new connection. False: it must be closed at once. */
  opened(address: string): boolean {
    const { perAddress, total, loops } = this.#options;
    this.#open++;
    const network = networkOf(address);
    // The other loops have been given as many meanwhile.
    if (perAddress > 0) this.#held.set(network, this.#of(network) + (this.#recount === undefined ? 1 : loops));
    if (this.#held.size > this.#open + STALE_NETWORKS) this.#countAgain();
    if (this.#open > Math.ceil(total / loops)) return this.#refuse('total', address);
    return !this.#isOver(network, address) || this.#refuse('address', address);
  }

  /**
   * Call for each connection that was opened, even if it is refused. Without an address if the front end does not
   * report it.
   */
  closed(address?: string): void {
    this.#open--;
    if (address === undefined || this.#options.perAddress === 0) return;
    const network = networkOf(address);
    const left = this.#of(network) - 1;
    if (left > 0) this.#held.set(network, left);
    else this.#held.delete(network);
  }

  #of(network: string): number {
    return this.#held.get(network) ?? 0;
  }

  #isOver(network: string, address: string): boolean {
    const { perAddress, unbounded } = this.#options;
    if (perAddress === 0 || this.#of(network) <= perAddress || isInBlocks(address, unbounded)) return false;
    this.#countAgain();
    return this.#of(network) > perAddress;
  }

  #countAgain(): void {
    const recount = this.#recount;
    if (recount === undefined) return;
    const startedAt = performance.now();
    const earnedMs = (startedAt - this.#creditedAt) * RECOUNT_SHARE;
    this.#creditMs = Math.min(RECOUNT_BURST_MS, this.#creditMs + earnedMs);
    this.#creditedAt = startedAt;
    if (this.#creditMs <= 0) return;
    this.#held = recount();
    this.#creditMs -= performance.now() - startedAt;
  }

  #refuse(reason: ConnectionRefusal, address: string): false {
    this.refused[reason]++;
    this.#unlogged++;
    const now = performance.now();
    if (now < this.#logFrom) return false;
    const bound = reason === 'address' ? 'server.connectionsPerAddress' : 'three quarters of the open files';
    this.#options.log('warn', `client connections were refused: ${bound} are in use`, {
      remoteAddress: address,
      refused: this.#unlogged,
    });
    this.#logFrom = now + LOG_EVERY_MS;
    this.#unlogged = 0;
    return false;
  }
}

/** Applies the bounds to the connections of a listener of Node.js. Returns them, and the counts. */
export function boundSockets(
  server: net.Server,
  options: ConnectionsOptions,
): { readonly sockets: ReadonlySet<net.Socket>; readonly connections: ClientConnections } {
  const sockets = new Set<net.Socket>();
  const connections = new ClientConnections(options);
  server.on('connection', (socket: net.Socket) => {
    // Absent if it has ended already.
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

/** The part of the limit of open files that is left to clients. */
export function mostConnections(): number {
  try {
    const [, files] = /^Max open files +(\d+) /m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? [];
    return files === undefined ? Infinity : Math.floor(Number(files) * CLIENT_SHARE);
  } catch {
    return Infinity;
  }
}
