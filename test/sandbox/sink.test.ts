/** The receiver of webhooks: its answers, its senders, its viewers, and its address after a start. */
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startSink } from '../../src/sandbox/sink.js';
import { type ApiAnswer, type ApiClient, KEY, startGateway, type TestGateway } from '../support/gateway.js';

const OTHER = 'ftg_key-of-another-account-0123456';
const READER = 'ftg_key-that-may-only-read-0123456';
const CONFIG = {
  sandbox: true,
  // Far longer than a second, after which one of them answers, even on a busy machine.
  webhooks: { timeoutMs: 6_000 },
  accounts: [
    {
      email: 'test@example.com',
      plan: 'pro',
      connections: [],
      apiKeys: [
        { name: 'test', key: KEY },
        { name: 'reader', key: READER, scopes: ['read'] },
      ],
    },
    { email: 'other@example.com', plan: 'pro', connections: [], apiKeys: [{ name: 'other', key: OTHER }] },
  ],
};

interface Shown {
  readonly receivers: readonly { readonly url: string }[];
  readonly requests: readonly {
    readonly path: string;
    readonly status: number | null;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  }[];
}

describe('the receiver of webhooks behind a gateway', () => {
  let home: string;
  let gateway: TestGateway;
  before(async () => {
    home = mkdtempSync(join(tmpdir(), 'ftg-sink-'));
    chmodSync(home, 0o755);
    gateway = await startGateway({ dataDir: join(home, 'data'), config: CONFIG });
  });
  after(async () => {
    await gateway.stop();
    rmSync(home, { recursive: true, force: true });
  });

  const shown = async (): Promise<Shown> => (await gateway.api.get('/api/sandbox/webhooks')).json as unknown as Shown;
  const urlOf = async (path: string): Promise<string> => {
    const { url } = (await shown()).receivers[0] ?? assert.fail('no receiver');
    return new URL(path, url).href;
  };
  const create = async (path: string, api: ApiClient = gateway.api): Promise<ApiAnswer> =>
    api.post('/api/webhooks', { url: await urlOf(path), events: ['job.finished'] });

  /** The result of one try at this path: the status, or the code. */
  async function tried(path: string): Promise<unknown> {
    const { id } = (await create(path)).json['webhook'] as { id: string };
    const { json } = await gateway.api.post(`/api/webhooks/${id}/test`, {});
    const { status, errorCode } = json['test'] as { status: number | null; errorCode: string | null };
    return status ?? errorCode;
  }

  test('answers according to its path', async () => {
    const paths = ['/200', '/500', '/503', '/410', '/late-1s', '/late-20s', '/never', '/nothing'];
    const outcomes = [];
    for (const path of paths) outcomes.push(await tried(path));
    assert.deepEqual(outcomes, [200, 500, 503, 410, 200, 'stall_timeout', 'stall_timeout', 404]);
    const { requests } = await shown();
    const taken = requests.find(({ path }) => path === '/200') ?? assert.fail('it shows what came');
    assert.equal(taken.status, 200);
    assert.match(taken.headers['webhook-signature'] ?? '', /^v1,/);
    assert.ok(JSON.parse(taken.body));
    assert.equal(requests.find(({ path }) => path === '/never')?.status, null);
  });

  test('is only for the account of the sandbox, and only for webhooks', async () => {
    const denied = await create('/200', gateway.client(OTHER));
    assert.deepEqual([denied.status, denied.headers['x-error-code']], [403, 'address_denied']);
    const fetched = await gateway.api.post('/api/upload/sandbox', { url: await urlOf('/200'), filename: 'a' });
    assert.equal(fetched.headers['x-error-code'], 'address_denied');
    const elsewhere = new URL(await urlOf('/200'));
    elsewhere.port = String(gateway.port);
    const own = await gateway.api.post('/api/webhooks', { url: elsewhere.href, events: ['job.finished'] });
    assert.equal(own.headers['x-error-code'], 'address_denied', 'no other port is open');
    const asked = await gateway.client(OTHER).get('/api/sandbox/webhooks');
    assert.deepEqual([asked.status, asked.headers['x-error-code']], [404, 'unknown_connection']);
    const reader = await gateway.client(READER).get('/api/sandbox/webhooks');
    assert.equal(reader.headers['x-error-code'], 'scope_missing');
  });

  test('after another start the receiver has the same address, also with the account elsewhere in the file', async () => {
    const url = await urlOf('/200');
    await gateway.stop();
    const accounts = [...CONFIG.accounts].reverse();
    gateway = await startGateway({ dataDir: join(home, 'data'), config: { ...CONFIG, accounts, sandbox: 'auto' } });
    assert.equal(await urlOf('/200'), url);
    assert.equal((await gateway.api.get('/api/list/sandbox')).status, 200, 'the connection follows the sandbox');
    await gateway.stop();
    gateway = await startGateway({ dataDir: join(home, 'data'), config: { ...CONFIG, sandbox: false } });
    const off = await gateway.api.get('/api/list/sandbox');
    assert.deepEqual([off.status, off.headers['x-error-code']], [403, 'connection_inactive']);
    assert.equal((await gateway.api.get('/api/sandbox/webhooks')).status, 404);
  });
});

describe('the receiver by itself', () => {
  let sink: Awaited<ReturnType<typeof startSink>>;
  before(async () => {
    sink = await startSink('127.0.0.1', 0);
  });
  after(() => sink.close());

  async function post(path: string, body: string | Buffer): Promise<number | undefined> {
    const request = http.request({ host: '127.0.0.1', port: sink.port, method: 'POST', path, agent: false });
    request.end(body);
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    response.resume();
    return response.statusCode;
  }

  test('keeps the last 50 requests, and 64 KiB of each', async () => {
    for (let count = 0; count < 55; count++) assert.equal(await post('/204', `event ${count}`), 204);
    assert.equal(await post('/599', Buffer.alloc(200_000, 'x')), 599);
    const all = sink.received();
    assert.equal(all.length, 50);
    assert.deepEqual([all[0]?.bodyBytes, all[0]?.body.length, all[1]?.body], [200_000, 65_536, 'event 54']);
  });

  test('cuts a body that is longer than any event', async () => {
    await assert.rejects(post('/200', Buffer.alloc(4 * 1024 * 1024)));
    assert.notEqual(sink.received()[0]?.path, '/200');
  });

  test('takes another port if its own is in use', async () => {
    const other = await startSink('127.0.0.1', sink.port);
    assert.notEqual(other.port, sink.port);
    await other.close();
  });
});
