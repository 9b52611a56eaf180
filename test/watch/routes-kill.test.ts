/**
 * Nodes are killed while they copy the files of a watched folder. In the end, every file is at the target, once and
 * complete, its copy is in the history once, and one event reports it with its path. `rename` makes every surplus copy
 * visible.
 *
 * ROUTE_KILLS: the number of kills (default 6).
 */
import assert from 'node:assert/strict';
import { randomBytes, randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { after, before, describe, test } from 'node:test';
import { history } from '../jobs/support.js';
import { FTP_SERVERS, SFTP_SERVERS, type TestServer } from '../servers/catalogue.js';
import { startPostgres, type PostgresServer } from '../servers/postgres.js';
import { makeChecksDue, TEST_KEY, withSql } from '../storage/databases.js';
import { eventually } from '../support/eventually.js';
import { KEY, startGateway, type TestGateway } from '../support/gateway.js';
import { held } from '../support/reliability.js';
import { startReceiver, type Receiver } from './support/receiver.js';

const KILLS = Number(process.env['ROUTE_KILLS'] ?? 6);
const KILL_EVERY_MS = 2_500;
/** More files would come the slower the machine is, and each of them has to be copied in the end. */
const MOST_FILES_AHEAD = 200;

interface Reported {
  readonly path: string;
  readonly copy?: {
    readonly connectionId: string;
    readonly path?: string;
    readonly size?: number;
    readonly error?: string;
  };
}

describe('a watched folder with copyTo, on nodes that are killed', () => {
  let postgres: PostgresServer;
  let source: TestServer;
  let target: TestServer;
  let receiver: Receiver;
  const gateways: TestGateway[] = [];
  const contents = new Map<string, Buffer>();

  const startNode = (): Promise<TestGateway> =>
    startGateway({
      env: { GATEWAY_MASTER_KEY: TEST_KEY },
      config: {
        database: { url: postgres.url },
        watcher: { settleMs: 300 },
        webhooks: { retryMs: Array.from({ length: 100 }, () => 300), filesPerEvent: 20 },
        network: { webhooks: { allow: ['127.0.0.1/32'] } },
        accounts: [
          {
            email: 'test@example.com',
            plan: 'pro',
            apiKeys: [{ name: 'test', key: KEY }],
            connections: [
              { id: 'from', name: 'From', ...source.connection },
              { id: 'to', name: 'To', ...target.connection },
            ],
          },
        ],
      },
    });
  const isDue = (): Promise<void> => withSql(postgres.url, makeChecksDue);

  before(async () => {
    const [sftp, ftp] = [SFTP_SERVERS[1], FTP_SERVERS[0]];
    assert.ok(sftp !== undefined && ftp !== undefined);
    [postgres, source, target, receiver] = await Promise.all([
      ...([startPostgres(), sftp.start(), ftp.start(), startReceiver()] as const),
    ]);
    gateways.push(await startNode());
    gateways.push(await startNode());
  });
  after(async () => {
    for (const gateway of gateways) await gateway.stop();
    await Promise.all([source?.stop(), target?.stop(), receiver?.close()]);
    await postgres?.stop();
  });

  test(`${KILLS} kills`, { timeout: 900_000 }, async (t) => {
    await source.disk.write('/in/.keep', '');
    const api = (): TestGateway['api'] => (gateways[0] ?? assert.fail()).api;
    const created = await api().post('/api/watched-folders', {
      connectionId: 'from',
      path: '/in',
      webhookUrl: receiver.url,
      scheduleMinutes: 1,
      recursive: true,
      copyTo: { connectionId: 'to', path: '/out', onConflict: 'rename' },
    });
    assert.equal(created.status, 201, created.text);
    await eventually(async () => {
      const rows = await withSql(postgres.url, (sql) => sql`select from watched_folders where baseline_at is null`);
      return rows.count === 0;
    }, 'the baseline');

    let isRaging = true;
    const write = async (): Promise<void> => {
      for (let number = 0; isRaging; number++) {
        const name = `${number % 3 === 0 ? 'deep/' : ''}${number}.bin`;
        const content = randomBytes(number % 10 === 0 ? 3_000_000 : randomInt(1, 9_000));
        contents.set(name, content);
        await source.disk.write(`/in/${name}`, content);
        if (number % 10 === 0) {
          await isDue();
          const isNear = async () => !isRaging || (await copies('done')) >= number - MOST_FILES_AHEAD;
          await eventually(isNear, 'the copies keep up');
        }
        await delay(40);
      }
    };
    const copies = (state: 'waiting' | 'done'): Promise<number> =>
      withSql(postgres.url, async (sql) => (await sql`select from route_copies where state = ${state}`).count);
    const writing = write();
    for (let kill = 0; kill < KILLS; kill++) {
      await delay(KILL_EVERY_MS);
      await isDue();
      // While copies are running.
      await eventually(async () => (await copies('waiting')) > 0, 'files wait to be copied');
      const index = kill % gateways.length;
      const victim = gateways[index] ?? assert.fail();
      assert.equal(victim.process.exitCode, null, victim.output().slice(-3000));
      await victim.kill();
      await victim.stop();
      gateways[index] = await startNode();
    }
    isRaging = false;
    await writing;

    const bodies = new Map<string, Set<string>>();
    const announced = (): Map<string, Reported> => {
      for (const { headers, text } of receiver.received) {
        const id = String(headers['webhook-id']);
        bodies.set(id, (bodies.get(id) ?? new Set()).add(text));
      }
      const files = [...bodies.values()].flatMap(
        ([text]) => (JSON.parse(text ?? '') as { data: { files: Reported[] } }).data.files,
      );
      assert.equal(new Set(files.map(({ path }) => path)).size, files.length, 'each file is in one event');
      return new Map(files.map((file) => [file.path, file]));
    };
    const due = setInterval(() => void isDue().catch(() => undefined), 2_000);
    try {
      await eventually(() => announced().size === contents.size, 'every file is reported').catch(
        async (error: unknown) => {
          const left = await withSql(postgres.url, (sql) => sql`select * from route_copies where state <> 'done'`);
          throw new Error(`${announced().size} of ${contents.size}; ${JSON.stringify(left.slice(0, 5))}`, {
            cause: error,
          });
        },
      );
    } finally {
      clearInterval(due);
    }
    for (const [id, all] of bodies) assert.equal(all.size, 1, `event ${id} was sent with two bodies`);
    for (const [name, content] of contents) {
      const { copy } = announced().get(`/in/${name}`) ?? assert.fail(name);
      assert.deepEqual(copy, { connectionId: 'to', path: `/out/${name}`, size: content.length });
      assert.ok(content.equals(await target.disk.read(`/out/${name}`)), `${name} is whole`);
    }
    const standing = (await target.disk.files('/out')).filter((file) => !file.includes('/.ftg-'));
    assert.deepEqual(standing.sort(), [...contents.keys()].map((name) => `/out/${name}`).sort(), 'none appears twice');
    const items = await history(api(), { type: 'copy' });
    assert.deepEqual(
      items.map(({ path, status }) => `${status} ${path}`).sort(),
      [...contents.keys()].map((name) => `success /out/${name}`).sort(),
      'each copy is in the history once',
    );
    t.diagnostic(`${contents.size} files, ${bodies.size} events, ${KILLS} kills`);
    held({
      area: 'Faults',
      what: 'nodes that copy files of a watched folder are killed (SIGKILL)',
      done: `${KILLS} times, one of two at a time, while files keep coming`,
      held: 'every file is copied whole, once, and reported afterwards by one event; the history has it once',
      tries: KILLS,
    });
  });
});
