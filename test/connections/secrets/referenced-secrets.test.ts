import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { GatewayError } from '../../../src/base/errors.js';
import type { Connection } from '../../../src/connections/connection.js';
import { ReferencedSecrets } from '../../../src/connections/secrets/referenced-secrets.js';
import { haveReferences } from '../../../src/remotes/renewed-login.js';
import { sftpConnection } from '../../remotes/support/harness.js';
import { eventually } from '../../support/eventually.js';

const PASSWORD = 'file:/run/secrets/acme';
const KEY = 'file:/run/secrets/acme-key';

/** A store of secrets that the test changes. */
class Store {
  readonly values = new Map<string, string>();
  readonly logged: object[] = [];
  reads = 0;
  /** Called before each answer. */
  hold: () => Promise<void> = () => Promise.resolve();

  open(t: TestContext, options: { configured?: readonly string[]; betweenReadsMs?: number } = {}): ReferencedSecrets {
    const secrets = new ReferencedSecrets({
      read: async (reference) => {
        this.reads++;
        const value = this.values.get(reference);
        await this.hold();
        if (value !== undefined) return value;
        throw new GatewayError('login_refused', 'does not exist', { step: 'login' });
      },
      refreshMinutes: 15,
      betweenReadsMs: 0,
      configured: [],
      log: (level, message, facts) => this.logged.push({ level, message, ...facts }),
      ...options,
    });
    t.after(() => secrets.stop());
    return secrets;
  }
}

const connection: Connection = sftpConnection({ port: 22, username: 'gw' }, { references: { password: PASSWORD } });

function passwordOf(one: Connection): string | undefined {
  assert.ok(one.type === 'sftp');
  return one.password;
}

test('a secret is read once, for all connections that name it, and the same connection stays one object', async (t) => {
  const store = new Store();
  store.values.set(PASSWORD, 'one');
  const secrets = store.open(t);
  assert.equal(secrets.known(connection), connection);
  const present = await secrets.present(connection);
  assert.equal(passwordOf(present), 'one');
  assert.equal(await secrets.present(connection), present);
  assert.equal(await secrets.present(present), present);
  assert.equal(secrets.known(connection), present);
  assert.equal(passwordOf(await secrets.present({ ...connection, id: 'c2' })), 'one');
  assert.equal(store.reads, 1);
});

test('a connection without references is itself', async (t) => {
  const secrets = new Store().open(t);
  const plain: Connection = sftpConnection({ port: 22, username: 'gw' }, { password: 'pw' });
  assert.equal(await secrets.present(plain), plain);
  assert.equal(await secrets.renewed(plain), plain);
});

test('a missing secret is named by its reference, and found once it is there', async (t) => {
  const store = new Store();
  const secrets = store.open(t);
  await assert.rejects(secrets.present(connection), {
    code: 'login_refused',
    step: 'login',
    message: `password is read from ${PASSWORD}, which does not exist`,
  });
  store.values.set(PASSWORD, '');
  await assert.rejects(secrets.present(connection), { message: /which is empty$/ });
  store.values.set(PASSWORD, 'there');
  assert.equal(passwordOf(await secrets.present(connection)), 'there');
});

test('after a refused login the secret is read again; newer ones that are known already need no read', async (t) => {
  const store = new Store();
  store.values.set(PASSWORD, 'one');
  const secrets = store.open(t);
  const first = await secrets.present(connection);
  assert.equal(await secrets.renewed(first), first, 'unchanged');
  store.values.set(PASSWORD, 'two');
  const second = await secrets.renewed(first);
  assert.equal(passwordOf(second), 'two');
  const { reads } = store;
  assert.equal(await secrets.renewed(first), second);
  assert.equal(store.reads, reads);
});

test('a read under way may have missed the change: a refused login waits for the next one, and shares it', async (t) => {
  const store = new Store();
  store.values.set(PASSWORD, 'one');
  const secrets = store.open(t);
  const first = await secrets.present(connection);
  let go = (): void => undefined;
  const held = new Promise<void>((done) => (go = done));
  store.hold = () => held;
  const before = store.reads;
  const early = secrets.renewed(first);
  await eventually(() => store.reads === before + 1, 'the read is under way');
  store.values.set(PASSWORD, 'two');
  const late = Array.from({ length: 20 }, () => secrets.renewed(first));
  go();
  await early;
  for (const one of await Promise.all(late)) assert.equal(passwordOf(one), 'two');
  assert.equal(store.reads, before + 2);
});

