/**
 * Two nodes on a distant database, with a wrong clock. Former defect: the time since when a file was unchanged came
 * from the clock of the node that had scanned it; for the other node it was long ago, so it reported files that were
 * still growing.
 */
import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { verifyWebhook } from '../../../src/client/index.js';
import { expectError, uploadRaw } from '../../api/support.js';
import { ended, run } from '../../jobs/support.js';
import { startSshd, type TestSshd } from '../../servers/sshd.js';
import { startPostgres, type PostgresServer } from '../../servers/postgres.js';
import { tellDue, TEST_KEY, withSql } from '../../storage/databases.js';
import { KEY, startGateway, type TestGateway } from '../../support/gateway.js';
import { startProxy, type Proxy } from '../../support/proxy.js';
import { held } from '../../support/reliability.js';
import { startReceiver, type Receiver } from '../../watch/support/receiver.js';
import { eventually } from '../../support/eventually.js';
import { startTogether } from '../../support/together.js';

const OFF_BY_MS = 10_000;
/** Far more than a busy machine delays a report. */
const FAR_OFF_MS = 60_000;
/** Files that still grow must not seem to rest on a busy machine. */
const SETTLE_MS = 8_000;
const GROWS_EVERY_MS = 1_000;
const FILES = 8;
const LOOKS = 40;
/** The delay of each piece, in each direction. */
const DATABASE_MS = 5;
const EMAIL = 'test@example.com';
const PASSWORD = 'correct horse battery staple';
const PATIENCE_MS = 60_000;

