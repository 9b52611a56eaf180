import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import net, { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { GatewayError } from '../../../src/base/errors.js';
import { createSecretReader } from '../../../src/connections/secrets/read-secret.js';
import type { ReadSecret } from '../../../src/connections/secrets/referenced-secrets.js';
import { NO_STORES, type ScriptedVault, startVault } from './support/stores.js';

const REFERENCE = 'vault:kv/data/acme#password';

let vault: ScriptedVault;
const folder = mkdtempSync(path.join(tmpdir(), 'ftg-vault-'));
const tokenFile = path.join(folder, 'token');
const jwtFile = path.join(folder, 'jwt');

before(async () => {
  vault = await startVault();
});
after(async () => {
  await vault.stop();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  vault.seen.length = 0;
  vault.status = 0;
  vault.tokens.clear();
  vault.tokens.add('hvs.agent');
  writeFileSync(tokenFile, 'hvs.agent\n');
  vault.jwt = 'jwt-of-the-pod';
  writeFileSync(jwtFile, 'jwt-of-the-pod');
  vault.secrets.set('kv/data/acme', { password: 'hunter2', port: 22 });
});

function reader(changes: Partial<(typeof NO_STORES)['vault']> = {}): ReadSecret {
  return createSecretReader({ ...NO_STORES, vault: { ...NO_STORES.vault, address: `${vault.url}/`, ...changes } }, {});
}
const byToken = (): ReadSecret => reader({ tokenFile });
const byRole = (role = 'gateway'): ReadSecret => reader({ role, serviceAccountTokenFile: jwtFile });

async function problemOf(read: ReadSecret, reference = REFERENCE): Promise<string> {
  try {
    await read(reference);
  } catch (error) {
    assert.ok(error instanceof GatewayError);
    assert.equal(error.code, 'login_refused');
    assert.doesNotMatch(error.clientText, /hvs\.|hunter2|jwt-of/);
    return error.clientText;
  }
  throw new Error(`${reference} was read`);
}

test('a field of a secret is read with the token of the file', async () => {
  assert.equal(await byToken()(REFERENCE), 'hunter2');
  assert.deepEqual(vault.seen, ['GET /v1/kv/data/acme hvs.agent']);
});

test('a path with unusual letters, and a field with a separator', async () => {
  vault.secrets.set('kv/data/a b?c', { 'x#y': 'z' });
  assert.equal(await byToken()('vault:kv/data/a b?c#x#y'), 'z');
});

test('a role logs in with the token of the service account, once for many secrets', async () => {
  const read = byRole();
  await Promise.all(Array.from({ length: 5 }, () => read(REFERENCE)));
  assert.equal(await read(REFERENCE), 'hunter2');
  assert.equal(vault.seen.filter((line) => line.includes('login')).length, 1);
});

test('a token that Vault refuses is replaced once, by one login for all', async () => {
  const read = byRole();
  await read(REFERENCE);
  vault.tokens.clear();
  vault.seen.length = 0;
  const values = await Promise.all(Array.from({ length: 5 }, () => read(REFERENCE)));
  assert.deepEqual(new Set(values), new Set(['hunter2']));
  assert.equal(vault.seen.filter((line) => line.includes('login')).length, 1);
});

test('a token file that has changed is read again when the former token is refused', async () => {
  const read = byToken();
  await read(REFERENCE);
  vault.tokens.clear();
  vault.tokens.add('hvs.next');
  writeFileSync(tokenFile, 'hvs.next');
  assert.equal(await read(REFERENCE), 'hunter2');
});

test('what cannot be read is said in words that follow the reference', async () => {
  const read = byToken();
  assert.equal(await problemOf(read, 'vault:kv/data/other#password'), 'does not exist');
  assert.equal(await problemOf(read, 'vault:kv/data/acme#absent'), 'has no value named absent');
  assert.equal(await problemOf(read, 'vault:kv/data/acme#toString'), 'has no value named toString');
  assert.equal(await problemOf(read, 'vault:kv/data/acme#port'), 'has a value that is no text named port');
  vault.tokens.clear();
  assert.equal(await problemOf(read), 'may not be read with the token of the gateway');
  vault.status = 503;
  assert.equal(await problemOf(read), 'cannot be read: Vault is sealed, or in maintenance');
  rmSync(tokenFile);
  assert.equal(await problemOf(byToken()), `cannot be read: the token file ${tokenFile} of Vault cannot be read`);
  vault.status = 0;
  assert.equal(await problemOf(byRole('other')), 'cannot be read: Vault refused the login of the role other (400)');
});

test('a redirect is not followed: the token would go elsewhere', async () => {
  vault.status = 307;
  assert.equal(await problemOf(byToken()), 'cannot be read: Vault answered 307');
  assert.equal(vault.seen.length, 1);
});

test('after a failed login the next read logs in again', async () => {
  const read = byRole();
  vault.jwt = 'another';
  await problemOf(read);
  vault.jwt = 'jwt-of-the-pod';
  assert.equal(await read(REFERENCE), 'hunter2');
});

test('a Vault that is away, or answers without end, is named', async () => {
  assert.match(
    await problemOf(reader({ address: 'http://127.0.0.1:1', tokenFile })),
    /^cannot be read: 127\.0\.0\.1:1 cannot be reached/,
  );
  const endless = net.createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.write(`HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(2 << 20)}`));
  });
  endless.listen(0, '127.0.0.1');
  await once(endless, 'listening');
  const address = `http://127.0.0.1:${(endless.address() as AddressInfo).port}`;
  assert.match(await problemOf(reader({ address, tokenFile })), /answered with more than 1048576 bytes$/);
  endless.close();
});
