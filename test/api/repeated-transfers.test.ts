/** Failed transfers that are repeated from the history: with what it keeps of them, and with the rights of today. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { FTP_SERVERS, S3_SERVERS, SFTP_SERVERS, type TestServer } from '../servers/catalogue.js';
import { startPostgres, type PostgresServer } from '../servers/postgres.js';
import { TEST_KEY, withSql } from '../storage/databases.js';
import { eventually } from '../support/eventually.js';
import { type ApiAnswer, type Browser, KEY, startGateway, type TestGateway } from '../support/gateway.js';
import { startTogether } from '../support/together.js';
import { ended } from '../jobs/support.js';

const SECRET = 'sig-0123456789abcdef';
const PASSWORD = 'correct horse battery staple';
const FOREIGN = 'ftg_key-of-another-account-012345';
const WRITES = 'ftg_key-that-may-only-write-01234';
const READS = 'ftg_key-that-may-only-read-012345';
const MANAGES = 'ftg_key-that-may-only-manage-0123';
const NARROW = 'ftg_key-of-one-connection-0123456';
const TARGETS = ['sftp', 'ftp', 's3'] as const;

interface Item {
  readonly id: string;
  readonly type: string;
  readonly status: string;
  readonly path: string;
  readonly repeatable?: boolean;
}

describe('failed transfers are repeated from the history', () => {
  let postgres: PostgresServer;
  let servers: readonly TestServer[];
  let gateway: TestGateway;
  let owner: Browser;
  let origin: http.Server;
  let originUrl: string;
  /** Paths of the url's server that it answers with 404. */
  const absent = new Set<string>();
  /** An answer that is held until released. */
  const held: http.ServerResponse[] = [];

  before(async () => {
    const [sftp = assert.fail()] = SFTP_SERVERS;
    const [ftp = assert.fail()] = FTP_SERVERS;
    const [s3 = assert.fail()] = S3_SERVERS;
    const fileServers = startTogether([sftp.start(), ftp.start(), s3.start()]);
    [postgres, servers] = await startTogether([startPostgres(), fileServers]);
    origin = http.createServer((request, response) => {
      const { pathname } = new URL(request.url ?? '', 'http://x');
      if (absent.has(pathname)) return void response.writeHead(404).end();
      if (pathname === '/held') return void held.push(response);
      response.end('by its server');
    });
    origin.listen(0, '127.0.0.1');
    await once(origin, 'listening');
    originUrl = `http://user:${SECRET}@127.0.0.1:${(origin.address() as AddressInfo).port}`;
    gateway = await startGateway({
      env: { GATEWAY_MASTER_KEY: TEST_KEY, LOG_LEVEL: 'debug' },
      config: {
        database: { url: postgres.url },
        network: { urlFetch: { allow: ['127.0.0.1'] } },
        accounts: [
          {
            email: 'test@example.com',
            plan: 'pro',
            password: PASSWORD,
            apiKeys: [
              { name: 'test', key: KEY },
              { name: 'writes', key: WRITES, scopes: ['write'] },
              { name: 'reads', key: READS, scopes: ['read'] },
              { name: 'manages', key: MANAGES, scopes: ['admin'] },
              { name: 'narrow', key: NARROW, connections: ['ftp'] },
            ],
            connections: TARGETS.map((id, n) => ({ id, name: id, ...servers[n]?.connection })),
          },
          { email: 'other@example.com', plan: 'pro', apiKeys: [{ name: 'other', key: FOREIGN }], connections: [] },
        ],
      },
    });
    owner = await gateway.login('test@example.com', PASSWORD);
  });
  after(async () => {
    owner?.close();
    await gateway?.stop();
    origin?.closeAllConnections();
    origin?.close();
    for (const server of servers ?? []) await server.stop();
    await postgres?.stop();
  });

  const post = (target: string, body: object = {}, key = KEY, headers: Record<string, string> = {}) =>
    gateway.api.post(target, body, { key, headers });
  const again = (id: string, key = KEY, headers: Record<string, string> = {}): Promise<ApiAnswer> =>
    gateway.api.send(`/api/transfers/${id}/again`, { method: 'POST', key, headers });
  const details = async (id: string): Promise<Item> => {
    const answer = await gateway.api.get(`/api/transfers/${id}`);
    return answer.json['transfer'] as Item;
  };
  /** The newest item of the history, which has failed. */
  async function failure(answer: ApiAnswer, code: string): Promise<Item> {
    assert.equal(answer.headers['x-error-code'], code, answer.text);
    const { json } = await gateway.api.get('/api/transfers', { query: { limit: '1', status: 'failed' } });
    const [item = assert.fail()] = json['transfers'] as Item[];
    assert.equal((await details(item.id)).repeatable, true);
    return item;
  }
  const newIdOf = (answer: ApiAnswer): string => {
    assert.equal(answer.status, 200, answer.text);
    return (answer.json['transfer'] as Item).id;
  };
  function refused(answer: ApiAnswer, status: number, code: string, text = /./): void {
    assert.deepEqual([answer.status, answer.headers['x-error-code']], [status, code], answer.text);
    assert.match(answer.text, text);
  }
  const serverOf = (id: string): TestServer => servers[TARGETS.findIndex((one) => one === id)] ?? assert.fail();
  const under = (id: string, path: string): string => `${serverOf(id).base ?? ''}${path}`;
  const copyOf = (id: string, name: string) => ({
    source_connection_id: id,
    source_path: under(id, `/${name}`),
    dest_connection_id: 'sftp',
    dest_path: under('sftp', `/copies/${id}-${name}`),
  });
  /** A copy of a file that is not there yet. */
  const failedCopy = async (id: string, name: string): Promise<Item> =>
    failure(await post('/api/copy', copyOf(id, name)), 'not_found');

  for (const id of TARGETS) {
    test(`${id}: a copy succeeds once its source is there, and is then done`, async () => {
      const item = await failedCopy(id, 'late.txt');
      for (const list of ['/manage/transfers', '/api/transfers']) {
        const listed = await owner.get(`${list}?status=failed&limit=20`);
        assert.equal((listed.json['transfers'] as Item[]).find((one) => one.id === item.id)?.repeatable, true, list);
      }
      await failure(await again(item.id), 'not_found');
      await serverOf(id).disk.write(under(id, '/late.txt'), 'here now');
      const done = await details(newIdOf(await again(item.id)));
      assert.deepEqual([done.type, done.status, done.repeatable], ['copy', 'success', false]);
      const copied = await serverOf('sftp').disk.read(under('sftp', `/copies/${id}-late.txt`));
      assert.equal(copied.toString(), 'here now');
      assert.equal((await details(item.id)).repeatable, false);
      refused(await again(item.id), 409, 'not_repeatable', /repeated already/);
      refused(await again(done.id), 409, 'not_repeatable', /has not failed/);
    });

    test(`${id}: a move and a new folder are repeated with their paths`, async () => {
      const from = under(id, '/to-move.txt');
      const to = under(id, '/moved/there.txt');
      const move = await failure(await post(`/api/move/${id}`, { from, to }), 'not_found');
      await serverOf(id).disk.write(from, 'moves');
      newIdOf(await owner.post(`/manage/transfers/${move.id}/again`));
      assert.equal((await serverOf(id).disk.read(to)).toString(), 'moves');
      const folder = `${to}/below`;
      if (id === 's3') return;
      const mkdir = await gateway.api.post(`/api/mkdir/${id}`, { path: folder });
      const { id: made } = await failure(mkdir, String(mkdir.headers['x-error-code']));
      await post(`/api/delete/${id}`, { path: to });
      newIdOf(await again(made));
      await serverOf(id).disk.write(`${folder}/in.txt`, 'in it');
    });
  }

  test('a url with secrets is fetched again, and appears nowhere', async () => {
    absent.add('/report.txt');
    const url = `${originUrl}/report.txt?signature=${SECRET}`;
    const path = under('ftp', '/fetched');
    const item = await failure(await post('/api/upload/ftp', { url, path, overwrite: false }), 'fetch_failed');
    const stored = await withSql(postgres.url, (sql) => sql`select t::text as row from transfers t`);
    const sealed = await withSql(postgres.url, (sql) => sql`select s::text as row from transfer_secrets s`);
    assert.equal(sealed.length, 1);
    for (const format of ['csv', 'ndjson']) await owner.get(`/manage/transfers/export?format=${format}`);
    await owner.get(`/manage/transfers/${item.id}`);
    const failed = await again(item.id);
    const shown = [JSON.stringify([stored, sealed]), ...owner.seen, failed.text, gateway.output()];
    for (const text of shown) assert.ok(!text.includes(SECRET), text);
    const second = await failure(failed, 'fetch_failed');
    absent.clear();
    newIdOf(await again(second.id));
    assert.equal((await serverOf('ftp').disk.read(`${path}/report.txt`)).toString(), 'by its server');
    const left = await withSql(postgres.url, (sql) => sql`select transfer_id::text as id from transfer_secrets`);
    assert.deepEqual(new Set(left.map((row): unknown => row['id'])), new Set([item.id, second.id]));
  });

  test('a job fetches a url again that was wanted asynchronously', async () => {
    absent.add('/later.txt');
    const path = under('sftp', '/by-a-job');
    const upload = await post('/api/upload/sftp', { url: `${originUrl}/later.txt`, path });
    const { id } = await failure(upload, 'fetch_failed');
    absent.clear();
    const answer = await again(id, KEY, { Prefer: 'respond-async' });
    assert.equal(answer.status, 202, answer.text);
    const job = await ended(gateway.api, (answer.json['job'] as Item).id);
    assert.equal(job.state, 'succeeded');
    assert.equal((await serverOf('sftp').disk.read(`${path}/later.txt`)).toString(), 'by its server');
    refused(await again(id), 409, 'not_repeatable', /repeated already/);
  });

  test('a second repetition is refused while the first one runs', async () => {
    absent.add('/held');
    const { id } = await failure(await post('/api/upload/sftp', { url: `${originUrl}/held` }), 'fetch_failed');
    absent.clear();
    const first = again(id);
    await eventually(() => held.length === 1, 'the first repetition asks for the url');
    refused(await again(id), 409, 'not_repeatable', /repeated already/);
    held.pop()?.end('at last');
    newIdOf(await first);
  });

  test('only those may repeat it who might ask for it today', async () => {
    const { id } = await failedCopy('s3', 'never.txt');
    refused(await again(id, FOREIGN), 404, 'unknown_item');
    refused(await again(id, READS), 403, 'scope_missing');
    refused(await again(id, WRITES), 403, 'scope_missing', /read/);
    refused(await post(`/manage/transfers/${id}/again`, {}, MANAGES), 403, 'scope_missing', /write/);
    refused(await again(id, NARROW), 404, 'unknown_item');
    refused(await again('no-id'), 404, 'unknown_item');
    const into = { ...copyOf('s3', 'never.txt'), dest_connection_id: 'ftp', dest_path: under('ftp', '/never.txt') };
    const { id: toFtp } = await failure(await post('/api/copy', into), 'not_found');
    refused(await again(toFtp, NARROW), 403, 'forbidden');
    assert.equal((await details(toFtp)).repeatable, true);
  });

  test('what a client sent, a deletion and a look are not repeated', async () => {
    const path = under('ftp', '/absent.txt');
    const refusedOf = async (answer: ApiAnswer, text: RegExp): Promise<void> => {
      assert.ok(answer.status >= 400, answer.text);
      const { json } = await gateway.api.get('/api/transfers', { query: { limit: '1', status: 'failed' } });
      const [{ id }] = json['transfers'] as [Item];
      assert.equal((await details(id)).repeatable, false);
      refused(await again(id), 409, 'not_repeatable', text);
    };
    await serverOf('ftp').disk.write(path, 'a file');
    await refusedOf(await post('/api/write/ftp', { path: `${path}/x`, content: SECRET }), /bytes are not kept/);
    await refusedOf(await post('/api/delete/ftp', { path: `${path}-not` }), /type delete/);
    await refusedOf(await gateway.api.get('/api/read/ftp', { query: { path: `${path}-not` } }), /type read/);
  });

  test('a copy whose connection was removed names it', async () => {
    const { connection } = serverOf('ftp');
    const made = await owner.post('/manage/connections', { id: 'gone', name: 'Gone', ...connection });
    assert.equal(made.status, 201, made.text);
    const body = { ...copyOf('ftp', 'gone.txt'), source_connection_id: 'gone' };
    const { id } = await failure(await post('/api/copy', body), 'not_found');
    assert.equal((await owner.delete('/manage/connections/gone?confirm=true')).status, 200);
    refused(await again(id), 404, 'unknown_connection', /gone/);
    assert.equal((await details(id)).repeatable, true);
  });

  test('the file of a job is repeated by its job', async () => {
    await serverOf('sftp').disk.write(under('sftp', '/a-folder/in.txt'), 'in it');
    await serverOf('sftp').disk.write(under('sftp', '/of-a-job.txt'), 'goes nowhere');
    const body = { ...copyOf('sftp', 'of-a-job.txt'), dest_path: under('sftp', '/a-folder') };
    const answer = await post('/api/copy', body, KEY, { Prefer: 'respond-async' });
    const job = await ended(gateway.api, (answer.json['job'] as Item).id);
    assert.notEqual(job.state, 'succeeded');
    const { json } = await gateway.api.get('/api/transfers', { query: { limit: '1', status: 'failed' } });
    const [{ id }] = json['transfers'] as [Item];
    refused(await again(id), 409, 'not_repeatable', new RegExp(`/api/jobs/${job.id}/retry`));
  });
});
