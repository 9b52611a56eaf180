import { createPrivateKey, type KeyObject } from 'node:crypto';
import ssh2, { type ParsedKey } from 'ssh2';
import { GatewayError } from '../../../base/errors.js';
import { excessOf, excessText } from '../../../connections/private-key-bounds.js';
import { KeyProblem, PASSPHRASE_MISSING, PASSPHRASE_WRONG } from './key-problem.js';
import { opensshPrivateKey } from './openssh-key.js';
import { isPuttyKey, readPuttyKey } from './putty-key.js';

/**
 * Parses a private key in OpenSSH's own format, PEM (PKCS#1, SEC 1, PKCS#8, encrypted or not) or PuTTY's PPK. The error
 * is login_refused and says what is wrong, but never contains the key's text.
 */
export function parsePrivateKey(text: string, passphrase: string | undefined): ParsedKey {
  try {
    return readPrivateKey(text, passphrase);
  } catch (error) {
    if (error instanceof KeyProblem) throw unusableKey(error.message);
    throw error;
  }
}

/** The same; rejects with a KeyProblem. */
export function readPrivateKey(text: string, passphrase: string | undefined): ParsedKey {
  requireBounded(text);
  const key = decode(text.replace(/\r\n/g, '\n').trim(), passphrase);
  // Encrypted values are visible only now.
  requireBounded(key.getPrivatePEM());
  return key;
}

/** A key within the bounds is used on the event loop and decrypted in native code, which cannot be stopped. */
function requireBounded(text: string): void {
  const excess = excessOf(text);
  if (excess !== undefined) throw new KeyProblem(excessText(excess));
}

function decode(trimmed: string, passphrase: string | undefined): ParsedKey {
  try {
    if (isPuttyKey(trimmed)) return usable(ssh2.utils.parseKey(readPuttyKey(trimmed, passphrase)));
    if (/^-----BEGIN (ENCRYPTED )?PRIVATE KEY-----/.test(trimmed)) return readPkcs8(trimmed, passphrase);
    if (/^Proc-Type: 4,ENCRYPTED/m.test(trimmed) && passphrase === undefined) throw new KeyProblem(PASSPHRASE_MISSING);
    return usable(ssh2.utils.parseKey(trimmed, passphrase));
  } catch (error) {
    // Only our own words: texts of parsers may quote what they could not parse.
    throw error instanceof KeyProblem ? error : new KeyProblem(UNREADABLE);
  }
}

export function unusableKey(problem: string): GatewayError {
  return new GatewayError('login_refused', `the private key of the connection cannot be used: ${problem}`, {
    step: 'login',
  });
}

const UNREADABLE = 'it is neither an OpenSSH, PEM nor PuTTY private key, or it is damaged';

function usable(parsed: ParsedKey | ParsedKey[] | Error): ParsedKey {
  if (parsed instanceof Error) throw new KeyProblem(problemOf(parsed.message));
  const key = Array.isArray(parsed) ? parsed[0] : parsed;
  if (key === undefined || !key.isPrivateKey()) throw new KeyProblem('it is a public key');
  return key;
}

/** ssh2 gives its reasons only as text. */
function problemOf(message: string): string {
  if (/no passphrase/i.test(message)) return PASSPHRASE_MISSING;
  if (/bad passphrase|bad decrypt|integrity check|unable to (decrypt|authenticate)/i.test(message))
    return PASSPHRASE_WRONG;
  if (/unsupported|unknown cipher/i.test(message)) return `${UNREADABLE}; or its encryption is not supported`;
  return UNREADABLE;
}

function readPkcs8(pem: string, passphrase: string | undefined): ParsedKey {
  const isEncrypted = pem.startsWith('-----BEGIN ENCRYPTED');
  if (isEncrypted && passphrase === undefined) throw new KeyProblem(PASSPHRASE_MISSING);
  let key: KeyObject;
  try {
    key = createPrivateKey({ key: pem, format: 'pem', passphrase });
  } catch {
    throw new KeyProblem(isEncrypted ? PASSPHRASE_WRONG : UNREADABLE);
  }
  switch (key.asymmetricKeyType) {
    case 'rsa':
      return usable(ssh2.utils.parseKey(key.export({ type: 'pkcs1', format: 'pem' })));
    case 'ec':
      return usable(ssh2.utils.parseKey(key.export({ type: 'sec1', format: 'pem' })));
    case 'ed25519': {
      const { x, d } = key.export({ format: 'jwk' });
      const publicKey = Buffer.from(x ?? '', 'base64url');
      const seed = Buffer.from(d ?? '', 'base64url');
      const type = Buffer.from('ssh-ed25519');
      const secret = Buffer.concat([seed, publicKey]);
      return usable(ssh2.utils.parseKey(opensshPrivateKey([type, publicKey], [type, publicKey, secret])));
    }
    default:
      throw new KeyProblem('keys of its kind are not used in SSH');
  }
}
