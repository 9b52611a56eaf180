import ssh2 from 'ssh2';
import { fingerprintOf } from '../../../connections/ssh-public-key.js';

interface GeneratedKeyPair {
  /** OpenSSH's own format, without a passphrase. */
  readonly privateKey: string;
  /** One line of an authorized_keys file. */
  readonly publicKey: string;
  /** `SHA256:…` */
  readonly fingerprint: string;
}

/** A new Ed25519 key pair (RFC 8709). `comment` is one line without control characters. */
export function generateKeyPair(comment: string): GeneratedKeyPair {
  let made = ssh2.utils.generateKeyPairSync('ed25519', { comment });
  // The library drops the first byte of a key if it is zero: one key of 256 is useless.
  while (ssh2.utils.parseKey(made.private) instanceof Error) {
    made = ssh2.utils.generateKeyPairSync('ed25519', { comment });
  }
  const [, blob = ''] = made.public.split(' ');
  return {
    privateKey: made.private,
    publicKey: made.public.trim(),
    fingerprint: fingerprintOf(Buffer.from(blob, 'base64')),
  };
}
