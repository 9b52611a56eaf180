import * as crypto from 'node:crypto';
import { KeyProblem, PASSPHRASE_MISSING, PASSPHRASE_WRONG } from './key-problem.js';
import { positiveInteger, sshString, sshStrings } from '../../../base/ssh-blob.js';
import { opensshPrivateKey } from './openssh-key.js';

/**
 * PuTTY's private key files, versions 2 and 3 (PuTTY manual, appendix C), converted to OpenSSH's format. ssh2 itself
 * reads only version 2 with RSA and DSA; PuTTY has written version 3 since 2021.
 */
export const isPuttyKey = (text: string): boolean => text.startsWith('PuTTY-User-Key-File-');

interface PuttyFile {
  readonly version: 2 | 3;
  readonly algorithm: string;
  readonly encryption: string;
  readonly comment: string;
  readonly publicBlob: Buffer;
  readonly privateBlob: Buffer;
  readonly mac: Buffer;
  readonly header: ReadonlyMap<string, string>;
}

/** The key in OpenSSH's format, unencrypted. */
export function readPuttyKey(text: string, passphrase: string | undefined): string {
  const file = parseFile(text);
  const isEncrypted = file.encryption !== 'none';
  if (isEncrypted && file.encryption !== 'aes256-cbc') throw new KeyProblem('its encryption is not supported');
  if (isEncrypted && passphrase === undefined) throw new KeyProblem(PASSPHRASE_MISSING);
  const keys = file.version === 2 ? keysOfVersion2(passphrase, isEncrypted) : keysOfVersion3(file, passphrase);
  const secret = isEncrypted ? decrypt(file.privateBlob, keys) : file.privateBlob;
  const authenticated = Buffer.concat(
    [file.algorithm, file.encryption, file.comment, file.publicBlob, secret].map(sshString),
  );
  const hash = file.version === 2 ? 'sha1' : 'sha256';
  const mac = crypto.createHmac(hash, keys.macKey).update(authenticated).digest();
  if (mac.length !== file.mac.length || !crypto.timingSafeEqual(mac, file.mac)) {
    throw new KeyProblem(isEncrypted ? PASSPHRASE_WRONG : 'the PuTTY file is damaged');
  }
  return convert(file.algorithm, file.publicBlob, secret);
}

function parseFile(text: string): PuttyFile {
  const lines = text.split('\n').map((line) => line.trimEnd());
  const header = new Map<string, string>();
  const blobs = new Map<string, Buffer>();
  for (let index = 0; index < lines.length; index += 1) {
    const match = /^([A-Za-z0-9-]+): ?(.*)$/.exec(lines[index] ?? '');
    if (match === null) continue;
    const [, name = '', value = ''] = match;
    if (name.endsWith('-Lines')) {
      const count = Number(value);
      blobs.set(name, Buffer.from(lines.slice(index + 1, index + 1 + count).join(''), 'base64'));
      index += count;
    } else {
      header.set(name, value);
    }
  }
  const version = header.has('PuTTY-User-Key-File-2') ? 2 : 3;
  const algorithm = header.get(`PuTTY-User-Key-File-${version}`);
  const publicBlob = blobs.get('Public-Lines');
  const privateBlob = blobs.get('Private-Lines');
  const mac = header.get('Private-MAC');
  if (algorithm === undefined || publicBlob === undefined || privateBlob === undefined || mac === undefined) {
    throw new KeyProblem('the PuTTY file is incomplete or of an unknown version');
  }
  return {
    version,
    algorithm,
    encryption: header.get('Encryption') ?? 'none',
    comment: header.get('Comment') ?? '',
    publicBlob,
    privateBlob,
    mac: Buffer.from(mac, 'hex'),
    header,
  };
}

interface FileKeys {
  readonly cipherKey: Buffer;
  readonly iv: Buffer;
  readonly macKey: Buffer;
}

function keysOfVersion2(passphrase: string | undefined, isEncrypted: boolean): FileKeys {
  const secret = Buffer.from(isEncrypted ? (passphrase ?? '') : '');
  const sha1 = (...parts: (Buffer | string)[]): Buffer => {
    const hash = crypto.createHash('sha1');
    for (const part of parts) hash.update(part);
    return hash.digest();
  };
  const counter = (value: number): Buffer => Buffer.from([0, 0, 0, value]);
  return {
    cipherKey: Buffer.concat([sha1(counter(0), secret), sha1(counter(1), secret)]).subarray(0, 32),
    iv: Buffer.alloc(16),
    macKey: sha1('putty-private-key-file-mac-key', secret),
  };
}