test('a secret that disappears is used as it was last, and the error of a refused login names its reference', async (t) => {
  const store = new Store();
  store.values.set(PASSWORD, 'last-good-value');
  store.values.set(KEY, 'a key');
  const secrets = store.open(t);
  const both = { ...connection, references: { password: PASSWORD, privateKey: KEY } };
  const first = await secrets.present(both);
  store.values.delete(PASSWORD);
  const renewed = await secrets.renewed(first);
  assert.equal(renewed, first);
  const refused = new GatewayError('login_refused', 'refused', { step: 'login', remote: { text: 'no' } });
  const error = secrets.explained(refused, [renewed]);
  assert.equal(
    error.message,
    `refused; password is read from ${PASSWORD}, which does not exist; privateKey is read from ${KEY}`,
  );
  assert.deepEqual([error.code, error.step, error.remote?.text], ['login_refused', 'login', 'no']);
  assert.doesNotMatch(JSON.stringify([store.logged, error.clientText]), /last-good-value|a key/);
});

test('the references of the configuration are read at the start, and each mistake is in the log once', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const store = new Store();
  store.values.set(KEY, 'a key');
  const secrets = store.open(t, { configured: [PASSWORD, KEY] });
  secrets.start();
  const missing = {
    level: 'warn',
    message: 'a secret of a connection cannot be read',
    reference: PASSWORD,
    problem: 'does not exist',
  };
  await eventually(() => store.logged.length > 0, 'the mistake is in the log');
  assert.deepEqual(store.logged, [missing]);
  assert.equal(store.reads, 2);
});

test('all secrets that were used are read again every refreshMinutes', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const store = new Store();
  store.values.set(PASSWORD, 'one');
  const secrets = store.open(t);
  secrets.start();
  assert.equal(passwordOf(await secrets.present(connection)), 'one');
  store.values.set(PASSWORD, 'two');
  t.mock.timers.tick(15 * 60_000 - 1);
  assert.equal(store.reads, 1);
  t.mock.timers.tick(1);
  await eventually(() => store.logged.length > 0, 'it was read again');
  assert.equal(passwordOf(secrets.known(connection)), 'two');
  assert.deepEqual(store.logged, [
    { level: 'info', message: 'a secret of a connection was read again', reference: PASSWORD },
  ]);
});

test('a second read begins a second after the first one, at any rate of requests', async (t) => {
  const store = new Store();
  store.values.set(PASSWORD, 'one');
  const secrets = store.open(t, { betweenReadsMs: 1_000 });
  const begun = performance.now();
  const first = await secrets.present(connection);
  await Promise.all(Array.from({ length: 50 }, () => secrets.renewed(first)));
  assert.equal(store.reads, 2);
  assert.ok(performance.now() - begun >= 990);
});

test('the secrets of a jump host are read and renewed with those of the connections behind it', async (t) => {
  const store = new Store();
  const secrets = store.open(t);
  const jump = sftpConnection({ port: 22, username: 'j' }, { id: 'bastion', references: { password: PASSWORD } });
  const behind: Connection = sftpConnection({ port: 22, username: 'gw' }, { via: 'bastion', jump, password: 'own' });
  await assert.rejects(secrets.present(behind), {
    message: `bastion.password is read from ${PASSWORD}, which does not exist`,
  });
  store.values.set(PASSWORD, 'one');
  const present = await secrets.present(behind);
  assert.deepEqual([present.jump?.password, passwordOf(present)], ['one', 'own']);
  assert.equal(await secrets.present(behind), present);
  assert.equal(secrets.known(behind), present);
  store.values.set(PASSWORD, 'two');
  const renewed = await secrets.renewed(present);
  assert.deepEqual([renewed.jump?.password, passwordOf(renewed)], ['two', 'own']);
  assert.ok(haveReferences([behind]));
});
