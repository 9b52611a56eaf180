/** Every endpoint of a running gateway, with its successes and its errors: each answer matches the document. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { OpenApiDocument } from '../../../src/api/openapi/types.js';
import { startSshd, type TestSshd } from '../../servers/sshd.js';
import { KEY, startGateway, type ApiAnswer, type ApiRequest, type TestGateway } from '../../support/gateway.js';
import { AnswerChecker } from './answer-checker.js';
import { eventually } from '../../support/eventually.js';

const READER = 'ftg_reader-key-0123456789-abcdef';
const FREE = 'ftg_free-plan-key-0123456789-abc';

let gateway: TestGateway;
let shell: TestSshd;
let checker: AnswerChecker;
let document: OpenApiDocument;

before(async () => {
  shell = await startSshd();
  const privateKey = readFileSync(shell.clientKeyFile, 'utf8');
  const ssh = { type: 'sftp', host: '127.0.0.1', port: shell.port, username: shell.username, privateKey };
  gateway = await startGateway({
    config: {
      sandbox: true,
      limits: {
        readBytes: 100,
        uploadBytes: 1_000_000,
        execOutputBytes: 1_000,
        plans: { pro: { connections: 0, monthlyActions: 0 }, free: { connections: 1, monthlyActions: 1 } },
      },
      accounts: [
        {
          email: 'test@example.com',
          plan: 'pro',
          apiKeys: [
            { name: 'all', key: KEY },
            { name: 'reader', key: READER, scopes: ['read'], connections: ['shell'] },
          ],
          connections: [
            { id: 'shell', name: 'Shell', ...ssh, defaultPath: shell.files },
            { id: 'off', name: 'Off', ...ssh, isActive: false },
            {
              id: 'gone',
              name: 'Gone',
              type: 'ftp',
              host: '127.0.0.1',
              port: 1,
              username: 'u',
              password: 'p',
              tls: 'none',
            },
            {
              id: 'lake',
              name: 'Lake',
              type: 's3',
              endpoint: 'http://127.0.0.1:1',
              region: 'us-east-1',
              bucket: 'b',
              accessKeyId: 'a',
              secretAccessKey: 's',
              forcePathStyle: true,
            },
          ],
        },
        {
          email: 'free@example.com',
          plan: 'free',
          apiKeys: [{ name: 'free', key: FREE }],
          connections: [{ id: 'mine', name: 'Mine', ...ssh, defaultPath: shell.files }],
        },
      ],
    },
  });
  document = (await gateway.api.get('/openapi.json')).json as unknown as OpenApiDocument;
  checker = new AnswerChecker(document);
});

after(async () => {
  await gateway.stop();
  await shell.stop();
});

/** Sends a request to `/api/x/{connectionId}` and compares the answer with the document. */
async function expect(
  status: number,
  target: string,
  request: ApiRequest & { readonly on?: string; readonly upload?: string } = {},
): Promise<ApiAnswer> {
  const { on = 'sandbox', upload = '', method = request.json === undefined ? 'GET' : 'POST', ...rest } = request;
  const path = target.replace('{connectionId}', on).replace('{id}', on).replace('{uploadId}', upload);
  const answer = await gateway.api.send(path, { method, ...rest });
  assert.equal(answer.status, status, `${method} ${target}: ${answer.text.slice(0, 300)}`);
  checker.check(method, target, answer);
  return answer;
}

const OCTETS = { 'Content-Type': 'application/octet-stream' };
const json = (value: unknown): string => JSON.stringify(value);

