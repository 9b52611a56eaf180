import type { Algorithms } from 'ssh2';
// What this build of ssh2 and its OpenSSL supports; asking for another algorithm makes ssh2 throw.
import supported from 'ssh2/lib/protocol/constants.js';
import crypto from 'ssh2/lib/protocol/crypto.js';
import {
  type AlgorithmChoice,
  type AlgorithmKind,
  knownAlgorithms,
  MODERN,
} from '../../../contract/connection/ssh-algorithms.js';

/** A server has one host key of each family; it shows the one that the client asks for first. */
export type HostKeyFamily = 'ed25519' | 'ecdsa' | 'rsa' | 'dss';

const SUPPORTED: Readonly<Record<AlgorithmKind, readonly string[]>> = {
  kex: supported.SUPPORTED_KEX,
  ciphers: supported.SUPPORTED_CIPHER,
  macs: supported.SUPPORTED_MAC,
  hostKeys: supported.SUPPORTED_SERVER_HOST_KEY,
};

/** The names of one kind that the gateway offers for this choice, most wanted first. */
export function offeredFor(choice: AlgorithmChoice, kind: AlgorithmKind): readonly string[] {
  return namesIn(choice, kind).filter((name) => SUPPORTED[kind].includes(name));
}

function namesIn(choice: AlgorithmChoice, kind: AlgorithmKind): readonly string[] {
  const own = typeof choice === 'string' ? undefined : choice[kind];
  if (own !== undefined) return own;
  const names: readonly string[] = choice === 'legacy' ? knownAlgorithms(kind) : MODERN[kind];
  return kind === 'ciphers' ? names.toSorted((one, other) => costOf(one) - costOf(other)) : names;
}

/**
 * AES-GCM needs the least CPU per byte: no separate MAC, and hardware does both halves. Without ssh2's native code
 * ChaCha needs most: three ciphers for each packet, and a MAC in WebAssembly (docs/decisions/sftp-ciphers.md).
 */
function costOf(cipher: string): number {
  if (cipher.includes('gcm')) return 0;
  if (cipher.startsWith('chacha')) return nativeCryptoLoaded() ? 1 : 3;
  return cipher.endsWith('ctr') ? 2 : 4;
}

/** The families of host keys that are offered, most wanted first. */
export function familiesOf(choice: AlgorithmChoice): HostKeyFamily[] {
  return [...new Set(offeredFor(choice, 'hostKeys').flatMap((name) => familyOf(name) ?? []))];
}

/** The offer for a choice, with host keys of these families only, in their order. */
export function algorithmOffer(choice: AlgorithmChoice, families: readonly HostKeyFamily[]): Algorithms {
  const hostKeys = offeredFor(choice, 'hostKeys');
  return {
    kex: offeredFor(choice, 'kex'),
    cipher: offeredFor(choice, 'ciphers'),
    hmac: offeredFor(choice, 'macs'),
    serverHostKey: families.flatMap((family) => hostKeys.filter((name) => familyOf(name) === family)),
    // Compression would halve the throughput, and does not help the files that are worth sending.
    compress: ['none'],
  } as Algorithms;
}

/** The family of a host key blob (RFC 4253, 6.6): its first field names the type. */
export function hostKeyFamily(hostKey: Buffer): HostKeyFamily | undefined {
  return familyOf(hostKey.length >= 4 ? hostKey.toString('latin1', 4, 4 + hostKey.readUInt32BE(0)) : '');
}

/** By the name of a key's type, of a signature, or of a certificate. */
export function familyOf(name: string): HostKeyFamily | undefined {
  if (name.startsWith('ssh-ed25519')) return 'ed25519';
  if (name.startsWith('ecdsa-')) return 'ecdsa';
  if (name.startsWith('ssh-rsa') || name.startsWith('rsa-')) return 'rsa';
  return name === 'ssh-dss' ? 'dss' : undefined;
}

/** Whether ssh2's native binding is loaded. Without it everything works, at about twice the CPU per byte. */
export function nativeCryptoLoaded(): boolean {
  return crypto.bindingAvailable === true;
}
