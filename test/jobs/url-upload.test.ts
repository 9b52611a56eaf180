/** Url uploads that jobs do: like the request would, on any live node, and the url is never shown. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { after, before, describe, test } from 'node:test';
import { SFTP_SERVERS, type TestServer } from '../servers/catalogue.js';
import { startPostgres, type PostgresServer } from '../servers/postgres.js';
import { TEST_KEY, withSql } from '../storage/databases.js';
import { type ApiAnswer, KEY, startGateway, type TestGateway } from '../support/gateway.js';
import { eventually } from '../support/eventually.js';
import { openJobLock } from './cluster.js';
import { ended, filesOf, history, type JobView } from './support.js';
import { startTogether } from '../support/together.js';

const SECRET = 'sig-0123456789abcdef';
const OTHER = 'ftg_key-of-another-account-012345';
const SIZE = 3_000_000;

describe('url uploads by jobs', { timeout: 900_000 }, () => {
  let postgres: PostgresServer;
  let target: TestServer;
  let origin: string;
  let server: http.Server;
  const nodes: TestGateway[] = [];
  /** Held until released. */
  const held: http.ServerResponse[] = [];
  let failures = 0;
  let isMissing = true;
  let isHolding = false;

  const serve = (request: http.IncomingMessage, response: http.ServerResponse): void => {
    const { pathname } = new URL(request.url ?? '', 'http://x');
    if (pathname.endsWith('/named')) {
      response.setHeader('Content-Disposition', 'attachment; filename="given.bin"');
      return void response.end('by its server');
    }
    if (pathname.endsWith('/nameless/')) return void response.end('x');
    if (pathname.endsWith('/large.bin')) return void response.end(Buffer.alloc(SIZE + 1));
    if (pathname.endsWith('/later.bin') && isMissing) return void response.writeHead(404).end();
    if (pathname.endsWith('/missing.bin')) return void response.writeHead(404).end();
    if (pathname.endsWith('/private')) return void response.writeHead(302, { Location: 'http://10.1.2.3/x' }).end();
    if (pathname.endsWith('/busy.bin') && failures-- > 0) return void response.writeHead(503).end();
    if (pathname.endsWith('/slow.bin')) {
      response.writeHead(200, { 'Content-Length': SIZE }).write(Buffer.alloc(SIZE / 2, 7));
      if (isHolding) return void held.push(response);
      return void response.end(Buffer.alloc(SIZE / 2, 7));
    }
    response.end(`content of ${pathname}`);
  };

  before(async () => {
    server = http.createServer(serve).listen(0, '127.0.0.1');
    await once(server, 'listening');
    origin = `http://user:pass-${SECRET}@127.0.0.1:${(server.address() as AddressInfo).port}`;
    [postgres, target] = await startTogether([startPostgres(), (SFTP_SERVERS[1] ?? assert.fail()).start()]);
    nodes.push(await startNode());
    nodes.push(await startNode());
  });
  const startNode = (): Promise<TestGateway> =>
    startGateway({
      env: { GATEWAY_MASTER_KEY: TEST_KEY, LOG_LEVEL: 'debug' },
      config: {
        database: { url: postgres.url },
        limits: { uploadBytes: SIZE },
        network: { urlFetch: { allow: ['127.0.0.1'] } },
        accounts: [
          {
            email: 'test@example.com',
            plan: 'pro',
            apiKeys: [{ name: 'test', key: KEY }],
            connections: [
              { id: 'to', name: 'To', ...target.connection },
              { id: 'signed', name: 'Signed', ...target.connection, digests: 'always' },
            ],
          },
          { email: 'other@example.com', plan: 'pro', apiKeys: [{ name: 'other', key: OTHER }], connections: [] },
        ],
      },
    });
  after(async () => {
    for (const gateway of nodes) await gateway.stop();
    server?.closeAllConnections();
    server?.close();
    await target?.stop();
    await postgres?.stop();
  });

  const last = (): TestGateway => nodes.at(-1) ?? assert.fail();
  const urlOf = (path: string): string => `${origin}/path-${SECRET}/${path}?token=${SECRET}`;
  const send = (body: object, headers: Record<string, string> = {}): Promise<ApiAnswer> =>
    last().api.send('/api/upload/to', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Prefer: 'respond-async', ...headers },
      body: Buffer.from(JSON.stringify(body)),
    });
  const accepted = async (body: object, headers?: Record<string, string>): Promise<JobView> => {
    const answer = await send(body, headers);
    assert.equal(answer.status, 202, answer.text);
    const job = answer.json['job'] as JobView & { source: unknown };
    assert.equal(answer.headers['preference-applied'], 'respond-async');
    assert.equal(answer.headers['location'], `/api/jobs/${job.id}`);
    assert.deepEqual([job.type, job.source], ['upload', null]);
    return job;
  };
  const done = async (body: object): Promise<JobView> => ended(last().api, (await accepted(body)).id);

  test('the file is stored, once in the history, and the job shows its counts', async () => {
    const before = await history(last().api);
    const job = await done({ url: urlOf('report.txt'), path: '/in', mtime: '2026-01-31T12:00:00Z' });
    assert.equal(job.state, 'succeeded', JSON.stringify([job, await filesOf(last().api, job.id)]));
    const content = await target.disk.read('/in/report.txt');
    assert.equal(content.toString(), `content of /path-${SECRET}/report.txt`);
    const bytes = content.length;
    assert.deepEqual(job.counts, { found: 1, done: 1, skipped: 0, failed: 0, deleted: 0, bytes, bytesTotal: bytes });
    const [item, ...others] = (await history(last().api)).slice(0, -before.length || undefined);
    assert.deepEqual([item?.type, item?.path, item?.status, others.length], ['upload', '/in/report.txt', 'success', 0]);
    const { json } = await last().api.get(`/api/transfers/${item?.id}`);
    assert.equal((json['transfer'] as Record<string, unknown>)['jobId'], job.id);
    const { json: seen } = await last().api.get('/api/exists/to', { query: { path: '/in/report.txt' } });
    assert.equal((seen['file'] as Record<string, unknown>)['modifiedAt'], '2026-01-31T12:00:00.000Z');
    const { json: listed } = await last().api.get('/api/jobs', { query: { type: 'upload' } });
    assert.ok((listed['jobs'] as JobView[]).some(({ id }) => id === job.id));
    assert.equal((await last().client(OTHER).get(`/api/jobs/${job.id}`)).status, 404);
  });

  test('names, sizes and conflicts are as for a request that waits', async () => {
    assert.equal((await done({ url: urlOf('named'), path: '/in' })).state, 'succeeded');
    assert.equal((await target.disk.read('/in/given.bin')).toString(), 'by its server');
    const template = { filename_template: '{name}-{uuid}.{ext}', filename: 'own.txt' };
    assert.equal((await done({ url: urlOf('x'), path: '/in', ...template })).state, 'succeeded');
    assert.ok((await target.disk.files('/in')).some((name) => /\/own-[0-9a-f-]{36}\.txt$/.test(name)));
    const errorOf = async (body: object): Promise<string> => {
      const job = await done(body);
      assert.deepEqual([job.state, job.counts.failed], ['failed', 1], JSON.stringify(job));
      const [file] = await filesOf(last().api, job.id, 'failed');
      assert.equal(file?.action, 'upload');
      return file?.error ?? '';
    };
    assert.match(await errorOf({ url: urlOf('nameless/'), path: '/in' }), /filename is missing/);
    assert.match(await errorOf({ url: urlOf('large.bin') }), /limits\.uploadBytes|larger|more than/);
    assert.match(await errorOf({ url: urlOf('missing.bin') }), /answered 404/);
    assert.match(await errorOf({ url: urlOf('named'), path: '/in', overwrite: false }), /exists/);
    for (const body of [
      { url: urlOf('x'), filename: 'a/b' },
      { url: urlOf('x'), path: '/../..' },
      { url: urlOf('x'), filename_template: '{what}' },
      { url: urlOf('x'), mtime: 'yesterday' },
      { url: 'ftp://127.0.0.1/x' },
      { url: urlOf('x'), content: 'aGVsbG8=' },
    ]) {
      const answer = await send(body);
      assert.equal(answer.status, 400, answer.text);
    }
  });

  test('verify=readback reads it again, also when a job repeats a failed request', async () => {
    /** How the receipt of the newest transfer says that it was checked. */
    const checked = async (answer: ApiAnswer): Promise<unknown> => {
      assert.equal(answer.status, 202, answer.text);
      const job = await ended(last().api, (answer.json['job'] as JobView).id);
      assert.equal(job.state, 'succeeded', JSON.stringify(job));
      const { json } = await last().api.get('/api/transfers', { query: { connection_id: 'signed', limit: '1' } });
      const [item = assert.fail()] = json['transfers'] as { readonly id: string }[];
      const { text } = await last().api.get(`/api/transfers/${item.id}/receipt`);
      const receipt = JSON.parse(Buffer.from(text.split('.')[1] ?? '', 'base64url').toString()) as object;
      return Reflect.get(receipt, 'verified');
    };
    const ask = (name: string, query: Record<string, string>, headers = {}): Promise<ApiAnswer> =>
      last().api.post('/api/upload/signed', { url: `${origin}/${name}`, path: '/checked' }, { query, headers });
    const async = { Prefer: 'respond-async' };
    const readback = { verify: 'readback' };
    assert.equal(await checked(await ask('a.bin', {}, async)), 'size');
    assert.equal(await checked(await ask('b.bin', readback, async)), 'readback');
    assert.equal((await ask('later.bin', readback)).headers['x-error-code'], 'fetch_failed');
    isMissing = false;
    const { json } = await last().api.get('/api/transfers', { query: { status: 'failed', limit: '1' } });
    const [failed = assert.fail()] = json['transfers'] as { readonly id: string }[];
    const again = { method: 'POST', headers: async } as const;
    assert.equal(await checked(await last().api.send(`/api/transfers/${failed.id}/again`, again)), 'readback');
  });

  test('the network rules apply when it is requested, and at every hop when it runs', async () => {
    for (const url of [`http://10.1.2.3/x?${SECRET}`, 'http://169.254.169.254/latest', 'http://[::1]/x']) {
      const answer = await send({ url });
      assert.deepEqual([answer.status, answer.headers['x-error-code']], [403, 'address_denied'], answer.text);
    }
    const job = await done({ url: urlOf('private') });
    assert.deepEqual([job.state, job.counts.failed], ['failed', 1], JSON.stringify(job));
    const [item] = await history(last().api, { status: 'failed' });
    assert.equal(item?.type, 'upload');
  });

  test('a busy server is asked again, and the file is one item', async () => {
    failures = 2;
    const job = await done({ url: urlOf('busy.bin'), path: '/again' });
    assert.equal(job.state, 'succeeded', JSON.stringify(job));
    const items = (await history(last().api)).filter(({ path }) => path.startsWith('/again'));
    assert.deepEqual([items.length, items[0]?.status], [1, 'success']);
  });

  test('a repeated Idempotency-Key returns the first job', async () => {
    const headers = { 'Idempotency-Key': 'once-only' };
    const body = { url: urlOf('once.txt'), path: '/once', filename_template: '{uuid}.txt' };
    const first = await accepted(body, headers);
    const again = await accepted(body, headers);
    assert.equal(again.id, first.id);
    await ended(last().api, first.id);
    assert.equal((await target.disk.files('/once')).length, 1);
  });

  test('retry fetches it again; a successful one keeps no url', async () => {
    failures = 99;
    const { id } = await accepted({ url: urlOf('busy.bin'), path: '/retried' });
    await eventually(() => failures < 99, 'it was tried');
    assert.equal((await last().api.post(`/api/jobs/${id}/cancel`, {})).status, 200);
    failures = 0;
    const answer = await last().api.post(`/api/jobs/${id}/retry`, {});
    assert.equal(answer.status, 202, answer.text);
    const retried = await ended(last().api, (answer.json['job'] as JobView).id);
    assert.deepEqual([retried.state, retried.counts.found, retried.counts.done], ['succeeded', 1, 1]);
    const kept = await withSql(postgres.url, (sql) => sql`select job_id::text as id from job_secrets`);
    const ids = kept.map(({ id: one }) => one as string);
    assert.ok(ids.includes(id) && !ids.includes(retried.id), 'the failed one keeps it');
  });

  test('its node is killed half way: another one fetches it, and it is stored completely, once', async () => {
    isHolding = true;
    const { id } = await accepted({ url: urlOf('slow.bin'), path: '/killed', filename_template: '{uuid}.bin' });
    await eventually(() => held.length > 0, 'it is being fetched');
    isHolding = false;
    const closed = once(held[0] ?? assert.fail(), 'close');
    const kill = async (): Promise<void> => nodes.shift()?.kill();
    await kill();
    // The other one may have it.
    if (!(await Promise.race([closed.then(() => true), delay(2_000, false)]))) {
      nodes.push(await startNode());
      await kill();
      await closed;
    }
    const job = await ended(last().api, id);
    assert.deepEqual([job.state, job.counts.done], ['succeeded', 1], JSON.stringify(job));
    const [file, ...others] = (await target.disk.files('/killed')).filter((name) => !name.includes('.ftg-'));
    assert.deepEqual(others, []);
    assert.ok((await target.disk.read(file ?? '')).equals(Buffer.alloc(SIZE, 7)));
    const items = (await history(last().api)).filter(({ path }) => path.startsWith('/killed'));
    assert.deepEqual([items.length, items[0]?.status], [1, 'success']);
  });

  test('its nodes are killed when it is stored and could not be recorded: it is recognised, and not refused', async () => {
    for (const content of ['its own', 'of another']) {
      const file = `/unrecorded/${content}.bin`;
      isHolding = true;
      const before = held.length;
      const body = { url: urlOf('slow.bin'), path: '/unrecorded', filename: `${content}.bin`, overwrite: false };
      const { id } = await accepted(body);
      await eventually(() => held.length > before, 'it is being fetched');
      isHolding = false;
      const row = await openJobLock(postgres);
      await row.lock(id);
      held.at(-1)?.end(Buffer.alloc(SIZE / 2, 7));
      await eventually(async () => (await target.disk.files('/unrecorded')).includes(file), 'it is there');
      for (const node of nodes.splice(0)) await node.kill();
      await row.unlock();
      if (content === 'of another') await target.disk.write(file, Buffer.alloc(SIZE, 8));
      const version = await target.disk.version(file);
      nodes.push(await startNode());
      const job = await ended(last().api, id);
      assert.equal(await target.disk.version(file), version, 'it is not written again');
      const items = (await history(last().api)).filter(({ path }) => path === file);
      const isOwn = content === 'its own';
      const expected = isOwn ? ['succeeded', 1, SIZE, 1, 'success'] : ['failed', 0, 0, 1, 'failed'];
      const { done, bytes } = job.counts;
      assert.deepEqual([job.state, done, bytes, items.length, items[0]?.status], expected, JSON.stringify(job));
    }
  });

  test('no url was ever shown', async () => {
    const { json } = await last().api.get('/api/jobs', { query: { type: 'upload' } });
    const jobs = json['jobs'] as JobView[];
    assert.ok(jobs.length >= 9);
    const shown: string[] = [JSON.stringify(jobs), JSON.stringify(await history(last().api))];
    for (const { id } of jobs) shown.push(JSON.stringify(await filesOf(last().api, id)));
    for (const node of nodes) shown.push(node.output());
    for (const text of shown) assert.ok(!text.includes(SECRET), text.slice(text.indexOf(SECRET) - 300).slice(0, 400));
    const rows = await withSql(
      postgres.url,
      (sql) => sql`
        select j::text as text from jobs j union all select f::text from job_files f union all select t::text from transfers t
        union all select encode(ciphertext, 'escape') from job_secrets union all select i::text from idempotency_keys i
        union all select l::text from audit_log l`,
    );
    for (const { text } of rows) assert.ok(!(text as string).includes(SECRET), text as string);
  });
});