describe('resumable uploads', () => {
  const all = '/api/uploads/{connectionId}';
  const one = '/api/uploads/{connectionId}/{uploadId}';
  const version = { 'Tus-Resumable': '1.0.0' };
  const piece = { ...version, 'Content-Type': 'application/offset+octet-stream' };
  const begin = (more: Record<string, string>): ApiRequest => ({ method: 'POST', headers: { ...version, ...more } });
  const named = { 'Upload-Metadata': 'filename YS5iaW4=,overwrite ZmFsc2U=' };

  test('begun, continued, inspected, abandoned', async () => {
    await expect(204, all, { method: 'OPTIONS' });
    const begun = await expect(201, all, begin({ ...named, 'Upload-Length': '4' }));
    const upload = String(begun.headers.location).split('/').at(-1) ?? '';
    const patch = (offset: string, body: string, more = {}) => ({
      method: 'PATCH',
      upload,
      body,
      headers: { ...piece, 'Upload-Offset': offset, ...more },
    });
    await expect(204, one, patch('0', 'ab'));
    await expect(409, one, patch('0', 'ab'));
    await expect(460, one, patch('2', 'cd', { 'Upload-Checksum': 'sha1 Lve95gjOVATpfV8EL5X4nxwjKHE=' }));
    await expect(413, one, patch('2', 'cde'));
    await expect(415, one, patch('2', 'cd', { 'Content-Type': 'text/plain' }));
    await expect(200, one, { method: 'HEAD', upload, headers: version });
    const override = { ...version, 'X-HTTP-Method-Override': 'HEAD' };
    await expect(200, one, { method: 'POST', upload, headers: override });
    await expect(400, one, { method: 'POST', upload, headers: version });
    await expect(204, one, patch('2', 'cd'));
    await expect(204, one, { method: 'DELETE', upload, headers: version });
    await expect(404, one, { method: 'DELETE', upload, headers: version });
    await expect(404, one, { method: 'HEAD', upload, headers: version });
  });

  test('and what is wrong with them', async () => {
    await expect(400, all, { method: 'OPTIONS', on: '%ff' });
    await expect(400, all, begin(named));
    await expect(400, all, begin({ 'Upload-Length': '4' }));
    await expect(401, all, { ...begin({ ...named, 'Upload-Length': '4' }), key: '' });
    await expect(403, all, { ...begin({ ...named, 'Upload-Length': '4' }), key: READER });
    await expect(404, all, { ...begin({ ...named, 'Upload-Length': '4' }), on: 'nowhere' });
    assert.equal((await expect(409, all, begin({ ...named, 'Upload-Length': '4' }))).json['skipped'], true);
    await expect(412, all, { method: 'POST', headers: { ...named, 'Upload-Length': '4' } });
    await expect(413, all, begin({ 'Upload-Metadata': 'filename YmlnLmJpbg==', 'Upload-Length': '1000001' }));
    await expect(502, all, { ...begin({ ...named, 'Upload-Length': '4' }), on: 'gone' });
  });
});

describe('uploads', () => {
  const target = '/api/upload/{connectionId}';
  const raw = (query: Record<string, string>, more: ApiRequest = {}): ApiRequest => ({
    method: 'POST',
    body: 'hello',
    query,
    ...more,
    headers: { ...OCTETS, ...more.headers },
  });

  test('in every form', async () => {
    await expect(200, target, raw({ filename: 'raw.txt' }));
    await expect(200, target, { json: { filename: 'json.txt', content: 'aGVsbG8=' } });
    const form = '--b\r\nContent-Disposition: form-data; name="file"; filename="form.txt"\r\n\r\nhello\r\n--b--\r\n';
    const headers = { 'Content-Type': 'multipart/form-data; boundary=b' };
    await expect(200, target, { method: 'POST', headers, body: form });
    const keyed = raw({ filename: 'once.txt' }, { headers: { 'Idempotency-Key': 'upload-1' } });
    await expect(200, target, keyed);
    assert.equal((await expect(200, target, keyed)).headers['idempotency-replayed'], 'true');
  });

  test('and what is wrong with them', async () => {
    await expect(400, target, raw({}));
    await expect(400, target, raw({ filename: 'a/b' }));
    await expect(400, target, { json: { filename: 'x', content: '###' } });
    await expect(
      400,
      target,
      raw({ filename: 'd' }, { headers: { 'Content-Digest': `sha-256=:${'A'.repeat(43)}=:` } }),
    );
    await expect(401, target, raw({ filename: 'x' }, { key: '' }));
    await expect(403, target, raw({ filename: 'x' }, { key: READER }));
    await expect(403, target, { ...raw({ filename: 'x' }), on: 'off' });
    await expect(404, target, { ...raw({ filename: 'x' }), on: 'nowhere' });
    assert.equal((await expect(409, target, raw({ filename: 'raw.txt', overwrite: 'false' }))).json['skipped'], true);
    await expect(413, target, raw({ filename: 'big' }, { body: Buffer.alloc(1_000_001) }));
    await expect(415, target, raw({ filename: 'x' }, { headers: { 'Content-Type': 'text/plain' } }));
    await expect(422, target, raw({ filename: 'other.txt' }, { headers: { 'Idempotency-Key': 'upload-1' } }));
    await expect(502, target, { ...raw({ filename: 'x' }), on: 'gone' });
    await expect(403, target, { json: { url: 'http://169.254.169.254/latest', filename: 'x' } });
  });
});

