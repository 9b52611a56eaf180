import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { changeMasterKey } from '../../src/storage/open.js';
import { StartupError } from '../../src/storage/storage.js';
import { startPostgres, type PostgresServer } from '../servers/postgres.js';
import { startProxy, type Proxy } from '../support/proxy.js';
import { held } from '../support/reliability.js';
import {
  DATABASES,
  makeTempFolder,
  openTest,
  startChild,
  testOptions,
  type TestServer,
  until,
  withSql,
} from './databases.js';
import { type FormerVersion, makeFormer, MIGRATIONS, VERSION_1_0, VERSION_1_1 } from './former.js';
import { accountOf, ACCOUNT, S3_PAIR } from './provisioned.js';

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

    it('opens again its own database, and is ready', async () => {
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
      // The secrets of the connections and of an S3 access key, and the key that signs receipts.
      assert.equal(await changeMasterKey(testOptions(url), next), 6);
      await assert.rejects(openTest(url), refused(/is not the one that encrypted/));
      await assert.rejects(changeMasterKey(testOptions(url), next), StartupError);
      const storage = await openTest(url, { masterKey: next });
      const { accountId } = await accountOf(storage);
      const connection = await storage.connections.find(accountId, 'warehouse');
      assert.equal(connection?.type === 'sftp' ? connection.password : '', 'secret-of-warehouse');
      const access = await storage.s3AccessKeys.find(S3_PAIR.accessKeyId);
      assert.equal(access?.secretAccessKey, S3_PAIR.secretAccessKey);
      await storage.close();
    });
  });
}

/** Differences between two databases that were opened in the same way: killed nodes leave their row. */
const OWN_ROWS = ['nodes'];

