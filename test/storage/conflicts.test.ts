/** Two transactions wait for each other's locks, and PostgreSQL ends the gateway's: its work is repeated. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { TransactionSql } from 'postgres';
import { parseDatabaseUrl } from '../../src/storage/postgres/target.js';
import { Database } from '../../src/storage/postgres/database.js';
import type { Queryable } from '../../src/storage/postgres/sql.js';
import type { Storage } from '../../src/storage/storage.js';
import { FoundFiles } from '../../src/storage/tables/found-files.js';
import { JOB_OPTIONS } from '../support/job-options.js';
import {
  openTest,
  startSystemServer,
  SUCCESS,
  testOptions,
  type TestServer,
  until,
  upload,
  withSql,
} from './databases.js';
import { ACCOUNT, accountOf } from './provisioned.js';

type Statements = (sql: TransactionSql) => Promise<unknown>;

describe('conflicts of locks', () => {
  let server: TestServer;
  let url: string;
  let storage: Storage;
  let accountId: string;
  before(async () => {
    server = await startSystemServer();
    url = await server.createDatabase();
    const name = new URL(url).pathname.slice(1);
    await withSql(url, (sql) => sql.unsafe(`alter database ${name} set deadlock_timeout = '3s'`));
    storage = await openTest(url);
    await storage.provision([ACCOUNT]);
    ({ accountId } = await accountOf(storage));
  });
  after(async () => {
    await storage?.close();
    await server?.stop();
  });

  /**
   * A session holds the locks of `hold`. Once `begin` waits for them, it runs `cross`, which waits for a lock of
   * `begin`. Of the two, the gateway looks for a deadlock first, so it is the one that is ended.
   */
  async function crossed(hold: Statements, begin: () => Promise<unknown>, cross: Statements): Promise<void> {
    let begun: Promise<unknown> | undefined;
    await withSql(url, (sql) =>
      sql.begin(async (tx) => {
        await tx`set local deadlock_timeout = '10min'`;
        await hold(tx);
        begun = begin();
        begun.catch(() => undefined);
        await until(async () => {
          const [row] = await tx<{ pid: number }[]>`
            select pid from pg_locks where not granted and pg_backend_pid() = any (pg_blocking_pids(pid))`;
          return row;
        }, 'the gateway waits for the session');
        await cross(tx);
      }),
    );
    await begun;
  }

  /** Each change of the table is refused as a conflict while the sequence has given fewer than `times` numbers. */
  async function refuseChanges(table: string, times: number): Promise<void> {
    await withSql(url, (sql) =>
      sql.unsafe(`
        create sequence ${table}_changes;
        create function refuse_${table}() returns trigger language plpgsql as $$
          begin
            if nextval('${table}_changes') <= ${times} then
              raise exception 'deadlock detected' using errcode = '40P01';
            end if;
            return null;
          end $$;
        create trigger refuse before insert or update on ${table} execute function refuse_${table}()`),
    );
  }

  async function changesOf(table: string): Promise<number> {
    const [row] = await withSql(url, (sql) =>
      sql.unsafe<{ last: string }[]>(`select last_value as last from ${table}_changes`),
    );
    return Number(row?.last);
  }

  describe('of two rows', () => {
    let database: Database;
    before(async () => {
      database = new Database(await parseDatabaseUrl(url), testOptions(url));
      await withSql(url, (sql) => sql.unsafe('create table pairs (name text, number int, count int default 0)'));
    });
    after(() => database.close());

    const WAYS: Readonly<Record<string, (work: (sql: Queryable) => Promise<unknown>) => Promise<unknown>>> = {
      run: (work) => database.run(work),
      apart: (work) => database.apart(work),
      transaction: (work) => database.transaction(work),
      bulk: (work) => database.bulk(work),
    };
    for (const [way, begin] of Object.entries(WAYS)) {
      it(`${way} repeats its work, and changes them once`, async () => {
        await withSql(url, (sql) => sql`insert into pairs (name, number) values (${way}, 1), (${way}, 2)`);
        const lock = (number: number) => (sql: TransactionSql) =>
          sql`select from pairs where name = ${way} and number = ${number} for update`;
        const change = async (sql: Queryable): Promise<unknown> => sql`
          with locked as (select number from pairs where name = ${way} order by number for update)
          update pairs p set count = count + 1 from locked l where p.name = ${way} and p.number = l.number`;
        await crossed(lock(2), () => begin(change), lock(1));
        const rows = await withSql(url, (sql) => sql<{ count: number }[]>`select count from pairs where name = ${way}`);
        assert.deepEqual(
          rows.map(({ count }) => count),
          [1, 1],
        );
      });
    }

    it('that does not end is database_away, after a few attempts', async () => {
      await withSql(url, (sql) => sql.unsafe('create table refused (number int)'));
      await refuseChanges('refused', Number.MAX_SAFE_INTEGER);
      const write = database.transaction((tx) => tx`insert into refused values (1)`);
      await assert.rejects(write, {
        code: 'database_away',
        retryAfterMs: 2000,
        message: /a conflict of several requests/,
      });
      assert.equal(await changesOf('refused'), 5);
    });
  });

  it('findings of a listing that are written again are complete', async () => {
    const place = { connectionId: 'warehouse', path: '/' };
    const job = await storage.jobs.rows.create(
      {
        accountId,
        keyId: null,
        scheduleId: null,
        name: null,
        definition: { type: 'copy', source: place, destination: { ...place, path: '/to' }, ...JOB_OPTIONS },
      },
      { running: 1, waiting: 1 },
    );
    const files = new FoundFiles();
    for (const name of ['a', 'b', 'c']) {
      files.add({ path: Buffer.from(name), action: 'copy', phase: 1, size: 7, modifiedMs: 0 });
    }
    const findings = { files: files.take(), folders: [], listed: [], left: [], begun: [], unchanged: 0 };
    await crossed(
      // The last step is the task of the files.
      (sql) => sql`lock table public_jobs.job in share mode`,
      () => storage.jobs.tree.add(job, findings, 3),
      (sql) => sql`select from jobs where id = ${job.id} for update`,
    );
    const rows = await withSql(
      url,
      (sql) => sql<{ path: string }[]>`
        select encode(path, 'escape') as path from job_files where job_id = ${job.id} order by path`,
    );
    assert.deepEqual(
      rows.map(({ path }) => path),
      ['a', 'b', 'c'],
    );
    assert.equal(findings.files.texts.path, '', 'the memory is free again');
  });

  it('a history item of a conflict that lasts is written once it has ended', async () => {
    await refuseChanges('transfers', 12);
    const account = randomUUID();
    await storage.history.begin(upload(account)).finish(SUCCESS);
    assert.ok((await changesOf('transfers')) > 12);
    assert.equal((await storage.history.list(account, { limit: 10, offset: 0 })).total, 1);
  });

  it('what only refers to an account and its connections blocks no change of them', { timeout: 60_000 }, async () => {
    const actor = { accountId, kind: 'session', id: null, email: '', address: '', requestId: '' } as const;
    const { connections } = storage.management;
    const { settings } = (await connections.find(accountId, 'warehouse')) ?? assert.fail('no connection');
    const draft = { name: 'Box', type: 'sftp', isActive: true, settings, secrets: {}, keyPairId: null } as const;
    await withSql(url, (sql) =>
      sql.begin(async (tx) => {
        // As a row of the history does when it is added.
        await tx`select from accounts where id = ${accountId} for key share`;
        await tx`select from connections where account_id = ${accountId} for key share`;
        await connections.create(actor, { ...draft, hostKeys: [] }, 100);
        await storage.provision([ACCOUNT]);
      }),
    );
  });

  describe('of a webhook and its deliveries', () => {
    const id = randomUUID();
    const delivery = randomUUID();
    const states = { gone: 'pending', replay: 'dead', 'replay of many': 'dead' } as const;
    const attempt = {
      startedAt: new Date(),
      durationMs: 3,
      status: 410,
      errorCode: null,
      errorMessage: null,
      answer: null,
      url: 'http://127.0.0.1/',
      requestHeaders: null,
      answerHeaders: null,
    };
    before(() =>
      withSql(url, async (sql) => {
        await sql`
          insert into webhooks (id, account_id, url, events, connection_ids)
          values (${id}, ${accountId}, 'http://127.0.0.1/', '{connection.up}', '{}')`;
        await sql`
          insert into deliveries (id, event_id, webhook_id, account_id, type, file_count, state, next_attempt_at, body, created_at)
          values (${delivery}, ${randomUUID()}, ${id}, ${accountId}, 'connection.up', 0, 'pending', now(), '{}', now())`;
      }),
    );

    for (const [what, state] of Object.entries(states)) {
      it(`${what} locks the webhook first`, async () => {
        await withSql(url, (sql) => sql`update deliveries set state = ${state} where id = ${delivery}`);
        const { outgoing, deliveries } = storage.events;
        const event = (await outgoing.find(delivery)) ?? assert.fail('no delivery');
        await crossed(
          (sql) => sql`select from webhooks where id = ${id} for update`,
          () => {
            if (what === 'gone') return outgoing.record(event, attempt, { kind: 'gone' });
            return what === 'replay'
              ? outgoing.replay(event, id)
              : deliveries.replay(accountId, { webhookId: id, state: 'dead' });
          },
          (sql) => sql`select from deliveries where id = ${delivery} for update nowait`,
        );
        const after = await outgoing.find(delivery);
        assert.equal(after?.state, what === 'gone' ? 'cancelled' : 'pending');
      });
    }
  });
});