describe('downloads', () => {
  const target = '/api/download/{connectionId}';
  const query = { path: '/file.txt' };

  before(() => expect(200, '/api/write/{connectionId}', { json: { path: '/file.txt', content: 'hello, world' } }));

  test('complete, in part, as JSON, conditional, only the head', async () => {
    await expect(200, target, { query });
    assert.equal((await expect(206, target, { query, headers: { Range: 'bytes=0-4' } })).text, 'hello');
    await expect(200, target, { query: { ...query, format: 'json' } });
    let etag: string | undefined;
    // A file that has just been written has no validator yet.
    await eventually(async () => {
      etag = (await expect(200, target, { query, method: 'HEAD' })).headers.etag;
      return etag !== undefined;
    }, 'the file has an ETag');
    await expect(304, target, { query, headers: { 'If-None-Match': etag ?? '' } });
    await expect(304, target, { query, headers: { 'If-None-Match': etag ?? '' }, method: 'HEAD' });
    await expect(404, target, { query: { path: '/absent' }, method: 'HEAD' });
  });

  test('and what is wrong with them', async () => {
    await expect(400, target);
    await expect(400, target, { query: { ...query, format: 'xml' } });
    await expect(401, target, { query, key: 'ftg_unknown-key-0123456789-abc' });
    await expect(404, target, { query: { path: '/absent' } });
    await expect(409, target, { query: { path: '/' } });
    await expect(416, target, { query, headers: { Range: 'bytes=100-' } });
    await expect(502, target, { query, on: 'gone' });
  });
});

test('read', async () => {
  const target = '/api/read/{connectionId}';
  await expect(200, '/api/write/{connectionId}', { json: { path: '/long', content: 'x'.repeat(101) } });
  await expect(200, '/api/write/{connectionId}', { json: { path: '/bin', content: '/w==', encoding: 'base64' } });
  await expect(200, target, { query: { path: '/bin', encoding: 'base64' } });
  await expect(400, target, { query: { path: '/bin' } });
  await expect(404, target, { query: { path: '/absent' } });
  await expect(409, target, { query: { path: '/' } });
  await expect(413, target, { query: { path: '/long' } });
});

test('write and append', async () => {
  const [write, append] = ['/api/write/{connectionId}', '/api/append/{connectionId}'];
  await expect(200, write, { json: { path: '/log', content: 'one' } });
  await expect(200, append, { json: { path: '/log', content: 'two' } });
  await expect(400, write, { json: { path: '/log' } });
  await expect(400, write, { json: { path: '/log', content: '#', encoding: 'base64' } });
  await expect(400, append, { json: { path: '/x', content: 'x' }, on: 'lake' });
  await expect(403, write, { json: { path: '/x', content: 'x' }, key: READER });
  await expect(404, append, { json: { path: '/absent', content: 'x' } });
  await expect(409, write, { json: { path: '/', content: 'x' } });
  await expect(502, write, { json: { path: '/x', content: 'x' }, on: 'gone' });
});

