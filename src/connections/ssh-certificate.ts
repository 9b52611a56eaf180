/** OpenSSH's certificates of users and hosts (PROTOCOL.certkeys in its sources). */
import { compileGlob } from '../base/globs/glob.js';
import { allSshStrings, sshString, sshStrings } from '../base/ssh-blob.js';
import { visible } from '../base/visible.js';
import { isSignedBy, publicKeyIn, type SshPublicKey } from './ssh-public-key.js';

export interface SshCertificate {
  /** Such as `ssh-ed25519-cert-v01@openssh.com`. */
  readonly type: string;
  readonly blob: Buffer;
  /** The strings of the certified public key, its type first. */
  readonly publicKey: readonly Buffer[];
  readonly keyId: string;
  /** The names of users, or of hosts with `*` and `?`, that it is for; none = any. */
  readonly principals: readonly string[];
  /** Seconds since 1970. */
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  /** Options that must be obeyed, such as `force-command`. */
  readonly criticalOptions: readonly string[];
  /** The key that signed it; undefined = of a type that cannot be verified. */
  readonly authority: SshPublicKey | undefined;
  readonly signature: Buffer;
}

/** For each type of certificate, the type of its key and the number of the key's further strings. */
const KEYS: Readonly<Record<string, readonly [type: string, fields: number]>> = {
  'ssh-ed25519-cert-v01@openssh.com': ['ssh-ed25519', 1],
  'ecdsa-sha2-nistp256-cert-v01@openssh.com': ['ecdsa-sha2-nistp256', 2],
  'ecdsa-sha2-nistp384-cert-v01@openssh.com': ['ecdsa-sha2-nistp384', 2],
  'ecdsa-sha2-nistp521-cert-v01@openssh.com': ['ecdsa-sha2-nistp521', 2],
  'ssh-rsa-cert-v01@openssh.com': ['ssh-rsa', 2],
};
/** The types of certificates, of users and hosts. */
export const CERTIFICATE_TYPES = Object.keys(KEYS);
const FOR = { user: 1, host: 2 } as const;
const MAX_CHARACTERS = 32_768;
const MAX_SHOWN = 100;

/** Reads one line `type base64 comment`. @throws RangeError with what is wrong */
export function readSshCertificate(text: string): SshCertificate {
  const lines = text.trim().split('\n');
  const [type = '', base64 = ''] = (lines[0] ?? '').trim().split(/\s+/);
  if (lines.length !== 1 || !Object.hasOwn(KEYS, type) || text.length > MAX_CHARACTERS) {
    throw new RangeError(
      `must be one line of a file …-cert.pub, which begins with one of ${Object.keys(KEYS).join(', ')}`,
    );
  }
  try {
    const certificate = certificateIn(Buffer.from(base64, 'base64'), 'user');
    if (certificate.type !== type) throw new RangeError('another type');
    return certificate;
  } catch (error) {
    if (error instanceof OtherPurpose)
      throw new RangeError('must be a user certificate; this one is for a host', { cause: error });
    if (error instanceof RangeError) throw new RangeError('is cut off or damaged', { cause: error });
    throw error;
  }
}

/** The certificate that a server shows as its host key; undefined if it is no host certificate. */
export function hostCertificateIn(blob: Buffer): SshCertificate | undefined {
  try {
    return certificateIn(blob, 'host');
  } catch (error) {
    if (error instanceof RangeError || error instanceof OtherPurpose) return undefined;
    throw error;
  }
}

class OtherPurpose extends Error {}

