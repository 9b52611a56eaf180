/** Work under way when the hours of a connection end or begin: it waits and continues, or runs to its end. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import { begin, ended, filesOf, look } from '../jobs/support.js';
import { FTP_SERVERS, type TestServer } from '../servers/catalogue.js';
import { eventually } from '../support/eventually.js';
import { type Browser, startGateway, type TestGateway } from '../support/gateway.js';
import { startReceiver, type Receiver } from '../watch/support/receiver.js';

const DAY_MS = 86_400_000;
const EMAIL = 'test@example.com';
const PASSWORD = 'a password for the owner';
/** A weekday on which no hours are open today, yesterday or tomorrow. */
const AWAY = ['Su', 'Mo', 'Tu', 'We', 'Th', 'Fr', 'Sa'][new Date(Date.now() + 3 * DAY_MS).getUTCDay()] ?? 'Su';
const CLOSED = `${AWAY} 12:00-12:01 UTC`;

describe('hours that close and open', () => {
  let server: TestServer;
  let receiver: Receiver;
  let gateway: TestGateway;
  let owner: Browser;

  before(async () => {
    server = await (FTP_SERVERS[0] ?? assert.fail()).start();
    receiver = await startReceiver();
    gateway = await startGateway({
      config: {
        watcher: { settleMs: 0 },
        network: { webhooks: { allow: ['127.0.0.1'] } },
        accounts: [
          {
            email: EMAIL,
            plan: 'pro',
            password: PASSWORD,
            apiKeys: [{ name: 'test', key: 'ftg_test-key-0123456789-abcdefgh' }],
            connections: [{ id: 'open', name: 'Open', ...server.connection }],
          },
        ],
      },
    });
    owner = await gateway.login(EMAIL, PASSWORD);
    const made = await owner.post('/manage/connections', { id: 'mine', name: 'Mine', ...server.connection });
    assert.equal(made.status, 201, made.text);
  });
  after(async () => {
    await gateway?.stop();
    await receiver?.close();
    await server?.stop();
  });

  const edit = async (hours: string | null): Promise<void> => {
    const { status, text } = await owner.patch('/manage/connections/mine', { hours });
    assert.equal(status, 200, text);
  };
  const isThere = async (folder: string, name: string): Promise<boolean> =>
    (await server.disk.files(folder)).some((file) => file.endsWith(`/${name}`));

  /** A watched folder whose first check has ended; resolves to a check of it. */
  async function watch(settings: { connectionId: string; path: string } & Record<string, unknown>) {
    await server.disk.write(`${settings.path}/.keep`, '');
    const made = await gateway.api.post('/api/watched-folders', {
      webhookUrl: `${receiver.url}${settings.path}`,
      ...settings,
    });
    assert.equal(made.status, 201, made.text);
    const target = `/manage/watched-folders/${String(made.json['id'])}`;
    await eventually(async () => (await owner.get(target)).text.includes('"lastSuccessAt":"'), 'the first check');
    return async (): Promise<void> => {
      const { status, text } = await owner.post(`${target}/check`);
      assert.ok(status < 300, text);
    };
  }

  test('a run of a schedule, copies of a watched folder, and what follows a delivery', async () => {
    const held: ServerResponse[] = [];
    receiver.respond = ({ path }, response) => {
      if (path.endsWith('/after')) held.push(response);
      else response.writeHead(204).end();
    };
    const checkRouted = await watch({
      connectionId: 'open',
      path: '/routed',
      copyTo: { connectionId: 'mine', path: '/copied' },
    });
    const checkAfter = await watch({ connectionId: 'mine', path: '/after', afterDelivery: 'delete' });
    await server.disk.write('/after/b.txt', 'b');
    await checkAfter();
    await eventually(() => held.length === 1, 'the file is reported');

    await edit(CLOSED);
    held[0]?.writeHead(204).end();
    await server.disk.write('/routed/a.txt', 'a');
    await checkRouted();
    const schedule = await gateway.api.post('/api/schedules', {
      name: 'Yearly',
      cron: '30 2 1 1 *',
      timeZone: 'Europe/Berlin',
      job: {
        type: 'copy',
        source: { connectionId: 'open', path: '/routed/a.txt' },
        destination: { connectionId: 'mine', path: '/scheduled.txt' },
      },
    });
    assert.equal(schedule.status, 201, schedule.text);
    const { id: scheduleId } = schedule.json['schedule'] as { id: string };
    const begun = await gateway.api.post(`/api/schedules/${scheduleId}/run`, {});
    assert.equal(begun.status, 202, begun.text);
    const { id } = begun.json['job'] as { id: string };
    await eventually(async () => {
      const { waitsUntil } = (await look(gateway.api, id)) as { waitsUntil?: string | null };
      return typeof waitsUntil === 'string';
    }, 'its job waits');
    assert.equal(await isThere('/after', 'b.txt'), true);
    assert.equal(await isThere('/', 'a.txt'), true, 'only the original');
    assert.ok(!receiver.names().includes('a.txt'), 'what is not copied is not reported');

    await edit(null);
    // Each looks again within a minute.
    assert.equal((await ended(gateway.api, id)).state, 'succeeded');
    await eventually(async () => !(await isThere('/after', 'b.txt')), 'the delivered file is deleted');
    await eventually(() => receiver.names().includes('a.txt'), 'the copied file is reported');
    assert.equal((await server.disk.read('/copied/a.txt')).toString(), 'a');
  });

  test('a transfer that runs when the hours close goes on to its end', async () => {
    await edit(null);
    const half = Buffer.alloc(500_000, 7);
    const body = new PassThrough();
    const upload = gateway.api.send('/api/upload/mine', {
      method: 'POST',
      query: { filename: 'running.bin', path: '/running' },
      body,
      headers: { 'Content-Type': 'application/octet-stream', 'Content-Length': String(2 * half.length) },
    });
    body.write(half);
    await eventually(async () => (await server.disk.files('/running')).length > 0, 'it is being written');
    await edit(CLOSED);
    const refused = await gateway.api.get('/api/list/mine', { query: { path: '/' } });
    assert.deepEqual([refused.status, refused.headers['x-error-code']], [503, 'outside_hours']);
    body.end(half);
    const { status, text } = await upload;
    assert.equal(status, 200, text);
    assert.ok((await server.disk.read('/running/running.bin')).equals(Buffer.concat([half, half])));
    await edit(null);
  });

  test('files of a job that have not started when the hours close wait, also those of its source', async () => {
    await edit(null);
    const names = Array.from({ length: 60 }, (_, index) => `${index}.bin`);
    for (const name of names) await server.disk.write(`/many/${name}`, Buffer.alloc(65_536, 1));
    const { id } = await begin(gateway.api, {
      type: 'copy',
      source: { connectionId: 'mine', path: '/many' },
      destination: { connectionId: 'open', path: '/many-copied' },
      // They are claimed together, and take long.
      bytesPerSecond: 131_072,
    });
    await eventually(async () => (await look(gateway.api, id)).counts.done > 0, 'the first file is copied');
    await edit(CLOSED);
    await eventually(async () => {
      const { waitsUntil, state } = (await look(gateway.api, id)) as { waitsUntil?: string | null; state: string };
      assert.equal(state, 'running', 'the files that were claimed do not go on');
      return typeof waitsUntil === 'string';
    }, 'the job waits');
    assert.notEqual((await filesOf(gateway.api, id, 'waiting')).length, 0);
    await edit(null);
    const { state, counts } = await ended(gateway.api, id);
    assert.deepEqual([state, counts.done, counts.failed], ['succeeded', names.length, 0]);
    const { json } = await gateway.api.get('/api/transfers', { query: { status: 'failed', limit: '100' } });
    assert.deepEqual(json['transfers'], [], 'no try was used');
  });
});
