import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { GatewayError } from '../../src/base/errors.js';
import { uuidv7 } from '../../src/base/uuid.js';
import { parseDatabaseUrl } from '../../src/storage/postgres/target.js';
import { Database } from '../../src/storage/postgres/database.js';
import { firstIdAt, timeOfId } from '../../src/storage/postgres/clock.js';
import { type TransferType, TRANSFER_TYPES } from '../../src/contract/transfer.js';
import { type Storage, type TransferFilter } from '../../src/storage/storage.js';
import { HistoryWriter } from '../../src/storage/tables/history-writer.js';
import type { Wanted } from '../../src/storage/tables/transfer-events.js';
import { pendingRow, writeBatch } from '../../src/storage/tables/history-statements.js';
import {
  DATABASES,
  FAILURE,
  openTest,
  startChild,
  SUCCESS,
  testOptions,
  type TestServer,
  until,
  upload,
  withSql,
} from './databases.js';

const ALL: TransferFilter = { limit: 100, offset: 0 };
const DAY_MS = 24 * 60 * 60 * 1000;

/** The counts must equal the rows, for every account. */
async function assertCountsMatchRows(url: string): Promise<void> {
  await withSql(url, async (sql) => {
    const counted = await sql`
      select account_id, connection_id, day::text, type, status, items::int from transfer_counts where items <> 0 order by 1, 2, 3, 4, 5`;
    const rows = await sql`
      select account_id, connection_id, (created_at at time zone 'UTC')::date::text as day, type, status, count(*)::int as items
      from transfers where status <> 'pending' group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5`;
    assert.deepEqual([...counted], [...rows]);
    const months = await sql`
      select account_id, month::text, items::int, actions_recorded::int as actions from monthly_usage where items <> 0 order by 1, 2`;
    const usage = await sql`
      select account_id, date_trunc('month', created_at at time zone 'UTC')::date::text as month, count(*)::int as items,
             (count(*) filter (where counts_action))::int as actions
      from transfers where status <> 'pending' group by 1, 2 order by 1, 2`;
    assert.deepEqual([...months], [...usage]);
    await assertHoursMatchRows(sql);
  });
}

/** For the last day, with lists, look-ups and polls counted separately. */
async function assertHoursMatchRows(sql: Parameters<Parameters<typeof withSql>[1]>[0]): Promise<void> {
  const summed = await sql`
    select account_id, hour, (slot = 0) as "isLookup", sum(transfers)::int as transfers, sum(failed)::int as failed,
      sum(bytes_in)::int as "bytesIn", sum(bytes_out)::int as "bytesOut"
    from transfer_hours where hour > now() - interval '1 day' group by 1, 2, 3 order by 1, 2, 3`;
  const rows = await sql`
    select account_id, date_trunc('hour', created_at, 'UTC') as hour, type in ('list', 'exists', 'poll') as "isLookup",
      count(*)::int as transfers, (count(*) filter (where status = 'failed'))::int as failed,
      coalesce(sum(file_size) filter (where direction = 'inbound'), 0)::int as "bytesIn",
      coalesce(sum(file_size) filter (where direction = 'outbound'), 0)::int as "bytesOut"
    from transfers where status <> 'pending' and created_at > now() - interval '1 day' group by 1, 2, 3 order by 1, 2, 3`;
  assert.deepEqual([...summed], [...rows]);
}

