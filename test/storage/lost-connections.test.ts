import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { GatewayError } from '../../src/base/errors.js';
import { parseDatabaseUrl } from '../../src/storage/postgres/target.js';
import { Database } from '../../src/storage/postgres/database.js';
import { AdvisoryLocks } from '../../src/storage/cluster/locks.js';
import { type PostgresServer, startPostgres } from '../servers/postgres.js';
import { DATABASES, openTest, SUCCESS, type TestServer, testOptions, until, upload, withSql } from './databases.js';
import { atOnce } from '../support/at-once.js';
import { earlierThan } from '../support/earlier.js';
import { eventually, PATIENCE_MS } from '../support/eventually.js';
import { startProxy } from '../support/proxy.js';

/** 4 of them serve single statements. */
const POOL_SIZE = 8;
const STATEMENT_CONNECTIONS = 4;
const never = (): AbortSignal => new AbortController().signal;
const isAway = (error: unknown): boolean => error instanceof GatewayError && error.code === 'database_away';

async function openDatabase(url: string): Promise<Database> {
  const database = new Database(await parseDatabaseUrl(url), testOptions(url, { poolSize: POOL_SIZE }));
  await database.connect();
  return database;
}

/** Resolves when the lock's connection is lost, to the reason. */
async function untilLost(lost: AbortSignal, entered: () => void): Promise<unknown> {
  entered();
  if (!lost.aborted) await new Promise((resolve) => lost.addEventListener('abort', resolve, { once: true }));
  return lost.reason;
}