interface Argon2Parameters {
  readonly message: Buffer;
  readonly nonce: Buffer;
  readonly parallelism: number;
  readonly tagLength: number;
  readonly memory: number;
  readonly passes: number;
}
type Argon2 = (algorithm: string, parameters: Argon2Parameters) => Buffer;

function keysOfVersion3(file: PuttyFile, passphrase: string | undefined): FileKeys {
  if (file.encryption === 'none') {
    return { cipherKey: Buffer.alloc(0), iv: Buffer.alloc(0), macKey: Buffer.alloc(0) };
  }
  // Argon2 came to Node with version 24; a hash in JavaScript would block all other work for seconds.
  const argon2 = (crypto as unknown as { readonly argon2Sync?: Argon2 }).argon2Sync;
  if (argon2 === undefined) {
    throw new KeyProblem(
      'encrypted PuTTY files of version 3 need Node.js 24.7 or newer; export it from PuTTYgen as an OpenSSH key ' +
        'or save it as PPK version 2',
    );
  }
  const number = (name: string): number => {
    const value = Number(file.header.get(name));
    if (!Number.isInteger(value) || value < 1) throw new KeyProblem(`${name} of the PuTTY file is no number`);
    return value;
  };
  const keys = argon2((file.header.get('Key-Derivation') ?? '').toLowerCase(), {
    message: Buffer.from(passphrase ?? ''),
    nonce: Buffer.from(file.header.get('Argon2-Salt') ?? '', 'hex'),
    parallelism: number('Argon2-Parallelism'),
    tagLength: 80,
    memory: number('Argon2-Memory'),
    passes: number('Argon2-Passes'),
  });
  return { cipherKey: keys.subarray(0, 32), iv: keys.subarray(32, 48), macKey: keys.subarray(48) };
}

function decrypt(blob: Buffer, { cipherKey, iv }: FileKeys): Buffer {
  if (blob.length % 16 !== 0) throw new KeyProblem('the PuTTY file is damaged');
  const decipher = crypto.createDecipheriv('aes-256-cbc', cipherKey, iv).setAutoPadding(false);
  return Buffer.concat([decipher.update(blob), decipher.final()]);
}

/** The two halves in OpenSSH's order. */
function convert(algorithm: string, publicBlob: Buffer, secret: Buffer): string {
  const type = Buffer.from(algorithm);
  if (algorithm === 'ssh-rsa') {
    const [, e, n] = sshStrings(publicBlob, 3) as [Buffer, Buffer, Buffer];
    const [d, p, q, inverse] = sshStrings(secret, 4) as [Buffer, Buffer, Buffer, Buffer];
    return opensshPrivateKey([type, e, n], [type, n, e, d, inverse, p, q]);
  }
  if (algorithm === 'ssh-dss') {
    const [, p, q, g, y] = sshStrings(publicBlob, 5) as [Buffer, Buffer, Buffer, Buffer, Buffer];
    const [x] = sshStrings(secret, 1) as [Buffer];
    return opensshPrivateKey([type, p, q, g, y], [type, p, q, g, y, x]);
  }
  if (algorithm === 'ssh-ed25519') {
    const [, point] = sshStrings(publicBlob, 2) as [Buffer, Buffer];
    const [number] = sshStrings(secret, 1) as [Buffer];
    // PuTTY stores the seed as a number and may omit zero bytes at its end; OpenSSH wants seed and point, 64 bytes.
    const seed = Buffer.alloc(32);
    number.copy(seed);
    return opensshPrivateKey([type, point], [type, point, Buffer.concat([seed, point])]);
  }
  if (algorithm.startsWith('ecdsa-sha2-')) {
    const [, curve, point] = sshStrings(publicBlob, 3) as [Buffer, Buffer, Buffer];
    const [number] = sshStrings(secret, 1) as [Buffer];
    return opensshPrivateKey([type, curve, point], [type, curve, point, positiveInteger(number)]);
  }
  throw new KeyProblem('keys of its kind are not supported');
}
