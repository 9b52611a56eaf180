/** `job.finished`: sent for each end, signed, tried again, and not lost with the node on which the job ended. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { FTP_SERVERS, SFTP_SERVERS, type TestServer } from '../servers/catalogue.js';
import { startPostgres, type PostgresServer } from '../servers/postgres.js';
import { TEST_KEY } from '../storage/databases.js';
import { KEY, startGateway, type TestGateway } from '../support/gateway.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/ports.js';
import { type Received, type Receiver, startReceiver } from '../watch/support/receiver.js';
import { begin, ended, type JobView } from './support.js';
import { startTogether } from '../support/together.js';

const ADMIN_KEY = 'ftg_admin-key-0123456789-abcdefghi';

describe('job.finished', { timeout: 900_000 }, () => {
  let postgres: PostgresServer;
  let source: TestServer;
  let target: TestServer;
  let gateway: TestGateway;
  let receiver: Receiver;
  let port: number;

  const startNode = (): Promise<TestGateway> =>
    startGateway({
      env: { GATEWAY_MASTER_KEY: TEST_KEY },
      config: {
        database: { url: postgres.url },
        network: { webhooks: { allow: ['127.0.0.1/32'] } },
        webhooks: { retryMs: [200, 3_000, 6_000] },
        accounts: [
          {
            email: 'test@example.com',
            plan: 'pro',
            apiKeys: [
              { name: 'test', key: KEY },
              { name: 'admin', key: ADMIN_KEY, scopes: ['admin'] },
            ],
            connections: [
              { id: 'from', name: 'From', ...source.connection },
              { id: 'to', name: 'To', ...target.connection },
            ],
          },
        ],
      },
    });

  before(async () => {
    const [sftp, ftp] = [SFTP_SERVERS[1], FTP_SERVERS[0]];
    assert.ok(sftp !== undefined && ftp !== undefined);
    // The receiver ends and starts again on the same port, which no other program gets meanwhile.
    port = await freePort();
    [postgres, source, target, receiver] = await startTogether([
      startPostgres(),
      sftp.start(),
      ftp.start(),
      startReceiver(port),
    ]);
    for (const name of ['a', 'b']) await source.disk.write(`/tree/${name}`, Buffer.from(name));
    await source.disk.write('/slow/file', Buffer.alloc(400_000));
    gateway = await startNode();
  });
  after(async () => {
    await gateway?.stop();
    await receiver?.close();
    await Promise.all([source?.stop(), target?.stop()]);
    await postgres?.stop();
  });

  const order = (path: string, more: object = {}): object => ({
    type: 'copy',
    source: { connectionId: 'from', path },
    destination: { connectionId: 'to', path: `/of${path}` },
    webhookUrl: receiver.url,
    ...more,
  });
  const jobIn = ({ body }: Received): JobView => (body.data as unknown as { readonly job: JobView }).job;
  const eventsOf = async (id: string, times = 1): Promise<readonly Received[]> => {
    const all = (): readonly Received[] => receiver.received.filter((one) => jobIn(one).id === id);
    await eventually(() => all().length >= times, `the receiver gets the event of ${id}`);
    return all();
  };
  const secretNow = async (): Promise<string> => {
    const answer = await gateway.client(ADMIN_KEY).get('/manage/webhook-secret');
    assert.equal(answer.status, 200, answer.text);
    return answer.json['secret'] as string;
  };
  const isSigned = ({ headers, text }: Received, secret: string): boolean => {
    const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${text}`;
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    const signature = `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
    return String(headers['webhook-signature']).split(' ').includes(signature);
  };

  test('each end is reported, in the form of the job, and signed', async () => {
    const good = await begin(gateway.api, order('/tree'));
    const bad = await begin(gateway.api, order('/not-there'));
    const left = await begin(gateway.api, order('/slow', { bytesPerSecond: 1 }));
    assert.equal((await gateway.api.post(`/api/jobs/${left.id}/cancel`, {})).status, 200);
    for (const [{ id }, state] of [
      [good, 'succeeded'],
      [bad, 'failed'],
      [left, 'cancelled'],
    ] as const) {
      const [event] = await eventsOf(id);
      assert.ok(event !== undefined);
      assert.equal(event.body.type, 'job.finished');
      // Files under way when it was cancelled may still be counted.
      if (state !== 'cancelled') assert.deepEqual(jobIn(event), await ended(gateway.api, id));
      assert.equal(jobIn(event).state, state);
      assert.ok(isSigned(event, await secretNow()));
    }
    const quiet = await begin(gateway.api, order('/tree', { webhookUrl: null }));
    assert.equal((await ended(gateway.api, quiet.id)).state, 'succeeded');
    const { json } = await gateway.client(ADMIN_KEY).get('/manage/deliveries');
    const deliveries = json['deliveries'] as { jobId: string; watchedFolderId: null; state: string }[];
    assert.deepEqual(new Set(deliveries.map(({ jobId }) => jobId)), new Set([good.id, bad.id, left.id]));
    assert.ok(deliveries.every(({ watchedFolderId }) => watchedFolderId === null));
  });

  test('a new secret signs beside the former one', async () => {
    const former = await secretNow();
    const rotated = await gateway.client(ADMIN_KEY).post('/manage/webhook-secret/rotate', {});
    assert.equal(rotated.status, 200, rotated.text);
    assert.notEqual(await secretNow(), former);
    assert.equal(await secretNow(), rotated.json['secret']);
    const { id } = await begin(gateway.api, order('/tree'));
    const [event] = await eventsOf(id);
    assert.ok(event !== undefined && isSigned(event, former) && isSigned(event, await secretNow()));
    assert.equal((await gateway.api.get('/manage/webhook-secret')).status, 403);
  });

  test('tried again, finally a dead letter, and sent again manually under its old id', async () => {
    receiver.respond = (_, response) => response.writeHead(500).end();
    const { id } = await begin(gateway.api, order('/tree'));
    const tries = await eventsOf(id, 4);
    assert.equal(new Set(tries.map(({ headers }) => headers['webhook-id'])).size, 1);
    const eventId = String(tries[0]?.headers['webhook-id']);
    const admin = gateway.client(ADMIN_KEY);
    const stateOf = async (): Promise<string | undefined> => {
      const { json } = await admin.get('/manage/deliveries');
      return (json['deliveries'] as { id: string; state: string }[]).find((one) => one.id === eventId)?.state;
    };
    await eventually(async () => (await stateOf()) === 'dead', 'it is a dead letter');
    receiver.respond = (_, response) => response.writeHead(204).end();
    const again = await admin.post(`/manage/deliveries/${eventId}/replay`, {});
    assert.equal(again.status, 202, again.text);
    await eventsOf(id, 5);
    await eventually(async () => (await stateOf()) === 'delivered', 'it is delivered');
  });

  test('a node that is killed when the job has ended loses nothing', async () => {
    await receiver.close();
    const { id } = await begin(gateway.api, order('/tree', { webhookUrl: receiver.url }));
    assert.equal((await ended(gateway.api, id)).state, 'succeeded');
    await gateway.kill();
    gateway.api.close();
    receiver = await startReceiver(port);
    gateway = await startNode();
    assert.equal((await eventsOf(id)).length, 1);
  });

  test('a receiver that is invalid, or must not be reached, is refused', async () => {
    for (const [webhookUrl, status] of [
      ['ftp://example.com/', 400],
      ['no url', 400],
      ['http://user:secret@127.0.0.1:9/', 400],
      ['http://169.254.169.254/latest', 403],
      ['http://10.0.0.1/', 403],
    ] as const) {
      const answer = await gateway.api.post('/api/jobs', order('/tree', { webhookUrl }));
      assert.equal(answer.status, status, answer.text);
      const schedule = { name: 'x', cron: '@daily', job: order('/tree', { webhookUrl }) };
      assert.equal((await gateway.api.post('/api/schedules', schedule)).status, status);
    }
  });
});