describe('nodes with different clocks', { timeout: 900_000 }, () => {
  const clockFolder = mkdtempSync(path.join(tmpdir(), 'ftg-clock-'));
  const offsetFile = path.join(clockFolder, 'offset');
  let postgres: PostgresServer;
  let proxy: Proxy;
  let sshd: TestSshd;
  let receiver: Receiver;
  let right: TestGateway;
  let wrong: TestGateway;

  const startNode = (env: Readonly<Record<string, string>> = {}): Promise<TestGateway> =>
    startGateway({
      env: { GATEWAY_MASTER_KEY: TEST_KEY, ...env },
      config: {
        database: { url: postgres.url.replace(`:${postgres.port}/`, `:${proxy.port}/`) },
        network: { webhooks: { allow: ['127.0.0.0/8'] } },
        watcher: { settleMs: SETTLE_MS },
        accounts: [
          {
            email: EMAIL,
            password: PASSWORD,
            plan: 'pro',
            apiKeys: [{ name: 'test', key: KEY, scopes: ['read', 'write', 'watch', 'admin'] }],
            connections: [
              {
                id: 'ssh',
                name: 'SSH',
                type: 'sftp',
                host: '127.0.0.1',
                port: sshd.port,
                username: sshd.username,
                privateKeyFile: sshd.clientKeyFile,
                rootPath: sshd.files,
              },
            ],
          },
        ],
      },
    });

  before(async () => {
    [postgres, sshd, receiver] = await startTogether([startPostgres({ clock: true }), startSshd(), startReceiver()]);
    proxy = await startProxy(postgres.port);
    const clock = new URL('../../faults/jumping-clock.js', import.meta.url).href;
    right = await startNode();
    wrong = await startNode({ NODE_OPTIONS: `--import=${clock}`, CLOCK_OFFSET_FILE: offsetFile });
  });
  after(async () => {
    await Promise.all([right?.stop(), wrong?.stop()]);
    await Promise.all([receiver?.close(), sshd?.stop(), proxy?.stop()]);
    await postgres?.stop();
    rmSync(clockFolder, { recursive: true });
  });

  let clockSets = 0;
  const setClock = async (offMs: number): Promise<void> => {
    writeFileSync(offsetFile, String(offMs));
    wrong.process.kill('SIGUSR2');
    clockSets++;
    await eventually(
      () => wrong.output().split('the clock is set').length > clockSets,
      'the node says that its clock is set',
    );
  };

  const nodeRows = () =>
    withSql(
      postgres.url,
      async (sql) => [...(await sql`select id, tag, stopped_at from nodes order by id`)] as readonly object[],
    );

  /** Uses every feature once on `node`, while the other node also works. `change` happens during an upload. */
  async function works(
    node: TestGateway,
    other: TestGateway,
    name: string,
    change: () => Promise<void>,
  ): Promise<void> {
    const { api } = node;
    const folder = `/${name}`;
    const place = path.join(sshd.files, name);
    mkdirSync(path.join(place, 'tree'), { recursive: true });
    for (const file of ['a', 'b', 'c']) writeFileSync(path.join(place, 'tree', file), file);
    const living = await nodeRows();
    const said = [node, other].map((one) => one.output().length);
    const before = await node.login(EMAIL, PASSWORD);

    const slow = `/api/upload/ssh?path=${folder}&filename=slow`;
    const headers = {
      'Content-Type': 'application/octet-stream',
      'Content-Length': '4',
      'Idempotency-Key': `slow-${name}`,
    };
    const body = new Readable({ read: () => undefined });
    body.push('ab');
    const first = api.send(slow, { method: 'POST', body, headers });
    const isPending = async (): Promise<boolean> =>
      (await api.get('/api/transfers', { query: { status: 'pending', path: folder } })).text.includes('slow');
    await eventually(isPending, 'the slow upload runs');
    await change();

    assert.equal((await uploadRaw(api, 'ssh', { path: folder, filename: 'f' }, 'content')).status, 200);
    const query = { path: `${folder}/f` };
    const appended = await api.post('/api/append/ssh', { path: query.path, content: ' and more' });
    assert.equal(appended.status, 200, appended.text);
    assert.equal((await api.get('/api/download/ssh', { query })).text, 'content and more');
    const listed = await api.get('/api/list/ssh', { query: { path: folder } });
    assert.ok(
      (listed.json['files'] as { name: string }[]).some((file) => file.name === 'f'),
      listed.text,
    );

    const made = await api.post('/api/watched-folders', {
      connectionId: 'ssh',
      path: folder,
      webhookUrl: receiver.url,
      scheduleMinutes: 1440,
    });
    assert.equal(made.status, 201, made.text);
    const { id, webhookSecret } = made.json as { id: string; webhookSecret: string };
    const hasBaseline = (): Promise<boolean> =>
      withSql(postgres.url, async (sql) => (await sql`select from watch_checks where folder_id = ${id}`).length > 0);
    await eventually(hasBaseline, 'the baseline');
    receiver.received.length = 0;
    writeFileSync(path.join(place, 'new'), 'new');
    assert.deepEqual((await api.post(`/manage/watched-folders/${id}/check`, {})).json, { queued: true });

    const end = { connectionId: 'ssh', path: `${folder}/copy` };
    const copy = { type: 'copy', source: { connectionId: 'ssh', path: `${folder}/tree` }, destination: end };
    const job = await run(api, copy, PATIENCE_MS);
    assert.deepEqual([job.state, job.counts.done], ['succeeded', 3]);

    const scheduled = await api.post('/api/schedules', {
      name,
      cron: '30 2 1 1 *',
      timeZone: 'UTC',
      job: { ...copy, destination: { ...end, path: `${folder}/due` } },
    });
    assert.equal(scheduled.status, 201, scheduled.text);
    const schedule = (scheduled.json['schedule'] as { id: string }).id;
    await withSql(postgres.url, async (sql) => {
      await sql`update schedules set next_run_at = now() + interval '1 second' where id = ${schedule}`;
      await tellDue(sql, 'schedules', 1_000);
    });
    const begun = async (): Promise<readonly { id: string }[]> => {
      const { json } = await api.get('/api/jobs', { query: { limit: '100' } });
      return (json['jobs'] as { id: string; scheduleId: string | null }[]).filter((one) => one.scheduleId === schedule);
    };
    await eventually(async () => (await begun()).length > 0, 'the schedule is due');
    assert.equal((await ended(api, (await begun())[0]?.id ?? '', PATIENCE_MS)).state, 'succeeded');

    await eventually(() => receiver.names().includes('new'), 'the webhook');
    const event = receiver.received.find(({ body: { data } }) => data.files.some((file) => file.name === 'new'));
    await verifyWebhook(webhookSecret, event?.headers ?? {}, event?.text ?? '');
    assert.equal(receiver.names().filter((file) => file === 'new').length, 1);

    assert.equal((await before.get('/manage/account')).status, 200, 'who had logged in before');
    assert.equal((await (await node.login(EMAIL, PASSWORD)).get('/manage/account')).status, 200);

    const again = await other.api.send(slow, { method: 'POST', body: 'abcd', headers });
    expectError(again, 'idempotency_in_progress', /Idempotency-Key still runs/);
    body.push('cd');
    body.push(null);
    const done = await first;
    assert.equal(done.status, 200, done.text);
    const repeated = await other.api.send(slow, { method: 'POST', body: 'abcd', headers });
    assert.deepEqual([repeated.status, repeated.text], [200, done.text]);
    for (const file of ['f', 'slow']) {
      const deleted = await api.post('/api/delete/ssh', { path: `${folder}/${file}` });
      assert.equal(deleted.status, 200, deleted.text);
    }
    assert.equal((await begun()).length, 1, 'the schedule began one job');
    await api.send(`/api/schedules/${schedule}`, { method: 'DELETE' });
    await api.send(`/api/watched-folders/${id}`, { method: 'DELETE' });

    assert.deepEqual(await nodeRows(), living, 'both nodes live, as before');
    for (const [index, one] of [node, other].entries()) {
      const lines = one.output().slice(said[index]).split('\n');
      assert.deepEqual(
        lines.filter((line) => /"level":"(warn|error|fatal)"|"level":[456]0/.test(line)),
        [],
      );
    }
  }

  test(`the database is ${DATABASE_MS} ms away: everything works, and no lease or heartbeat is lost`, async () => {
    await works(right, wrong, 'away', async () => void (proxy.delayMs = DATABASE_MS)).finally(
      () => (proxy.delayMs = 0),
    );
    held({
      area: 'Faults',
      what: `each piece between gateway and database takes ${DATABASE_MS} ms, either way`,
      done: 'upload, append, download, list, watch with webhook, job, schedule, login, Idempotency-Key and delete, while an upload is under way',
      held: 'all succeed, each once; both nodes keep their place, and nothing is logged as a warning',
      tries: 1,
    });
  });

  for (const offMs of [OFF_BY_MS, -OFF_BY_MS]) {
    const way = offMs > 0 ? 'ahead' : 'behind';
    for (const [whose, node, set] of [
      ['a node', () => wrong, setClock],
      ['the database', () => right, (ms: number) => postgres.setClock(ms)],
    ] as const) {
      test(`the clock of ${whose} is set ${OFF_BY_MS / 1000} s ${way}: everything works, and no lease or heartbeat is lost`, async () => {
        const other = node() === right ? wrong : right;
        await works(node(), other, `${whose.split(' ')[1]}-${way}`, () => set(offMs)).finally(() => set(0));
        held({
          area: 'Faults',
          what: `the clock of ${whose} is set ${OFF_BY_MS / 1000} s ${way}, against those of all others`,
          done: 'upload, append, download, list, watch with webhook, job, schedule, login, Idempotency-Key and delete, while an upload is under way',
          held: 'all succeed, each once; signatures and sessions are valid, both nodes keep their place, and nothing is logged as a warning',
          tries: 1,
        });
      });
    }
  }

  for (const offMs of [FAR_OFF_MS, -FAR_OFF_MS]) {
    test(`by ${offMs / 1000} s: a file is reported once it is unchanged, and its event is sent at once`, async () => {
      await setClock(offMs);
      const name = `off${offMs}`;
      const place = path.join(sshd.files, name);
      mkdirSync(place);
      const made = await right.api.post('/api/watched-folders', {
        connectionId: 'ssh',
        path: `/${name}`,
        webhookUrl: receiver.url,
        scheduleMinutes: 1440,
      });
      assert.equal(made.status, 201, made.text);
      const id = made.json['id'] as string;
      const nodesOf = (): Promise<number> =>
        withSql(postgres.url, async (sql) => {
          const [row] = await sql<{ nodes: number }[]>`
            select count(distinct node_id)::int as nodes from watch_checks where folder_id = ${id}`;
          return row?.nodes ?? 0;
        });
      await eventually(async () => (await nodesOf()) > 0, 'the baseline');

      const files = Array.from({ length: FILES }, (_, index) => path.join(place, `growing-${index}`));
      const check = async (): Promise<void> => {
        for (const node of [right, wrong]) {
          await node.api.post(`/manage/watched-folders/${id}/check`, {});
          await delay(GROWS_EVERY_MS / 10);
        }
      };
      receiver.received.length = 0;
      for (let look = 0; look < LOOKS; look++) {
        if (look % 5 === 0) for (const file of files) appendFileSync(file, 'more');
        await check();
      }
      assert.deepEqual(receiver.names(), [], 'files that still grow');
      assert.equal(await nodesOf(), 2, 'both nodes took part');

      const rest = Date.now();
      await eventually(() => receiver.names().length === FILES, 'the report');
      const tookMs = Date.now() - rest;
      assert.ok(tookMs < SETTLE_MS + FAR_OFF_MS / 2, `reported ${tookMs} ms after the last change`);
      for (const { body } of receiver.received) {
        const aheadMs = Math.abs(Date.parse(body.timestamp) - Date.now());
        assert.ok(aheadMs < FAR_OFF_MS / 2, `the event's time is off by ${aheadMs} ms`);
      }
    });
  }
});