test('copy, move, delete', async () => {
  const [copy, move, remove] = ['/api/copy', '/api/move/{connectionId}', '/api/delete/{connectionId}'];
  await expect(200, '/api/write/{connectionId}', { json: { path: '/a', content: 'a' } });
  const ends = { source_connection_id: 'sandbox', source_path: '/a', dest_connection_id: 'sandbox', dest_path: '/b' };
  await expect(200, copy, { json: ends });
  await expect(400, copy, { json: {} });
  await expect(403, copy, { json: ends, key: FREE });
  await expect(404, copy, { json: { ...ends, source_path: '/absent' } });
  assert.equal((await expect(409, copy, { json: { ...ends, overwrite: false } })).json['skipped'], true);
  await expect(415, copy, { method: 'POST', body: 'x', headers: { 'Content-Type': 'text/plain' } });
  await expect(502, copy, { json: { ...ends, dest_connection_id: 'gone' } });

  await expect(409, move, { json: { from: '/a', to: '/b' } });
  await expect(200, move, { json: { from: '/a', to: '/deep/c' } });
  const again = '/api/transfers/{id}/again';
  await expect(404, move, { json: { from: '/late', to: '/c' } });
  const { json: failed } = await gateway.api.get('/api/transfers?type=move&status=failed&limit=1');
  const [{ id }] = failed['transfers'] as [{ id: string }];
  await expect(404, again, { method: 'POST', on: id });
  await expect(200, '/api/write/{connectionId}', { json: { path: '/late', content: 'a' } });
  await expect(200, again, { method: 'POST', on: id });
  await expect(409, again, { method: 'POST', on: id });
  await expect(400, move, { json: { from: '/../x', to: '/c' } });

  await expect(200, remove, { json: { path: '/b' } });
  await expect(404, remove, { json: { path: '/b' } });
  await expect(409, remove, { json: { path: '/deep' } });
  await expect(413, remove, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: json({ path: 'x'.repeat(1_100_000) }),
  });
});

test('mkdir, list, exists', async () => {
  const [mkdir, list, exists] = ['/api/mkdir/{connectionId}', '/api/list/{connectionId}', '/api/exists/{connectionId}'];
  await expect(200, mkdir, { json: { path: '/folder' } });
  assert.equal((await expect(200, mkdir, { json: { path: '/folder' } })).json['created'], false);
  await expect(200, '/api/write/{connectionId}', { json: { path: '/folder/a', content: 'a' } });
  await expect(409, mkdir, { json: { path: '/folder/a' } });
  await expect(400, mkdir, { json: { path: '' } });
  await expect(200, list, { query: { path: '/folder' } });
  await expect(200, list);
  await expect(404, list, { query: { path: '/absent' } });
  await expect(409, list, { query: { path: '/folder/a' } });
  await expect(502, list, { on: 'gone' });
  await expect(200, exists, { query: { path: '/folder/a' } });
  await expect(200, exists, { query: { path: '/absent' } });
  await expect(400, exists);
  await expect(404, exists, { query: { path: '/a' }, on: 'nowhere' });
});

test('exec', async () => {
  const target = '/api/exec/{connectionId}';
  const answer = await expect(200, target, { json: { command: 'echo out; echo err >&2; exit 3' }, on: 'shell' });
  assert.deepEqual([answer.json['exitCode'], answer.json['stdout'], answer.json['stderr']], [3, 'out\n', 'err\n']);
  await expect(400, target, { json: { command: 'true' }, on: 'gone' });
  await expect(400, target, { json: { command: 'true', timeout: 60_001 }, on: 'shell' });
  await expect(403, target, { json: { command: 'true' }, on: 'shell', key: READER });
  await expect(413, target, { json: { command: 'seq 1000' }, on: 'shell' });
  await expect(504, target, { json: { command: 'sleep 20', timeout: 100 }, on: 'shell' });
});