for (const kind of DATABASES) {
  describe(`history on ${kind.name}`, () => {
    let server: TestServer;
    let url: string;
    let storage: Storage;
    before(async () => {
      server = await kind.start();
      url = await server.createDatabase();
      storage = await openTest(url);
    });
    after(async () => {
      await storage.close();
      await assertCountsMatchRows(url).finally(() => server.stop());
    });

    it('an item is durable and complete when finish resolves', async () => {
      const accountId = randomUUID();
      const transfer = storage.history.begin(upload(accountId, { keyId: randomUUID(), filename: 'a\0b\ud800.txt' }));
      assert.equal(transfer.startedAt.getTime(), timeOfId(transfer.id).getTime());
      const { durationMs } = await transfer.finish({ ...FAILURE, path: '/final', fileSize: 3 });
      const { transfers, total } = await storage.history.list(accountId, ALL);
      assert.equal(total, 1);
      assert.deepEqual(transfers, [
        {
          id: transfer.id,
          connectionId: 'warehouse',
          type: 'upload',
          direction: 'outbound',
          filename: 'a\ufffdb\ufffd.txt',
          path: '/final',
          fileSize: 3,
          status: 'failed',
          errorMessage: 'no such file',
          durationMs,
          createdAt: transfer.startedAt,
          repeatable: false,
        },
      ]);
    });

    it('every item waits for the disk, also those of read-only operations', async () => {
      const database = new Database(await parseDatabaseUrl(url), testOptions(url));
      const commitOf = (type: TransferType): Promise<string | undefined> => {
        const id = uuidv7();
        const row = { ...pendingRow(id, timeOfId(id), upload(randomUUID(), { type })), status: 'success' as const };
        return database.transaction(async (tx) => {
          assert.equal((await writeBatch(tx, randomUUID(), [row])).size, 1);
          const [setting] = await tx<{ synchronousCommit: string }[]>`show synchronous_commit`;
          return setting?.synchronousCommit;
        });
      };
      try {
        for (const type of TRANSFER_TYPES) assert.equal(await commitOf(type), 'on', type);
      } finally {
        await database.close();
      }
    });

    it('no item is lost while the database does not say which successes are wanted', async () => {
      const database = new Database(await parseDatabaseUrl(url), testOptions(url));
      let questions = 0;
      const wantedOf = async (): Promise<Wanted> => {
        if (++questions === 1) throw new Error('canceling statement due to statement timeout');
        return () => false;
      };
      const writer = new HistoryWriter({
        database,
        nodeId: randomUUID(),
        outbox: { announce: () => undefined },
        receipts: { linked: () => assert.fail('no receipts'), afterwards: () => assert.fail('no receipts') },
        subscriptions: { wantedOf },
        urls: { sealingWritten: () => assert.fail('no urls'), find: () => assert.fail('no urls') },
        options: { log: () => undefined },
      });
      try {
        const id = uuidv7();
        const row = { ...pendingRow(id, timeOfId(id), upload(randomUUID())), status: 'success' as const };
        const error = await new Promise((settle) => writer.add(row, settle));
        assert.equal(error, undefined);
        assert.equal(questions, 2);
        assert.equal(await withSql(url, async (sql) => (await sql`select from transfers where id = ${id}`).count), 1);
      } finally {
        await writer.close();
        await database.close();
      }
    });

    it('a failed item is reported once, however often its batch is repeated', async () => {
      const database = new Database(await parseDatabaseUrl(url), testOptions(url));
      const accountId = randomUUID();
      const rows = Array.from({ length: 3 }, () => uuidv7()).map((id) => ({
        ...pendingRow(id, timeOfId(id), upload(accountId)),
        status: 'failed' as const,
        errorCode: 'unreachable' as const,
        errorMessage: 'nobody there',
      }));
      const toldOf = async (): Promise<number> =>
        withSql(url, async (sql) => (await sql`select from events where account_id = ${accountId}`).count);
      try {
        const node = randomUUID();
        assert.equal((await database.run((sql) => writeBatch(sql, node, rows.slice(0, 2)))).size, 2);
        // As after a lost connection: no node knew that it was written.
        assert.equal((await database.run((sql) => writeBatch(sql, node, rows))).size, 1);
        assert.equal((await database.run((sql) => writeBatch(sql, node, rows))).size, 0);
        assert.equal(await toldOf(), 3);
      } finally {
        await database.close();
      }
    });

    it('a long transfer is listed as pending while it runs, a short one never is', async () => {
      const accountId = randomUUID();
      const long = storage.history.begin(upload(accountId));
      await storage.history.begin(upload(accountId)).finish(SUCCESS);
      const pending = await until(async () => {
        const { transfers } = await storage.history.list(accountId, { ...ALL, status: 'pending' });
        return transfers.length > 0 ? transfers : undefined;
      }, 'the pending row');
      assert.deepEqual(
        pending.map((item) => [item.id, item.durationMs]),
        [[long.id, 0]],
      );
      assert.equal(await storage.history.count(accountId), 2);
      assert.equal(await storage.quota.used(accountId), 1);
      const { durationMs } = await long.finish(SUCCESS);
      assert.ok(durationMs >= 200);
      const { transfers, total } = await storage.history.list(accountId, ALL);
      assert.equal(total, 2);
      assert.deepEqual(
        transfers.map((item) => item.status),
        ['success', 'success'],
      );
      assert.equal((await storage.history.list(accountId, { ...ALL, status: 'pending' })).total, 0);
      assert.equal(await storage.quota.used(accountId), 2);
    });

    it('64 callers at once lose nothing and share commits', async () => {
      const accountId = randomUUID();
      const before = await writes(url);
      let left = 6400;
      await Promise.all(
        Array.from({ length: 64 }, async () => {
          while (left-- > 0) await storage.history.begin(upload(accountId)).finish(SUCCESS);
        }),
      );
      assert.equal(await storage.history.count(accountId), 6400);
      assert.equal((await storage.history.list(accountId, ALL)).total, 6400);
      const used = (await writes(url)) - before;
      assert.ok(used < 1600, `${used} commits for 6400 items`);
    });

    it('one refused row does not fail its batch', async () => {
      const accountId = randomUUID();
      const bad = storage.history.begin(upload('no-uuid'));
      const good = Array.from({ length: 5 }, () => storage.history.begin(upload(accountId)));
      const results = await Promise.allSettled([bad, ...good].map((transfer) => transfer.finish(SUCCESS)));
      assert.deepEqual(
        results.map((result) => result.status),
        ['rejected', ...Array<string>(5).fill('fulfilled')],
      );
      assert.equal(await storage.history.count(accountId), 5);
    });

    it('filters, pages and totals agree with a plain list', async () => {
      const accountId = randomUUID();
      const model: { id: string; connectionId: string; type: string; status: string; at: number }[] = [];
      const rows: Promise<unknown>[] = [];
      for (let i = 0; i < 120; i++) {
        const connectionId = `c${i % 3}`;
        const type = i % 4 === 0 ? 'download' : 'upload';
        const outcome = i % 5 === 0 ? FAILURE : SUCCESS;
        const transfer = storage.history.begin(upload(accountId, { connectionId, type }));
        model.push({ id: transfer.id, connectionId, type, status: outcome.status, at: transfer.startedAt.getTime() });
        rows.push(transfer.finish(outcome));
        if (i % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 2));
      }
      const running = storage.history.begin(upload(accountId, { connectionId: 'c0' }));
      model.push({
        id: running.id,
        connectionId: 'c0',
        type: 'upload',
        status: 'pending',
        at: running.startedAt.getTime(),
      });
      await Promise.all(rows);
      // Some of them happened days ago.
      const old = model.splice(0, 40).map((item, index) => moveBack(item, (index % 4) * DAY_MS + DAY_MS));
      await storage.history.list(accountId, ALL);
      await withSql(url, async (sql) => {
        for (const { from, item } of old) {
          await sql`update transfers set id = ${item.id}, created_at = ${new Date(item.at)} where id = ${from}`;
        }
        await sql`delete from transfer_counts where account_id = ${accountId}`;
        await sql`
          insert into transfer_counts select account_id, connection_id, (created_at at time zone 'UTC')::date, type, status, count(*)
          from transfers where account_id = ${accountId} and status <> 'pending' group by 1, 2, 3, 4, 5`;
        await sql`delete from transfer_hours where account_id = ${accountId}`;
        await sql`
          insert into transfer_hours (account_id, hour, slot, transfers, failed, bytes_in, bytes_out)
          select account_id, date_trunc('hour', created_at, 'UTC'), 1, count(*), count(*) filter (where status = 'failed'),
            coalesce(sum(file_size) filter (where direction = 'inbound'), 0),
            coalesce(sum(file_size) filter (where direction = 'outbound'), 0)
          from transfers where account_id = ${accountId} and status <> 'pending' group by 1, 2`;
        await sql`delete from monthly_usage where account_id = ${accountId}`;
        await sql`
          insert into monthly_usage (account_id, month, items, actions_recorded)
          select account_id, date_trunc('month', created_at at time zone 'UTC')::date, count(*), count(*)
          from transfers where account_id = ${accountId} and status <> 'pending' group by 1, 2`;
      });
      model.push(...old.map(({ item }) => item));
      model.sort((a, b) => (a.id < b.id ? 1 : -1));
      await until(async () => ((await storage.history.count(accountId)) === 121 ? true : undefined), 'the pending row');

      const sinces = [undefined, ...[0, 30, 60, 100, 119, 120].map((i) => new Date(model[i]?.at ?? 0)), new Date()];
      for (const since of sinces) {
        for (const status of [undefined, 'success', 'failed', 'pending'] as const) {
          for (const type of [undefined, 'upload', 'email']) {
            for (const only of [{}, { connectionId: 'c1' }, { connectionIds: ['c0', 'c2'] }, { connectionIds: [] }]) {
              const wanted = model.filter(
                (item) =>
                  (since === undefined || item.at > since.getTime()) &&
                  (status === undefined || item.status === status) &&
                  (type === undefined || item.type === type) &&
                  (!('connectionId' in only) || item.connectionId === only.connectionId) &&
                  (!('connectionIds' in only) || only.connectionIds?.includes(item.connectionId) !== false),
              );
              const page = { limit: 7, offset: 5 };
              const filter: TransferFilter = {
                ...page,
                ...only,
                ...(since === undefined ? {} : { since }),
                ...(status === undefined ? {} : { status }),
                ...(type === undefined ? {} : { type }),
              };
              const { transfers, total } = await storage.history.list(accountId, filter);
              assert.equal(total, wanted.length, JSON.stringify(filter));
              assert.deepEqual(
                transfers.map((item) => item.id),
                wanted.slice(page.offset, page.offset + page.limit).map((item) => item.id),
              );
            }
          }
        }
      }
      await running.finish(SUCCESS);
    });

    it('totals stay exact with two processes writing', async () => {
      const accountId = randomUUID();
      const children = [
        startChild('batch', { url }, accountId, '1500'),
        startChild('batch', { url }, accountId, '1500'),
      ];
      assert.deepEqual(await Promise.all(children.map((child) => child.exit)), [0, 0]);
      assert.equal(await storage.history.count(accountId), 3000);
      assert.equal(await storage.quota.used(accountId), 3000);
    });

    it('a killed process loses no acknowledged item, and its running ones become failed', async () => {
      const accountId = randomUUID();
      const child = startChild('write', { url }, accountId);
      const pendingId = (await child.line((line) => line.startsWith('pending '))).slice('pending '.length);
      await until(async () => {
        const { total } = await storage.history.list(accountId, { ...ALL, status: 'pending' });
        return total > 0 && child.lines.length > 500 ? true : undefined;
      }, 'the pending row of the other process');
      child.process.kill('SIGKILL');
      await child.exit;
      const acknowledged = child.lines.filter((line) => line.startsWith('done ')).map((line) => line.slice(5, 41));
      const stored = await withSql(
        url,
        (sql) => sql<{ id: string }[]>`
        select id from transfers where account_id = ${accountId} and status = 'success'`,
      );
      const ids = new Set(stored.map((row) => row.id));
      assert.deepEqual(
        acknowledged.filter((id) => !ids.has(id)),
        [],
      );
      const failed = await until(async () => {
        const { transfers } = await storage.history.list(accountId, { ...ALL, status: 'failed' });
        return transfers[0];
      }, 'the failed item of the dead process');
      assert.equal(failed.id, pendingId);
      assert.equal(failed.errorMessage, 'the gateway stopped while this transfer was running');
      assert.equal((await storage.history.list(accountId, { ...ALL, status: 'pending' })).total, 0);
      assert.equal(await storage.history.count(accountId), stored.length + 1);
    });

    it('a transfer declared failed too early gets its true end', async () => {
      const accountId = randomUUID();
      const transfer = storage.history.begin({ ...upload(accountId), request: '{}', url: 'https://host/?secret' });
      const keptUrls = (): Promise<number> =>
        withSql(url, async (sql) => (await sql`select from transfer_secrets where transfer_id = ${transfer.id}`).count);
      await until(async () => {
        const { total } = await storage.history.list(accountId, { ...ALL, status: 'pending' });
        return total > 0 ? true : undefined;
      }, 'the pending row');
      assert.equal(await keptUrls(), 1);
      // As if this node had been cut off until another one declared it dead.
      await withSql(url, (sql) => sql`update transfers set node_id = ${randomUUID()} where id = ${transfer.id}`);
      // A new node searches at once for the work of dead ones.
      const judge = await openTest(url);
      await until(async () => {
        const { total } = await storage.history.list(accountId, { ...ALL, status: 'failed' });
        return total > 0 ? true : undefined;
      }, 'the judgement');
      await judge.close();
      await transfer.finish(SUCCESS);
      const { transfers, total } = await storage.history.list(accountId, ALL);
      assert.deepEqual([transfers[0]?.status, transfers[0]?.errorMessage, total], ['success', null, 1]);
      assert.equal((await storage.history.list(accountId, { ...ALL, status: 'failed' })).total, 0);
      assert.equal(await keptUrls(), 0);
    });

    it('a limited plan gets exactly its actions, from any number of callers', async () => {
      const accountId = randomUUID();
      const other = await openTest(url);
      const answers = await Promise.allSettled(
        Array.from({ length: 300 }, (_, i) => (i % 2 === 0 ? storage : other).quota.take(accountId, 100)),
      );
      assert.equal(answers.filter((answer) => answer.status === 'fulfilled').length, 100);
      const refused = answers.find((answer) => answer.status === 'rejected');
      const reason: unknown = refused?.reason;
      assert.ok(reason instanceof GatewayError && reason.code === 'quota_exceeded');
      const nextMonth = new Date(Date.now() + (reason.retryAfterMs ?? 0) + 1000);
      assert.equal(nextMonth.getUTCDate(), 1);
      assert.equal(await storage.quota.used(accountId), 100);
      await storage.quota.take(accountId, 101);
      await assert.rejects(storage.quota.take(accountId, 101), { code: 'quota_exceeded' });
      // The items of taken actions are not counted a second time.
      await storage.history.begin(upload(accountId)).finish(SUCCESS);
      assert.equal(await storage.quota.used(accountId), 101);
      await other.close();
      // A new month begins at zero.
      await withSql(url, (sql) => sql`update monthly_usage set month = '2001-01-01' where account_id = ${accountId}`);
      await storage.quota.take(accountId, 1);
      await withSql(url, async (sql) => {
        await sql`delete from monthly_usage where account_id = ${accountId} and month > '2001-01-01'`;
        await sql`update monthly_usage set month = date_trunc('month', now()) where account_id = ${accountId}`;
      });
    });

    it('a busy account takes its actions ahead, and two nodes together get exactly the limit', async () => {
      const accountId = randomUUID();
      const other = await openTest(url);
      const before = await writes(url);
      const limit = 3000;
      const takeAll = async ({ quota }: Storage): Promise<number> => {
        for (let taken = 0; ; taken++) {
          const isTaken = await quota.take(accountId, limit).then(
            () => true,
            () => false,
          );
          if (!isTaken) return taken;
        }
      };
      const [one, two] = await Promise.all([takeAll(storage), takeAll(other)]);
      assert.equal(one + two, limit);
      assert.ok((await writes(url)) - before < limit / 3, 'statements');
      assert.equal(await storage.quota.used(accountId), limit);
      await other.close();
    });

    it('actions that are taken ahead and not spent appear nowhere and are given back', async () => {
      const accountId = randomUUID();
      for (let taken = 0; taken < 100; taken++) await storage.quota.take(accountId, 100_000);
      assert.equal(await storage.quota.used(accountId), 100);
      const held = (): Promise<number> =>
        withSql(url, async (sql) => {
          const [row] = await sql<{ held: number }[]>`
            select (select sum(value::int) from jsonb_each_text(held))::int as held from monthly_usage where account_id = ${accountId}`;
          return row?.held ?? 0;
        });
      await until(async () => ((await held()) === 100 ? true : undefined), 'only what was spent to be held');
      // An item in the history is recorded, and held no longer.
      await storage.history.begin(upload(accountId)).finish(SUCCESS);
      assert.equal(await held(), 99);
      assert.equal(await storage.quota.used(accountId), 100);
    });

    it('an action that is given back while others are taken is not lost', async () => {
      const accountId = randomUUID();
      const limit = 1_000_000;
      const takeMany = (): Promise<unknown> =>
        Promise.all(Array.from({ length: 50 }, () => storage.quota.take(accountId, limit)));
      await takeMany();
      let taking: Promise<unknown> | undefined;
      await withSql(url, (sql) =>
        sql.begin(async (tx) => {
          // The exchange with the database waits for this row.
          await tx`select from monthly_usage where account_id = ${accountId} for update`;
          taking = takeMany();
          const waiting = async () => {
            const [row] = await tx<{ pid: number }[]>`select pid from pg_locks where not granted`;
            return row;
          };
          await until(waiting, 'the exchange waits');
          for (let given = 0; given < 20; given++) storage.quota.giveBack(accountId, limit);
        }),
      );
      await taking;
      await until(async () => ((await storage.quota.used(accountId)) === 80 ? true : undefined), '100 less 20');
    });

    it('the taken, unrecorded actions of a dead node stay with its account', async () => {
      const accountId = randomUUID();
      const child = startChild('quota', { url }, accountId, '10');
      await child.line((line) => line === 'taken');
      await assert.rejects(storage.quota.take(accountId, 10), { code: 'quota_exceeded' });
      child.process.kill('SIGKILL');
      await child.exit;
      await until(
        async () => ((await storage.quota.used(accountId)) === 3 ? true : undefined),
        'what it recorded alone',
      );
      await storage.quota.take(accountId, 10);
    });

    it('an unlimited plan that becomes a limited one has used the actions of its history', async () => {
      const accountId = randomUUID();
      await storage.quota.take(accountId, 0);
      await storage.history.begin(upload(accountId)).finish(SUCCESS);
      await storage.history.begin(upload(accountId, { type: 'list', countsAction: false })).finish(SUCCESS);
      assert.equal(await storage.quota.used(accountId), 1);
      await storage.quota.take(accountId, 2);
      await assert.rejects(storage.quota.take(accountId, 2), { code: 'quota_exceeded' });
    });

    it('items stay in the order of their beginning when the clock is set back', async (t) => {
      const accountId = randomUUID();
      const begin = () => Array.from({ length: 5 }, () => storage.history.begin(upload(accountId)));
      const before = begin();
      const anHourAgo = Date.now() - 60 * 60 * 1000;
      t.mock.method(Date, 'now', () => anHourAgo);
      const begun = [...before, ...begin()];
      t.mock.restoreAll();
      await Promise.all(begun.map((transfer) => transfer.finish(SUCCESS)));
      const { transfers } = await storage.history.list(accountId, ALL);
      assert.deepEqual(
        transfers.map((item) => item.id),
        begun.map((transfer) => transfer.id).reverse(),
      );
      const times = begun.map((transfer) => transfer.startedAt.getTime());
      assert.deepEqual(times, [...times].sort());
    });

    it('items older than retentionDays go, and their counts with them', async () => {
      const ownUrl = await server.createDatabase();
      const accountId = randomUUID();
      const first = await openTest(ownUrl);
      const old = first.history.begin(upload(accountId));
      await old.finish(SUCCESS);
      await first.history.begin(upload(accountId)).finish(SUCCESS);
      await first.close();
      const at = new Date(Date.now() - 40 * DAY_MS);
      const [day, month] = [at.toISOString().slice(0, 10), `${at.toISOString().slice(0, 7)}-01`];
      await withSql(ownUrl, async (sql) => {
        await sql`update transfers set id = ${firstIdAt(at)}, created_at = ${at} where id = ${old.id}`;
        await sql`update transfer_counts set items = 1`;
        await sql`insert into transfer_counts values (${accountId}, 'warehouse', ${day}, 'upload', 'success', 1)`;
        await sql`update monthly_usage set items = 1`;
        await sql`insert into monthly_usage (account_id, month, items) values (${accountId}, ${month}, 1)`;
      });
      const cleaner = await openTest(ownUrl, { retentionDays: 39 });
      await until(
        async () => ((await cleaner.history.count(accountId)) === 1 ? true : undefined),
        'the old item to go',
      );
      assert.equal((await cleaner.history.list(accountId, ALL)).total, 1);
      await cleaner.close();
      await withSql(ownUrl, async (sql) => {
        assert.deepEqual([...(await sql`select items::int from transfer_counts`)], [{ items: 1 }]);
        assert.deepEqual(
          [...(await sql`select items::int from monthly_usage order by month`)],
          [{ items: 0 }, { items: 1 }],
        );
      });
    });

    it('an account keeps only the newest lists, look-ups and polls, and all its transfers', async () => {
      const ownUrl = await server.createDatabase();
      const [accountId, other] = [randomUUID(), randomUUID()];
      const first = await openTest(ownUrl);
      const ended: { readonly id: string; readonly type: TransferType }[] = [];
      const types = ['list', 'exists', 'upload', 'list', 'poll', 'download'] as const;
      for (const type of [...types, ...types, ...types, ...types]) {
        const item = first.history.begin(upload(accountId, { type, countsAction: false }));
        await item.finish(SUCCESS);
        ended.push({ id: item.id, type });
      }
      for (let number = 0; number < 3; number++)
        await first.history.begin(upload(other, { type: 'list' })).finish(SUCCESS);
      await first.close();
      const keeper = await openTest(ownUrl, { freeItems: 3 });
      try {
        const kept = ended.filter(({ id, type }) => {
          const newest = ended.filter((item) => item.type === type).slice(-3);
          return type === 'upload' || type === 'download' || newest.some((item) => item.id === id);
        });
        await until(
          async () => ((await keeper.history.count(accountId)) === kept.length ? true : undefined),
          'the surplus to go',
        );
        const { transfers, total } = await keeper.history.list(accountId, ALL);
        assert.deepEqual(
          transfers.map(({ id }) => id),
          kept.map(({ id }) => id).reverse(),
        );
        assert.equal(total, kept.length);
        const { total: lists } = await keeper.history.list(accountId, { ...ALL, type: 'list' });
        assert.equal(lists, 3);
        assert.equal(await keeper.history.count(other), 3);
      } finally {
        await keeper.close();
      }
    });
  });
}

function moveBack(item: { id: string; connectionId: string; type: string; status: string; at: number }, byMs: number) {
  const at = item.at - byMs;
  const id = firstIdAt(new Date(at)).slice(0, 13) + item.id.slice(13);
  return { from: item.id, item: { ...item, id, at } };
}

/** Rises by one with every transaction that writes. */
async function writes(url: string): Promise<number> {
  const [row] = await withSql(url, (sql) => sql<{ id: string }[]>`select pg_current_xact_id()::text as id`);
  return Number(row?.id);
}
