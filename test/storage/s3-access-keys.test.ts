/**
 * S3 access keys in the database: each has the rights of its API key on every node, ends with it, and moves with it.
 * Those of the configuration are exactly what it says.
 */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { AccountConfig, ApiKeyConfig } from '../../src/config/schema.js';
import { type ApiKey, apiKeyFields, type KeyRights } from '../../src/contract/api-key.js';
import { withDefaults } from '../../src/contract/thing.js';
import { hasCode } from '../../src/base/errors.js';
import { StartupError, type Storage } from '../../src/storage/storage.js';
import { DATABASES, openTest, type TestServer, withSql } from './databases.js';
import { eventually } from '../support/eventually.js';
import { ACCOUNT, accountOf, S3_PAIR } from './provisioned.js';

const RIGHTS = withDefaults(apiKeyFields, {
  name: 'made',
  scopes: ['read', 'write'],
  connections: ['warehouse'],
  allowedIps: ['192.0.2.0/24'],
});
const OTHER_PAIR = { accessKeyId: 'FTGAOPERATOR0002', secretAccessKey: 'another-secret-of-s3' };

/** The account, its key with other settings. */
function accountWith(changes: Partial<ApiKeyConfig>, ...more: ApiKeyConfig[]): AccountConfig {
  const [key] = ACCOUNT.apiKeys;
  assert.ok(key !== undefined);
  return { ...ACCOUNT, apiKeys: [{ ...key, ...changes }, ...more] };
}

