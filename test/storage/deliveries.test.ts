/** The upgrade of version 1.1: deliveries are carried over, and later events are stored once for all their receivers. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Storage } from '../../src/storage/storage.js';
import { startPostgres, type PostgresServer } from '../servers/postgres.js';
import { eventually } from '../support/eventually.js';
import { openTest, withSql } from './databases.js';
import { DELIVERIES, FORMER_ACCOUNT, FORMER_WEBHOOK, makeFormer, VERSION_1_1 } from './former.js';

describe('deliveries of version 1.1', () => {
  let server: PostgresServer;
  let storage: Storage;
  let url: string;
  before(async () => {
    server = await startPostgres();
    const former = new URL(server.url);
    former.pathname = '/carried';
    url = former.href;
    await withSql(server.url, (sql) => sql.unsafe('create database carried'));
    await makeFormer(url, VERSION_1_1);
    storage = await openTest(url);
  });
  after(async () => {
    await storage?.close();
    await server?.stop();
  });

  const read = () => storage.events.feeds.read(FORMER_ACCOUNT, { after: undefined, limit: 10, connections: undefined });
  const bodyOf = async (id: string): Promise<string | undefined> => (await storage.events.outgoing.find(id))?.body;

  test('open ones, dead letters and numbers are those of before', async () => {
    for (const one of Object.values(DELIVERIES)) {
      const shown = await storage.events.deliveries.find(FORMER_ACCOUNT, one.id);
      const { id, body, state, attempts, eventId, webhookId } = shown ?? assert.fail(`no ${one.id}`);
      const [event, webhook] = 'event' in one ? [one.event, FORMER_WEBHOOK] : [one.id, null];
      assert.deepEqual(
        { id, body, state, attempts, eventId, webhookId },
        { id: one.id, body: one.body, state: one.state, attempts: 2, eventId: event, webhookId: webhook },
      );
      assert.equal(await bodyOf(one.id), one.body);
    }
    const { events, oldest, last } = await read();
    assert.deepEqual([oldest, last], [2, 3]);
    assert.deepEqual(
      events.map(({ body }) => body),
      [DELIVERIES.open.body, DELIVERIES.delivered.body],
    );
  });

  test('an event that waited for its number gets the next one, and is sent with it', async () => {
    assert.equal((await storage.events.numbers.give(FORMER_ACCOUNT)).numbered, 1);
    const { id } = DELIVERIES.unnumbered;
    const body = `{"sequence":4,"id":"${id}","previousId":"${DELIVERIES.delivered.id}","data":4}`;
    assert.equal((await read()).events.at(-1)?.body, body);
    const filter = { type: 'job.finished', state: 'pending' } as const;
    const found = await storage.events.deliveries.list(FORMER_ACCOUNT, filter, { limit: 10, offset: 0 });
    const ids = found.filter(({ eventId }) => eventId === id).map((one) => one.id);
    assert.equal(ids.length, 2, 'the receiver of the job and the webhook');
    for (const one of ids) assert.equal(await bodyOf(one), body);
    const own = await withSql(url, (sql) => sql`select from deliveries where id in ${sql(ids)} and body is not null`);
    assert.equal(own.count, 0);
  });

  test('results of many deliveries are stored together; one that is refused or locked does not hold up the others', async () => {
    const ids = await withSql(url, async (sql) => {
      const rows = await sql<{ id: string }[]>`
        insert into deliveries (id, event_id, webhook_id, account_id, type, file_count, state, next_attempt_at, body, created_at)
        select gen_random_uuid(), gen_random_uuid(), ${FORMER_WEBHOOK}, ${FORMER_ACCOUNT}, 'connection.up', 0, 'pending',
          now(), '{}', now() from generate_series(1, 20) returning id`;
      return rows.map(({ id }) => id);
    });
    const { outgoing } = storage.events;
    const events = await Promise.all(ids.map(async (id) => (await outgoing.find(id)) ?? assert.fail(`no ${id}`)));
    const attempt = (status: number) => ({
      startedAt: new Date(),
      durationMs: 3,
      status,
      errorCode: null,
      errorMessage: null,
      answer: 'a \0 is not storable',
      url: 'http://127.0.0.1/',
      requestHeaders: { 'webhook-id': 'one' },
      answerHeaders: null,
    });
    const [refused, locked, retried] = ids;
    const again = new Date(Date.now() + 60_000);
    const verdictOf = (id: string) =>
      id === retried ? ({ kind: 'retry', at: again } as const) : ({ kind: 'delivered' } as const);
    await withSql(url, async (sql) => {
      let recorded: Promise<PromiseSettledResult<void>[]> | undefined;
      await sql.begin(async (tx) => {
        await tx`select from deliveries where id = ${locked ?? ''} for update`;
        // The column has four bytes.
        const statusOf = (id: string): number => (id === refused ? 2 ** 40 : 200);
        recorded = Promise.allSettled(
          events.map((event) => outgoing.record(event, attempt(statusOf(event.id)), verdictOf(event.id))),
        );
        const others = ids.filter((id) => id !== refused && id !== locked && id !== retried);
        const open = async (): Promise<number> =>
          (await tx`select from deliveries where id in ${tx(others)} and state = 'pending'`).count;
        await eventually(async () => (await open()) === 0, 'the others are delivered while one is locked');
      });
      const failed = (await recorded)?.map(({ status }, index) => (status === 'rejected' ? ids[index] : undefined));
      assert.deepEqual(failed?.filter(Boolean), [refused]);
    });
    for (const id of ids) {
      const [event, attempts] = [await outgoing.find(id), await outgoing.attempts(id)];
      const expected = id === refused || id === retried ? 'pending' : 'delivered';
      assert.deepEqual([event?.state, event?.attempts], [expected, id === refused ? 0 : 1], id);
      if (id === refused) continue;
      assert.equal(attempts.length, 1);
      const [{ answer, requestHeaders, answerHeaders, status } = assert.fail('no attempt')] = attempts;
      assert.deepEqual(
        { answer, requestHeaders, answerHeaders, status },
        {
          answer: 'a \ufffd is not storable',
          requestHeaders: { 'webhook-id': 'one' },
          answerHeaders: null,
          status: 200,
        },
      );
    }
    assert.equal((await outgoing.find(retried ?? ''))?.nextAttemptAt?.getTime(), again.getTime());
  });

  test('the feed deletes old events, except those of which a delivery is stored', async () => {
    await withSql(url, (sql) => sql`update events set numbered_at = now() - interval '31 days'`);
    while (await storage.events.feeds.prune(30, 1_000));
    assert.deepEqual((await read()).events, []);
    const rows = await withSql(url, (sql) => sql<{ id: string }[]>`select id from events`);
    assert.deepEqual(
      rows.map(({ id }) => id),
      [DELIVERIES.unnumbered.id],
    );
    for (const { id, body } of [DELIVERIES.open, DELIVERIES.dead]) assert.equal(await bodyOf(id), body);
    assert.match((await bodyOf(DELIVERIES.unnumbered.id)) ?? '', /"sequence":4/);
    await withSql(url, (sql) => sql`delete from deliveries`);
    while (await storage.events.feeds.prune(30, 1_000));
    assert.equal((await withSql(url, (sql) => sql`select from events`)).count, 0);
  });
});
