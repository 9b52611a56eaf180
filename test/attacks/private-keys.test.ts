/**
 * Private keys whose numbers cause seconds of work: a signature is computed on the event loop, and the derivation from
 * a passphrase runs in native code, which continues after its answer and even after the order to stop. They are refused
 * when they are entered and when they are loaded, before anything is computed.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createPrivateKey, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { excessOf } from '../../src/connections/private-key-bounds.js';
import { usableKey } from '../../src/remotes/sftp/keys/key-decryption.js';
import { positiveInteger } from '../../src/base/ssh-blob.js';
import { opensshPrivateKey } from '../../src/remotes/sftp/keys/openssh-key.js';
import { KEY, type TestGateway } from '../support/gateway.js';
import { held } from '../support/reliability.js';
import { assertServing, startWatchedGateway } from './support/loop.js';
import { MAIN } from '../support/start-args.js';

const PASSPHRASE = 'open sesame';

/** DER: an element of these parts. */
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 65_536 ? [0x82, length >> 8, length & 255] : [];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}
const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, ...parts);
const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
const integer = (value: Buffer | number): Buffer => {
  const bytes = typeof value === 'number' ? Buffer.from(value.toString(16).padStart(16, '0'), 'hex') : value;
  return der(0x02, positiveInteger(bytes));
};
const pem = (label: string, bytes: Buffer): string => {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
};

/** Not a key, but numbers of its size: computing with them takes as long. */
function odd(bits: number): Buffer {
  const bytes = randomBytes(bits / 8);
  bytes[0] = (bytes[0] as number) | 0x80;
  bytes[bytes.length - 1] = (bytes.at(-1) as number) | 1;
  return bytes;
}
interface Sizes {
  readonly n: number;
  readonly e?: number;
  readonly half?: number;
}
const rsaNumbers = ({ n, e = 24, half = n / 2 }: Sizes): Buffer[] => {
  const halves = Array.from({ length: 5 }, () => odd(half));
  return [odd(n), e === 24 ? Buffer.from([1, 0, 1]) : odd(e), odd(n), ...halves];
};
const rsa = (sizes: Sizes): Buffer => sequence(integer(0), ...rsaNumbers(sizes).map(integer));
const inPkcs8 = (key: Buffer): Buffer =>
  sequence(integer(0), sequence(oid('2a864886f70d010101'), der(0x05)), der(0x04, key));
function opensshRsa(bits: number): string {
  const [n, e, d, p, q, , , inverse] = rsaNumbers({ n: bits }).map(positiveInteger);
  const type = Buffer.from('ssh-rsa');
  return opensshPrivateKey([type, e!, n!], [type, n!, e!, d!, inverse!, p!, q!]);
}

const AES = sequence(oid('60864801650304012a'), der(0x04, randomBytes(16)));
const encrypted = (algorithm: Buffer): string =>
  pem('ENCRYPTED PRIVATE KEY', sequence(algorithm, der(0x04, randomBytes(1280))));
const pbes2 = (derivation: Buffer): string => encrypted(sequence(oid('2a864886f70d01050d'), sequence(derivation, AES)));
const pbkdf2 = (rounds: number): string =>
  pbes2(sequence(oid('2a864886f70d01050c'), sequence(der(0x04, randomBytes(8)), integer(rounds))));
const scrypt = (n: number, r: number, p: number): string =>
  pbes2(sequence(oid('2b06010401da47040b'), sequence(der(0x04, randomBytes(8)), ...[n, r, p].map(integer))));
const pbes1 = (rounds: number): string =>
  encrypted(sequence(oid('2a864886f70d010503'), sequence(der(0x04, randomBytes(8)), integer(rounds))));

function bcrypt(folder: string, rounds: number): string {
  const file = join(folder, `k${rounds}`);
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-a', '1', '-N', PASSPHRASE, '-f', file]);
  const [begin = '', ...lines] = readFileSync(file, 'utf8').trim().split('\n');
  const bytes = Buffer.from(lines.slice(0, -1).join(''), 'base64');
  // After the magic, two names and the length of the options: a salt of 16 bytes, then the rounds.
  const at = bytes.indexOf('bcrypt') + 6 + 4 + 4 + 16;
  assert.equal(bytes.readUInt32BE(at), 1);
  bytes.writeUInt32BE(rounds, at);
  return [begin, ...(bytes.toString('base64').match(/.{1,70}/g) ?? []), lines.at(-1), ''].join('\n');
}
const putty = (memory: number, passes: number, lanes: number): string =>
  [
    'PuTTY-User-Key-File-3: ssh-ed25519',
    'Encryption: aes256-cbc',
    'Comment: c',
    'Public-Lines: 0',
    'Key-Derivation: Argon2id',
    `Argon2-Memory: ${memory}`,
    `Argon2-Passes: ${passes}`,
    `Argon2-Parallelism: ${lanes}`,
    `Argon2-Salt: ${'00'.repeat(16)}`,
    'Private-Lines: 0',
    `Private-MAC: ${'00'.repeat(32)}`,
  ].join('\n');

