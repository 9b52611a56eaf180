/** Finds the real address behind a notation, and the blocks that it belongs to. */
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';

export type Address = ipaddr.IPv4 | ipaddr.IPv6;
export type Cidr = [Address, number];

/** One address of a name: where the socket goes, and the real address behind any IPv6 notation. */
export interface Candidate {
  readonly text: string;
  readonly written: Address;
  readonly real: Address;
}

/** Denied for every purpose, unless an operator's CIDR allows it for URLs or webhooks. */
export const NEVER = new Set([
  'linkLocal',
  'unspecified',
  'multicast',
  'broadcast',
  'reserved',
  'discard',
  'teredo',
  'rfc6052',
]);
/** Cloud metadata services outside the link-local ranges (169.254.0.0/16 and fe80::/10, see NEVER). */
export const METADATA: readonly Cidr[] = [
  'fd00:ec2::/32', // AWS: metadata, pod identities, names, time
  'fd20:ce::254', // Google Cloud
  'fd00:c1::a9fe:a9fe', // Oracle Cloud
  '192.0.0.192', // Oracle Cloud Classic
  '100.100.100.200', // Alibaba Cloud
  'fd00:100::100:200',
  '168.63.129.16', // Azure
  'fd00:42::42', // Scaleway
  'fd00:a9fe:a9fe::1', // Akamai
].map(parseCidr);

export function candidateOf(text: string): Candidate {
  const written = ipaddr.parse(text);
  const real = unmasked(written);
  // A mapped address is the IPv4 address; the other notations are routed as IPv6 (a NAT64 network has no IPv4).
  const isMapped = written instanceof ipaddr.IPv6 && written.isIPv4MappedAddress();
  return { text: isMapped ? real.toString() : text, written, real };
}

/**
 * Returns the IPv4 address behind any IPv6 notation (mapped, compatible, translated, NAT64, 6to4). If the embedded
 * address is uncertain (Teredo, NAT64 with a local prefix), the range itself is denied: see NEVER.
 */
export function unmasked(address: Address): Address {
  if (address instanceof ipaddr.IPv4) return address;
  const bytes = address.toByteArray();
  if (matches(address, NAT64) || EMBEDDING.has(address.range()) || isCompatible(bytes)) {
    return new ipaddr.IPv4(bytes.slice(12));
  }
  if (address.range() === '6to4') return new ipaddr.IPv4(bytes.slice(2, 6));
  return address;
}

const EMBEDDING = new Set(['ipv4Mapped', 'rfc6145']);
/** RFC 6052; the local prefix of RFC 8215 may embed the address anywhere. */
const NAT64: Cidr = parseCidr('64:ff9b::/96');

/** ::a.b.c.d (RFC 4291, 2.5.5.1), except :: and ::1. */
function isCompatible(bytes: readonly number[]): boolean {
  return bytes.slice(0, 12).every((byte) => byte === 0) && bytes.slice(12, 15).some((byte) => byte !== 0);
}

export function parseCidr(text: string): Cidr {
  if (text.includes('/')) return ipaddr.parseCIDR(text);
  const address = ipaddr.parse(text);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

export function matches(address: Address, [network, bits]: Cidr): boolean {
  return address.kind() === network.kind() && address.match(network, bits);
}

/** Compares the bytes: a zone (`::1%lo`) makes no different address. */
export function isSameAddress(a: Address, b: Address): boolean {
  return a.kind() === b.kind() && a.toByteArray().every((byte, index) => byte === b.toByteArray()[index]);
}

/** Whether `address` belongs to this machine. */
export function isLocalAddress(address: Address): boolean {
  return Object.values(networkInterfaces()).some((all) =>
    all?.some((own) => isSameAddress(unmasked(ipaddr.parse(own.address)), address)),
  );
}
