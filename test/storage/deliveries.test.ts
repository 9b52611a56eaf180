/** The upgrade of version 1.1: deliveries are carried over, and later events are stored once for all their receivers. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Storage } from '../../src/storage/storage.js';
import { startPostgres, type PostgresServer } from '../servers/postgres.js';
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
