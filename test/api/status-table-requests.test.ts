/** The rows of the status table that a client causes: 400 to 422, each condition of the table. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { chmodSync, chownSync, mkdirSync } from 'node:fs';
import { Readable } from 'node:stream';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { FTP_SERVERS, SFTP_SERVERS, type TestServer } from '../servers/catalogue.js';
import { startPostgres, type PostgresServer } from '../servers/postgres.js';
import type { ApiClient } from '../support/gateway.js';
import { startGateway, type ApiAnswer, type TestGateway } from '../support/gateway.js';
import { expectError, refused, uploadRaw, type Refusal, type World } from './support.js';
import { eventually } from '../support/eventually.js';
import { startTogether } from '../support/together.js';

const key = (name: string): string => `ftg_status-table-${name}-0123456789`;
const LIMITS = { readBytes: 1000, jsonBodyBytes: 20_000, uploadBytes: 10_000, execOutputBytes: 5000 };
const IN_TWO_SECONDS = new Date(Date.now() + 2000).toISOString();

describe('a wrong request is refused with a reason and without effect', () => {
  let postgres: PostgresServer;
  let ssh: TestServer;
  let ftp: TestServer;
  let gateway: TestGateway;
  let world: World;
  let api: ApiClient;
  const clients = new Map<string, ApiClient>();
  /** A client with another key. */
  const as = (name: string): ApiClient => clients.get(name) ?? assert.fail(name);

  before(async () => {
    [postgres, ssh, ftp] = await startTogether([
      startPostgres(),
      (SFTP_SERVERS[0] ?? assert.fail()).start(),
      (FTP_SERVERS[0] ?? assert.fail()).start(),
    ]);
    const connections = [
      { id: 'ssh', name: 'SSH', ...ssh.connection },
      { id: 'ftp', name: 'FTP', ...ftp.connection },
      { id: 'single', name: 'One session', ...ftp.connection, username: 'tester', pool: { maxSessions: 1 } },
      { id: 'asleep', name: 'Asleep', ...ssh.connection, isActive: false },
      { id: 'denied', name: 'Denied', type: 'sftp', host: '169.254.169.254', username: 'u', password: 'p' },
      {
        id: 's3',
        name: 'S3',
        type: 's3',
        endpoint: 'http://127.0.0.1:1',
        bucket: 'b',
        accessKeyId: 'a',
        secretAccessKey: 's',
      },
    ];
    gateway = await startGateway({
      config: {
        database: { url: postgres.url },
        limits: {
          ...LIMITS,
          plans: { free: { connections: 1, monthlyActions: 0 }, pro: { connections: 0, monthlyActions: 0 } },
        },
        accounts: [
          {
            email: 'status@example.com',
            plan: 'pro',
            connections,
            apiKeys: [
              { name: 'all', key: key('all') },
              { name: 'reader', key: key('reader'), scopes: ['read'] },
              { name: 'writer', key: key('writer'), scopes: ['write'] },
              { name: 'ftp alone', key: key('ftp-alone'), connections: ['ftp'] },
              { name: 'elsewhere', key: key('elsewhere'), allowedIps: ['192.0.2.0/24'] },
              { name: 'expired', key: key('expired'), expiresAt: '2020-01-01T00:00:00Z' },
              { name: 'expires', key: key('expires'), expiresAt: IN_TWO_SECONDS },
            ],
          },
          {
            email: 'other@example.com',
            plan: 'free',
            apiKeys: [{ name: 'other', key: key('other') }],
            connections: [{ id: 'theirs', name: 'Theirs', ...ssh.connection }],
          },
        ],
      },
    });
    for (const name of ['all', 'reader', 'writer', 'ftp-alone', 'elsewhere', 'expired', 'expires', 'other']) {
      clients.set(name, gateway.client(key(name)));
    }
    api = as('all');
    world = { api, databaseUrl: postgres.url, disks: [ssh.disk, ftp.disk] };
    for (const { disk } of [ssh, ftp]) await disk.write('/there/file.txt', 'content of the file');
    // The sessions log in now, so that no test has to wait for it.
    for (const id of ['ssh', 'ftp']) assert.equal((await api.get(`/api/list/${id}`)).status, 200);
  });

  after(async () => {
    for (const client of clients.values()) client.close();
    await gateway?.stop();
    await Promise.all([ssh?.stop(), ftp?.stop(), postgres?.stop()]);
  });

  interface Case extends Omit<Refusal, 'history'> {
    readonly what: string;
    readonly history?: Refusal['history'];
    readonly send: () => Promise<ApiAnswer>;
  }
  const all = (...cases: Case[]): void => {
    for (const { what, send, history = 'none', ...expected } of cases) {
      test(`${what}: ${expected.code}`, async () => {
        await refused(world, send, { history, ...expected });
      });
    }
  };
  const post = (target: string, json: unknown): Promise<ApiAnswer> => api.post(target, json);
  const get = (target: string, query: Record<string, string> = {}): Promise<ApiAnswer> => api.get(target, { query });
  const text = (target: string, body: string): Promise<ApiAnswer> =>
    api.send(target, { method: 'POST', body, headers: { 'Content-Type': 'application/json' } });
  const digest = `sha-256=:${createHash('sha256').update('another body').digest('base64')}:`;

  describe('400', () => {
    all(
      {
        what: 'malformed JSON, held',
        send: () => text('/api/delete/ssh', '{"path":'),
        code: 'bad_request',
        text: /not valid JSON/,
      },
      {
        what: 'malformed JSON, streamed',
        send: () => text('/api/write/ssh', '{"path":"/a"'),
        code: 'bad_request',
        text: /malformed JSON.*byte/,
      },
      {
        what: 'a missing field',
        send: () => post('/api/move/ssh', { from: '/a' }),
        code: 'bad_request',
        text: /^to is missing/,
      },
      {
        what: 'a field of another type',
        send: () => post('/api/delete/ssh', { path: 7 }),
        code: 'bad_request',
        text: /^path must be string/,
      },
      {
        what: 'a field out of range',
        send: () => post('/api/exec/ssh', { command: 'true', timeout: 60_001 }),
        code: 'bad_request',
        text: /^timeout must be <= 60000/,
      },
      ...[
        ['POST', '/api/upload/ssh?filename=%ff.txt'],
        ['POST', '/api/upload/ssh?filename=ok.txt&path=/%c3%28'],
        ['GET', '/api/download/ssh?path=/there/%e2%82'],
        ['GET', '/api/list/ssh?path=%ed%a0%80'],
        ['GET', '/api/exists/ssh?%ff=1&path=/there'],
        ['GET', '/api/list/%ff'],
      ].map(([method = '', target = '']) => ({
        what: `bytes that are not UTF-8: ${target}`,
        send: () =>
          api.send(target, {
            method,
            ...(method === 'POST' ? { body: 'x', headers: { 'Content-Type': 'application/octet-stream' } } : {}),
          }),
        code: 'bad_request' as const,
        text: /not UTF-8|malformed percent-encoding/,
      })),
      {
        what: 'a missing query value',
        send: () => get('/api/read/ssh'),
        code: 'bad_request',
        text: /^path is missing/,
      },
      {
        what: 'a query value that is none of those allowed',
        send: () => get('/api/download/ssh', { path: '/a', format: 'xml' }),
        code: 'bad_request',
        text: /^format must be one of binary, json/,
      },
      {
        what: 'a query value out of range',
        send: () => get('/api/transfers', { limit: '101' }),
        code: 'bad_request',
        text: /^limit must be <= 100/,
      },
      {
        what: 'bad base64 in an upload',
        send: () => post('/api/upload/ssh', { filename: 'f', content: 'no base64!' }),
        code: 'bad_base64',
        text: /base64/,
        history: 'failed',
      },
      {
        what: 'bad base64 in a write',
        send: () => post('/api/write/ssh', { path: '/f', content: 'A', encoding: 'base64' }),
        code: 'bad_base64',
        text: /base64/,
        history: 'failed',
      },
      {
        what: 'a path that leaves the root',
        send: () => get('/api/download/ssh', { path: '/../etc/passwd' }),
        code: 'bad_path',
        text: /^path .*root/,
      },
      {
        what: 'a path with a line end',
        send: () => post('/api/mkdir/ftp', { path: '/a\r\nDELE b' }),
        code: 'bad_path',
        text: /^path .*control/,
      },
      {
        what: 'a path over 4,096 bytes',
        send: () => post('/api/write/ssh', { path: `/${'ä'.repeat(2048)}`, content: 'x' }),
        code: 'bad_path',
        text: /^path .*4,?096/,
      },
      {
        what: 'an empty path where one is needed',
        send: () => get('/api/exists/ssh', { path: '' }),
        code: 'bad_request',
        text: /^path must not be empty/,
      },
      {
        what: 'a file name with a slash',
        send: () => uploadRaw(api, 'ssh', { filename: 'a/b' }, 'x'),
        code: 'bad_path',
        text: /^filename must be one file name/,
      },
      {
        what: 'a file name of two dots',
        send: () => post('/api/upload/ssh', { filename: '..', content: '' }),
        code: 'bad_path',
        text: /^filename must be one file name/,
      },
      {
        what: 'url together with content',
        send: () => post('/api/upload/ssh', { url: 'http://example.com/', content: 'AAAA', filename: 'f' }),
        code: 'bad_request',
        text: /url and content exclude each other/,
      },
      {
        what: 'neither url nor content',
        send: () => post('/api/upload/ssh', { filename: 'f' }),
        code: 'bad_request',
        text: /content \(base64\) or url/,
      },
      {
        what: 'a url that is none of http and https',
        send: () => post('/api/upload/ssh', { url: 'file:///etc/passwd' }),
        code: 'bad_request',
        text: /^url must be an http or https URL/,
      },
      {
        what: 'a raw upload without a name',
        send: () => uploadRaw(api, 'ssh', {}, 'x'),
        code: 'bad_request',
        text: /^filename .*missing/,
      },
      {
        what: 'append on S3',
        send: () => post('/api/append/s3', { path: '/a', content: 'x' }),
        code: 'unsupported_operation',
        text: /append.*S3.*write/,
      },
      {
        what: 'exec on FTP',
        send: () => post('/api/exec/ftp', { command: 'true' }),
        code: 'unsupported_operation',
        text: /exec.*ftp.*sftp/,
      },
      {
        what: 'exec on S3',
        send: () => post('/api/exec/s3', { command: 'true' }),
        code: 'unsupported_operation',
        text: /exec.*s3.*sftp/,
      },
      {
        what: 'an unknown template token',
        send: () => uploadRaw(api, 'ssh', { filename: 'f', filename_template: '{name}-{week}' }, 'x'),
        code: 'bad_request',
        text: /filename_template.*\{week\}.*\{date\}/,
      },
      {
        what: 'a template that makes no file name',
        send: () => post('/api/upload/ssh', { filename: 'f', filename_template: '{date}/{name}', content: '' }),
        code: 'bad_path',
        text: /^filename_template must be one file name/,
      },
      {
        what: 'a Content-Digest that does not match',
        send: () => uploadRaw(api, 'ssh', { filename: 'f' }, 'x', { 'Content-Digest': digest }),
        code: 'digest_mismatch',
        text: /does not match its Content-Digest/,
        history: 'failed',
      },
      {
        what: 'a Content-Digest that is none',
        send: () => uploadRaw(api, 'ssh', { filename: 'f' }, 'x', { 'Content-Digest': 'sha-256=abc' }),
        code: 'bad_request',
        text: /^Content-Digest: .*sha-256=:/,
      },
      {
        what: 'an Idempotency-Key with a space',
        send: () => uploadRaw(api, 'ssh', { filename: 'f' }, 'x', { 'Idempotency-Key': 'two words' }),
        code: 'bad_request',
        text: /^Idempotency-Key must be/,
      },
    );

    test('a binary file read as text fails in the history too', async () => {
      await ssh.disk.write('/there/binary', Buffer.from([0xff, 0xfe]));
      await refused(world, () => get('/api/read/ssh', { path: '/there/binary' }), {
        code: 'bad_request',
        text: /not UTF-8.*encoding=base64/,
        history: 'failed',
      });
    });
  });

  describe('401', () => {
    const unknown = /a valid API key is needed: Authorization: Bearer/;
    const withField = (value?: string) => (): Promise<ApiAnswer> =>
      api.send('/api/list/ssh', { key: '', headers: value === undefined ? {} : { Authorization: value } });
    for (const [what, send] of [
      ['no key', withField()],
      ['another scheme', withField('Basic dXNlcjpwYXNz')],
      ['a bearer without a value', withField('Bearer ')],
      ['a malformed key', withField('Bearer sk_live_0123456789abcdef0123456789')],
      ['an unknown key', withField('Bearer ftg_nobody-knows-this-key-0123456789')],
      ['a mistyped generated key', withField(`Bearer ftg_k1_${'a'.repeat(38)}`)],
      ['an expired key', (): Promise<ApiAnswer> => as('expired').get('/api/list/ssh')],
    ] as const) {
      test(what, async () => {
        await refused(world, send, { code: 'unauthenticated', text: unknown, history: 'none' });
      });
    }

    test('a key that expires while it is used', async () => {
      const until = Date.parse(IN_TWO_SECONDS);
      await eventually(async () => (await as('expires').get('/api/me')).status === 401, 'the key expires');
      assert.ok(Date.now() >= until);
      expectError(await as('expires').get('/api/me'), 'unauthenticated', unknown);
    });

    test('a malformed key is refused before any route or field is checked', async () => {
      expectError(
        await api.get('/api/transfers', { key: 'ftg_no', query: { limit: '0' } }),
        'unauthenticated',
        unknown,
      );
    });
  });

  describe('403', () => {
    all(
      {
        what: 'copy with a plan of one connection',
        send: () =>
          as('other').post('/api/copy', {
            source_connection_id: 'theirs',
            source_path: '/a',
            dest_connection_id: 'theirs',
          }),
        code: 'plan_required',
        text: /copy needs a plan with more than one connection.*free/,
      },
      {
        what: 'writing with a key to read',
        send: () => as('reader').post('/api/delete/ssh', { path: '/there/file.txt' }),
        code: 'scope_missing',
        text: /lacks the scope "write"/,
      },
      {
        what: 'reading with a key to write',
        send: () => as('writer').get('/api/download/ssh', { query: { path: '/there/file.txt' } }),
        code: 'scope_missing',
        text: /lacks the scope "read"/,
      },
      ...['/there/file.txt', '/absent'].map((source_path) => ({
        what: `copying ${source_path} with a key that may only write`,
        send: () =>
          as('writer').post('/api/copy', {
            source_connection_id: 'ssh',
            source_path,
            dest_connection_id: 'ssh',
            dest_path: '/copied',
          }),
        code: 'scope_missing' as const,
        text: /lacks the scope "read", which the source of a copy needs/,
      })),
      {
        what: 'exec with a key to write',
        send: () => as('writer').post('/api/exec/ssh', { command: 'true' }),
        code: 'scope_missing',
        text: /lacks the scope "exec"/,
      },
      {
        what: 'a connection that the key is not for',
        send: () => as('ftp-alone').get('/api/list/ssh'),
        code: 'forbidden',
        text: /not for connection ssh/,
      },
      {
        what: 'a copy from a connection that the key is not for',
        send: () =>
          as('ftp-alone').post('/api/copy', {
            source_connection_id: 'ssh',
            source_path: '/there/file.txt',
            dest_connection_id: 'ftp',
          }),
        code: 'forbidden',
        text: /not for connection ssh/,
      },
      {
        what: 'an address that the key is not for',
        send: () => as('elsewhere').get('/api/list/ssh'),
        code: 'forbidden',
        text: /may not be used from this address/,
      },
      {
        what: 'a connection that is not active',
        send: () => get('/api/list/asleep'),
        code: 'connection_inactive',
        text: /connection asleep is not active/,
      },
      {
        what: 'a copy from a connection that is not active',
        send: () => post('/api/copy', { source_connection_id: 'asleep', source_path: '/a', dest_connection_id: 'ssh' }),
        code: 'connection_inactive',
        text: /connection asleep is not active/,
      },
      {
        what: 'a connection host that the network rules deny',
        send: () => get('/api/list/denied'),
        code: 'address_denied',
        text: /169\.254\.169\.254.*linkLocal.*network rules/,
        history: 'failed',
      },
      {
        what: 'a url that the network rules deny',
        send: () => post('/api/upload/ssh', { url: 'http://127.0.0.1:1/secret', filename: 'f' }),
        code: 'address_denied',
        text: /127\.0\.0\.1.*network rules.*url upload/,
        history: 'failed',
      },
    );

    for (const id of ['ssh', 'ftp']) {
      test(`permission denied by the remote: ${id}`, async () => {
        const { disk } = id === 'ssh' ? ssh : ftp;
        await disk.write('/closed/secret.txt', 'for root alone');
        const place = path.join(id === 'ssh' ? String(ssh.connection['rootPath']) : ftpRoot(ftp), 'closed');
        chownSync(place, 0, 0);
        chmodSync(place, 0o755);
        chownSync(path.join(place, 'secret.txt'), 0, 0);
        chmodSync(path.join(place, 'secret.txt'), 0o600);
        const denied = { code: 'permission_denied', text: /\/closed|ermission/, history: 'failed' } as const;
        await refused(world, () => get(`/api/download/${id}`, { path: '/closed/secret.txt' }), denied);
        await refused(world, () => uploadRaw(api, id, { path: '/closed', filename: 'new' }, 'x'), denied);
        await refused(world, () => post(`/api/delete/${id}`, { path: '/closed/secret.txt' }), denied);
        await refused(world, () => post(`/api/mkdir/${id}`, { path: '/closed/sub' }), denied);
        // For a rename, vsftpd reports only the failure.
        const notMoved =
          id === 'ssh' ? denied : ({ ...denied, code: 'remote_failure', text: /550 Rename failed/ } as const);
        await refused(world, () => post(`/api/move/${id}`, { from: '/closed/secret.txt', to: '/taken' }), notMoved);
        mkdirSync(path.join(place, 'inner'), { mode: 0o700 });
        if (id === 'ssh') await refused(world, () => get(`/api/list/${id}`, { path: '/closed/inner' }), denied);
      });
    }
  });

  describe('404', () => {
    const unknown = /^there is no connection/;
    all(
      { what: 'an unknown route', send: () => get('/api/nothing'), code: 'unknown_route', text: /no such endpoint/ },
      {
        what: 'a route with more behind it',
        send: () => get('/api/list/ssh/more'),
        code: 'unknown_route',
        text: /no such endpoint/,
      },
      {
        what: 'an unknown connection',
        send: () => get('/api/list/nowhere'),
        code: 'unknown_connection',
        text: unknown,
      },
      {
        what: 'a copy to an unknown connection',
        send: () =>
          post('/api/copy', { source_connection_id: 'ssh', source_path: '/a', dest_connection_id: 'nowhere' }),
        code: 'unknown_connection',
        text: /nowhere/,
      },
      {
        what: 'a connection id with a NUL',
        send: () => get('/api/list/a%00b'),
        code: 'bad_request',
        text: /control character/,
      },
    );

    test("another account's connection: the same bytes as for one that does not exist", async () => {
      for (const send of [
        (id: string) => get(`/api/list/${id}`),
        (id: string) => post(`/api/delete/${id}`, { path: '/there/file.txt' }),
        (id: string) => uploadRaw(api, id, { filename: 'f' }, 'x'),
        (id: string) => post('/api/copy', { source_connection_id: id, source_path: '/a', dest_connection_id: 'ssh' }),
      ]) {
        const expected = { code: 'unknown_connection', text: unknown, history: 'none' } as const;
        const theirs = await refused(world, () => send('theirs'), expected);
        const nobodys = await refused(world, () => send('nobody'), expected);
        const comparable = ({ headers, text: body }: ApiAnswer): unknown => {
          // Whether the connection stays open depends on how much of the body had arrived.
          const { date: _date, 'x-request-id': _id, connection: _open, 'keep-alive': _kept, ...others } = headers;
          return [others, body.replace('theirs', 'nobody')];
        };
        assert.deepEqual(comparable(theirs), comparable(nobodys));
      }
    });

    for (const id of ['ssh', 'ftp']) {
      test(`a file or folder that does not exist: ${id}`, async () => {
        const missing = { code: 'not_found', text: /\/there\/no/, history: 'failed' } as const;
        for (const send of [
          () => get(`/api/download/${id}`, { path: '/there/no.txt' }),
          () => get(`/api/read/${id}`, { path: '/there/no.txt' }),
          () => get(`/api/list/${id}`, { path: '/there/no' }),
          () => post(`/api/append/${id}`, { path: '/there/no.txt', content: 'x' }),
          () => post(`/api/delete/${id}`, { path: '/there/no.txt' }),
          () => post(`/api/move/${id}`, { from: '/there/no.txt', to: '/there/else.txt' }),
          () =>
            post('/api/copy', {
              source_connection_id: id,
              source_path: '/there/no.txt',
              dest_connection_id: id,
              dest_path: '/c',
            }),
        ]) {
          await refused(world, send, missing);
        }
      });
    }
  });

  describe('405', () => {
    for (const [method, target, allow] of [
      ['DELETE', '/api/upload/ssh', 'POST'],
      ['POST', '/api/download/ssh?path=/a', 'GET, HEAD'],
      ['PUT', '/api/me', 'GET'],
      ['OPTIONS', '/api/copy', 'POST'],
      ['POST', '/healthz', 'GET, HEAD'],
    ] as const) {
      test(`${method} ${target}`, async () => {
        const answer = await refused(world, () => api.send(target, { method }), {
          code: 'method_not_allowed',
          text: new RegExp(`^${method} is not allowed here; use ${allow}`),
          history: 'none',
        });
        assert.equal(answer.headers.allow, allow);
      });
    }
  });

  describe('409', () => {
    const there = { path: '/there', filename: 'file.txt', overwrite: 'false' };
    all(
      {
        what: 'an upload onto a file without overwrite',
        send: () => uploadRaw(api, 'ssh', there, 'new'),
        code: 'already_exists',
        text: /\/there\/file\.txt exists and overwrite is false/,
        isSkipped: true,
        history: 'failed',
      },
      {
        what: 'a copy onto a file without overwrite',
        send: () =>
          post('/api/copy', {
            source_connection_id: 'ssh',
            source_path: '/there/file.txt',
            dest_connection_id: 'ftp',
            overwrite: false,
          }),
        code: 'already_exists',
        text: /\/there\/file\.txt exists and overwrite is false/,
        isSkipped: true,
        history: 'failed',
      },
      {
        what: 'a folder downloaded',
        send: () => get('/api/download/ssh', { path: '/there' }),
        code: 'is_a_folder',
        text: /\/there is a folder/,
        history: 'failed',
      },
      {
        what: 'a folder written',
        send: () => post('/api/write/ftp', { path: '/there', content: 'x' }),
        code: 'is_a_folder',
        text: /\/there/,
        history: 'failed',
      },
      {
        what: 'a folder deleted',
        send: () => post('/api/delete/ssh', { path: '/there' }),
        code: 'is_a_folder',
        text: /\/there is a folder/,
        history: 'failed',
      },
      {
        what: 'a file listed',
        send: () => get('/api/list/ftp', { path: '/there/file.txt' }),
        code: 'not_a_folder',
        text: /\/there\/file\.txt/,
        history: 'failed',
      },
      {
        what: 'a copy between two paths of a login with one session',
        send: () =>
          post('/api/copy', {
            source_connection_id: 'single',
            source_path: '/there/file.txt',
            dest_connection_id: 'single',
            dest_path: '/there/copy.txt',
          }),
        code: 'sessions_exhausted',
        text: /maxSessions/,
        history: 'failed',
      },
    );

    for (const id of ['ssh', 'ftp']) {
      test(`a move onto a file without overwrite: ${id}`, async () => {
        const { disk } = id === 'ssh' ? ssh : ftp;
        await disk.write('/there/second.txt', 'the second file');
        const move = (more: object): Promise<ApiAnswer> =>
          post(`/api/move/${id}`, { from: '/there/second.txt', to: '/there/file.txt', ...more });
        const expected = { code: 'already_exists', text: /\/there\/file\.txt.*overwrite/, history: 'failed' } as const;
        await refused(world, () => move({}), expected);
        await refused(world, () => move({ overwrite: false }), expected);
        assert.equal((await disk.read('/there/file.txt')).toString(), 'content of the file');
      });
    }

    test('a request whose Idempotency-Key is still running', async () => {
      const idempotent = { headers: { 'Idempotency-Key': 'still-running' } };
      const target = '/api/upload/ssh?path=/there&filename=slow.bin';
      const raw = { 'Content-Type': 'application/octet-stream', 'Content-Length': '4', ...idempotent.headers };
      const body = new Readable({ read: () => undefined });
      body.push('ab');
      const first = api.send(target, { method: 'POST', body, headers: raw });
      await eventually(
        async () => (await get('/api/transfers', { status: 'pending' })).json['total'] === 1,
        'the first request runs',
      );
      const again = await api.send(target, { method: 'POST', body: 'abcd', headers: raw });
      expectError(again, 'idempotency_in_progress', /Idempotency-Key still runs/);
      assert.match(again.headers['retry-after'] ?? '', /^\d+$/);
      body.push('cd');
      body.push(null);
      assert.equal((await first).status, 200);
      const third = await api.send(target, { method: 'POST', body: 'abcd', headers: raw });
      assert.deepEqual([third.status, third.text], [200, (await first).text]);
    });
  });

  describe('413, 415, 416, 422', () => {
    all(
      {
        what: 'a write beyond the limit of JSON bodies',
        send: () => post('/api/write/ssh', { path: '/big', content: 'x'.repeat(LIMITS.jsonBodyBytes) }),
        code: 'too_large',
        text: /limit of 20000 bytes/,
      },
      {
        what: 'an append beyond the limit of JSON bodies',
        send: () => post('/api/append/ftp', { content: 'x'.repeat(LIMITS.jsonBodyBytes), path: '/there/file.txt' }),
        code: 'too_large',
        text: /limit of 20000 bytes/,
      },
      {
        what: 'a JSON body that is held',
        send: () => post('/api/delete/ssh', { path: '/a', more: 'x'.repeat(1024 * 1024) }),
        code: 'too_large',
        text: /larger than 1048576 bytes/,
      },
      {
        what: 'an upload of a known length beyond the limit',
        send: () => uploadRaw(api, 'ssh', { filename: 'big' }, 'x'.repeat(LIMITS.uploadBytes + 1)),
        code: 'too_large',
        text: /larger than 10000 bytes/,
        history: 'failed',
      },
      {
        what: 'an upload in base64 beyond the limit',
        send: () =>
          post('/api/upload/ftp', {
            filename: 'big',
            content: Buffer.alloc(LIMITS.uploadBytes + 1).toString('base64'),
          }),
        code: 'too_large',
        text: /larger than 10000 bytes/,
        history: 'failed',
      },
      {
        what: 'output of a command beyond the limit',
        send: () => post('/api/exec/ssh', { command: 'head -c 100000 /dev/zero' }),
        code: 'too_large',
        text: /5000 bytes/,
        history: 'failed',
      },
      {
        what: 'an upload of another content type',
        send: () => uploadRaw(api, 'ssh', { filename: 'f' }, 'x', { 'Content-Type': 'text/plain' }),
        code: 'unsupported_media_type',
        text: /multipart\/form-data, application\/json or application\/octet-stream/,
      },
      {
        what: 'a JSON endpoint with a form',
        send: () =>
          api.send('/api/delete/ssh', {
            method: 'POST',
            body: 'path=/there/file.txt',
            headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
          }),
        code: 'unsupported_media_type',
        text: /application\/json/,
      },
      ...['write', 'append'].flatMap((what): Case[] =>
        ['text/plain', undefined].map((type) => ({
          what: `${what} with ${type ?? 'no content type'}`,
          send: () =>
            api.send(`/api/${what}/ssh`, {
              method: 'POST',
              body: '{"path":"/there/file.txt","content":"x"}',
              headers: type === undefined ? {} : { 'Content-Type': type },
            }),
          code: 'unsupported_media_type',
          text: /application\/json/,
        })),
      ),
      {
        what: 'a range outside the file',
        send: () =>
          api.get('/api/download/ssh', { query: { path: '/there/file.txt' }, headers: { Range: 'bytes=900-' } }),
        code: 'bad_range',
        text: /19/,
        history: 'failed',
      },
    );

    test('a body with a coding, on every way in', async () => {
      const expiresAt = new Date(Date.now() + 600_000).toISOString();
      const order = { operation: 'upload', connectionId: 'ssh', path: '/', expiresAt };
      const { link } = (await post('/api/links', order)).json as { readonly link: { readonly url: string } };
      const tus = { 'Tus-Resumable': '1.0.0', 'Content-Type': 'application/offset+octet-stream' };
      const named = { 'Upload-Metadata': `filename ${Buffer.from('coded').toString('base64')}`, 'Upload-Length': '9' };
      const begun = await api.send('/api/uploads/ssh', { method: 'POST', headers: { ...tus, ...named } });
      assert.equal(begun.status, 201, begun.text);
      const json = { 'Content-Type': 'application/json' };
      const form = { 'Content-Type': 'multipart/form-data; boundary=b' };
      const part = (headers: string): string =>
        `--b\r\nContent-Disposition: form-data; name="file"; filename="coded"\r\n${headers}\r\n\x1f\x8b\r\n--b--\r\n`;
      const coded = { 'Content-Encoding': 'gzip' };
      type Way = readonly [
        what: string,
        target: string,
        body: string,
        headers: Record<string, string>,
        method?: string,
      ];
      const ways: readonly Way[] = [
        ['raw', '/api/upload/ssh?filename=coded', 'x', { 'Content-Type': 'application/octet-stream', ...coded }],
        ['form', '/api/upload/ssh', part(''), { ...form, ...coded }],
        ['part of a form', '/api/upload/ssh', part('Content-Encoding: gzip\r\n'), form],
        ['JSON upload', '/api/upload/ssh', '{"filename":"coded","content":"eA=="}', { ...json, ...coded }],
        ['tus creation', '/api/uploads/ssh', 'x', { ...tus, ...named, ...coded }],
        ['tus piece', String(begun.headers.location), 'x', { ...tus, 'Upload-Offset': '0', ...coded }, 'PATCH'],
        ['link', `${new URL(link.url, 'http://x').pathname}?filename=coded`, 'x', coded, 'PUT'],
        ...['write', 'append', 'delete', 'move', 'mkdir', 'exec'].map((name): Way => [
          name,
          `/api/${name}/ssh`,
          '{"path":"/coded","content":"x"}',
          { ...json, ...coded },
        ]),
        ...['copy', 'jobs', 'watched-folders', 'schedules', 'webhooks', 'links'].map((name): Way => [
          name,
          `/api/${name}`,
          '{}',
          { ...json, ...coded },
        ]),
        ['login', '/manage/login', '{"email":"status@example.com","password":"x"}', { ...json, ...coded }],
      ];
      for (const [what, target, body, headers, method = 'POST'] of ways) {
        const send = (): Promise<ApiAnswer> => api.send(target, { method, body: Buffer.from(body, 'latin1'), headers });
        const text = /Content-Encoding gzip: send the bytes as they are/;
        const answer = await refused(world, send, { code: 'unsupported_media_type', text, history: 'none' });
        assert.equal(answer.headers['accept-encoding'], 'identity', what);
      }
      const plain = { 'Content-Type': 'application/octet-stream', 'Content-Encoding': 'identity' };
      assert.equal((await uploadRaw(api, 'ssh', { filename: 'plain' }, 'x', plain)).status, 200);
    });

    test('a read above the read limit names the alternative', async () => {
      await ssh.disk.write('/there/large', Buffer.alloc(LIMITS.readBytes + 1, 0x61));
      await refused(world, () => get('/api/read/ssh', { path: '/there/large' }), {
        code: 'too_large',
        text: /\/there\/large has 1001 bytes; read takes at most 1000: use \/api\/download/,
        history: 'failed',
      });
    });

    test('an Idempotency-Key used with another request', async () => {
      const headers = { 'Idempotency-Key': '"used before"'.replace(' ', '-') };
      assert.equal((await uploadRaw(api, 'ssh', { filename: 'once' }, 'x', headers)).status, 200);
      await refused(world, () => uploadRaw(api, 'ssh', { filename: 'twice' }, 'x', headers), {
        code: 'idempotency_mismatch',
        text: /Idempotency-Key was used with another request/,
        history: 'none',
      });
    });
  });
});

/** The path of the login's root on this machine's disk. */
function ftpRoot(server: TestServer): string {
  return (server.disk as unknown as { readonly root: string }).root;
}