function certificateIn(blob: Buffer, purpose: keyof typeof FOR): SshCertificate {
  const [own = EMPTY] = sshStrings(blob, 1);
  const type = own.toString('latin1');
  const [keyType, count] = (Object.hasOwn(KEYS, type) ? KEYS[type] : undefined) ?? [];
  if (keyType === undefined || count === undefined) throw new RangeError('another type');
  const first = sshStrings(blob, 2 + count);
  const [, , ...key] = first;
  let at = lengthOf(first);
  if (blob.readUInt32BE(at + 8) !== FOR[purpose]) throw new OtherPurpose();
  at += 12;
  const [keyId = EMPTY, principals = EMPTY] = sshStrings(blob.subarray(at), 2);
  at += lengthOf([keyId, principals]);
  const [validAfter, validBefore] = [blob.readBigUInt64BE(at), blob.readBigUInt64BE(at + 8)];
  at += 16;
  const rest = allSshStrings(blob.subarray(at));
  // Critical options, extensions, reserved, the key of the authority, its signature.
  if (rest?.length !== 5) throw new RangeError('another number of fields');
  const [options = EMPTY, , , authority = EMPTY, signature = EMPTY] = rest;
  return {
    type,
    blob,
    publicKey: [Buffer.from(keyType), ...key],
    keyId: keyId.toString(),
    principals: (allSshStrings(principals) ?? []).map(String),
    validAfter,
    validBefore,
    criticalOptions: (allSshStrings(options) ?? []).filter((_, index) => index % 2 === 0).map(String),
    authority: publicKeyIn(authority),
    signature,
  };
}

const EMPTY = Buffer.alloc(0);
const lengthOf = (strings: readonly Buffer[]): number => strings.reduce((sum, { length }) => sum + 4 + length, 0);

/** What speaks against a login of `username` now; undefined = nothing. */
export function objectionTo(certificate: SshCertificate, username: string, now = Date.now()): string | undefined {
  return objectionOf(certificate, username, (principal) => principal === username, now);
}

/**
 * What speaks against the certificate of a host with this name, from one of the authorities; undefined = nothing.
 */
export async function objectionToHost(
  certificate: SshCertificate,
  host: string,
  authorities: readonly SshPublicKey[],
  now = Date.now(),
): Promise<string | undefined> {
  const { authority, criticalOptions, blob, signature } = certificate;
  const known = authorities.find(({ fingerprint }) => fingerprint === authority?.fingerprint);
  if (known === undefined) {
    return authority === undefined
      ? 'its authority has a key of a type that the gateway cannot verify'
      : `its authority has the key ${authority.fingerprint}, which is not in hostCa`;
  }
  // First: until then, a stranger may have written the rest.
  const signed = blob.subarray(0, blob.length - lengthOf([signature]));
  if (!(await isSignedBy(known, signed, signature))) return 'its signature is wrong';
  if (criticalOptions.length > 0) return `it is restricted by ${criticalOptions.slice(0, 10).join(', ')}`;
  const name = host.toLowerCase();
  return objectionOf(certificate, host, (principal) => fits(principal.toLowerCase(), name), now);
}

/** As OpenSSH compares the names of hosts. */
function fits(principal: string, name: string): boolean {
  return /^[\w.:*?-]+$/.test(principal) ? compileGlob(principal, { dot: true })(name) : principal === name;
}

/** Whether the key is the one that the certificate is for. */
export function certifies({ publicKey }: SshCertificate, key: Buffer): boolean {
  return Buffer.concat(publicKey.map(sshString)).equals(key);
}

function objectionOf(
  { validAfter, validBefore, principals }: SshCertificate,
  name: string,
  isFor: (principal: string) => boolean,
  now: number,
): string | undefined {
  const second = BigInt(Math.floor(now / 1000));
  if (second >= validBefore) return `it expired at ${momentOf(validBefore)}`;
  if (second < validAfter) return `it is not valid before ${momentOf(validAfter)}`;
  if (principals.length > 0 && !principals.some(isFor)) {
    return `it is for ${principals.slice(0, 10).join(', ')}, not for ${name}`;
  }
  return undefined;
}

/** For people. */
export function nameAndEnd({ keyId, validBefore }: SshCertificate): string {
  return `"${visible(keyId.slice(0, MAX_SHOWN))}", until ${momentOf(validBefore)}`;
}

/** The last moment of JavaScript's dates is long before the last one of a certificate. */
function momentOf(seconds: bigint): string {
  const date = new Date(Number(seconds) * 1000);
  return Number.isNaN(date.getTime()) ? 'a time far away' : date.toISOString();
}
