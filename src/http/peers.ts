/**
 * Which clients have left while nothing is read from their sockets: a paused socket tells nothing of its other end, but
 * the kernel's own table does (Linux), once all that was sent before has found room in its buffer.
 */
import { readFile } from 'node:fs/promises';
import ipaddr from 'ipaddr.js';

/** The other end of a connection: a client, or its proxy. */
export interface Peer {
  readonly address: string;
  /** Absent where the front end does not tell. */
  readonly port?: number;
}

const TABLES = ['/proc/self/net/tcp', '/proc/self/net/tcp6'] as const;
const ESTABLISHED = '01';
/** The other end has sent everything it ever will. */
const CLOSE_WAIT = '08';

interface Found {
  readonly states: Map<string, string>;
  established: number;
  closing: number;
}

/** Those of `peers` that have left for certain; all have a connection with our `port`, 0 = one that is not known. */
export async function gonePeers(port: number, peers: readonly Peer[]): Promise<(peer: Peer) => boolean> {
  const byAddress = await readTables(port);
  if (byAddress.size === 0) return () => false;
  const asked = new Map<string, number>();
  for (const { address } of peers) asked.set(keyOf(address), (asked.get(keyOf(address)) ?? 0) + 1);
  return (peer) => {
    const key = keyOf(peer.address);
    const found = byAddress.get(key);
    if (peer.port !== undefined) return found?.states.get(hex(peer.port)) === CLOSE_WAIT;
    // Which one is which nobody tells; but all of them may have left.
    const { established = 0, closing = 0 } = found ?? {};
    return established === 0 || closing >= (asked.get(key) ?? 0);
  };
}

async function readTables(port: number): Promise<Map<string, Found>> {
  const all = new Map<string, Found>();
  for (const table of TABLES) {
    const text = await readFile(table, 'latin1').catch(() => '');
    // Number, local address and port, remote address and port, state.
    const rows = text.matchAll(/^ *\d+: [0-9A-F]+:([0-9A-F]{4}) ([0-9A-F]+):([0-9A-F]{4}) (\S\S) /gm);
    for (const [, local = '', address = '', remote = '', state = ''] of rows) {
      if (port !== 0 && local !== hex(port)) continue;
      // An IPv4 client of an IPv6 listener is mapped; its last word is its address.
      const key = address.startsWith(MAPPED) ? address.slice(MAPPED.length) : address;
      const found = all.get(key) ?? { states: new Map(), established: 0, closing: 0 };
      all.set(key, found);
      found.states.set(remote, state);
      if (state === ESTABLISHED) found.established++;
      if (state === CLOSE_WAIT) found.closing++;
    }
  }
  return all;
}

const MAPPED = '0000000000000000FFFF0000';

/** As the tables write an address: words of four bytes, each in the order of a little-endian machine. */
function keyOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  return Buffer.from(ipaddr.process(address).toByteArray()).swap32().toString('hex').toUpperCase();
}

function hex(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, '0');
}
