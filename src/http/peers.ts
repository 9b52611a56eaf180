/**
 * Finds clients that have left while nothing is read from their sockets: a paused socket does not report its other end,
 * but the kernel's table does (Linux), once everything that was sent before has found room in its buffer.
 */
import { readFile } from 'node:fs/promises';
import ipaddr from 'ipaddr.js';

/** The other end of a connection: a client, or its proxy. */
export interface Peer {
  readonly address: string;
  /** Absent if the front end does not report it. */
  readonly port?: number;
}

const TABLES = ['/proc/self/net/tcp', '/proc/self/net/tcp6'] as const;
const ESTABLISHED = '01';
/** The other end has sent everything it ever will. */
const CLOSE_WAIT = '08';

/** The states of the connections from one address, by the client's port. Both are in the kernel's notation. */
type Found = ReadonlyMap<string, string>;

/**
 * If it was answered before its body was read, a connection stays in the table until its client closes, or the native
 * timer does (12 s).
 */
const LINGER_MS = 15_000;

/** Checks regularly which clients have left; all are connected to one port of ours. */
export class PeerChecks {
  readonly #read: (port: number) => Promise<ReadonlyMap<string, Found>>;
  #former: ReadonlyMap<string, Found> = new Map();
  #lingering: readonly { readonly key: string; readonly until: number }[] = [];

  /** `read`: returns the kernel's table, by address. */
  constructor(read: (port: number) => Promise<ReadonlyMap<string, Found>> = readTables) {
    this.#read = read;
  }

  /** A request from there was answered before its body was read. */
  lingers({ address }: Peer): void {
    const now = performance.now();
    const still = this.#lingering.filter(({ until }) => until > now);
    this.#lingering = [...still, { key: keyOf(address), until: now + LINGER_MS }];
  }

  /**
   * Those of `peers` that have certainly left. `port`: ours, 0 = unknown. If a front end does not report the ports of
   * its clients, connections are counted by address, and a closing one counts once two checks have seen it: a
   * connection between two requests is closed within a turn of the loop, and is not one of those in question.
   */
  async gone(port: number, peers: readonly Peer[]): Promise<(peer: Peer) => boolean> {
    const former = this.#former;
    const found = (this.#former = await this.#read(port));
    if (found.size === 0) return () => false;
    const asked = countBy(peers.map(({ address }) => keyOf(address)));
    const now = performance.now();
    const lingering = countBy(this.#lingering.filter(({ until }) => until > now).map(({ key }) => key));
    return (peer) => {
      const key = keyOf(peer.address);
      const states = found.get(key);
      if (peer.port !== undefined) return states?.get(hex(peer.port)) === CLOSE_WAIT;
      const before = former.get(key);
      if (!isEstablished(states) && !isEstablished(before)) return former.size > 0;
      const closing = [...(states ?? [])].filter(
        ([remote, state]) => state === CLOSE_WAIT && before?.get(remote) === state,
      );
      return closing.length - (lingering.get(key) ?? 0) >= (asked.get(key) ?? 0);
    };
  }
}

/** Whether any of these connections is established. */
const isEstablished = (states: Found | undefined): boolean => [...(states?.values() ?? [])].includes(ESTABLISHED);

function countBy(keys: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

async function readTables(port: number): Promise<ReadonlyMap<string, Found>> {
  const all = new Map<string, Map<string, string>>();
  for (const table of TABLES) {
    const text = await readFile(table, 'latin1').catch(() => '');
    // Number, local address and port, remote address and port, state.
    const rows = text.matchAll(/^ *\d+: [0-9A-F]+:([0-9A-F]{4}) ([0-9A-F]+):([0-9A-F]{4}) (\S\S) /gm);
    for (const [, local = '', address = '', remote = '', state = ''] of rows) {
      if (port !== 0 && local !== hex(port)) continue;
      // An IPv4 client of an IPv6 listener is mapped; the last word is its address.
      const key = address.startsWith(MAPPED) ? address.slice(MAPPED.length) : address;
      const states = all.get(key) ?? new Map<string, string>();
      all.set(key, states.set(remote, state));
    }
  }
  return all;
}

const MAPPED = '0000000000000000FFFF0000';

/** An address in the notation of the tables: words of four bytes, each in the order of a little-endian machine. */
function keyOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  return Buffer.from(ipaddr.process(address).toByteArray()).swap32().toString('hex').toUpperCase();
}

function hex(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, '0');
}
