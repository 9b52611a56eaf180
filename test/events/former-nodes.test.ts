/**
 * A rolling upgrade: nodes of the version before the feed write events, with these statements, beside new nodes. Every
 * event has a number, none is lost or duplicated, and receivers get the same bytes as the feed shows.
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { uuidv7 } from '../../src/base/uuid.js';
import type { WatchedFolder } from '../../src/contract/watched-folder.js';
import { FAILURE, upload, withSql } from '../storage/databases.js';
import { WatchRig } from '../watch/support/rig.js';

type Sql = Parameters<Parameters<typeof withSql>[1]>[0];

interface Numbered {
  readonly sequence: number;
  readonly id: string;
  readonly previousId: string | null;
}

suite('events of nodes of the former version', { timeout: 120_000 }, () => {
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
    await storage.events.webhooks.create(actor, { url, events, connections: ['ssh'], isActive: true }, 5);
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

    const told = (path: string): string[] =>
      receiver.received.filter((one) => one.path === path).map(({ text }) => text);
    const bodies = (await feed(from)).map(({ body }) => body);
    await bench.until(async () => {
      await storage.events.outgoing.recoverForgotten();
      const ofFolder = new Set(told(new URL(receiver.url).pathname));
      return new Set(told('/subscribed')).size === 160 && ofFolder.size === written.size;
    }, 'all are told');
    assert.deepEqual(told('/subscribed').sort(), [...bodies].sort());
    const own_ = new Set(written);
    assert.deepEqual(
      told(new URL(receiver.url).pathname).sort(),
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
});