test('connections, me, transfers', async () => {
  await expect(200, '/api/connections');
  await expect(200, '/api/me');
  await expect(401, '/api/me', { key: '' });
  await expect(401, '/api/connections', { key: '' });
  await expect(200, '/api/transfers', { query: { limit: '100' } });
  await expect(200, '/api/transfers', { query: { status: 'failed', since: '2020-01-01T00:00:00Z' } });
  await expect(400, '/api/transfers', { query: { limit: '0' } });
  await expect(400, '/api/transfers', { query: { since: 'yesterday' } });
});

test('the month is over', async () => {
  const exists = { json: { path: join(shell.files, 'x'), content: 'x' }, on: 'mine', key: FREE };
  await expect(200, '/api/write/{connectionId}', exists);
  const refused = await expect(429, '/api/write/{connectionId}', exists);
  assert.equal(refused.headers['x-error-code'], 'quota_exceeded');
});

test('watched folders', async () => {
  const all = '/api/watched-folders';
  const made = await expect(201, all, { json: { connectionId: 'sandbox', path: '/', filePattern: '*.csv' } });
  await expect(200, all);
  await expect(400, all, { json: { connectionId: 'sandbox', path: '/', scheduleMinutes: 0 } });
  await expect(403, all, { key: READER });
  await expect(404, all, { json: { connectionId: 'sandbox', path: '/absent' } });
  const one = '/api/watched-folders/{id}';
  const changes = { method: 'PATCH', on: String(made.json['id']) };
  await expect(200, one, { on: String(made.json['id']) });
  await expect(200, one, { ...changes, json: { filePattern: null, isActive: false } });
  await expect(400, one, { ...changes, json: { scheduleMinutes: 0 } });
  await expect(404, one, { ...changes, json: { path: '/absent' } });
  await expect(200, one, { method: 'DELETE', on: String(made.json['id']) });
  await expect(404, one, { method: 'DELETE', on: String(made.json['id']) });
  await expect(404, one, { on: String(made.json['id']) });
});

test('jobs', async () => {
  const content = { filename: 'large.bin', path: '/jobs', content: Buffer.alloc(400_000).toString('base64') };
  await expect(200, '/api/upload/{connectionId}', { json: content });
  const all = '/api/jobs';
  const [source, destination] = [
    { connectionId: 'sandbox', path: '/jobs' },
    { connectionId: 'sandbox', path: '/copied' },
  ];
  const order = { type: 'copy', source, destination, bytesPerSecond: 2_000 };
  const made = await expect(202, all, { json: order });
  const { id } = made.json['job'] as { id: string };
  await expect(400, all, { json: { ...order, destination: source } });
  await expect(403, all, { json: order, key: READER });
  await expect(404, all, { json: { ...order, source: { connectionId: 'unknown' } } });
  await expect(200, all);
  await expect(400, all, { query: { limit: '0' } });
  const unknown = '0199c2f4-6f5e-7c1a-9a51-0d2f64b1ffff';
  for (const way of ['', '/files', '/events']) await expect(404, `${all}/{id}${way}`, { on: unknown });
  for (const way of ['', '/files']) await expect(200, `${all}/{id}${way}`, { on: id });
  const post = { method: 'POST', on: id };
  await expect(409, `${all}/{id}/retry`, post);
  for (const way of ['pause', 'resume', 'cancel']) {
    await expect(404, `${all}/{id}/${way}`, { method: 'POST', on: unknown });
    await expect(200, `${all}/{id}/${way}`, post);
  }
  for (const way of ['pause', 'resume']) await expect(409, `${all}/{id}/${way}`, post);
  await expect(200, `${all}/{id}/events`, { on: id });
  const again = await expect(202, `${all}/{id}/retry`, post);
  await expect(200, `${all}/{id}/cancel`, { method: 'POST', on: (again.json['job'] as { id: string }).id });
  const { transfers } = (await expect(200, '/api/transfers')).json as { transfers: { id: string }[] };
  await expect(200, '/api/transfers/{id}', { on: transfers[0]?.id ?? '' });
  await expect(404, '/api/transfers/{id}', { on: unknown });
});

