/** Addresses of clients: whether a block holds one, and which one is the client's behind trusted proxies. */
import ipaddr from 'ipaddr.js';

/** `blocks`: addresses or CIDR blocks, as the configuration has checked them. False for what is no address. */
export function isInBlocks(text: string, blocks: readonly string[]): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.process(text);
  return blocks.some((block) => {
    const [network, bits] = block.includes('/')
      ? ipaddr.parseCIDR(block)
      : ([ipaddr.parse(block), ipaddr.parse(block).kind() === 'ipv4' ? 32 : 128] as const);
    return network.kind() === address.kind() && address.match(network, bits);
  });
}

/**
 * The address that sent the request: the peer's or, where the peer is a trusted proxy, the last one in
 * `X-Forwarded-For` that is none. What stands before it may be anybody's invention.
 */
export function clientAddress(peer: string, forwardedFor: string | undefined, trusted: readonly string[]): string {
  let client = peer;
  const hops = forwardedFor?.split(',') ?? [];
  while (hops.length > 0 && isInBlocks(client, trusted)) {
    const hop = hops.pop()?.trim() ?? '';
    if (!ipaddr.isValid(hop)) break;
    client = ipaddr.process(hop).toString();
  }
  return client;
}

/** What one host owns, for limits by address: IPv6 hosts own at least a /64, and with it addresses without end. */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  return networkOfBytes(ipaddr.process(address).toByteArray());
}

/** Of an address of four or sixteen bytes. */
export function networkOfBytes(bytes: Uint8Array | readonly number[]): string {
  const isMapped = bytes.length === 16 && MAPPED.every((byte, index) => bytes[index] === byte);
  return (isMapped ? bytes.slice(12) : bytes.slice(0, 8)).join('.');
}

const MAPPED = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff] as const;
