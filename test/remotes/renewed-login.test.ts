/** Secrets that are read from files and change while they are used: on real servers. */
import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { GatewayError } from '../../src/base/errors.js';
import type { Connection } from '../../src/connections/connection.js';
import { createSecretReader } from '../../src/connections/secrets/read-secret.js';
import { ReferencedSecrets } from '../../src/connections/secrets/referenced-secrets.js';
import type { PoolLimits } from '../../src/contract/connection/fields.js';
import { ROOT } from '../../src/remotes/path.js';
import { createRemotes, type Remotes, type UseOptions } from '../../src/remotes/registry.js';
import { NO_STORES, startVault } from '../connections/secrets/support/stores.js';
import { rotatedKey, type RotatedLogin, rotatedPassword } from '../connections/secrets/support/rotated.js';
import { eventually } from '../support/eventually.js';
import { LIMITS, sftpConnection, testDeps, TestLeftovers } from './support/harness.js';

const use: UseOptions = { signal: new AbortController().signal, leftovers: () => new TestLeftovers() };

interface Rig {
  readonly secrets: ReferencedSecrets;
  readonly remotes: Remotes;
  /** What is heard of the reach of servers. */
  readonly heard: string[];
}

/** Sessions close as soon as they are idle: each operation logs in. */
function rig(t: TestContext, limits: Partial<PoolLimits> = {}, stores = NO_STORES): Rig {
  const secrets = new ReferencedSecrets({
    read: createSecretReader(stores, {}),
    refreshMinutes: 15,
    configured: [],
    log: () => undefined,
  });
  const heard: string[] = [];
  const remotes = createRemotes({
    ...testDeps(),
    limits: { default: { ...LIMITS, idleTimeoutMs: 1, ...limits }, hosts: {} },
    secrets,
    reach: { reached: () => heard.push('reached'), failed: (_, { code }) => heard.push(code) },
  });
  t.after(() => remotes.close());
  return { secrets, remotes, heard };
}

async function started(
  t: TestContext,
  start: () => Promise<RotatedLogin>,
): Promise<{ login: RotatedLogin; connection: Connection }> {
  const login = await start();
  t.after(() => login.stop());
  return { login, connection: sftpConnection(login, { references: { [login.name]: `file:${login.file}` } }) };
}

const idle = ({ remotes }: Rig): Promise<void> =>
  eventually(() => remotes.gauges().every(({ open }) => open === 0), 'the sessions are closed');
const look = ({ remotes }: Rig, connection: Connection): Promise<unknown> =>
  remotes.use(connection, use, (remote) => remote.stat(ROOT));

for (const [name, start] of [
  ['key', rotatedKey],
  ['password', rotatedPassword],
] as const) {
  test(`OpenSSH: a ${name} that has changed is read again, and no client sees a refused login`, async (t) => {
    const { login, connection } = await started(t, start);
    const one = rig(t);
    await look(one, connection);
    await idle(one);
    login.rotate();
    await look(one, connection);
    assert.deepEqual(one.heard, ['reached', 'reached']);
  });

  test(`OpenSSH: a ${name} that did not change is not tried again; the error names the reference`, async (t) => {
    const { login, connection } = await started(t, start);
    const one = rig(t);
    await look(one, connection);
    await idle(one);
    login.change();
    const words = `${login.name} is read from file:${login.file}`;
    await assert.rejects(look(one, connection), (error: GatewayError) => {
      assert.equal(error.code, 'login_refused');
      assert.ok(error.clientText.includes(words), error.clientText);
      return true;
    });
    rmSync(login.file);
    await assert.rejects(look(one, connection), (error: GatewayError) => {
      assert.ok(error.clientText.includes(`${words}, which does not exist`), error.clientText);
      return true;
    });
    assert.deepEqual(one.heard, ['reached', 'login_refused', 'login_refused']);
  });
}

test('OpenSSH: a password in Vault that has changed is read again', async (t) => {
  const login = await rotatedPassword();
  t.after(() => login.stop());
  const vault = await startVault();
  t.after(() => vault.stop());
  const put = (): unknown => vault.secrets.set('kv/data/acme', { password: readFileSync(login.file, 'utf8').trim() });
  put();
  vault.jwt = readFileSync(login.file, 'utf8').trim();
  const settings = {
    ...NO_STORES.vault,
    address: vault.url,
    role: 'gateway',
    serviceAccountTokenFile: `${login.file}.jwt`,
  };
  writeFileSync(settings.serviceAccountTokenFile, vault.jwt);
  const one = rig(t, {}, { ...NO_STORES, vault: settings });
  const connection = sftpConnection(login, { references: { password: 'vault:kv/data/acme#password' } });
  await look(one, connection);
  await idle(one);
  login.rotate();
  put();
  vault.tokens.clear();
  await look(one, connection);
  assert.deepEqual(one.heard, ['reached', 'reached']);
});

test('a secret that disappears does not matter as long as the last one opens the login', async (t) => {
  const { login, connection } = await started(t, rotatedKey);
  const one = rig(t);
  await look(one, connection);
  await idle(one);
  rmSync(login.file);
  await look(one, connection);
  assert.deepEqual(one.heard, ['reached', 'reached']);
});

test('a secret that was never there: no server is asked, and the error names the reference', async (t) => {
  const { login, connection } = await started(t, rotatedKey);
  rmSync(login.file);
  const one = rig(t);
  await assert.rejects(look(one, connection), {
    code: 'login_refused',
    message: `privateKey is read from file:${login.file}, which does not exist`,
  });
  assert.deepEqual(one.remotes.gauges(), []);
});

test('work that must not run twice is not repeated; the next one has the new secret', async (t) => {
  const { login, connection } = await started(t, rotatedKey);
  const one = rig(t);
  await look(one, connection);
  let runs = 0;
  const refused = one.remotes.use(connection, use, (_, attempt) => {
    runs++;
    attempt.committed();
    login.rotate();
    return Promise.reject(new GatewayError('login_refused', 'refused', { step: 'login' }));
  });
  await assert.rejects(refused, { code: 'login_refused' });
  assert.equal(runs, 1);
  assert.notEqual(one.secrets.known(connection), connection);
  await idle(one);
  await look(one, connection);
});

test('work between two servers renews the secret of the one whose login was refused', async (t) => {
  const [from, to] = [await started(t, rotatedKey), await started(t, rotatedPassword)];
  const one = rig(t);
  const run = (): Promise<unknown> =>
    one.remotes.useBoth(from.connection, to.connection, use, (source, target) =>
      Promise.all([source.stat(ROOT), target.stat(ROOT)]),
    );
  await run();
  for (const { login } of [to, from]) {
    await idle(one);
    login.rotate();
    await run();
  }
});

test('a login that is refused beside open sessions has the secret read again, too', async (t) => {
  const { login, connection } = await started(t, rotatedKey);
  const one = rig(t, { maxSessions: 2, maxChannelsPerSession: 1 });
  let end = (): void => undefined;
  const ended = new Promise<void>((done) => (end = done));
  let isRunning = false;
  const long = one.remotes.use(connection, use, async () => {
    isRunning = true;
    await ended;
  });
  await eventually(() => isRunning, 'it runs');
  const before = one.secrets.known(connection);
  login.rotate();
  const waiting = look(one, connection);
  await eventually(() => one.secrets.known(connection) !== before, 'the new key is known');
  end();
  await Promise.all([long, waiting]);
});
