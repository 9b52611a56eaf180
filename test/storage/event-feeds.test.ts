/**
 * The event feeds: numbers without holes and without reordering for readers, with any writers, sequencers and crashes.
 * A failure is a number that is missing, comes twice, or appears after a higher one.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { uuidv7 } from '../../src/base/uuid.js';
import type { FeedPage, Storage } from '../../src/storage/storage.js';
import { Sequencer } from '../../src/events/sequencer.js';
import { DATABASES, FAILURE, openTest, SUCCESS, type TestServer, until, upload, withSql } from './databases.js';
import { ACCOUNT, accountOf } from './provisioned.js';

const PLAIN = { operations: [], format: 'standard', isActive: true } as const;

const log = (): void => undefined;

for (const kind of DATABASES) {
  describe(`event feeds, ${kind.name}`, { timeout: 900_000 }, () => {
    let server: TestServer;
    let url: string;
    let storage: Storage;
    let other: Storage;
    let sequencers: Sequencer[];
    let accountId: string;

    before(async () => {
      server = await kind.start();
      url = await server.createDatabase();
      storage = await openTest(url);
      other = await openTest(url);
      await storage.provision([ACCOUNT]);
      ({ accountId } = await accountOf(storage));
      sequencers = [storage, other].map(
        ({ events }) => new Sequencer({ ...events, retentionDays: 30, perAccount: 1_000, log }),
      );
      for (const sequencer of sequencers) sequencer.start();
    });
    after(async () => {
      await Promise.all((sequencers ?? []).map((sequencer) => sequencer.stop()));
      await Promise.all([storage?.close(), other?.close()]);
      await server?.stop();
    });

    const fail = async (on: Storage, changes = {}): Promise<string> => {
      const transfer = on.history.begin(upload(accountId, changes));
      await transfer.finish({ ...FAILURE, errorCode: 'unreachable', errorMessage: 'nobody there' });
      return transfer.id;
    };
    const readAll = async (on: Storage, from = 0): Promise<FeedPage['events'][number][]> => {
      const events: FeedPage['events'][number][] = [];
      for (let at = from; ;) {
        const page = await on.events.feeds.read(accountId, { after: at, limit: 50, connections: undefined });
        if (page.events.length === 0) return events;
        events.push(...page.events);
        at = page.nextAfter;
      }
    };
    const transferIn = ({ body }: FeedPage['events'][number]): string =>
      (JSON.parse(body) as { data: { transfer: { id: string } } }).data.transfer.id;

    test('many writers on two nodes, many readers: every number once, in order, and linked', async () => {
      const written = new Set<string>();
      const seen = [storage, other, storage, other].map(() => [] as FeedPage['events'][number][]);
      let isWriting = true;
      const readers = seen.map(async (events, index) => {
        const on = index % 2 === 0 ? storage : other;
        while (isWriting || events.length < written.size) {
          const page = await on.events.feeds.read(accountId, {
            after: events.at(-1)?.sequence ?? 0,
            limit: 37,
            connections: undefined,
          });
          events.push(...page.events);
        }
      });
      const writers = Array.from({ length: 40 }, async (_, index) => {
        for (let count = 0; count < 25; count += 1) written.add(await fail(index % 2 === 0 ? storage : other));
      });
      await Promise.all(writers);
      isWriting = false;
      await Promise.all(readers);
      assert.equal(written.size, 1000);
      for (const events of seen) {
        assert.deepEqual(
          events.map(({ sequence }) => sequence),
          Array.from({ length: 1000 }, (_, index) => index + 1),
        );
        assert.deepEqual(new Set(events.map(transferIn)), written);
        let previousId: string | null = null;
        for (const { sequence, body, type } of events) {
          const parsed = JSON.parse(body) as { sequence: number; id: string; previousId: string | null; type: string };
          assert.equal(type, 'transfer.failed');
          assert.deepEqual([parsed.sequence, parsed.previousId, parsed.type], [sequence, previousId, type]);
          previousId = parsed.id;
        }
      }
    });

    test('successes, and mistakes in the request, are no events', async () => {
      const from = (await readAll(storage)).length;
      await storage.history.begin(upload(accountId)).finish(SUCCESS);
      for (const errorCode of ['not_found', 'already_exists', 'client_gone', 'cancelled', 'pool_full', 'draining']) {
        await storage.history.begin(upload(accountId)).finish({ ...FAILURE, errorCode });
      }
      const expected: string[] = [];
      for (const errorCode of ['permission_denied', 'connection_lost', 'stall_timeout', 'internal', 'no_space']) {
        const transfer = storage.history.begin(upload(accountId));
        await transfer.finish({ ...FAILURE, errorCode });
        expected.push(transfer.id);
      }
      // No client waits for the result of a check, or for a copy from a watched folder.
      const poll = storage.history.begin(upload(accountId, { type: 'poll', direction: 'inbound' }));
      await poll.finish({ ...FAILURE, errorCode: 'not_found' });
      const copy = storage.history.begin(upload(accountId, { type: 'copy', copyId: randomUUID() }));
      await copy.finish({ ...FAILURE, errorCode: 'pool_full' });
      expected.push(poll.id, copy.id);
      await until(
        async () => ((await readAll(storage)).length >= from + expected.length ? true : undefined),
        'the events',
      );
      assert.deepEqual(new Set((await readAll(storage, from)).map(transferIn)), new Set(expected));
    });

    test('a transaction that commits late is numbered once it is visible, after the events that were numbered before', async () => {
      const last = (await storage.events.feeds.read(accountId, { after: 0, limit: 1, connections: undefined })).last;
      const insert = (sql: { (text: TemplateStringsArray, ...values: unknown[]): Promise<unknown> }, id: string) =>
        sql`insert into events (id, account_id, type, connection_ids, body, is_ready)
          values (${id}, ${accountId}, 'transfer.failed', '{warehouse}', '{"type":"transfer.failed"}', true)`;
      const late = uuidv7();
      const soon = uuidv7();
      await withSql(url, async (first) => {
        await first.begin(async (tx) => {
          await insert(tx as never, late);
          await withSql(url, (second) => insert(second as never, soon) as never);
          const ids = async (): Promise<unknown[]> =>
            (await readAll(other, last)).map(({ body }) => (JSON.parse(body) as { id: string }).id);
          await until(async () => ((await ids()).includes(soon) ? true : undefined), 'the one that has committed');
          assert.deepEqual(await ids(), [soon]);
        });
      });
      const events = await until(async () => {
        const found = await readAll(other, last);
        return found.length === 2 ? found : undefined;
      }, 'the late one');
      assert.deepEqual(
        events.map(({ body, sequence }) => [(JSON.parse(body) as { id: string }).id, sequence]),
        [
          [soon, last + 1],
          [late, last + 2],
        ],
      );
    });

    test('transfers of a dead node are reported', async () => {
      const { last } = await storage.events.feeds.read(accountId, { after: 0, limit: 1, connections: undefined });
      const dying = await openTest(url);
      const transfer = dying.history.begin(upload(accountId));
      await transfer.recordPending();
      await dying.close();
      const [event] = await until(async () => {
        const found = await readAll(storage, last);
        return found.length > 0 ? found : undefined;
      }, 'the event');
      assert.ok(event !== undefined);
      assert.equal(transferIn(event), transfer.id);
    });

    test('a key for some connections sees only events about these, and continues after the others', async () => {
      const { last } = await storage.events.feeds.read(accountId, { after: 0, limit: 1, connections: undefined });
      await fail(storage, { connectionId: 'a' });
      await fail(storage, { connectionId: 'b' });
      await fail(storage, { connectionId: 'a' });
      await until(async () => ((await readAll(storage, last)).length === 3 ? true : undefined), 'the events');
      const page = await storage.events.feeds.read(accountId, { after: last, limit: 2, connections: ['a'] });
      assert.deepEqual([page.events.map(({ sequence }) => sequence), page.nextAfter], [[last + 1], last + 2]);
      const rest = await storage.events.feeds.read(accountId, { after: page.nextAfter, limit: 2, connections: ['b'] });
      assert.deepEqual([rest.events, rest.nextAfter], [[], last + 3]);
    });

    test('a page holds a mebibyte, and one event at least', async () => {
      const { last } = await storage.events.feeds.read(accountId, { after: 0, limit: 1, connections: undefined });
      const body = JSON.stringify({ type: 'x', filler: 'x'.repeat(600_000) });
      await withSql(url, async (sql) => {
        for (let count = 0; count < 3; count += 1) {
          await sql`insert into events (id, account_id, type, connection_ids, body, is_ready)
            values (${uuidv7()}, ${accountId}, 'x', '{}', ${body}, true)`;
        }
      });
      await until(async () => ((await readAll(storage, last)).length === 3 ? true : undefined), 'the events');
      const page = await storage.events.feeds.read(accountId, { after: last, limit: 50, connections: undefined });
      assert.deepEqual([page.events.length, page.nextAfter], [2, last + 2]);
    });

    test('an account whose events cannot be numbered delays no other, nor does one with very many bytes', async () => {
      const [broken, heavy] = ['00000000-0000-7000-8000-000000000001', '00000000-0000-7000-8000-000000000002'] as const;
      const add = (account: string, body: string): Promise<unknown> =>
        withSql(
          url,
          (sql) => sql`insert into events (id, account_id, type, connection_ids, body, is_ready)
            values (${uuidv7()}, ${account}, 'x', '{}', ${body}, true)`,
        );
      await add(broken, '{"type":"x"}');
      const lastOf = async (account: string): Promise<number> =>
        (await storage.events.feeds.lastOf([account])).get(account) ?? 0;
      await until(async () => ((await lastOf(broken)) === 1 ? true : undefined), 'its first number');
      // Its next number is taken: every try fails.
      await withSql(url, (sql) => sql`update event_feeds set last_sequence = 0 where account_id = ${broken}`);
      await add(broken, '{"type":"x"}');
      for (let count = 0; count < 12; count += 1) {
        await add(heavy, JSON.stringify({ type: 'x', filler: 'x'.repeat(500_000) }));
      }
      const { last } = await storage.events.feeds.read(accountId, { after: 0, limit: 1, connections: undefined });
      await fail(storage);
      await until(async () => ((await lastOf(accountId)) === last + 1 ? true : undefined), 'the number of another one');
      await until(async () => ((await lastOf(heavy)) === 12 ? true : undefined), 'all of the heavy one');
      await withSql(url, (sql) => sql`update event_feeds set last_sequence = 1 where account_id = ${broken}`);
      await until(async () => ((await lastOf(broken)) === 2 ? true : undefined), 'its second number');
    });

    test('the newest are found page by page, of one type too, however seldom it is', async () => {
      const owner = randomUUID();
      await withSql(
        url,
        (sql) => sql`
          with feed as (
            insert into event_feeds (account_id, last_sequence, oldest_sequence) values (${owner}, 45000, 2)
          )
          insert into events (id, account_id, type, body, connection_ids, is_ready, sequence, numbered_at)
          select gen_random_uuid(), ${owner}::uuid, case when n < 4 then 'connection.up' else 'job.finished' end,
            case when n > 44997 then rpad('{', 600000, ' ') || '}' else '{}' end, '{}', true, n, now()
          from generate_series(1, 45000) n`,
      );
      const newest = async (type?: string, before?: number, limit = 3) => {
        const page = await storage.events.feeds.newest(owner, { type, before, limit });
        assert.equal(page.last, 45_000);
        return [page.events.map(({ sequence }) => sequence), page.nextBefore];
      };
      assert.deepEqual(await newest(), [[45_000, 44_999], 44_999], 'a page ends at a mebibyte');
      assert.deepEqual(await newest(undefined, 44_990), [[44_989, 44_988, 44_987], 44_987]);
      assert.deepEqual(await newest(undefined, 4), [[3, 2], null], 'what is no longer kept is not shown');
      assert.deepEqual(await newest(undefined, 4, 2), [[3, 2], null]);
      assert.deepEqual(await newest(undefined, 2), [[], null]);
      // No request scans more than 20,000 numbers.
      assert.deepEqual(await newest('connection.up'), [[], 25_001]);
      assert.deepEqual(await newest('connection.up', 25_001), [[], 5_001]);
      assert.deepEqual(await newest('connection.up', 5_001), [[3, 2], null]);
      const none = await storage.events.feeds.newest(randomUUID(), { type: undefined, before: undefined, limit: 3 });
      assert.deepEqual(none, { events: [], last: 0, nextBefore: null });
      await withSql(url, (sql) => sql`delete from events where account_id = ${owner}`);
    });

    test('a delivery that is sent again while the task of its last attempt is ending gets its own task', async () => {
      const { webhooks, outgoing, queue } = storage.events;
      const actor = { accountId, kind: 'key', id: null, email: 'k', address: '127.0.0.1', requestId: 'r' } as const;
      const settings = { url: 'https://example.com/', events: [], connections: [], ...PLAIN };
      const { webhook } = await webhooks.create(actor, settings, 5);
      const id = uuidv7();
      await withSql(
        url,
        (sql) => sql`
          insert into deliveries (id, event_id, webhook_id, account_id, type, body, file_count, state, created_at)
          values (${id}, ${uuidv7()}, ${webhook.id}, ${accountId}, 'transfer.failed', '{}', 0, 'dead', now())`,
      );
      const job = { key: id, account: accountId, group: 'g', data: {} };
      await queue.send('webhook-delivery', [job]);
      const none = { accounts: [], groups: [] };
      const mine = await queue.fetch('webhook-delivery', 100, none);
      assert.ok(mine.some(({ key }) => key === id));
      const event = await outgoing.find(id);
      assert.ok(event !== undefined);
      const replayed = outgoing.replay(event, 'g');
      await until(async () => ((await outgoing.find(id))?.state === 'pending' ? true : undefined), 'it is to be sent');
      await queue.finish('webhook-delivery', mine);
      assert.equal(await replayed, true);
      const next = await queue.fetch('webhook-delivery', 100, none);
      assert.ok(next.some(({ key }) => key === id));
      await queue.finish('webhook-delivery', next);
      assert.equal(await outgoing.replay({ ...event, id: uuidv7() }, 'g'), false);
    });

    test('an event is stored once for all its webhooks, which get what the feed shows', async () => {
      const { webhooks, deliveries, outgoing } = storage.events;
      const actor = { accountId, kind: 'key', id: null, email: 'k', address: '127.0.0.1', requestId: 'r' } as const;
      for (const path of ['one', 'two', 'three']) {
        const settings = { url: `https://example.com/${path}`, events: ['transfer.failed'], ...PLAIN } as const;
        await webhooks.create(actor, { ...settings, connections: [] }, 5);
      }
      const last = (await readAll(storage)).length;
      const id = await fail(storage);
      const event = await until(async () => (await readAll(storage, last)).at(0), 'its number');
      assert.equal(transferIn(event), id);
      const sent = (await deliveries.list(accountId, { type: 'transfer.failed' }, { limit: 10, offset: 0 })).slice(
        0,
        3,
      );
      for (const delivery of sent) {
        assert.equal((await outgoing.find(delivery.id))?.body, event.body);
        assert.equal((await deliveries.find(accountId, delivery.id))?.body, event.body);
      }
      assert.equal(new Set(sent.map(({ webhookId }) => webhookId)).size, 3);
      const columns = await withSql(
        url,
        (sql) => sql<{ events: number; deliveries: number }[]>`
          select (select count(*)::int from events where strpos(body, ${id}) > 0) as events,
            (select count(*)::int from deliveries where strpos(deliveries::text, ${id}) > 0) as deliveries`,
      );
      assert.deepEqual({ ...columns[0] }, { events: 1, deliveries: 0 });
      await withSql(url, (sql) => sql`delete from webhooks where account_id = ${accountId}`);
    });

    test('old events go, and no reader finds a hole', async () => {
      const all = await readAll(storage);
      const cut = all.length - 10;
      await withSql(url, async (sql) => {
        await sql`update events set numbered_at = now() - interval '31 days'
          where account_id = ${accountId} and sequence <= ${cut}`;
      });
      let isPruning = true;
      const reader = (async () => {
        while (isPruning) {
          const page = await other.events.feeds.read(accountId, {
            after: undefined,
            limit: 20,
            connections: undefined,
          });
          assert.equal(page.events[0]?.sequence, page.oldest);
          assert.deepEqual(
            page.events.map(({ sequence }) => sequence),
            page.events.map((_, index) => page.oldest + index),
          );
        }
      })();
      while (await storage.events.feeds.prune(30, 1_000));
      isPruning = false;
      await reader;
      const page = await storage.events.feeds.read(accountId, {
        after: undefined,
        limit: 20,
        connections: undefined,
      });
      assert.deepEqual([page.oldest, page.last], [cut + 1, all.length]);
      assert.deepEqual(await readAll(storage), all.slice(cut));
      const rows = await withSql(url, (sql) => sql`select from events where account_id = ${accountId}`);
      assert.equal(rows.count, 10);
      await withSql(url, (sql) => sql`update events set numbered_at = now() - interval '31 days'`);
      while (await storage.events.feeds.prune(30, 1_000));
      const empty = await storage.events.feeds.read(accountId, {
        after: undefined,
        limit: 20,
        connections: undefined,
      });
      assert.deepEqual(
        [empty.events, empty.nextAfter, empty.oldest, empty.last],
        [[], all.length, all.length + 1, all.length],
      );
      await fail(storage);
      const next = await until(async () => (await readAll(storage, all.length))[0], 'the next one');
      assert.equal(next.sequence, all.length + 1);
    });

    test('an account keeps the newest events, and the newest deliveries that have ended', async () => {
      const before = (await readAll(storage)).length;
      for (let number = 0; number < 12; number++) await fail(storage);
      await until(async () => ((await readAll(storage)).length === before + 12 ? true : undefined), 'the events');
      while (await storage.events.feeds.prune(30, 5));
      const page = await storage.events.feeds.read(accountId, {
        after: undefined,
        limit: 20,
        connections: undefined,
      });
      assert.equal(page.events.length, 5);
      assert.deepEqual([page.oldest, page.events.at(-1)?.sequence], [page.last - 4, page.last]);
      const rows = await withSql(url, (sql) => sql`select from events where account_id = ${accountId}`);
      assert.equal(rows.count, 5);
      assert.equal(await storage.events.feeds.prune(30, 5), false);
    });
  });
}