test('digests and receipts', async () => {
  const headers = { 'Want-Repr-Digest': 'sha-256=10' };
  const body = { path: '/proven.txt', content: 'proven' };
  const written = await expect(200, '/api/write/{connectionId}', { method: 'POST', json: body, headers });
  assert.match(String(written.headers['repr-digest']), /^sha-256=:/);
  const { transfers } = (await expect(200, '/api/transfers', { query: { type: 'write', limit: '1' } })).json as {
    transfers: { id: string }[];
  };
  const on = transfers[0]?.id ?? '';
  await expect(200, '/api/transfers/{id}/receipt', { on });
  await expect(404, '/api/transfers/{id}/receipt', { on: '0199c2f4-6f5e-7c1a-9a51-0d2f64b1ffff' });
  await expect(200, '/api/receipts', { query: { after: '0', limit: '10' } });
  await expect(400, '/api/receipts', { query: { after: '-1' } });
  await expect(200, '/.well-known/jwks.json');
});

test('schedules', async () => {
  const job = {
    type: 'delete',
    source: { connectionId: 'sandbox', path: '/scheduled' },
    maxDepth: 2,
    minAgeSeconds: 1,
  };
  const all = '/api/schedules';
  const json = { name: 'Nightly', cron: '30 2 * * *', timeZone: 'Europe/Berlin', job };
  const made = await expect(201, all, { json });
  const { id } = made.json['schedule'] as { id: string };
  await expect(400, all, { json: { ...json, cron: '0 0 31 2 *' } });
  await expect(403, all, { json, key: READER });
  await expect(404, all, { json: { ...json, job: { ...job, source: { connectionId: 'unknown' } } } });
  await expect(200, all);
  await expect(401, all, { key: '' });
  await expect(200, `${all}/preview`, { json: { cron: '@daily' }, key: READER });
  await expect(400, `${all}/preview`, { json: { cron: '0 0 31 2 *' } });
  const one = `${all}/{id}`;
  await expect(200, one, { on: id });
  await expect(200, one, { method: 'PATCH', json: { isActive: false }, on: id });
  await expect(400, one, { method: 'PATCH', json: { timeZone: 'Mars/Base' }, on: id });
  await expect(202, `${one}/run`, { method: 'POST', on: id });
  await expect(200, one, { method: 'DELETE', on: id });
  for (const [method, path] of [
    ['GET', one],
    ['PATCH', one],
    ['DELETE', one],
    ['POST', `${one}/run`],
  ] as const) {
    await expect(404, path, { method, on: id, ...(method === 'PATCH' ? { json: {} } : {}) });
  }
});

test('events and webhooks', async () => {
  await expect(502, '/api/download/{connectionId}', { on: 'gone', query: { path: '/a' } });
  const events = '/api/events';
  const { events: found } = (await expect(200, events, { query: { wait: '20' } })).json as { events: object[] };
  assert.ok(found.length > 0);
  await expect(400, events, { query: { after: 'x' } });
  await expect(400, events, { query: { after: '1000000' } });
  await expect(401, events, { key: '' });
  await expect(200, '/api/sandbox/webhooks');
  await expect(403, '/api/sandbox/webhooks', { key: READER });
  const all = '/api/webhooks';
  const json = { url: 'https://example.com/hook', events: ['transfer.failed'], connections: ['sandbox'] };
  const made = await expect(201, all, { json });
  const { id } = made.json['webhook'] as { id: string };
  await expect(400, all, { json: { ...json, events: ['unknown'] } });
  await expect(400, all, { json: { ...json, url: 'ftp://example.com/' } });
  await expect(403, all, { json: { ...json, url: 'http://169.254.169.254/' } });
  await expect(403, all, { json, key: READER });
  await expect(404, all, { json: { ...json, connections: ['unknown'] } });
  await expect(200, all);
  await expect(403, all, { key: READER });
  const one = `${all}/{id}`;
  await expect(200, one, { on: id });
  await expect(200, one, { method: 'PATCH', json: { isActive: false }, on: id });
  await expect(400, one, { method: 'PATCH', json: { events: [] }, on: id });
  await expect(200, `${one}/rotate-secret`, { method: 'POST', on: id });
  await expect(200, `${one}/test`, { method: 'POST', on: id });
  await expect(200, one, { method: 'DELETE', on: id });
  for (const [method, path] of [
    ['GET', one],
    ['PATCH', one],
    ['DELETE', one],
    ['POST', `${one}/rotate-secret`],
    ['POST', `${one}/test`],
  ] as const) {
    await expect(404, path, { method, on: id, ...(method === 'PATCH' ? { json: {} } : {}) });
  }
});

