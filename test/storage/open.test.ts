import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { changeMasterKey } from '../../src/storage/open.js';
import { StartupError } from '../../src/storage/storage.js';
import { DATABASES, makeTempFolder, openTest, startChild, testOptions, type TestServer, withSql } from './databases.js';
import { accountOf, ACCOUNT } from './provisioned.js';

function refused(pattern: RegExp) {
  return (error: unknown): boolean => {
    assert.ok(error instanceof StartupError, String(error));
    assert.match(error.message, pattern);
    assert.ok(!error.message.includes('\n'), 'one line');
    return true;
  };
}

for (const kind of DATABASES) {
  describe(`opening on ${kind.name}`, () => {
    let server: TestServer;
    before(async () => (server = await kind.start()));
    after(() => server.stop());

    it('processes that start at once on an empty database all open it', async () => {
      const url = await server.createDatabase();
      const children = Array.from({ length: 3 }, () => startChild('hold', { url }));
      const tags = await Promise.all(children.map((child) => child.line((line) => line.startsWith('open '))));
      assert.equal(new Set(tags).size, 3);
      for (const child of children) child.process.stdin?.end();
      assert.deepEqual(await Promise.all(children.map((child) => child.exit)), [0, 0, 0]);
    });

    it('opens again what it has made, and is ready', async () => {
      const url = await server.createDatabase();
      await (await openTest(url)).close();
      const storage = await openTest(url);
      await storage.ready();
      assert.match(storage.leftovers.tag, /^[0-9a-f]{8}$/);
      await storage.close();
      await storage.close();
    });

    it('refuses a database that a newer program has migrated', async () => {
      const url = await server.createDatabase();
      await (await openTest(url)).close();
      await withSql(url, (sql) => sql`insert into schema_version (version, name) values (9999, 'future')`);
      await assert.rejects(openTest(url), refused(/schema version 9999.*newer program/));
    });

    it('a failing migration leaves nothing behind', async () => {
      const url = await server.createDatabase();
      await withSql(url, (sql) => sql`create table transfers (id int)`);
      await assert.rejects(openTest(url), refused(/relation "transfers" already exists/));
      const tables = await withSql(url, (sql) => sql`select tablename from pg_tables where schemaname = 'public'`);
      assert.deepEqual(
        [...tables].map((row) => row['tablename'] as string),
        ['transfers'],
      );
    });

    it('refuses a wrong master key and names both by id', async () => {
      const url = await server.createDatabase();
      await (await openTest(url)).close();
      const other = randomBytes(32).toString('base64');
      await assert.rejects(
        openTest(url, { masterKey: other }),
        refused(/master key \(id [0-9a-f]{16}\).*GATEWAY_MASTER_KEY/),
      );
    });

    it('makes a key file at first, needs it later, and does not make another one', async () => {
      const url = await server.createDatabase();
      const dataDir = path.join(await makeTempFolder(), 'data');
      await (await openTest(url, { masterKey: '', dataDir })).close();
      await (await openTest(url, { masterKey: '', dataDir })).close();
      const file = path.join(dataDir, 'master.key');
      const text = await readFile(file, 'utf8');
      await rm(file);
      await assert.rejects(openTest(url, { masterKey: '', dataDir }), refused(/put the key file back/));
      assert.ok(!existsSync(file));
      await (await openTest(url, { masterKey: text })).close();
      await rm(path.dirname(dataDir), { recursive: true });
    });

    it('changes the master key: secrets open with the new one, the former one is refused', async () => {
      const url = await server.createDatabase();
      const first = await openTest(url);
      await first.provision([ACCOUNT]);
      await first.close();
      const next = randomBytes(32).toString('hex');
      // Those of the connections, and the key that signs receipts.
      assert.equal(await changeMasterKey(testOptions(url), next), 5);
      await assert.rejects(openTest(url), refused(/is not the one that encrypted/));
      await assert.rejects(changeMasterKey(testOptions(url), next), StartupError);
      const storage = await openTest(url, { masterKey: next });
      const { accountId } = await accountOf(storage);
      const connection = await storage.connections.find(accountId, 'warehouse');
      assert.equal(connection?.type === 'sftp' ? connection.password : '', 'secret-of-warehouse');
      await storage.close();
    });
  });
}

describe('opening what is not there', () => {
  it('gives up after connectTimeoutMs with one line that holds no password', async () => {
    const began = Date.now();
    const url = 'postgres://user:top-secret@127.0.0.1:1/name';
    await assert.rejects(openTest(url, { connectTimeoutMs: 400 }), (error: unknown) => {
      assert.ok(error instanceof StartupError);
      assert.match(error.message, /127\.0\.0\.1:1/);
      assert.ok(!error.message.includes('top-secret'));
      return true;
    });
    assert.ok(Date.now() - began < 3000);
  });

  it('refuses what is no connection string without repeating it', async () => {
    await assert.rejects(openTest('mysql://user:top-secret@host/x'), (error: unknown) => {
      assert.ok(error instanceof StartupError);
      assert.match(error.message, /^database\.url: /);
      assert.ok(!error.message.includes('top-secret'));
      return true;
    });
  });
});