for (const kind of DATABASES) {
  describe(`S3 access keys on ${kind.name}`, () => {
    let server: TestServer;
    let url: string;
    let one: Storage;
    let two: Storage;
    let actor: Parameters<Storage['keys']['create']>[0];
    before(async () => {
      server = await kind.start();
      url = await server.createDatabase();
      [one, two] = await Promise.all([openTest(url), openTest(url)]);
    });
    after(async () => {
      await Promise.all([one.close(), two.close()]);
      await server.stop();
    });
    beforeEach(async () => {
      await withSql(url, (sql) => sql`delete from accounts`);
      await one.provision([ACCOUNT]);
      const { accountId } = await accountOf(one);
      actor = { accountId, kind: 'session', id: null, email: '', address: '127.0.0.1', requestId: 'r' };
    });

    const keyAt = async (id: string): Promise<ApiKey> => {
      const key = await one.keys.find(actor.accountId, id);
      assert.ok(key !== undefined);
      return key;
    };
    const makeKey = async (changes: Partial<KeyRights> = {}): Promise<ApiKey> =>
      keyAt((await one.keys.create(actor, { ...RIGHTS, ...changes })).id);
    const rows = (table: string) =>
      withSql(url, async (sql) => Number((await sql`select count(*) as count from ${sql(table)}`)[0]?.['count']));

    it('has the rights of its API key, on every node, and no row holds its secret', async () => {
      const key = await makeKey();
      const pair = await one.s3AccessKeys.create(actor, key);
      assert.match(pair.accessKeyId, /^FTGA[A-Z2-7]{16}$/);
      assert.match(pair.secretAccessKey, /^[0-9A-Za-z]{40}$/);
      assert.equal(two.s3AccessKeys.recall(pair.accessKeyId), undefined, 'not looked up yet');
      for (const storage of [one, two]) {
        const found = await storage.s3AccessKeys.find(pair.accessKeyId);
        const { name: _, ...rights } = RIGHTS;
        const owner = { accountId: actor.accountId, email: 'ops@example.com', plan: 'pro', keyId: key.id };
        assert.deepEqual(found, { record: { ...owner, ...rights }, secretAccessKey: pair.secretAccessKey });
        assert.equal(storage.s3AccessKeys.recall(pair.accessKeyId), found, 'opened once, without a query');
      }
      const stored = await withSql(
        url,
        (sql) => sql`
        select x::text, s::text as secret from s3_access_keys x join s3_access_key_secrets s using (access_key_id)`,
      );
      assert.ok(JSON.stringify(stored).includes(pair.accessKeyId));
      assert.ok(!JSON.stringify(stored).includes(pair.secretAccessKey));
    });

    it('is shown with its API key by id and time, and in the audit log, without its secret', async () => {
      const { id } = await makeKey();
      const pair = await one.s3AccessKeys.create(actor, await keyAt(id));
      const { s3 } = await keyAt(id);
      assert.deepEqual(
        s3.map(({ accessKeyId }) => accessKeyId),
        [pair.accessKeyId],
      );
      assert.match(String(s3[0]?.createdAt), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      assert.equal(await one.s3AccessKeys.remove(actor, await keyAt(id), pair.accessKeyId), true);
      const log = await withSql(
        url,
        (sql) => sql<{ action: string; details: unknown }[]>`
          select action, details from audit_log where target_id = ${id} and action like 'api_key.s3%' order by id`,
      );
      assert.deepEqual(
        [...log],
        ['s3_create', 's3_delete'].map((verb) => ({
          action: `api_key.${verb}`,
          details: { accessKeyId: pair.accessKeyId },
        })),
      );
    });

    it('a use is the last use of its API key', async () => {
      const key = await makeKey();
      const { accessKeyId } = await one.s3AccessKeys.create(actor, key);
      assert.equal(key.lastUsedAt, null);
      await one.s3AccessKeys.find(accessKeyId);
      await eventually(async () => (await keyAt(key.id)).lastUsedAt !== null, 'the last use is stored');
    });

    it('what is no access key is unknown, and an impossible one costs no query', async () => {
      for (const id of ['FTGA2222222222222222', S3_PAIR.accessKeyId.toLowerCase()]) {
        assert.equal(await one.s3AccessKeys.find(id), undefined, id);
      }
      const closed = await openTest(url);
      await closed.close();
      for (const id of [
        '',
        'short',
        'x'.repeat(129),
        "FTGA'; drop table --",
        'FTGA222222222222\u0000222',
        'ＦＴＧＡ222222222222',
      ]) {
        assert.equal(await closed.s3AccessKeys.find(id), undefined, id);
      }
    });

    it('five of one API key, also if many are made at once', async () => {
      const [key, other] = [await makeKey(), await makeKey({ name: 'other' })];
      const made = await Promise.allSettled(
        Array.from({ length: 12 }, (_, i) => (i % 2 === 0 ? one : two).s3AccessKeys.create(actor, key)),
      );
      const refused = made.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
      assert.equal(made.length - refused.length, 5);
      assert.ok(refused.every((error) => hasCode(error, 'share_exceeded')));
      await one.s3AccessKeys.create(actor, other);
      const [first] = (await keyAt(key.id)).s3;
      assert.equal(await one.s3AccessKeys.remove(actor, key, first?.accessKeyId ?? ''), true);
      await one.s3AccessKeys.create(actor, key);
    });

    it('a removed one is gone here at once, soon on the other node, and only its own API key removes it', async () => {
      const [key, other] = [await makeKey(), await makeKey({ name: 'other' })];
      const { accessKeyId } = await one.s3AccessKeys.create(actor, key);
      assert.ok((await one.s3AccessKeys.find(accessKeyId)) !== undefined);
      assert.ok((await two.s3AccessKeys.find(accessKeyId)) !== undefined);
      assert.equal(await one.s3AccessKeys.remove(actor, other, accessKeyId), false);
      const foreign = { ...actor, accountId: '0199c2f4-6f5e-7c1a-9a51-0d2f64b1a001' };
      assert.equal(await one.s3AccessKeys.remove(foreign, key, accessKeyId), false);
      assert.ok((await one.s3AccessKeys.find(accessKeyId)) !== undefined);
      assert.equal(await one.s3AccessKeys.remove(actor, key, accessKeyId), true);
      assert.equal(one.s3AccessKeys.recall(accessKeyId), undefined);
      assert.equal(await one.s3AccessKeys.find(accessKeyId), undefined);
      await eventually(async () => (await two.s3AccessKeys.find(accessKeyId)) === undefined, 'gone on the other node');
      assert.equal(await one.s3AccessKeys.remove(actor, key, accessKeyId), false);
    });

    it('a change of its API key counts at once', async () => {
      const key = await makeKey();
      const { accessKeyId } = await one.s3AccessKeys.create(actor, key);
      await one.s3AccessKeys.find(accessKeyId);
      await one.keys.update(actor, key.id, { ...RIGHTS, scopes: ['read'] }, ['scopes']);
      assert.deepEqual((await one.s3AccessKeys.find(accessKeyId))?.record.scopes, ['read']);
      await one.keys.update(actor, key.id, { ...RIGHTS, expiresAt: new Date(Date.now() - 1) }, ['expiresAt']);
      assert.equal(await one.s3AccessKeys.find(accessKeyId), undefined, 'expired');
      await one.keys.update(actor, key.id, RIGHTS, ['expiresAt']);
      assert.ok((await one.s3AccessKeys.find(accessKeyId)) !== undefined, 'an expired API key can be prolonged');
    });

    it('ends with its API key, and its secret is deleted', async () => {
      const [key, other] = [await makeKey(), await makeKey({ name: 'other', connections: [] })];
      const { accessKeyId } = await one.s3AccessKeys.create(actor, key);
      const left = await one.s3AccessKeys.create(actor, other);
      await two.s3AccessKeys.find(accessKeyId);
      await one.keys.revoke(actor, key);
      assert.equal(await one.s3AccessKeys.find(accessKeyId), undefined);
      await eventually(async () => (await two.s3AccessKeys.find(accessKeyId)) === undefined, 'gone on the other node');
      assert.ok((await one.s3AccessKeys.find(left.accessKeyId)) !== undefined);
      assert.deepEqual((await keyAt(key.id)).s3, []);
      assert.equal(await rows('s3_access_key_secrets'), 2, 'that of the other key, and that of the configured one');
      await assert.rejects(one.s3AccessKeys.create(actor, key), (error) => hasCode(error, 'not_running'));
    });

    it('ends with the only connection of its API key', async () => {
      const key = await makeKey();
      const { accessKeyId } = await one.s3AccessKeys.create(actor, key);
      await one.s3AccessKeys.find(accessKeyId);
      const connection = await one.management.connections.find(actor.accountId, 'warehouse');
      assert.ok(connection !== undefined);
      await one.management.connections.remove(actor, connection);
      assert.equal(await one.s3AccessKeys.find(accessKeyId), undefined);
      assert.equal(await rows('s3_access_key_secrets'), 1);
    });

    it('moves to the new API key when its own is replaced, and works through the overlap and after it', async () => {
      const former = await makeKey();
      const pair = await one.s3AccessKeys.create(actor, former);
      const next = await one.keys.rotate(actor, former, new Date(Date.now() - 1));
      const found = await one.s3AccessKeys.find(pair.accessKeyId);
      assert.deepEqual([found?.record.keyId, found?.secretAccessKey], [next.id, pair.secretAccessKey]);
      assert.deepEqual((await keyAt(former.id)).s3, []);
      assert.deepEqual(
        (await keyAt(next.id)).s3.map(({ accessKeyId }) => accessKeyId),
        [pair.accessKeyId],
      );
    });

    it('a configured one has exactly the id and secret of the configuration, from the next start on', async () => {
      const secretOf = async (id: string) => (await one.s3AccessKeys.find(id))?.secretAccessKey;
      const { keyId } = await accountOf(one);
      assert.equal((await one.s3AccessKeys.find(S3_PAIR.accessKeyId))?.record.keyId, keyId);
      await one.provision([accountWith({ s3: { ...S3_PAIR, secretAccessKey: 'a-changed-secret-of-s3' } })]);
      assert.equal(await secretOf(S3_PAIR.accessKeyId), 'a-changed-secret-of-s3');
      await one.provision([accountWith({ s3: OTHER_PAIR })]);
      assert.deepEqual(
        [await secretOf(S3_PAIR.accessKeyId), await secretOf(OTHER_PAIR.accessKeyId)],
        [undefined, OTHER_PAIR.secretAccessKey],
      );
      const { s3: _, ...without } = ACCOUNT.apiKeys[0] ?? assert.fail();
      await one.provision([{ ...ACCOUNT, apiKeys: [without] }]);
      assert.equal(await secretOf(OTHER_PAIR.accessKeyId), undefined);
      assert.equal(await rows('s3_access_key_secrets'), 0);
    });

    it('a configured one moves with its API key in the file, and comes back after it was revoked', async () => {
      const { s3: _, ...without } = ACCOUNT.apiKeys[0] ?? assert.fail();
      const second: ApiKeyConfig = { ...without, name: 'second', key: 'ftg_a-second-key-of-the-operator', s3: S3_PAIR };
      await one.provision([{ ...ACCOUNT, apiKeys: [second, without] }]);
      const { keyId } = await accountOf(one, second.key);
      assert.equal((await one.s3AccessKeys.find(S3_PAIR.accessKeyId))?.record.keyId, keyId);
      await one.keys.revoke(actor, await keyAt(keyId));
      assert.equal(await one.s3AccessKeys.find(S3_PAIR.accessKeyId), undefined);
      await one.provision([{ ...ACCOUNT, apiKeys: [second, without] }]);
      const again = await one.s3AccessKeys.find(S3_PAIR.accessKeyId);
      assert.equal(again?.record.keyId, (await accountOf(one, second.key)).keyId);
      assert.notEqual(again?.record.keyId, keyId);
    });

    it('an id of another account is refused, without a change', async () => {
      const other: AccountConfig = {
        email: 'b@example.com',
        plan: 'pro',
        connections: [],
        apiKeys: [
          {
            name: 'b',
            key: 'ftg_a-key-of-account-b-000',
            scopes: ['read'],
            connections: [],
            allowedIps: [],
            s3: { ...S3_PAIR, secretAccessKey: 'never-in-an-error' },
          },
        ],
      };
      await assert.rejects(one.provision([other]), (error) => {
        assert.ok(error instanceof StartupError);
        assert.match(
          error.message,
          /API key "b" of b@example\.com: its s3\.accessKeyId FTGAOPERATOR0001 is already in use/,
        );
        assert.ok(!error.message.includes('never-in-an-error'));
        return true;
      });
      assert.equal((await one.s3AccessKeys.find(S3_PAIR.accessKeyId))?.secretAccessKey, S3_PAIR.secretAccessKey);
    });
  });
}
