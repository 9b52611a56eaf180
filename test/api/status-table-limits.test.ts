/** The rows of the status table that limits and the state of the gateway cause: 429 and 503. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { startScripted, type ScriptedFtp } from '../servers/scripted-ftp.js';
import { startPostgres } from '../servers/postgres.js';
import { DATABASES, type TestServer } from '../storage/databases.js';
import { KEY, startGateway, type ApiAnswer, type TestGateway } from '../support/gateway.js';
import { expectError, newest, uploadRaw } from './support.js';
import { eventually } from '../support/eventually.js';
import { startTogether } from '../support/together.js';
import { assertRecent } from '../support/recent.js';

const ftp = (server: ScriptedFtp, pool: object = {}): object => ({
  name: 'Scripted',
  type: 'ftp',
  host: '127.0.0.1',
  port: server.port,
  username: server.username,
  password: server.password,
  pool,
});

describe('limits', () => {
  let server: ScriptedFtp;
  let databases: TestServer;

  before(async () => {
    [server, databases] = await startTogether([startScripted(), (DATABASES[1] ?? assert.fail()).start()]);
    server.files.set('/f', Buffer.from('text'));
  });
  after(() => Promise.all([server.stop(), databases.stop()]));

  test('429: the actions of the month; a request that is refused before it starts takes none, nor does a read-only one', async () => {
    const plans = { tiny: { connections: 0, monthlyActions: 3 } };
    const gateway = await startGateway({
      plan: 'tiny',
      connections: [{ id: 'c1', ...ftp(server) }],
      config: { limits: { plans }, database: { url: await databases.createDatabase() } },
    });
    const { api } = gateway;
    try {
      const read = (path: string): Promise<ApiAnswer> => api.get('/api/read/c1', { query: { path } });
      const free: [ApiAnswer, number][] = [
        [await read('/../f'), 400],
        [await api.get('/api/read/nowhere', { query: { path: '/f' } }), 404],
        [await api.post('/api/exec/c1', { command: 'true' }), 400],
        [await uploadRaw(api, 'c1', { filename: 'x' }, 'x', { 'Content-Type': 'text/plain' }), 415],
        [await api.post('/api/write/c1', { path: '/../x', content: 'x' }), 400],
        [await api.get('/api/list/c1'), 200],
        [await api.get('/api/exists/c1', { query: { path: '/no' } }), 200],
        [await api.get('/api/list/c1', { query: { path: '/no' } }), 404],
      ];
      for (const [answer, status] of free) assert.equal(answer.status, status, answer.text);
      assert.equal((await read('/f')).status, 200);
      assert.equal((await read('/missing')).status, 404, 'what fails at the remote counts');
      assert.equal((await api.post('/api/write/c1', { path: '/g', content: 'x' })).status, 200);
      const { total } = (await api.get('/api/transfers')).json;
      const since = Date.now();
      for (const answer of [
        await read('/f'),
        await uploadRaw(api, 'c1', { filename: 'x' }, 'x'),
        await api.post('/api/upload/c1', { filename: 'x', content: 'eA==' }),
        await api.post('/api/delete/c1', { path: '/f' }),
        await api.get('/api/download/c1', { query: { path: '/f' } }),
      ]) {
        expectError(answer, 'quota_exceeded', /the 3 actions of this month are used up/);
        const wait = Number(answer.headers['retry-after']);
        const next = new Date();
        next.setUTCMonth(next.getUTCMonth() + 1, 1);
        next.setUTCHours(0, 0, 0, 0);
        assertRecent(next.getTime() - wait * 1_000, since);
      }
      assert.equal((await api.get('/api/transfers')).json['total'], total, 'refused ones stand in no history');
      assert.deepEqual([...server.files.keys()], ['/f', '/g']);
      assert.equal((await api.get('/api/list/c1')).status, 200, 'looking is still allowed');
    } finally {
      await gateway.stop();
    }
  });

  test('429: the rate of one key, and only of that', async () => {
    const second = `${KEY}-second`;
    const gateway = await startGateway({
      apiKeys: [
        { name: 'first', key: KEY },
        { name: 'second', key: second },
      ],
      config: { limits: { requestsPerSecond: 5 }, database: { url: await databases.createDatabase() } },
    });
    const { api } = gateway;
    try {
      const answers = await Promise.all(Array.from({ length: 60 }, () => api.get('/api/me')));
      const good = answers.filter(({ status }) => status === 200);
      const bad = answers.filter(({ status }) => status !== 200);
      assert.ok(good.length >= 5 && bad.length >= 5, `${good.length} good, ${bad.length} bad`);
      for (const { headers } of good) assert.equal(headers['ratelimit-policy'], '"default";q=5;w=1');
      for (const answer of bad) expectError(answer, 'rate_limited', /more than 5 requests a second with this API key/);
      assert.equal((await api.get('/api/me', { key: second })).status, 200, 'another key');
      await eventually(async () => (await api.get('/api/me')).status === 200, 'the key may again');
    } finally {
      await gateway.stop();
    }
  });

  test('503: the pool is full, and the wait was too long; the next request succeeds', async () => {
    const pool = { maxSessions: 1, maxWaiting: 1, acquireTimeoutMs: 2_500 };
    const gateway = await startGateway({
      connections: [{ id: 'c1', ...ftp(server, pool) }],
      config: { database: { url: await databases.createDatabase() } },
    });
    const { api } = gateway;
    try {
      const begun = (): number => server.commands.filter((command) => command.startsWith('STOR ')).length;
      const before = begun();
      const { body, answer: holding } = heldUpload(gateway, 'holder');
      await eventually(() => begun() > before, 'it has the session');
      // Sent together: checking whether the first one is already waiting could take longer than it waits.
      const [first, second] = await Promise.all(
        ['one', 'other'].map((filename) => uploadRaw(api, 'c1', { filename }, 'x')),
      );
      const isFirstFull = first?.headers['x-error-code'] === 'pool_full';
      const [full, waited] = isFirstFull ? [first, second] : [second, first];
      expectError(full ?? assert.fail(), 'pool_full', /127\.0\.0\.1:\d+.*maxWaiting/);
      expectError(waited ?? assert.fail(), 'acquire_timeout', /2500 ms/);
      body.push(null);
      assert.equal((await holding).status, 200);
      assert.deepEqual((await newest(api, 3)).map(({ filename, status }) => [filename, status]).sort(), [
        ['holder', 'success'],
        ['one', 'failed'],
        ['other', 'failed'],
      ]);
      assert.equal((await api.get('/api/read/c1', { query: { path: '/f' } })).status, 200);
      assert.deepEqual(
        [...server.files.keys()].filter((name) => /one|other/.test(name)),
        [],
      );
    } finally {
      await gateway.stop();
    }
  });
});

describe('a gateway that cannot serve now', () => {
  test('503 while draining: no new connection; the running transfer ends well, or is cut and recorded', async () => {
    const server = await startScripted();
    const postgres = await startPostgres();
    const options = {
      connections: [{ id: 'c1', ...ftp(server) }],
      config: { server: { drainSeconds: 30 }, database: { url: postgres.url } },
      env: { GATEWAY_MASTER_KEY: 'ab'.repeat(32) },
    };
    const gateway = await startGateway(options);
    try {
      const finishing = heldUpload(gateway, 'finishes');
      const cut = heldUpload(gateway, 'is cut');
      const kept = heldUpload(gateway, 'kept');
      await untilRuns(gateway, 3);
      const exited = once(gateway.process, 'exit');
      const open = net.connect(gateway.port, '127.0.0.1');
      await once(open, 'connect');
      // After its answer the gateway has accepted that connection as well.
      assert.equal((await gateway.api.get('/readyz')).status, 200);
      gateway.process.kill('SIGTERM');
      await eventually(() => /"msg":"stopping/.test(gateway.output()), 'it drains');
      // An open connection still gets an answer, at once; new ones are soon refused.
      expectError(await readiness(open), 'draining', /stopping/);
      await eventually(async () => (await knock(gateway.port)) === 'ECONNREFUSED', 'no new connection');
      finishing.body.push(null);
      kept.body.push(null);
      const finished = await finishing.answer;
      assert.deepEqual([finished.status, finished.headers.connection], [200, 'close']);
      assert.equal((await kept.answer).status, 200);
      expectError(await cut.answer, 'draining', /stops and cut this transfer/);
      assert.deepEqual(await exited, [0, null]);
      assert.deepEqual([...server.files.keys()].sort(), ['/finishes', '/kept']);
      const next = await startGateway(options);
      try {
        const items = (await newest(next.api, 3)).map(({ filename, status }) => [filename, status]).sort();
        assert.deepEqual(items, [
          ['finishes', 'success'],
          ['is cut', 'failed'],
          ['kept', 'success'],
        ]);
      } finally {
        await next.stop();
      }
    } finally {
      await gateway.stop();
      await server.stop();
      await postgres.stop();
    }
  });

  test('503 while the database is away, and recovery when it is back', async () => {
    const server = await startScripted();
    const postgres = await startPostgres();
    const gateway = await startGateway({
      connections: [{ id: 'c1', ...ftp(server) }],
      config: { database: { url: postgres.url, connectTimeoutMs: 1500 } },
    });
    const { api } = gateway;
    try {
      assert.equal((await api.get('/api/list/c1')).status, 200);
      await postgres.kill();
      expectError(await api.get('/readyz'), 'database_away', /database/);
      assert.equal((await api.get('/healthz')).status, 200, 'the process is alive');
      for (const answer of await Promise.all([
        api.get('/api/transfers'),
        api.get('/api/connections'),
        uploadRaw(api, 'c1', { filename: 'lost' }, 'x'),
        api.get('/api/me', { key: 'ftg_a-key-that-was-never-issued-yet' }),
      ])) {
        expectError(answer, 'database_away', /database/);
      }
      // The log has an error for failures of the gateway, but not for wrong requests, nor for a probe's 503.
      expectError(await api.get('/api/none'), 'unknown_route', /no such endpoint/);
      const levelOf = (status: number, route: string): string | undefined =>
        gateway
          .output()
          .split('\n')
          .filter((line) => line.includes('"msg":"request"'))
          .map((line) => JSON.parse(line) as { level: string; status: number; route: string })
          .find((line) => line.status === status && line.route.includes(route))?.level;
      await eventually(() => levelOf(404, '') !== undefined, 'the lines');
      assert.deepEqual([levelOf(503, '/api/transfers'), levelOf(404, '')], ['error', 'info']);
      assert.equal(levelOf(503, '/readyz'), undefined);
      await postgres.restart();
      await eventually(async () => (await api.get('/readyz')).status === 200, 'it is ready again');
      assert.equal((await uploadRaw(api, 'c1', { filename: 'good' }, 'x')).status, 200);
      assert.ok(server.files.has('/good'));
    } finally {
      await gateway.stop();
      await server.stop();
      await postgres.stop();
    }
  });
});

/** An upload of two bytes that lasts until its body is ended. */
function heldUpload(
  { api }: TestGateway,
  filename: string,
): { readonly body: Readable; readonly answer: Promise<ApiAnswer> } {
  const body = new Readable({ read: () => undefined });
  body.push('ab');
  const answer = api.send('/api/upload/c1', {
    method: 'POST',
    query: { filename },
    body,
    headers: { 'Content-Type': 'application/octet-stream' },
  });
  return { body, answer };
}

/** The error code of a failed new connection, or undefined if it succeeds. */
function knock(port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1');
    socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code));
    socket.once('connect', () => {
      socket.destroy();
      resolve(undefined);
    });
  });
}

async function readiness(open: net.Socket): Promise<ApiAnswer> {
  const request = http.get({ path: '/readyz', createConnection: () => open });
  const [answer] = (await once(request, 'response')) as [http.IncomingMessage];
  const { statusCode: status = 0, headers } = answer;
  const bytes = await buffer(answer);
  const text = bytes.toString();
  return { status, headers, bytes, text, json: JSON.parse(text) as Record<string, unknown> };
}

async function untilRuns({ api }: TestGateway, count: number): Promise<void> {
  await eventually(
    async () => (await api.get('/api/transfers', { query: { status: 'pending' } })).json['total'] === count,
    `${count} run`,
  );
}