describe('a program that is killed while it opens a database', () => {
  let server: PostgresServer;
  let proxy: Proxy;
  before(async () => {
    server = await startPostgres();
    proxy = await startProxy(server.port);
  });
  after(async () => {
    await proxy?.stop();
    await server?.stop();
  });

  const urlOf = (name: string, port = server.port): string => {
    const url = new URL(server.url);
    url.pathname = `/${name}`;
    url.port = String(port);
    return url.href;
  };

  const copyOf = (template: string, name: string) =>
    withSql(server.url, (sql) => sql.unsafe(`create database ${name} template ${template}`));

  const makeEmpty = (): Promise<unknown> => withSql(server.url, (sql) => sql.unsafe('create database empty'));

  const makeVersion = async (name: string, version: FormerVersion): Promise<void> => {
    await withSql(server.url, (sql) => sql.unsafe(`create database ${name}`));
    await makeFormer(urlOf(name), version);
  };

  const contentOf = (url: string) =>
    withSql(url, async (sql) => {
      const schemas = sql`('public', 'public_jobs')`;
      const tables = await sql<{ schema: string; name: string }[]>`
        select table_schema as schema, table_name as name from information_schema.tables
        where table_schema in ${schemas} and table_type = 'BASE TABLE' order by 1, 2`;
      const rows: Record<string, number> = {};
      for (const { schema, name } of tables) {
        const [row] = await sql<{ rows: number }[]>`select count(*)::int as rows from ${sql(schema)}.${sql(name)}`;
        if (!OWN_ROWS.includes(name)) rows[`${schema}.${name}`] = row?.rows ?? -1;
      }
      return {
        rows,
        columns: [
          ...(await sql`
            select table_schema, table_name, column_name, column_default, is_nullable, data_type, udt_name,
              is_generated, generation_expression, is_identity
            from information_schema.columns where table_schema in ${schemas} order by 1, 2, 3`),
        ],
        constraints: [
          ...(await sql`
            select conrelid::regclass::text as of, conname, pg_get_constraintdef(oid) as definition from pg_constraint
            where connamespace::regnamespace::text in ${schemas} order by 1, 2`),
        ],
        indexes: [...(await sql`select indexdef from pg_indexes where schemaname in ${schemas} order by 1`)],
        triggers: [
          ...(await sql`
            select event_object_table, trigger_name, event_manipulation, action_statement
            from information_schema.triggers where trigger_schema in ${schemas} order by 1, 2, 3`),
        ],
        versions: [...(await sql`select version from schema_version where version > 0 order by version`)].map((row) =>
          Number(row['version']),
        ),
        moved: [
          ...(await sql`select sum(transfers)::int as transfers, sum(failed)::int as failed, sum(bytes_out)::int as bytes
            from transfer_hours`),
        ],
        deliveries: [...(await sql`select * from deliveries order by id`)],
      };
    });

  for (const [what, template, kills, make] of [
    ['the first migration of an empty database', 'empty', 10, makeEmpty],
    ['the upgrade of a database of version 1.0', 'first', 10, () => makeVersion('first', VERSION_1_0)],
    ['the upgrade of a database of version 1.1', 'second', 10, () => makeVersion('second', VERSION_1_1)],
  ] as const) {
    it(`${what}: killed at ${kills} points, the next start completes it, and nothing is applied twice`, async () => {
      await make();
      const undisturbed = `${template}_undisturbed`;
      await copyOf(template, undisturbed);
      const from = proxy.pieces;
      const whole = startChild('hold', { url: urlOf(undisturbed, proxy.port) });
      await whole.line((line) => line.startsWith('open '));
      const pieces = proxy.pieces - from;
      whole.process.stdin?.end();
      assert.equal(await whole.exit, 0);
      const expected = await contentOf(urlOf(undisturbed));
      const files = (await readdir(MIGRATIONS)).map((file) => Number.parseInt(file, 10)).sort((a, b) => a - b);
      assert.deepEqual(expected.versions, files);

      const foundAt: number[] = [];
      for (let kill = 1; kill <= kills; kill++) {
        const name = `${template}_${kill}`;
        await copyOf(template, name);
        const reached = proxy.hold(Math.floor((pieces * kill) / (kills + 1)));
        const victim = startChild('hold', { url: urlOf(name, proxy.port) });
        await Promise.race([reached, victim.exit.then((code) => assert.fail(`ended by itself: ${code}`))]);
        victim.process.kill('SIGKILL');
        assert.equal(await victim.exit, 'SIGKILL');
        // Statements that were on their way when the program died still arrive.
        proxy.release();
        assert.deepEqual(victim.lines, []);
        const [version] = await withSql(
          urlOf(name),
          (sql) => sql<{ there: boolean }[]>`select to_regclass('deliveries') is not null as there`,
        );
        foundAt.push(version?.there === true ? 1 : 0);
        const storage = await openTest(urlOf(name));
        await storage.ready();
        await storage.close();
        assert.deepEqual(await contentOf(urlOf(name)), expected, `after the kill at point ${kill}`);
      }
      assert.ok(foundAt.includes(0) && foundAt.includes(1), `before and after the commit: ${foundAt.join(' ')}`);
      held({
        area: 'Faults',
        what: `a program is killed (SIGKILL) in ${what}`,
        done: 'at points spread over everything that passes between program and database; then it is started again',
        held: 'the next start completes it and is ready; tables, columns, constraints, indexes and rows equal those of an undisturbed one, each migration is applied once',
        tries: kills,
      });
    });
  }

  it('the upgrade of a database of version 1.1 survives a deadlock with a node that goes on working', async () => {
    await makeVersion('crossed', VERSION_1_1);
    await withSql(server.url, (sql) => sql.unsafe("alter database crossed set deadlock_timeout = '3s'"));
    const url = urlOf('crossed');
    let opening: ReturnType<typeof openTest> | undefined;
    await withSql(url, (sql) =>
      sql.begin(async (node) => {
        // The migration looks for a deadlock first, so it is the one that is ended.
        await node`set local deadlock_timeout = '10min'`;
        await node`select from links limit 1`;
        opening = openTest(url);
        const waiting = async () => {
          const [row] = await node<{ pid: number }[]>`
            select pid from pg_locks where mode = 'AccessExclusiveLock' and not granted and relation = 'links'::regclass`;
          return row;
        };
        await until(waiting, 'the migration waits');
        await node`select from jobs limit 1`;
      }),
    );
    const storage = await (opening ?? assert.fail());
    await storage.ready();
    await storage.close();
  });
});

describe('opening an unreachable database', () => {
  it('gives up after connectTimeoutMs with one line that holds no password', async () => {
    const gaveUp: number[] = [];
    const giveUp = async (connectTimeoutMs: number): Promise<void> => {
      const url = 'postgres://user:top-secret@127.0.0.1:1/name';
      await assert.rejects(openTest(url, { connectTimeoutMs }), (error: unknown) => {
        assert.ok(error instanceof StartupError);
        assert.match(error.message, /127\.0\.0\.1:1/);
        assert.ok(!error.message.includes('top-secret'));
        return true;
      });
      gaveUp.push(connectTimeoutMs);
    };
    // Each with its own time limit: the other one keeps waiting.
    const patient = giveUp(5_000);
    await giveUp(400);
    await delay(1_000);
    assert.deepEqual(gaveUp, [400]);
    await patient;
  });

  it('refuses a text that is no connection string without repeating it', async () => {
    await assert.rejects(openTest('mysql://user:top-secret@host/x'), (error: unknown) => {
      assert.ok(error instanceof StartupError);
      assert.match(error.message, /^database\.url: /);
      assert.ok(!error.message.includes('top-secret'));
      return true;
    });
  });
});
