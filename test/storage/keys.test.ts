import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { generateApiKey, hashPassword, isPlausibleKey, verifyPassword } from '../../src/storage/secrets/hashes.js';
import { StartupError } from '../../src/storage/storage.js';
import { createMasterKeyFile, parseMasterKey, readMasterKeyFile } from '../../src/storage/secrets/master-key.js';
import { Keyring, SecretError } from '../../src/storage/secrets/secrets.js';
import { anyCharacter } from '../support/any-character.js';

const PLACE = { table: 'connection_secrets', rowId: 'warehouse', name: 'password' };
const freshKey = () => parseMasterKey(randomBytes(32).toString('hex'));

describe('API keys', () => {
  it('a generated key is plausible and carries 190 random bits', () => {
    const keys = new Set(Array.from({ length: 200 }, generateApiKey));
    assert.equal(keys.size, 200);
    for (const key of keys) {
      assert.match(key, /^ftg_k1_[0-9A-Za-z]{38}$/);
      assert.ok(isPlausibleKey(key));
    }
  });

  it('one wrong or exchanged character in a generated key is detected', () => {
    const key = generateApiKey();
    for (let i = 'ftg_k1_'.length; i < key.length; i++) {
      const other = key.charAt(i) === 'x' ? 'y' : 'x';
      assert.ok(!isPlausibleKey(key.slice(0, i) + other + key.slice(i + 1)), `at ${i}`);
      const swapped = key.slice(0, i - 1) + key.charAt(i) + key.charAt(i - 1) + key.slice(i + 1);
      if (i > 'ftg_k1_'.length && swapped !== key) assert.ok(!isPlausibleKey(swapped), `swap at ${i}`);
    }
  });

  it('a key of the operator may be any printable text of 24 to 200 characters', () => {
    for (const key of ['ftg_' + 'x'.repeat(20), 'ftg_' + '!'.repeat(196), 'ftg_k1_' + 'A'.repeat(39)]) {
      assert.ok(isPlausibleKey(key), key);
    }
    for (const key of [
      '',
      'ftg_',
      'ftg_' + 'x'.repeat(19),
      'ftg_' + 'x'.repeat(197),
      'abc_' + 'x'.repeat(30),
      'ftg_' + ' '.repeat(30),
    ]) {
      assert.ok(!isPlausibleKey(key), key);
    }
  });
});

describe('passwords', () => {
  it('verify against their own hash alone, and two hashes of one password differ', async () => {
    const [first, second] = await Promise.all([hashPassword('korrekt pferd'), hashPassword('korrekt pferd')]);
    assert.notEqual(first, second);
    assert.ok(await verifyPassword('korrekt pferd', first));
    assert.ok(!(await verifyPassword('korrekt pferD', first)));
    assert.ok(!(await verifyPassword('korrekt pferd', 'md5$whatever')));
  });
});

describe('secrets', () => {
  it('any sealed text opens again, at its own place alone', () => {
    const ring = new Keyring(freshKey());
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        const sealed = ring.seal(text.toWellFormed(), PLACE);
        assert.equal(ring.open(sealed, PLACE), text.toWellFormed());
        for (const other of [
          { ...PLACE, rowId: 'other' },
          { ...PLACE, name: 'passphrase' },
          { ...PLACE, table: 't' },
        ]) {
          assert.throws(() => ring.open(sealed, other), SecretError);
        }
      }),
      { numRuns: 50 },
    );
  });

  it('the same text is never sealed the same way twice', () => {
    const ring = new Keyring(freshKey());
    const [a, b] = [ring.seal('x', PLACE), ring.seal('x', PLACE)];
    assert.notDeepEqual(a.ciphertext, b.ciphertext);
    assert.notDeepEqual(a.wrappedKey, b.wrappedKey);
  });

  it('a changed byte anywhere is refused', () => {
    const ring = new Keyring(freshKey());
    const sealed = ring.seal('geheim', PLACE);
    for (const field of ['wrappedKey', 'nonce', 'ciphertext'] as const) {
      for (let i = 0; i < sealed[field].length; i++) {
        const bytes = Buffer.from(sealed[field]);
        bytes.writeUInt8(bytes.readUInt8(i) ^ 1, i);
        assert.throws(() => ring.open({ ...sealed, [field]: bytes }, PLACE), SecretError, `${field} ${i}`);
      }
    }
  });

  it('a new master key rewraps without touching the ciphertext', () => {
    const [former, next] = [freshKey(), freshKey()];
    const sealed = new Keyring(former).seal('geheim', PLACE);
    const rewrapped = new Keyring(next, [former]).rewrap(sealed, PLACE);
    assert.deepEqual(rewrapped.ciphertext, sealed.ciphertext);
    assert.equal(new Keyring(next).open(rewrapped, PLACE), 'geheim');
    assert.throws(() => new Keyring(former).open(rewrapped, PLACE), SecretError);
  });
});

describe('the master key', () => {
  it('is hex or base64 of 32 bytes; an error names the setting of any other text', () => {
    const bytes = randomBytes(32);
    for (const text of [
      bytes.toString('hex'),
      bytes.toString('base64'),
      bytes.toString('base64url'),
      ` ${bytes.toString('hex')}\n`,
    ]) {
      assert.deepEqual(parseMasterKey(text).bytes, bytes);
    }
    for (const text of ['x', 'ab'.repeat(31), randomBytes(31).toString('base64'), randomBytes(33).toString('base64')]) {
      assert.throws(
        () => parseMasterKey(text),
        (error: unknown) => {
          assert.ok(error instanceof StartupError);
          assert.match(error.message, /^GATEWAY_MASTER_KEY: .*32 bytes/);
          assert.ok(text.length < 10 || !error.message.includes(text), 'the message must not hold the key');
          return true;
        },
      );
    }
  });

  it('if many make a key file, one wins, and all read its key', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'gateway-key-'));
    const file = path.join(folder, 'data', 'master.key');
    const keys = await Promise.all(Array.from({ length: 20 }, () => createMasterKeyFile(file)));
    assert.equal(new Set(keys.map((key) => key.id)).size, 1);
    assert.equal((await readMasterKeyFile(file))?.id, keys[0]?.id);
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.match(await readFile(file, 'utf8'), /^[0-9a-f]{64}\n$/);
    await rm(folder, { recursive: true });
  });
});