for (const kind of DATABASES) {
  describe(`connections lost one by one on ${kind.name}`, () => {
    let server: TestServer;
    let url: string;
    let database: Database;
    before(async () => {
      server = await kind.start();
      url = await server.createDatabase();
      database = await openDatabase(url);
      await withSql(url, (sql) => sql`create table notes (id integer)`);
    });
    after(async () => {
      await database.close();
      await server.stop();
    });

    it('in a transaction: the caller gets an error, nothing is written, and the pool is as large as before', async () => {
      for (let round = 0; round < POOL_SIZE; round++) {
        await assert.rejects(
          database.transaction(async (tx) => {
            await tx`insert into notes (id) values (${round})`;
            const [row] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`;
            await withSql(url, (sql) => sql`select pg_terminate_backend(${row?.pid ?? 0}, 5000)`);
            await tx`insert into notes (id) values (${round})`;
          }),
          isAway,
        );
      }
      assert.equal((await database.run((sql) => sql`select from notes`)).length, 0);
      assert.ok(!database.isAway, 'a lost connection is no lost server');
      // All of them wait for one lock: one that ended earlier would leave its connection to another.
      const pids = await withSql(url, async (sql) => {
        const asked: Promise<readonly { readonly pid: number }[]>[] = [];
        await sql.begin(async (tx) => {
          await tx`select pg_advisory_xact_lock(1)`;
          for (let index = 0; index < STATEMENT_CONNECTIONS; index++)
            asked.push(
              database.run(
                (own) => own<{ pid: number }[]>`select pg_backend_pid() as pid, pg_advisory_xact_lock_shared(1)`,
              ),
            );
          const waiting = () => tx`select from pg_locks where locktype = 'advisory' and not granted`;
          await eventually(async () => (await waiting()).length === STATEMENT_CONNECTIONS, 'each has its connection');
        });
        return Promise.all(asked);
      });
      assert.equal(new Set(pids.map(([row]) => row?.pid)).size, STATEMENT_CONNECTIONS);
    });

    it('under a lock: its holder is notified, and the name is free for the next', async () => {
      const locks = new AdvisoryLocks(database, () => undefined);
      const others = new AdvisoryLocks(database, () => undefined);
      let entered = (): void => undefined;
      const inside = new Promise<void>((resolve) => (entered = resolve));
      const holder = locks.withLock('name', never(), (lost) => untilLost(lost, entered));
      await inside;
      await withSql(
        url,
        (sql) => sql`select pg_terminate_backend(pid, 5000) from pg_locks where locktype = 'advisory' and granted`,
      );
      assert.ok(isAway(await holder));
      assert.equal(await others.withLock('name', AbortSignal.timeout(PATIENCE_MS), async () => 'theirs'), 'theirs');
      assert.equal(await locks.withLock('name', AbortSignal.timeout(PATIENCE_MS), async () => 'again'), 'again');
      const held = await withSql(url, (sql) => sql`select from pg_locks where locktype = 'advisory'`);
      assert.equal(held.length, 0);
      await locks.close();
      await others.close();
    });

    it('a lock that was released in time was not lost', async () => {
      const locks = new AdvisoryLocks(database, () => undefined);
      const lost = await locks.withLock('quick', never(), async (signal) => signal);
      await locks.close();
      assert.ok(!lost.aborted);
    });

    it('the connection that holds locks is not closed for its age or for being idle', async () => {
      const session = database.openSession(() => undefined);
      assert.equal(session.sql.options.max_lifetime, null);
      assert.ok(!session.sql.options.idle_timeout);
      await session.end(0);
    });

    it('a busy pool does not count as dead: readiness stays, and slow statements get their answers', async () => {
      const slow = Array.from({ length: 3 * STATEMENT_CONNECTIONS }, () =>
        database.run((sql) => sql`select pg_sleep(1.5)`),
      );
      await new Promise((resolve) => setTimeout(resolve, 100));
      await database.ready();
      await Promise.all(slow);
      assert.ok(!database.isAway);
    });

    it('a server that refuses new connections still serves the open ones', async () => {
      await withSql(url, (sql) => sql.unsafe(`create role guest login password 'guest'`));
      const guestUrl = new URL(url);
      [guestUrl.username, guestUrl.password] = ['guest', 'guest'];
      const guests = await openDatabase(guestUrl.href);
      const ownPid = async (): Promise<number | undefined> =>
        (await guests.run((sql) => sql<{ pid: number }[]>`select pg_backend_pid() as pid`))[0]?.pid;
      const pid = await ownPid();
      await withSql(url, async (sql) => {
        await sql`alter role guest connection limit 0`;
        await sql`
          select pg_terminate_backend(pid, 5000) from pg_stat_activity where usename = 'guest' and pid <> ${pid ?? 0}`;
      });
      await guests.ready();
      assert.equal(await ownPid(), pid);
      assert.ok(!guests.isAway);
      await guests.close();
    });

    it('a database without room answers 503 with that reason, and does not count as away', async () => {
      const full = database.run((sql) => sql`do $$ begin raise exception 'no space' using errcode = '53100'; end $$`);
      await assert.rejects(full, (error: unknown) => isAway(error) && String(error).includes('no room left'));
      await database.ready();
      assert.ok(!database.isAway);
    });
  });
}

describe('connections that fall silent', { concurrency: true }, () => {
  let server: PostgresServer;
  before(async () => (server = await startPostgres()));
  after(() => server.stop());
  const throughProxy = (port: number): string => server.url.replace(`:${server.port}/`, `:${port}/`);

  it('running statements fail within some seconds, and the pool serves when the line is back', async () => {
    const proxy = await startProxy(server.port);
    const database = await openDatabase(throughProxy(proxy.port));
    proxy.isSilent = true;
    const asked = Array.from({ length: 20 }, () => database.run((sql) => sql`select 1`));
    const refused = earlierThan(10_000, Promise.allSettled(asked), 'doubt and one probe, two seconds each');
    for (const answer of await refused) assert.ok(answer.status === 'rejected' && isAway(answer.reason));
    assert.ok(database.isAway);
    const askedAway = database.run((sql) => sql`select 1`);
    await assert.rejects(atOnce(askedAway, 'while it is away'), isAway);
    proxy.isSilent = false;
    await until(async () => (database.isAway ? undefined : true), 'the database to be found again');
    await Promise.all(Array.from({ length: 20 }, () => database.run((sql) => sql`select 1`)));
    await database.close();
    await proxy.stop();
  });

  it('the holder of a lock is notified although nothing arrives any more', async () => {
    const proxy = await startProxy(server.port);
    const database = await openDatabase(throughProxy(proxy.port));
    const locks = new AdvisoryLocks(database, () => undefined);
    const holder = locks.withLock('name', never(), (lost) => untilLost(lost, () => (proxy.isSilent = true)));
    const reason = await earlierThan(20_000, holder, 'a check of the lock, and its answer');
    assert.ok(isAway(reason));
    proxy.isSilent = false;
    await until(
      async () =>
        database
          .ready()
          .catch(() => undefined)
          .then(() => (database.isAway ? undefined : true)),
      'it',
    );
    assert.equal(await locks.withLock('other', AbortSignal.timeout(PATIENCE_MS), async () => 'works'), 'works');
    await locks.close();
    await database.close();
    await proxy.stop();
  });

  it('the server drops a gateway that vanished, and its locks, within half a minute', async () => {
    const database = await openDatabase(server.url);
    const settings = await database.run(
      (sql) => sql<{ setting: string }[]>`
        select setting from pg_settings where name like 'tcp_keepalives%' order by name`,
    );
    // count, idle, interval
    assert.deepEqual(
      settings.map((row) => row.setting),
      ['3', '15', '5'],
    );
    await database.close();
  });

  it('history rows wait in memory, are counted, and each is written once when the line is back', async () => {
    const proxy = await startProxy(server.port);
    let committed = 0;
    const storage = await openTest(throughProxy(proxy.port), { onHistoryCommit: (rows) => (committed += rows) });
    const accountId = randomUUID();
    await storage.history.begin(upload(accountId)).finish(SUCCESS);
    assert.equal(storage.history.queuedRows, 0);
    assert.equal(committed, 1);
    proxy.isSilent = true;
    const transfers = Array.from({ length: 50 }, () => storage.history.begin(upload(accountId)));
    const finished = Promise.allSettled(transfers.map((transfer) => transfer.finish(SUCCESS)));
    assert.equal(storage.history.queuedRows, 50);
    for (const result of await finished) assert.ok(result.status === 'rejected' && isAway(result.reason));
    assert.equal(storage.history.queuedRows, 50, 'reported, and still to be written');
    proxy.isSilent = false;
    await until(async () => (storage.history.queuedRows === 0 ? true : undefined), 'the rows to be written');
    assert.equal(committed, 51);
    const { transfers: listed, total } = await storage.history.list(accountId, { limit: 100, offset: 0 });
    assert.equal(total, 51);
    assert.equal(new Set(listed.map((item) => item.id)).size, 51);
    await storage.close();
    await proxy.stop();
  });
});
