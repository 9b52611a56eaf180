import type { Algorithms } from 'ssh2';
// What this build of ssh2 and its OpenSSL supports; asking for another algorithm makes ssh2 throw.
import supported from 'ssh2/lib/protocol/constants.js';
import crypto from 'ssh2/lib/protocol/crypto.js';
import type { SftpConnection } from '../../../connections/connection.js';

/** A server has one host key of each family; it shows the one that the client asks for first. */
export type HostKeyFamily = 'ed25519' | 'ecdsa' | 'rsa' | 'dss';
export const HOST_KEY_FAMILIES: readonly HostKeyFamily[] = ['ed25519', 'ecdsa', 'rsa', 'dss'];

interface AlgorithmNames {
  readonly kex: readonly string[];
  readonly cipher: readonly string[];
  readonly hmac: readonly string[];
  readonly hostKey: Record<HostKeyFamily, readonly string[]>;
}

// AES-GCM needs the least CPU per byte: no separate MAC, and hardware does both halves. Without ssh2's native code
// ChaCha needs most: three ciphers for each packet, and a MAC in WebAssembly (docs/decisions/sftp-ciphers.md).
const GCM = ['aes128-gcm@openssh.com', 'aes256-gcm@openssh.com'];
const CHACHA = ['chacha20-poly1305@openssh.com'];
const CTR = ['aes128-ctr', 'aes192-ctr', 'aes256-ctr'];

// No group exchange: ssh2 computes with any prime that the server sends, on the event loop and before the host key is
// known;
// 9,941 bits take 40 s. The fixed groups take at most 15 ms.
const MODERN: AlgorithmNames = {
  kex: [
    'curve25519-sha256',
    'curve25519-sha256@libssh.org',
    'ecdh-sha2-nistp256',
    'ecdh-sha2-nistp384',
    'ecdh-sha2-nistp521',
    'diffie-hellman-group14-sha256',
    'diffie-hellman-group15-sha512',
    'diffie-hellman-group16-sha512',
    'diffie-hellman-group17-sha512',
    'diffie-hellman-group18-sha512',
  ],
  cipher: nativeCryptoLoaded() ? [...GCM, ...CHACHA, ...CTR] : [...GCM, ...CTR, ...CHACHA],
  hmac: ['hmac-sha2-256-etm@openssh.com', 'hmac-sha2-512-etm@openssh.com', 'hmac-sha2-256', 'hmac-sha2-512'],
  hostKey: {
    ed25519: ['ssh-ed25519'],
    ecdsa: ['ecdsa-sha2-nistp256', 'ecdsa-sha2-nistp384', 'ecdsa-sha2-nistp521'],
    rsa: ['rsa-sha2-512', 'rsa-sha2-256'],
    dss: [],
  },
};

/**
 * What servers from before about 2014 need; offered after the modern ones, so that none of them is chosen without need.
 */
const LEGACY: AlgorithmNames = {
  kex: ['diffie-hellman-group14-sha1', 'diffie-hellman-group1-sha1'],
  cipher: ['aes128-cbc', 'aes192-cbc', 'aes256-cbc', '3des-cbc'],
  hmac: ['hmac-sha1-etm@openssh.com', 'hmac-sha1', 'hmac-md5'],
  hostKey: { ed25519: [], ecdsa: [], rsa: ['ssh-rsa'], dss: ['ssh-dss'] },
};

/** The offer for a preset, with host keys of the given families only. */
export function algorithmOffer(
  preset: SftpConnection['algorithms'],
  families: readonly HostKeyFamily[] = HOST_KEY_FAMILIES,
): Algorithms {
  const sets = preset === 'legacy' ? [MODERN, LEGACY] : [MODERN];
  const offer = (pick: (names: AlgorithmNames) => readonly string[], known: readonly string[]): string[] =>
    sets.flatMap(pick).filter((name) => known.includes(name));
  return {
    kex: offer((names) => names.kex, supported.SUPPORTED_KEX),
    cipher: offer((names) => names.cipher, supported.SUPPORTED_CIPHER),
    hmac: offer((names) => names.hmac, supported.SUPPORTED_MAC),
    serverHostKey: offer(
      (names) => families.flatMap((family) => names.hostKey[family]),
      supported.SUPPORTED_SERVER_HOST_KEY,
    ),
    // Compression would halve the throughput, and does not help the files that are worth sending.
    compress: ['none'],
  } as Algorithms;
}

/** The family of a host key blob (RFC 4253, 6.6): its first field names the type. */
export function hostKeyFamily(hostKey: Buffer): HostKeyFamily | undefined {
  const type = hostKey.length >= 4 ? hostKey.toString('latin1', 4, 4 + hostKey.readUInt32BE(0)) : '';
  if (type === 'ssh-ed25519') return 'ed25519';
  if (type.startsWith('ecdsa-')) return 'ecdsa';
  if (type === 'ssh-rsa') return 'rsa';
  return type === 'ssh-dss' ? 'dss' : undefined;
}

/** Whether ssh2's native binding is loaded. Without it everything works, at about twice the CPU per byte. */
export function nativeCryptoLoaded(): boolean {
  return crypto.bindingAvailable === true;
}
