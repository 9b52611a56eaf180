/**
 * The connections of the process, by client network: read from the kernel, descriptor by descriptor, because the front
 * end reports that a connection has ended but not which. Connections of other threads are included: descriptors are
 * shared. Some 3 µs each.
 */
import { readdirSync } from 'node:fs';
import { networkOfBytes } from '../client-address.js';
import { loadLibc } from './libc.js';

type SocketName = (fd: number, address: Buffer, length: Buffer) => number;

const AF_INET = 2;
const AF_INET6 = 10;
/** struct sockaddr_in6; the structure for IPv4 is shorter. */
const ADDRESS_BYTES = 28;

/**
 * Undefined if the kernel cannot be asked. `port`: of our listener; without it no connection is known to be a client's.
 */
export function openConnectionsOf(port: () => number): (() => Map<string, number>) | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    const libc = loadLibc();
    const peerName = libc.func('int getpeername(int fd, void *address, void *length)') as SocketName;
    const ownName = libc.func('int getsockname(int fd, void *address, void *length)') as SocketName;
    return () => count(port(), peerName, ownName);
  } catch {
    return undefined;
  }
}

function count(port: number, peerName: SocketName, ownName: SocketName): Map<string, number> {
  const counts = new Map<string, number>();
  const peer = Buffer.alloc(ADDRESS_BYTES);
  const own = Buffer.alloc(ADDRESS_BYTES);
  const length = Buffer.alloc(4);
  const read = (call: SocketName, fd: number, into: Buffer): boolean => {
    length.writeUInt32LE(ADDRESS_BYTES);
    return call(fd, into, length) === 0;
  };
  for (const name of readdirSync('/proc/self/fd')) {
    const fd = Number(name);
    if (!read(peerName, fd, peer) || !read(ownName, fd, own) || own.readUInt16BE(2) !== port) continue;
    const network = networkIn(peer);
    if (network !== undefined) counts.set(network, (counts.get(network) ?? 0) + 1);
  }
  return counts;
}

function networkIn(address: Buffer): string | undefined {
  const family = address.readUInt16LE(0);
  if (family === AF_INET) return networkOfBytes(address.subarray(4, 8));
  return family === AF_INET6 ? networkOfBytes(address.subarray(8, 24)) : undefined;
}
