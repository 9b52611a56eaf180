/**
 * A rolling upgrade: nodes of former versions write events, with these statements, beside new nodes. Version 1.0 knows
 * of no feed. In version 1.1 each delivery has its own body. Every event has a number, none is lost or duplicated, and
 * receivers get the same bytes as the feed shows.
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { uuidv7 } from '../../src/base/uuid.js';
import type { WatchedFolder } from '../../src/contract/watched-folder.js';
import { FAILURE, upload, withSql } from '../storage/databases.js';
import { WatchRig } from '../watch/support/rig.js';

const PLAIN = { operations: [], format: 'standard', isActive: true } as const;

type Sql = Parameters<Parameters<typeof withSql>[1]>[0];

interface Numbered {
  readonly sequence: number;
  readonly id: string;
  readonly previousId: string | null;
}

suite('events of nodes of former versions', { timeout: 900_000 }, () => {
  let rig: WatchRig;
  before(async () => {
    rig = await WatchRig.open({
      watcher: { settleMs: 0 },
      network: { webhooks: { allow: ['127.0.0.1/32'] } },
    });
  });
  after(() => rig.close());

  const BODY = JSON.stringify({ type: 'watched_folder.files_detected', timestamp: 'now', data: { files: [] } });
  const sql = <T>(work: (sql: Sql) => Promise<T>): Promise<T> => withSql(rig.postgres.url, work);
  /** A row as the former version writes it; so old that its delivery counts as one without a task. */
  const write = (on: Sql, { id }: WatchedFolder, event: string, copyState = 'none'): PromiseLike<unknown> => on`
    insert into webhook_events (id, folder_id, account_id, type, body, file_count, files, state, next_attempt_at,
      copy_state, created_at)
    values (${event}, ${id}, ${rig.bench.accountId}, 'watched_folder.files_detected', ${BODY}, 0, '[]',
      'pending', now() - interval '2 minutes', ${copyState}, now())`;
  const feed = async (from = 0): Promise<{ body: string; parsed: Numbered }[]> => {
    const { events } = await rig.bench.storage.events.feeds.read(rig.bench.accountId, {
      after: from,
      limit: 1000,
      connections: undefined,
    });
    return events.map(({ body }) => ({ body, parsed: JSON.parse(body) as Numbered }));
  };
  const last = async (): Promise<number> => (await feed()).length;

  test('many events of both versions at once: each has one number, and receivers get what the feed shows', async () => {
    const { bench, receiver } = rig;
    const { accountId, storage } = bench;
    const { folder } = await rig.watched({ webhookUrl: receiver.url });
    const actor = { accountId, kind: 'key', id: null, email: 'k', address: '127.0.0.1', requestId: 'r' } as const;
    const url = new URL('/subscribed', receiver.url).href;
    const events = ['watched_folder.files_detected', 'transfer.failed'] as never;
    await storage.events.webhooks.create(actor, { url, events, connections: ['ssh'], ...PLAIN }, 5);
    const from = await last();
    const written = new Set<string>();
    const former = Array.from({ length: 8 }, (_, index) =>
      sql(async (one) => {
        for (let count = 0; count < 10; count += 1) {
          const [kept, undone] = [uuidv7(), uuidv7()];
          written.add(kept);
          await one.begin(async (tx) => {
            await write(tx as never, folder, kept);
            await tx`select pg_sleep(${(index % 3) / 100})`;
          });
          // A transaction that never commits takes no number.
          await one
            .begin(async (tx) => {
              await write(tx as never, folder, undone);
              throw new Error('undone');
            })
            .catch(() => undefined);
        }
      }),
    );
    const own = Array.from({ length: 8 }, async () => {
      for (let count = 0; count < 10; count += 1) {
        const changes = { connectionId: 'ssh', type: 'download', direction: 'inbound' } as const;
        await storage.history.begin(upload(accountId, changes)).finish({ ...FAILURE, errorCode: 'connection_lost' });
      }
    });
    await Promise.all([...former, ...own]);
    await bench.until(async () => (await last()) >= from + 160, 'all are numbered');
    const found = (await feed()).map(({ parsed }) => parsed);
    assert.deepEqual(
      found.map(({ sequence }) => sequence),
      found.map((_, index) => index + 1),
    );
    assert.deepEqual(
      found.map(({ previousId }) => previousId),
      [null, ...found.slice(0, -1).map(({ id }) => id)],
    );
    assert.deepEqual(new Set(found.map(({ id }) => id).filter((id) => written.has(id))), written);
    assert.equal(found.length, from + 160);

    const sentTo = (path: string): string[] =>
      receiver.received.filter((one) => one.path === path).map(({ text }) => text);
    const bodies = (await feed(from)).map(({ body }) => body);
    await bench.until(async () => {
      await storage.events.outgoing.recoverForgotten();
      const ofFolder = new Set(sentTo(new URL(receiver.url).pathname));
      return new Set(sentTo('/subscribed')).size === 160 && ofFolder.size === written.size;
    }, 'all are sent');
    assert.deepEqual(sentTo('/subscribed').sort(), [...bodies].sort());
    const own_ = new Set(written);
    assert.deepEqual(
      sentTo(new URL(receiver.url).pathname).sort(),
      bodies.filter((body) => own_.has((JSON.parse(body) as Numbered).id)).sort(),
    );
  });

  test('files whose copies one version began and the other ended: reported once, as they were copied', async () => {
    const { folder } = await rig.watched({ webhookUrl: rig.receiver.url });
    const from = await last();
    const [ours, theirs] = [uuidv7(), uuidv7()];
    const COPIED = BODY.replace('[]', '["copied"]');
    await sql(async (one) => {
      await write(one, folder, theirs, 'pending');
      await write(one, folder, ours, 'pending');
      // As a new node begins the copies.
      await one`insert into events (id, account_id, type, connection_ids, body, is_ready)
        values (${ours}, ${rig.bench.accountId}, 'watched_folder.files_detected', '{ssh}', ${BODY}, false)`;
    });
    assert.equal(await last(), from);
    // As the former version ends the copies.
    await sql(
      (one) => one`update webhook_events set body = ${COPIED}, copy_state = 'done', next_attempt_at = now()
        where id in (${ours}, ${theirs})`,
    );
    const found = await feed(from);
    assert.deepEqual(new Set(found.map(({ parsed }) => parsed.id)), new Set([ours, theirs]));
    assert.ok(found.every(({ body }) => body.includes('"copied"')));
    const rows = await sql((one) => one`select from events where id in (${ours}, ${theirs})`);
    assert.equal(rows.count, 2);
  });

  test('a node of version 1.1 writes, numbers and sends beside a new one, and a receiver is down for a while', async () => {
    const { bench, receiver } = rig;
    const { accountId, storage } = bench;
    const url = new URL('/of-both', receiver.url).href;
    const { folder } = await rig.watched({ webhookUrl: new URL('/of-folder', receiver.url).href });
    const actor = { accountId, kind: 'key', id: null, email: 'k', address: '127.0.0.1', requestId: 'r' } as const;
    const events = ['watched_folder.files_detected'] as never;
    await storage.events.webhooks.create(actor, { url, events, connections: [], ...PLAIN }, 5);
    const from = await last();

    const taken: { path: string; text: string }[] = [];
    const refused = new Set<string>();
    receiver.received.length = 0;
    receiver.respond = ({ path, text }, response) => {
      if (!path.startsWith('/of-')) return void response.writeHead(204).end();
      const isFirst = !refused.has(path + text);
      refused.add(path + text);
      if (!isFirst) taken.push({ path, text });
      response.writeHead(isFirst ? 503 : 204).end();
    };

    const written = new Set<string>();
    let isWriting = true;
    let numberedByFormer = 0;
    const former = async (one: Sql): Promise<void> => {
      for (let count = 0; count < 20; count += 1) {
        const id = uuidv7();
        written.add(id);
        await one.begin(async (transaction) => {
          const tx = transaction as never as Sql;
          await tx`
            insert into webhook_events (id, folder_id, account_id, type, body, file_count, files, state,
              next_attempt_at, copy_state, is_in_feed, connection_ids, created_at)
            values (${id}, ${folder.id}, ${accountId}, 'watched_folder.files_detected', ${BODY}, 0, '[]', 'pending',
              null, 'none', true, '{ssh}', now())`;
          await tx`
            insert into events (id, account_id, type, connection_ids, body, is_ready)
            values (${id}, ${accountId}, 'watched_folder.files_detected', '{ssh}', ${BODY}, true)`;
        });
      }
    };
    /** Numbers and addresses what waits, tries it once in vain, and leaves it to any node. */
    const formerSequencer = async (one: Sql): Promise<void> => {
      while (isWriting) {
        const tried = (await one.begin(async (transaction) => {
          const tx = transaction as never as Sql;
          const [locked] = await tx<{ last: string; lastId: string | null }[]>`
            select last_sequence as last, last_id as "lastId" from event_feeds where account_id = ${accountId}
            for update skip locked`;
          if (locked === undefined) return [];
          return tx<{ id: string }[]>`
            with batch as (
              select id, ${locked.last}::bigint + row_number() over line as sequence,
                coalesce(lag(id) over line, ${locked.lastId}::uuid) as previous
              from (select id, created_at from events
                where account_id = ${accountId} and sequence is null and is_ready order by created_at, id limit 3) as w
              window line as (order by created_at, id)
            ),
            numbered as (
              update events e set sequence = b.sequence, numbered_at = clock_timestamp(),
                body = '{"sequence":' || b.sequence || ',"id":"' || e.id || '","previousId":'
                  || coalesce('"' || b.previous || '"', 'null') || ',' || substr(e.body, 2)
              from batch b where e.id = b.id
              returning e.id, e.account_id, e.sequence, e.type, e.connection_ids, e.body
            ),
            moved as (
              update event_feeds set last_sequence = n.sequence, last_id = n.id
              from (select sequence, id from numbered order by sequence desc limit 1) n where account_id = ${accountId}
            ),
            own as (
              update webhook_events w set body = n.body,
                next_attempt_at = case when w.state = 'pending' then now() else w.next_attempt_at end
              from numbered n where w.id = n.id
              returning w.id, w.state, w.folder_id, w.webhook_url
            ),
            others as (
              insert into webhook_events (id, event_id, webhook_id, account_id, type, body, file_count, state,
                next_attempt_at, connection_ids, created_at)
              select overlay(gen_random_uuid()::text placing left(n.id::text, 15) from 1 for 15)::uuid, n.id, h.id,
                n.account_id, n.type, n.body, 0, 'pending', now(), n.connection_ids, now()
              from numbered n join webhooks h on h.account_id = n.account_id and h.is_active and h.deleted_at is null
                and n.type = any (h.events) and (h.connection_ids = '{}' or n.connection_ids <@ h.connection_ids)
              returning id, webhook_id
            )
            select id from own where state = 'pending' union all select id from others`;
        })) as readonly { id: string }[];
        for (const { id } of tried) {
          numberedByFormer += 1;
          const [sent] = await one<{ body: string }[]>`select body from webhook_events where id = ${id}`;
          assert.match(sent?.body ?? '', /^\{"sequence":\d+,/);
          await one`
            update webhook_events set attempts = attempts + 1, state = 'pending',
              next_attempt_at = now() - interval '2 minutes', delivered_at = null, after_action = after_action
            where id = ${id} and (state = 'pending' or false)`;
        }
      }
    };
    const own = async (): Promise<void> => {
      for (let count = 0; count < 20; count += 1) {
        const id = uuidv7();
        written.add(id);
        const type = 'watched_folder.files_detected';
        await storage.watching.outbox.add(undefined, [
          { id, type, accountId, connectionIds: ['ssh'], body: BODY, receiver: { watchedFolderId: folder.id } },
        ]);
      }
    };
    const numbering = sql(formerSequencer);
    await Promise.all([sql(former), sql(former), own(), own()]);
    await bench.until(async () => (await last()) === from + written.size, 'all are numbered');
    isWriting = false;
    await numbering;
    assert.ok(numberedByFormer > 0);

    const found = await feed(from);
    assert.deepEqual(new Set(found.map(({ parsed }) => parsed.id)), written);
    found.forEach(({ parsed }, index) => assert.equal(parsed.sequence, from + index + 1));
    await bench.until(async () => {
      await storage.events.outgoing.recoverForgotten();
      const open = await sql(
        (one) => one`
          select from deliveries where state = 'pending' and coalesce(event_id, id) in ${one([...written])}`,
      );
      return open.count === 0;
    }, 'all are delivered');
    const bodies = found.map(({ body }) => body).sort();
    for (const path of ['/of-folder', '/of-both']) {
      const texts = taken.filter((one) => one.path === path).map(({ text }) => text);
      assert.deepEqual(texts.sort(), bodies, path);
    }
    const stored = await sql(
      (one) => one`select from deliveries where body is not null and coalesce(event_id, id) in ${one([...written])}`,
    );
    assert.equal(stored.count, 0, 'each body is stored once');

    // As version 1.1 deletes old events and deliveries.
    await sql(async (one) => {
      const ids = one([...written]);
      await one`delete from events where id in (select id from events where id in ${ids})`;
      assert.equal((await one`select from events where id in ${ids}`).count, written.size);
      const { count } = await one`
        delete from webhook_events where id in (
          select id from webhook_events
          where coalesce(event_id, id) in ${ids} and state in ('delivered', 'cancelled') and after_action <> 'pending')`;
      // To the folder's receiver, to this webhook, and to that of the first test.
      assert.equal(count, 3 * written.size);
      await one`delete from events where id in ${ids}`;
      assert.equal((await one`select from events where id in ${ids}`).count, 0);
    });
  });
});