test('links', async () => {
  const all = '/api/links';
  const one = `${all}/{id}`;
  const life = { connectionId: 'sandbox', expiresAt: new Date(Date.now() + 3_600_000).toISOString() };
  const upload = { ...life, operation: 'upload', path: '/linked', maxUses: 9, maxBytes: 1000 };
  const made = await expect(201, all, { json: upload });
  const { id, url } = made.json['link'] as { id: string; url: string };
  await expect(400, all, { json: { ...upload, expiresAt: 'soon' } });
  await expect(403, all, { json: { ...upload, connectionId: 'shell' }, key: READER });
  await expect(404, all, { json: { ...upload, connectionId: 'unknown' } });
  await expect(200, all, { query: { limit: '1' } });
  await expect(400, all, { query: { cursor: 'x' } });
  await expect(200, one, { on: id });

  const use = async (status: number, at: string, request: ApiRequest = {}): Promise<ApiAnswer> => {
    const template = at.split('/').length > url.split('/').length ? '/l/{token}/{uploadId}' : '/l/{token}';
    const { method = 'GET' } = request;
    const answer = await gateway.api.send(new URL(at).pathname, { ...request, key: '' });
    assert.equal(answer.status, status, `${method} ${at}: ${answer.text.slice(0, 300)}`);
    checker.check(method, template, answer);
    return answer;
  };
  const put = (status: number, filename: string, body = 'x', headers = {}): Promise<ApiAnswer> =>
    use(status, url, { method: 'PUT', query: { filename }, body, headers });
  await put(201, 'a.txt', 'content', { 'Want-Repr-Digest': 'sha-256=10' });
  await put(409, 'a.txt');
  await put(400, '.a');
  await put(413, 'large', 'x'.repeat(1001));
  await put(415, 'form', 'x', { 'Content-Type': 'multipart/form-data; boundary=b' });
  await use(200, url, { headers: { Accept: 'text/html' } });
  const version = { 'Tus-Resumable': '1.0.0' };
  const begin = (status: number, headers: Record<string, string>): Promise<ApiAnswer> =>
    use(status, url, { method: 'POST', headers: { ...version, 'Upload-Metadata': 'filename YS5iaW4=', ...headers } });
  const inPieces = new URL(String((await begin(201, { 'Upload-Length': '4' })).headers.location), url).href;
  const piece = { ...version, 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': '0' };
  await use(204, url, { method: 'OPTIONS' });
  await use(404, `${url}x`, { method: 'OPTIONS' });
  await begin(400, {});
  await begin(412, { 'Tus-Resumable': '0.2.2' });
  await begin(413, { 'Upload-Length': '1001' });
  await use(204, inPieces, { method: 'PATCH', body: 'ab', headers: piece });
  await use(409, inPieces, { method: 'PATCH', body: 'ab', headers: piece });
  await use(415, inPieces, { method: 'PATCH', body: 'cd', headers: { ...piece, 'Content-Type': 'text/plain' } });
  await use(200, inPieces, { method: 'HEAD', headers: version });
  const meant = { ...version, 'X-HTTP-Method-Override': 'HEAD' };
  await use(200, inPieces, { method: 'POST', headers: meant });
  await use(400, inPieces, { method: 'POST', headers: { ...meant, 'X-HTTP-Method-Override': 'PUT' } });
  await use(204, inPieces, { method: 'PATCH', body: 'cd', headers: { ...piece, 'Upload-Offset': '2' } });
  await begin(409, { 'Upload-Length': '1' });
  await use(204, inPieces, { method: 'DELETE', headers: version });
  await use(404, inPieces, { method: 'HEAD', headers: version });
  await expect(200, one, { method: 'DELETE', on: id });
  await put(410, 'late');
  const download = { ...life, operation: 'download', path: '/linked/a.txt' };
  const file = ((await expect(201, all, { json: download })).json['link'] as { url: string }).url;
  await use(200, file);
  await use(200, file, { method: 'HEAD' });
  await use(206, file, { headers: { Range: 'bytes=0-1' } });
  await use(416, file, { headers: { Range: 'bytes=99-' } });
  await use(304, file, { headers: { 'If-None-Match': '*' } });
  await use(200, file, { headers: { Accept: 'text/html' } });
  await use(404, `${file}x`);
  const nothing = { ...download, path: '/linked/nothing' };
  await use(404, ((await expect(201, all, { json: nothing })).json['link'] as { url: string }).url);
  for (const method of ['GET', 'DELETE']) await expect(404, one, { method, on: 'unknown' });
});

test('the gateway itself', async () => {
  for (const method of ['GET', 'HEAD']) {
    for (const path of ['/healthz', '/readyz', '/metrics', '/openapi.json', '/docs']) {
      const answer = await expect(200, path, { method, key: '' });
      assert.equal(answer.bytes.length > 0, method === 'GET');
    }
  }
  for (const path of ['/openapi.json', '/docs']) {
    const { headers } = await expect(200, path);
    assert.match(headers['cache-control'] ?? '', /^public, max-age=\d+$/);
    await expect(304, path, { headers: { 'If-None-Match': headers.etag ?? '' } });
  }
  const page = await gateway.api.get('/docs');
  assert.match(String(page.headers['content-security-policy']), /default-src 'none'/);
  assert.match(page.text, /^<!doctype html>/);
});

test('an unknown path and a wrong method are errors of the same shape', async () => {
  const unknown = await gateway.api.get('/api/nothing');
  assert.deepEqual([unknown.status, unknown.headers['x-error-code']], [404, 'unknown_route']);
  const wrong = await gateway.api.send('/api/me', { method: 'PUT' });
  assert.deepEqual(
    [wrong.status, wrong.headers['x-error-code'], wrong.headers.allow],
    [405, 'method_not_allowed', 'GET'],
  );
});

test('a rate limit shows in the header fields that the document lists', async (t) => {
  const limited = await startGateway({ config: { sandbox: true, limits: { requestsPerSecond: 1 } } });
  t.after(() => limited.stop());
  const answers = await Promise.all([1, 2, 3].map(() => limited.api.get('/api/me')));
  for (const answer of answers) checker.check('GET', '/api/me', answer);
  assert.ok(answers.some(({ status }) => status === 429));
});

test("every operation was seen with a success and, unless only the gateway's own faults can make it fail, an error", () => {
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, { responses }] of Object.entries(item)) {
      const seen = [...checker.seen].filter((name) => name.startsWith(`${method} ${path} `));
      const statuses = seen.map((name) => Number(name.split(' ').at(-1)));
      assert.ok(
        statuses.some((status) => status < 300),
        `${method} ${path}: no success was seen`,
      );
      const hasErrors = Object.keys(responses).some((status) => status.startsWith('4'));
      const needsError = hasErrors && path.startsWith('/api/');
      assert.ok(!needsError || statuses.some((status) => status >= 400), `${method} ${path}: no error was seen`);
    }
  }
});
