/**
 * Addresses of clients: whether a block contains one, and which one is the client's if the request came through trusted
 * proxies.
 */
import ipaddr from 'ipaddr.js';

/** `blocks`: addresses or CIDR blocks, checked by the configuration. False if the text is not an address. */
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
 * The address that sent the request: the peer's or, if the peer is a trusted proxy, the last address in
 * `X-Forwarded-For` that is not one. Anyone may have made up the entries before it.
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

/** The network of one host, for limits by address: an IPv6 host owns at least a /64, and so any number of addresses. */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  return networkOfBytes(ipaddr.process(address).toByteArray());
}

/** The same for an address of four or sixteen bytes. */
export function networkOfBytes(bytes: Uint8Array | readonly number[]): string {
  const isMapped = bytes.length === 16 && MAPPED.every((byte, index) => bytes[index] === byte);
  return (isMapped ? bytes.slice(12) : bytes.slice(0, 8)).join('.');
}

const MAPPED = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff] as const;
