/** OpenSSH's user certificates (PROTOCOL.certkeys in its sources). */
import { allSshStrings, sshStrings } from '../base/ssh-blob.js';

export interface SshCertificate {
  /** Such as `ssh-ed25519-cert-v01@openssh.com`. */
  readonly type: string;
  readonly blob: Buffer;
  /** The strings of the certified public key, its type first. */
  readonly publicKey: readonly Buffer[];
  readonly keyId: string;
  /** The user names that it is for; none = any. */
  readonly principals: readonly string[];
  /** Seconds since 1970. */
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  /** Options that the server must obey, such as `force-command`. */
  readonly criticalOptions: readonly string[];
}

/** For each type of certificate, the type of its key and the number of the key's further strings. */
const KEYS: Readonly<Record<string, readonly [type: string, fields: number]>> = {
  'ssh-ed25519-cert-v01@openssh.com': ['ssh-ed25519', 1],
  'ecdsa-sha2-nistp256-cert-v01@openssh.com': ['ecdsa-sha2-nistp256', 2],
  'ecdsa-sha2-nistp384-cert-v01@openssh.com': ['ecdsa-sha2-nistp384', 2],
  'ecdsa-sha2-nistp521-cert-v01@openssh.com': ['ecdsa-sha2-nistp521', 2],
  'ssh-rsa-cert-v01@openssh.com': ['ssh-rsa', 2],
};
const USER_CERTIFICATE = 1;
const MAX_CHARACTERS = 32_768;

/** Reads one line `type base64 comment`. @throws RangeError with what is wrong */
export function readSshCertificate(text: string): SshCertificate {
  const lines = text.trim().split('\n');
  const [type = '', base64 = ''] = (lines[0] ?? '').trim().split(/\s+/);
  const [keyType, count] = KEYS[type] ?? [];
  if (lines.length !== 1 || keyType === undefined || count === undefined || text.length > MAX_CHARACTERS) {
    throw new RangeError(
      `must be one line of a file …-cert.pub, which begins with one of ${Object.keys(KEYS).join(', ')}`,
    );
  }
  const blob = Buffer.from(base64, 'base64');
  try {
    return certificateIn(blob, type, [Buffer.from(keyType), count]);
  } catch (error) {
    if (error instanceof NoUserCertificate)
      throw new RangeError('must be a user certificate; this one is for a host', { cause: error });
    if (error instanceof RangeError) throw new RangeError('is cut off or damaged', { cause: error });
    throw error;
  }
}

class NoUserCertificate extends Error {}

function certificateIn(blob: Buffer, type: string, [keyType, count]: readonly [Buffer, number]): SshCertificate {
  const [own, , ...key] = sshStrings(blob, 2 + count);
  if (own?.toString('latin1') !== type) throw new RangeError('another type');
  let at = lengthOf([own, Buffer.alloc(0), ...key]) + (sshStrings(blob, 2)[1]?.length ?? 0);
  const kind = blob.readUInt32BE(at + 8);
  if (kind !== USER_CERTIFICATE) throw new NoUserCertificate();
  at += 12;
  const [keyId = EMPTY, principals = EMPTY] = sshStrings(blob.subarray(at), 2);
  at += lengthOf([keyId, principals]);
  const [validAfter, validBefore] = [blob.readBigUInt64BE(at), blob.readBigUInt64BE(at + 8)];
  at += 16;
  const rest = allSshStrings(blob.subarray(at));
  // Critical options, extensions, reserved, the key of the authority, its signature.
  if (rest?.length !== 5) throw new RangeError('another number of fields');
  const options = allSshStrings(rest[0] ?? EMPTY) ?? [];
  return {
    type,
    blob,
    publicKey: [keyType, ...key],
    keyId: keyId.toString(),
    principals: (allSshStrings(principals) ?? []).map(String),
    validAfter,
    validBefore,
    criticalOptions: options.filter((_, index) => index % 2 === 0).map(String),
  };
}

const EMPTY = Buffer.alloc(0);
const lengthOf = (strings: readonly Buffer[]): number => strings.reduce((sum, { length }) => sum + 4 + length, 0);

/** What speaks against a login of `username` now; undefined = nothing. */
export function objectionTo(certificate: SshCertificate, username: string, now = Date.now()): string | undefined {
  const { validAfter, validBefore, principals } = certificate;
  const second = BigInt(Math.floor(now / 1000));
  if (second >= validBefore) return `it expired at ${momentOf(validBefore)}`;
  if (second < validAfter) return `it is not valid before ${momentOf(validAfter)}`;
  if (principals.length > 0 && !principals.includes(username)) {
    return `it is for ${principals.slice(0, 10).join(', ')}, not for ${username}`;
  }
  return undefined;
}

/** The last moment of JavaScript's dates is long before the last one of a certificate. */
function momentOf(seconds: bigint): string {
  const date = new Date(Number(seconds) * 1000);
  return Number.isNaN(date.getTime()) ? 'a time far away' : date.toISOString();
}