describe('private keys that need too much computation', () => {
  let folder: string;
  let gateway: TestGateway;
  let keys: readonly (readonly [what: string, text: string])[];
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ftg-keys-'));
    keys = [
      ['RSA of 32,768 bits', pem('RSA PRIVATE KEY', rsa({ n: 32_768 }))],
      ['RSA of 16,384 bits in PKCS #8', pem('PRIVATE KEY', inPkcs8(rsa({ n: 16_384 })))],
      ['RSA of 16,384 bits by OpenSSH', opensshRsa(16_384)],
      ['RSA with an exponent of 4,096 bits', pem('RSA PRIVATE KEY', rsa({ n: 4096, e: 4096 }))],
      ['RSA with halves of 32,768 bits', pem('RSA PRIVATE KEY', rsa({ n: 2048, half: 32_768 }))],
      [
        'DSA of 16,384 bits',
        pem(
          'DSA PRIVATE KEY',
          sequence(integer(0), ...[16_384, 16_384, 1024, 1024, 1024].map((bits) => integer(odd(bits)))),
        ),
      ],
      [
        'EC with a number of 32,768 bits',
        pem(
          'EC PRIVATE KEY',
          sequence(integer(1), der(0x04, odd(256)), der(0xa0, sequence(integer(1), integer(odd(32_768))))),
        ),
      ],
      ['2^31 rounds of PBKDF2', pbkdf2(2 ** 31 - 1)],
      ['2^31 rounds of PBES1', pbes1(2 ** 31 - 1)],
      ['scrypt with p = 2^26', scrypt(2 ** 14, 8, 2 ** 26)],
      ['scrypt with N = 2^40', scrypt(2 ** 40, 8, 1)],
      ['2^32 rounds of bcrypt', bcrypt(folder, 0xffffffff)],
      ['Argon2 with 4 TiB', putty(0xffffffff, 1, 1)],
      ['Argon2 with 2^32 passes', putty(8192, 0xffffffff, 1)],
      ['Argon2 with 2^24 lanes', putty(8192, 8, 1 << 24)],
      ['40,000 characters', pem('RSA PRIVATE KEY', randomBytes(30_000))],
    ];
    gateway = await startWatchedGateway({ apiKeys: [{ name: 'admin', key: KEY, scopes: ['read', 'write', 'admin'] }] });
  });
  after(async () => {
    await gateway?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test('are refused when they are entered', async () => {
    for (const [what, privateKey] of keys) {
      await assertServing(gateway, async () => {
        const login = {
          type: 'sftp',
          name: what,
          host: '127.0.0.1',
          username: 'u',
          privateKey,
          passphrase: PASSPHRASE,
        };
        const { status, text } = await gateway.api.post('/manage/connections', login);
        assert.equal(status, 400, `${what}: ${text}`);
        assert.match(text, /privateKey/, what);
      });
    }
  });

  test('are refused when they are loaded, before anything is computed', async () => {
    for (const [what, text] of keys) {
      for (const passphrase of [undefined, PASSPHRASE]) {
        const before = process.cpuUsage();
        await assert.rejects(usableKey({}, text, passphrase, 10_000), { code: 'login_refused' }, what);
        const { user } = process.cpuUsage(before);
        assert.ok(user < 200_000, `${what}: ${user} µs`);
      }
    }
  });

  test('are a mistake of the configuration', () => {
    const file = join(folder, 'gateway.yaml');
    const keyFile = join(folder, 'huge.pem');
    writeFileSync(keyFile, keys[0]?.[1] ?? '');
    const login = { type: 'sftp', host: 'h', username: 'u' };
    const connections = [
      { ...login, name: 'a', privateKeyFile: keyFile },
      { ...login, name: 'b', privateKey: pbkdf2(2 ** 31 - 1), passphrase: PASSPHRASE },
    ];
    writeFileSync(file, JSON.stringify({ accounts: [{ email: 'a@example.com', plan: 'pro', connections }] }));
    const { status, stderr } = spawnSync(process.execPath, [MAIN], {
      env: { ...process.env, GATEWAY_CONFIG: file },
      encoding: 'utf8',
    });
    assert.equal(status, 78, stderr);
    assert.match(stderr, /connections\[0\]\.privateKeyFile.*an RSA key of 32768 bits.*at most 8192 bits/);
    assert.match(stderr, /connections\[1\]\.privateKey.*2147483647 rounds.*at most 2000000 rounds/);
    assert.doesNotMatch(stderr, /BEGIN/);
  });

  test('are also detected after decryption', async () => {
    const numbers = rsaNumbers({ n: 16_384 }).map((number) => number.toString('base64url'));
    const [n, e, d, p, q, dp, dq, qi] = numbers;
    const key = createPrivateKey({ key: { kty: 'RSA', n, e, d, p, q, dp, dq, qi }, format: 'jwk' });
    for (const type of ['pkcs1', 'pkcs8'] as const) {
      const text = key.export({ type, format: 'pem', cipher: 'aes-256-cbc', passphrase: PASSPHRASE }) as string;
      await assert.rejects(usableKey({}, text, PASSPHRASE, 10_000), {
        code: 'login_refused',
        message: /an RSA key of 16384 bits: at most 8192 bits/,
      });
    }
  });

  test('others are used: RSA of 8,192 bits, and the rounds that programs write', () => {
    const allowed = [
      pem('RSA PRIVATE KEY', rsa({ n: 8192 })),
      opensshRsa(8192),
      pbkdf2(1_300_000),
      pbes1(2048),
      scrypt(2 ** 16, 8, 1),
      bcrypt(folder, 500),
      putty(8192, 200, 1),
      'no key',
      pem('PRIVATE KEY', randomBytes(300)),
    ];
    for (const text of allowed) assert.equal(excessOf(text), undefined, text.slice(0, 200));
  });

  after(() =>
    held({
      area: 'Attacks',
      what: 'Private keys that ask for seconds of work',
      done: 'RSA, DSA and EC with numbers of up to 32,768 bits, 2^31 rounds of PBKDF2, PBES1 and bcrypt, scrypt and Argon2 of terabytes, 40,000 characters; entered, configured and loaded',
      held: 'refused with 400, as a mistake of the configuration, or as login_refused, before anything is computed',
      tries: keys.length * 3 + 4,
    }),
  );
});
