/** SSH's public keys (RFC 4253, 6.6; RFC 5656; RFC 8709): their two forms, and the signatures made with them. */
import { createHash, createPublicKey, type KeyObject, verify, type VerifyKeyObjectInput } from 'node:crypto';
import { allSshStrings, positiveInteger } from '../base/ssh-blob.js';
import type { HostKey } from './host-keys.js';

/** A shorter key proves nothing. */
const MIN_RSA_BITS = 2048;
const MAX_LINE_CHARACTERS = 8_192;

export interface SshPublicKey extends HostKey {
  readonly blob: Buffer;
  /** The strings after the algorithm's name. */
  readonly fields: readonly Buffer[];
}

/** Undefined if the blob is malformed, or of a type that cannot be verified. */
export function publicKeyIn(blob: Buffer): SshPublicKey | undefined {
  const [name, ...fields] = allSshStrings(blob) ?? [];
  const algorithm = name?.toString('latin1') ?? '';
  return Object.hasOwn(KINDS, algorithm) ? { fingerprint: fingerprintOf(blob), algorithm, blob, fields } : undefined;
}

/** Reads one line `type base64 comment`, as in a file ….pub. @throws RangeError with what is wrong */
export function readPublicKey(text: string): SshPublicKey {
  const [type = '', base64 = ''] = text.trim().split(/\s+/);
  if (!Object.hasOwn(KINDS, type) || text.trim().includes('\n') || text.length > MAX_LINE_CHARACTERS) {
    throw new RangeError(`must be one line of a file ….pub, which begins with one of ${Object.keys(KINDS).join(', ')}`);
  }
  const key = publicKeyIn(Buffer.from(base64, 'base64'));
  try {
    if (key?.algorithm === type && KINDS[type]?.keyOf(key.fields) !== undefined) return key;
  } catch {
    // The numbers are not those of a key.
  }
  throw new RangeError('is cut off, damaged or too short a key');
}

/** `SHA256:…`, as OpenSSH shows it. */
export function fingerprintOf(blob: Buffer): string {
  return `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`;
}

interface Kind {
  keyOf(fields: readonly Buffer[]): KeyObject;
  /** By the name in the signature. */
  readonly hashes: Readonly<Record<string, string | null>>;
  /** Converts to the format of Node.js; undefined if it is not a signature. */
  readonly signatureOf?: (signature: Buffer) => Buffer | undefined;
}

const url = (bytes: Buffer | undefined): string => (bytes ?? Buffer.alloc(0)).toString('base64url');
const number = (mpint: Buffer | undefined): string => {
  const digits = positiveInteger(mpint ?? Buffer.alloc(0));
  return url(digits[0] === 0 ? digits.subarray(1) : digits);
};

function ecdsa(name: string, crv: string, hash: string, bytes: number): Readonly<Record<string, Kind>> {
  const algorithm = `ecdsa-sha2-${name}`;
  const fixed = (mpint: Buffer): Buffer => {
    const digits = Buffer.from(number(mpint), 'base64url');
    return Buffer.concat([Buffer.alloc(Math.max(0, bytes - digits.length)), digits]);
  };
  return {
    [algorithm]: {
      hashes: { [algorithm]: hash },
      keyOf: ([curve, point]) => {
        if (curve?.toString('latin1') !== name || point?.length !== 1 + 2 * bytes || point[0] !== 4) {
          throw new RangeError(`no point of ${name}`);
        }
        const [x, y] = [url(point.subarray(1, 1 + bytes)), url(point.subarray(1 + bytes))];
        return createPublicKey({ key: { kty: 'EC', crv, x, y }, format: 'jwk' });
      },
      signatureOf: (signature) => {
        const numbers = allSshStrings(signature);
        return numbers?.length === 2 ? Buffer.concat(numbers.map(fixed)) : undefined;
      },
    },
  };
}

const KINDS: Readonly<Record<string, Kind>> = {
  'ssh-ed25519': {
    hashes: { 'ssh-ed25519': null },
    keyOf: ([x]) => createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: url(x) }, format: 'jwk' }),
  },
  ...ecdsa('nistp256', 'P-256', 'sha256', 32),
  ...ecdsa('nistp384', 'P-384', 'sha384', 48),
  ...ecdsa('nistp521', 'P-521', 'sha512', 66),
  'ssh-rsa': {
    // SHA-1 (`ssh-rsa`) is not accepted, even if the handshake was allowed to use it.
    hashes: { 'rsa-sha2-256': 'sha256', 'rsa-sha2-512': 'sha512' },
    keyOf: ([e, n]) => {
      const key = createPublicKey({ key: { kty: 'RSA', n: number(n), e: number(e) }, format: 'jwk' });
      if ((key.asymmetricKeyDetails?.modulusLength ?? 0) < MIN_RSA_BITS) throw new RangeError('a short key');
      return key;
    },
  },
};

/** Whether `signature`, a blob with the name of its algorithm, is one of these bytes by this key. Runs on a thread. */
export async function isSignedBy(key: SshPublicKey, signed: Buffer, signature: Buffer): Promise<boolean> {
  const kind = KINDS[key.algorithm];
  const [name, bytes, ...rest] = allSshStrings(signature) ?? [];
  const hash = kind?.hashes[name?.toString('latin1') ?? ''];
  if (kind === undefined || hash === undefined || bytes === undefined || rest.length > 0) return false;
  const plain = kind.signatureOf === undefined ? bytes : kind.signatureOf(bytes);
  if (plain === undefined) return false;
  try {
    const input: VerifyKeyObjectInput = { key: kind.keyOf(key.fields), dsaEncoding: 'ieee-p1363' };
    return await new Promise((resolve) => {
      verify(hash, signed, input, plain, (error, isRight) => resolve(error === null && isRight));
    });
  } catch {
    return false;
  }
}
