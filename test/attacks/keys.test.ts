/**
 * Rights: every scope on every endpoint, how keys end and how fast, and that two accounts know nothing about each
 * other. A failure is an answer that differs for another account's id and for an unknown one.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { ALL_SCOPES, type Scope } from '../../src/contract/scopes.js';
import { uuidv7 } from '../../src/base/uuid.js';
import { parametersOf } from '../../src/api/openapi/document.js';
import type { OpenApiDocument, OperationObject, Parameter } from '../../src/api/openapi/types.js';
import { field, type ManagedGateway, PASSWORD, startDatabase, startManagedOn, withSql } from '../api/manage/support.js';
import { ApiClient, startGateway, type ApiAnswer, type Browser } from '../support/gateway.js';
import { held } from '../support/reliability.js';
import { startReceiver, type Receiver } from '../watch/support/receiver.js';
import { eventually } from '../support/eventually.js';
import { startTogether } from '../support/together.js';

/** In every name that the first account gives, and in none of the second's. */
const MARK = 'tenant-a';
const keyOf = (name: string): string => `ftg_attacked-${name}-key-0123456789`;
const SECOND = 'tenant-a-second';
const EMAIL_A = 'tenant-a@example.com';
const EMAIL_B = 'b@example.com';
/** No server listens there. */
const NOWHERE = { type: 'ftp', host: '127.0.0.1', port: 1, username: 'u', password: 'p', tls: 'none' };

const ACCOUNTS = [
  {
    email: EMAIL_A,
    plan: 'pro',
    password: PASSWORD,
    apiKeys: [
      ...ALL_SCOPES.map((scope) => ({ name: `${MARK} ${scope}`, key: keyOf(scope), scopes: [scope] })),
      { name: `${MARK} all`, key: keyOf('all') },
      { name: `${MARK} limited`, key: keyOf('limited'), connections: [SECOND] },
      { name: `${MARK} far`, key: keyOf('far'), scopes: ALL_SCOPES, allowedIps: ['192.0.2.0/24', '2001:db8::/32'] },
      { name: `${MARK} near`, key: keyOf('near'), allowedIps: ['127.0.0.0/8'] },
    ],
    connections: [{ id: SECOND, name: `${MARK} second`, ...NOWHERE }],
  },
  {
    email: EMAIL_B,
    plan: 'pro',
    password: PASSWORD,
    apiKeys: [
      { name: 'b all', key: keyOf('b') },
      { name: 'b admin', key: keyOf('b-admin'), scopes: ['admin'] },
    ],
    connections: [{ id: 'mine', name: 'Mine', ...NOWHERE }],
  },
];

/** `several`: more than one scope, so a key with only one of them may not. */
type Access = Scope | 'any' | 'public' | 'several';

/** The scope that each endpoint of the file API needs; a missing endpoint fails. */
const FILE_API: Readonly<Record<string, Access>> = {
  'POST /api/upload/{connectionId}': 'write',
  'GET /api/download/{connectionId}': 'read',
  'HEAD /api/download/{connectionId}': 'read',
  'POST /api/copy': 'write',
  'GET /api/read/{connectionId}': 'read',
  'POST /api/write/{connectionId}': 'write',
  'POST /api/delete/{connectionId}': 'write',
  'POST /api/move/{connectionId}': 'write',
  'POST /api/mkdir/{connectionId}': 'write',
  'GET /api/list/{connectionId}': 'read',
  'GET /api/exists/{connectionId}': 'read',
  'POST /api/exec/{connectionId}': 'exec',
  'POST /api/append/{connectionId}': 'write',
  'GET /api/connections': 'any',
  'GET /api/me': 'any',
  'GET /api/transfers': 'any',
  'GET /api/transfers/{id}': 'any',
  'GET /api/transfers/{id}/receipt': 'any',
  'POST /api/transfers/{id}/again': 'write',
  'GET /api/receipts': 'any',
  'POST /api/uploads/{connectionId}': 'write',
  'HEAD /api/uploads/{connectionId}/{uploadId}': 'write',
  'PATCH /api/uploads/{connectionId}/{uploadId}': 'write',
  'DELETE /api/uploads/{connectionId}/{uploadId}': 'write',
  'POST /api/uploads/{connectionId}/{uploadId}': 'write',
  'GET /api/events': 'any',
  'GET /api/sandbox/webhooks': 'watch',
  'GET /api/webhooks': 'watch',
  'GET /api/webhooks/{id}': 'watch',
  'POST /api/webhooks': 'watch',
  'PATCH /api/webhooks/{id}': 'watch',
  'DELETE /api/webhooks/{id}': 'watch',
  'POST /api/webhooks/{id}/rotate-secret': 'watch',
  'POST /api/webhooks/{id}/test': 'watch',
  'POST /api/jobs': 'write',
  'GET /api/jobs': 'any',
  'GET /api/jobs/{id}': 'any',
  'GET /api/jobs/{id}/files': 'any',
  'GET /api/jobs/{id}/events': 'any',
  'POST /api/jobs/{id}/pause': 'write',
  'POST /api/jobs/{id}/resume': 'write',
  'POST /api/jobs/{id}/cancel': 'write',
  'POST /api/jobs/{id}/retry': 'write',
  'GET /api/schedules': 'any',
  'POST /api/schedules': 'write',
  'POST /api/schedules/preview': 'any',
  'GET /api/schedules/{id}': 'any',
  'PATCH /api/schedules/{id}': 'write',
  'DELETE /api/schedules/{id}': 'write',
  'POST /api/schedules/{id}/run': 'write',
  'GET /api/links': 'any',
  'POST /api/links': 'any',
  'GET /api/links/{id}': 'any',
  'DELETE /api/links/{id}': 'any',
  'GET /api/watched-folders': 'watch',
  'POST /api/watched-folders': 'watch',
  'GET /api/watched-folders/{id}': 'watch',
  'PATCH /api/watched-folders/{id}': 'watch',
  'DELETE /api/watched-folders/{id}': 'watch',
};
/** Public endpoints of the management API and outside the APIs; all others below /manage/ are for owners. */
const PUBLIC = new Set([
  'POST /manage/login',
  'GET /.well-known/jwks.json',
  'OPTIONS /api/uploads/{connectionId}',
  ...['GET', 'HEAD', 'PUT', 'POST', 'OPTIONS'].map((method) => `${method} /l/{token}`),
  ...['HEAD', 'PATCH', 'DELETE', 'POST'].map((method) => `${method} /l/{token}/{uploadId}`),
  ...['/healthz', '/readyz', '/metrics', '/openapi.json', '/docs', '/manage/openapi.json', '/manage/docs'].flatMap(
    (at) => [`GET ${at}`, `HEAD ${at}`],
  ),
]);

interface Endpoint {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  /** Required parameters with their examples, "?" included. */
  readonly query: string;
  readonly operation: OperationObject;
}

let gateway: ManagedGateway;
let database: Awaited<ReturnType<typeof startDatabase>>;
let databaseUrl: string;
let receiver: Receiver;
let a: Browser;
let endpoints: readonly Endpoint[];
const clients = new Map<string, ApiClient>();

/** Fields that some endpoints require, and others ignore. */
const HEADERS = { 'Tus-Resumable': '1.0.0', 'X-HTTP-Method-Override': 'PATCH' };

const config = {
  accounts: ACCOUNTS,
  network: { webhooks: { allow: ['127.0.0.1/32'] } },
  watcher: { settleMs: 0 },
};

before(async () => {
  [database, receiver] = await startTogether([startDatabase(), startReceiver()]);
  databaseUrl = await database.createDatabase();
  gateway = await startManagedOn(databaseUrl, config);
  a = await gateway.browser(EMAIL_A);
  endpoints = [...(await endpointsOf('/openapi.json')), ...(await endpointsOf('/manage/openapi.json'))];
});
after(async () => {
  for (const client of clients.values()) client.close();
  await gateway.stop();
  await Promise.all([database.stop(), receiver.close()]);
});

async function endpointsOf(address: string): Promise<Endpoint[]> {
  const document = (await gateway.api.get(address)).json as unknown as OpenApiDocument;
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => {
      const upper = method.toUpperCase();
      const query = queryOf(parametersOf(document, operation));
      return { name: `${upper} ${path}`, method: upper, path, query, operation };
    }),
  );
}

function accessOf({ name }: Endpoint): Access | undefined {
  if (PUBLIC.has(name)) return 'public';
  // It changes files, and is for owners.
  if (name === 'POST /manage/transfers/{id}/again') return 'several';
  return name.includes(' /manage/') ? 'admin' : FILE_API[name];
}

const client = (key: string): ApiClient => {
  const known = clients.get(key) ?? gateway.client(key === '' ? '' : keyOf(key));
  clients.set(key, known);
  return known;
};

/** The head of the answer and its error; does not wait for an endless stream. */
async function ask(who: ApiClient, { method, path }: Endpoint, id: string): Promise<{ status: number; code: string }> {
  const response = await who.open(path.replace(/\{\w+\}/g, id), { method, headers: HEADERS });
  response.destroy();
  return { status: response.statusCode ?? 0, code: String(response.headers['x-error-code'] ?? '') };
}

describe('scopes', () => {
  test('every endpoint has a decision, and there are no others', () => {
    const decided = new Set(Object.keys(FILE_API));
    const shown = endpoints.map(({ name }) => name);
    assert.deepEqual(
      endpoints.filter((endpoint) => accessOf(endpoint) === undefined).map(({ name }) => name),
      [],
    );
    assert.deepEqual(
      [...decided].filter((name) => !shown.includes(name) && !name.startsWith('HEAD')),
      [],
    );
    assert.ok(shown.filter((name) => name.includes(' /manage/')).length > 50);
  });

  test('a key does what its scope allows and nothing else', async () => {
    let tries = 0;
    for (const endpoint of endpoints) {
      const access = accessOf(endpoint);
      if (access === 'public') continue;
      for (const scope of ALL_SCOPES) {
        const { status, code } = await ask(client(scope), endpoint, uuidv7());
        const what = `${scope}: ${endpoint.name}: ${status} ${code}`;
        const may = access === 'any' || access === scope;
        if (may) assert.ok(status !== 401 && status !== 403 && status < 500, what);
        else assert.deepEqual([status, code], [403, 'scope_missing'], what);
        tries += 1;
      }
    }
    held({
      area: 'Attacks',
      what: 'Keys of one scope at every endpoint',
      done: 'a key with only one scope, for each of them, against every endpoint of both OpenAPI documents; an endpoint without a decision fails',
      held: '403 scope_missing wherever the scope is not the one that is needed',
      tries,
    });
  });

  test('without a key, and from another address, nothing is allowed', async () => {
    let tries = 0;
    for (const endpoint of endpoints) {
      if (accessOf(endpoint) === 'public') continue;
      assert.deepEqual(
        await ask(client(''), endpoint, uuidv7()),
        { status: 401, code: 'unauthenticated' },
        endpoint.name,
      );
      assert.deepEqual(await ask(client('far'), endpoint, uuidv7()), { status: 403, code: 'forbidden' }, endpoint.name);
      tries += 2;
    }
    assert.equal((await client('near').get('/api/me')).status, 200);
    const pretended = await client('far').get('/api/me', {
      headers: { 'X-Forwarded-For': '192.0.2.1', Forwarded: 'for=192.0.2.1' },
    });
    assert.equal(pretended.status, 403, 'the address is that of the socket');
    held({
      area: 'Attacks',
      what: 'Requests without a key, and keys from a foreign address',
      done: 'every endpoint of both OpenAPI documents; a forged X-Forwarded-For',
      held: '401, and 403 for the address of the socket',
      tries: tries + 1,
    });
  });

  test('a key for one connection reaches no other one of its account', async () => {
    const limited = client('limited');
    const perConnection = endpoints.filter(
      (endpoint) => endpoint.path.includes('{connectionId}') && accessOf(endpoint) !== 'public',
    );
    assert.ok(perConnection.length >= 11);
    for (const endpoint of perConnection) {
      const { method, path, query, operation, name } = endpoint;
      const body = sampleOf(operation);
      const options = { method, headers: HEADERS, ...(body === undefined ? {} : { json: body }) };
      const answer = await limited.send(path.replace('{connectionId}', 'sandbox') + query, options);
      assert.deepEqual([answer.status, answer.headers['x-error-code']], [403, 'forbidden'], `${name}: ${answer.text}`);
    }
    const copy = (source: string, target: string) =>
      limited.post('/api/copy', {
        source_connection_id: source,
        source_path: '/a',
        dest_connection_id: target,
        dest_path: '/b',
      });
    assert.equal((await copy(SECOND, 'sandbox')).headers['x-error-code'], 'forbidden');
    assert.equal((await copy('sandbox', SECOND)).headers['x-error-code'], 'forbidden');
    const watch = await limited.post('/api/watched-folders', { connectionId: 'sandbox', path: '/' });
    assert.equal(watch.headers['x-error-code'], 'forbidden');
    // Something of the other connection that the key could see.
    assert.equal((await client('all').get('/api/list/sandbox')).status, 200);
    for (const query of [{}, { connection_id: 'sandbox' }]) {
      const listed = await limited.get('/api/transfers', { query });
      assert.ok(!listed.text.includes('sandbox'), listed.text);
    }
    assert.ok(!(await limited.get('/api/connections')).text.includes('sandbox'));
    held({
      area: 'Attacks',
      what: 'A key for one connection, used on another one of its account',
      done: 'every endpoint with a connection, both ends of a copy, watched folders, the history and the list of connections',
      held: '403 forbidden, and nothing of the other connection is listed',
      tries: perConnection.length + 6,
    });
  });

  test('leaving something out never makes a key that runs commands or owns the account', async () => {
    // The admin key of the test before has ended every session.
    a = await gateway.browser(EMAIL_A);
    const made = await a.post('/manage/api-keys', { name: `${MARK} plain` });
    const { id, scopes } = field<{ id: string; scopes: string[] }>(made, 'apiKey', 201);
    assert.deepEqual(scopes, ['read', 'write', 'watch']);
    const edited = await a.patch(`/manage/api-keys/${id}`, { name: `${MARK} renamed` });
    assert.deepEqual(field(edited, 'scopes'), scopes);
    const rotated = await a.post(`/manage/api-keys/${id}/rotate`, {});
    assert.deepEqual(field<{ scopes: string[] }>(rotated, 'apiKey', 201).scopes, scopes);
  });
});

/** The content of an answer, without what differs from answer to answer for any caller. */
function comparable({ status, headers, text }: ApiAnswer, id = ''): object {
  const {
    'x-request-id': _request,
    date: _date,
    'server-timing': _timing,
    'content-length': _length,
    // Whether the connection is kept depends on how much of the body had arrived when the answer was ready.
    connection: _connection,
    'keep-alive': _keepAlive,
    ...fields
  } = headers;
  return { status, fields, text: id === '' ? text : text.replaceAll(id, '<id>') };
}

describe('tenants', () => {
  /** Ids of everything that the first account has, by kind. */
  const owned: Record<string, string> = {};
  let b: Browser;

  before(async () => {
    b = await gateway.browser(EMAIL_B);
    const upload = { method: 'POST', body: 'x', headers: { 'Content-Type': 'application/octet-stream' } };
    const uploaded = await a.send(`/api/upload/sandbox?filename=${MARK}.txt`, upload);
    owned['transfer'] = field<{ id: string }>(uploaded, 'transfer').id;
    assert.equal((await a.post('/api/mkdir/sandbox', { path: `/${MARK}` })).status, 200);
    const made = await a.post('/manage/watched-folders', {
      connectionId: 'sandbox',
      path: `/${MARK}`,
      webhookUrl: receiver.url,
    });
    owned['watched folder'] = field(made, 'id', 201);
    const sent = await a.post(`/manage/watched-folders/${owned['watched folder']}/test-event`);
    owned['delivery'] = field(sent, 'eventId', 202);
    const at = `/manage/watched-folders/${owned['watched folder']}`;
    await eventually(async () => field<unknown[]>(await a.get(`${at}/checks`), 'checks').length > 0, 'a check');
    owned['check'] = field<{ id: string }[]>(await a.get(`${at}/checks`), 'checks')[0]?.id ?? '';
    const key = await a.post('/manage/api-keys', { name: `${MARK} shown` });
    owned['key'] = field<{ id: string }>(key, 'apiKey', 201).id;
    owned['key pair'] = field(await a.post('/manage/key-pairs', { name: `${MARK} pair` }), 'id', 201);
    owned['session'] = field<{ id: string }[]>(await a.get('/manage/sessions'), 'sessions')[0]?.id ?? '';
    owned['audit entry'] = field<{ id: string }[]>(await a.get('/manage/audit'), 'entries')[0]?.id ?? '';
    const order = { type: 'delete', dryRun: true, source: { connectionId: 'sandbox', path: `/${MARK}` } };
    owned['job'] = field<{ id: string }>(await a.post('/api/jobs', order), 'job', 202).id;
    const yearly = { name: MARK, cron: '@yearly', timeZone: 'UTC', isActive: false, job: order };
    owned['schedule'] = field<{ id: string }>(await a.post('/api/schedules', yearly), 'schedule', 201).id;
    const hook = { url: receiver.url, events: ['transfer.failed'] };
    owned['webhook'] = field<{ id: string }>(await a.post('/api/webhooks', hook), 'webhook', 201).id;
    const expiresAt = new Date(Date.now() + 3_600_000);
    const link = { operation: 'upload', connectionId: 'sandbox', path: `/${MARK}`, expiresAt };
    owned['link'] = field<{ id: string }>(await a.post('/api/links', link), 'link', 201).id;
    const begun = await a.send('/api/uploads/sandbox', {
      method: 'POST',
      headers: {
        'Tus-Resumable': '1.0.0',
        'Upload-Length': '9',
        'Upload-Metadata': `filename ${Buffer.from(`${MARK}-begun.txt`).toString('base64')}`,
      },
    });
    owned['upload'] = /[^/]+$/.exec(begun.headers['location'] ?? '')?.[0] ?? '';
    owned['connection'] = SECOND;
    assert.ok(
      Object.values(owned).every((id) => id.length > 3),
      JSON.stringify(owned),
    );
  });

  const absentLike = (id: string): string => (id === SECOND ? 'tenant-a-absent' : uuidv7());

  test('an id of another account gets the same answer as an unknown one, at every endpoint that takes an id', async () => {
    let tries = 0;
    for (const endpoint of endpoints) {
      if (!endpoint.path.includes('{') || accessOf(endpoint) === 'public') continue;
      const { method, path, query, operation, name } = endpoint;
      const body = sampleOf(operation);
      for (const [kind, id] of Object.entries(owned)) {
        const answers = [id, absentLike(id)].map(async (one) => {
          const options = { method, headers: HEADERS, ...(body === undefined ? {} : { json: body }) };
          // The other parameters are the account's own, so that only this one can be wrong.
          const target = path.replace(/\{(\w+)\}/g, one) + query;
          return comparable(await b.send(target, options), one);
        });
        const [foreign, absent] = await Promise.all(answers);
        assert.deepEqual(foreign, absent, `${name} with the id of a ${kind}`);
        assert.equal(
          (foreign as { status: number }).status,
          404,
          `${name} with the id of a ${kind}: ${JSON.stringify(foreign)}`,
        );
        tries += 1;
      }
    }
    for (const [path, kind] of [
      ['connections', 'connection'],
      ['watched-folders', 'watched folder'],
      ['api-keys', 'key'],
      ['key-pairs', 'key pair'],
      ['sessions', 'session'],
      ['transfers', 'transfer'],
      ['jobs', 'job'],
      ['schedules', 'schedule'],
    ] as const) {
      assert.ok((await a.get(`/manage/${path}`)).text.includes(owned[kind] ?? ''), `the ${kind} is still there`);
    }
    assert.ok((await a.get('/api/webhooks')).text.includes(owned['webhook'] ?? ''), 'the webhook is still there');
    const upload = await a.send(`/api/uploads/sandbox/${owned['upload']}`, { method: 'HEAD', headers: HEADERS });
    assert.equal(upload.status, 200, 'the upload is still there');
    held({
      area: 'Attacks',
      what: 'Ids of another account in the path',
      done: 'the ids of a connection, transfer, watched folder, check, delivery, key, key pair, session, audit entry, job, schedule, webhook, link and resumable upload at every endpoint of both OpenAPI documents that takes an id',
      held: '404, byte for byte what an id is answered that never was',
      tries,
    });
  });

  test('the same in queries and bodies', async () => {
    const draft = { name: 'Draft', type: 'sftp', host: '127.0.0.1', port: 1, username: 'u' };
    const places: Readonly<Record<string, readonly [kind: string, send: (id: string) => Promise<ApiAnswer>]>> = {
      'copy from': [
        'connection',
        (id) => b.post('/api/copy', { source_connection_id: id, source_path: '/a', dest_connection_id: 'mine' }),
      ],
      'copy to': [
        'connection',
        (id) => b.post('/api/copy', { source_connection_id: 'mine', source_path: '/a', dest_connection_id: id }),
      ],
      'job on': [
        'connection',
        (id) => b.post('/api/jobs', { type: 'delete', source: { connectionId: id, path: '/a' } }),
      ],
      'schedule on': [
        'connection',
        (id) =>
          b.post('/api/schedules', {
            name: 'x',
            cron: '@yearly',
            timeZone: 'UTC',
            isActive: true,
            job: { type: 'delete', source: { connectionId: id, path: '/a' } },
          }),
      ],
      'job page': ['job', (id) => b.get('/api/jobs', { query: { cursor: id, state: 'paused' } })],
      'managed job page': ['job', (id) => b.get('/manage/jobs', { query: { cursor: id, state: 'paused' } })],
      'jobs of a schedule': ['schedule', (id) => b.get('/manage/jobs', { query: { scheduleId: id } })],
      'upload by another connection': [
        'upload',
        (id) => b.send(`/api/uploads/mine/${id}`, { method: 'HEAD', headers: HEADERS }),
      ],
      'webhook of': [
        'connection',
        (id) => b.post('/api/webhooks', { url: receiver.url, events: ['connection.down'], connections: [id] }),
      ],
      watch: ['connection', (id) => b.post('/api/watched-folders', { connectionId: id, path: '/' })],
      'watch by hand': ['connection', (id) => b.post('/manage/watched-folders', { connectionId: id, path: '/' })],
      'test a draft': [
        'connection',
        (id) => b.post('/manage/test-connection', { connection: { ...draft }, basedOn: id }),
      ],
      'key for': ['connection', (id) => b.post('/manage/api-keys', { name: 'x', connections: [id] })],
      'key pair': ['key pair', (id) => b.post('/manage/connections', { ...draft, keyPairId: id })],
      history: ['connection', (id) => b.get('/api/transfers', { query: { connection_id: id } })],
      transfers: ['connection', (id) => b.get('/manage/transfers', { query: { connectionId: id } })],
      export: ['connection', (id) => b.get('/manage/transfers/export', { query: { connectionId: id } })],
      deliveries: ['watched folder', (id) => b.get('/manage/deliveries', { query: { watchedFolderId: id } })],
      'deliveries of a connection': [
        'connection',
        (id) => b.get('/manage/deliveries', { query: { connectionId: id } }),
      ],
      'deliveries of a job': ['job', (id) => b.get('/manage/deliveries', { query: { jobId: id } })],
      'many deliveries again': [
        'watched folder',
        (id) => b.post('/manage/deliveries/replay', { state: 'dead', watchedFolderId: id }),
      ],
      'many again of a webhook': [
        'webhook',
        (id) => b.post('/manage/deliveries/replay', { state: 'delivered', webhookId: id }),
      ],
      'deliveries of a webhook': ['webhook', (id) => b.get('/manage/deliveries', { query: { webhookId: id } })],
      'audit page': ['audit entry', (id) => b.get('/manage/audit', { query: { cursor: id, action: 'nothing' } })],
      'transfer page': ['transfer', (id) => b.get('/manage/transfers', { query: { cursor: id, search: 'nothing' } })],
    };
    for (const [name, [kind, send]] of Object.entries(places)) {
      const id = owned[kind] ?? '';
      const absent = absentLike(id);
      assert.deepEqual(comparable(await send(id), id), comparable(await send(absent), absent), name);
    }
    const taken = await b.post('/manage/connections', { ...draft, id: SECOND });
    assert.deepEqual(
      [taken.status, taken.json],
      [409, { error: `id: "${SECOND}" is in use already; choose another one` }],
    );
    held({
      area: 'Attacks',
      what: 'Ids of another account in queries and bodies',
      done: 'both ends of a copy, watched folders, drafts, keys, key pairs, filters, cursors and exports',
      held: 'byte for byte what an id is answered that never was; only a chosen id of a new connection shows that it is taken',
      tries: Object.keys(places).length + 1,
    });
  });

  test('nothing of it is in any listing, export, stream or metric', async () => {
    const secrets = [MARK, ...Object.values(owned)];
    const clean = (text: string, what: string): void => {
      for (const secret of secrets) assert.ok(!text.includes(secret), `${what} shows ${secret}`);
    };
    const stream = await b.open('/manage/events');
    const events: string[] = [];
    createInterface(stream).on('line', (line) => events.push(line));
    let tries = 0;
    const upload = { method: 'POST', body: 'x', headers: { 'Content-Type': 'application/octet-stream' } };
    assert.equal((await a.send(`/api/upload/sandbox?filename=${MARK}-streamed.txt`, upload)).status, 200);
    assert.equal((await b.get('/api/list/mine')).status, 502, 'nothing listens there');
    const lists = endpoints.filter(
      ({ method, path }) => method === 'GET' && !path.includes('{') && path !== '/manage/events',
    );
    assert.ok(lists.length > 15);
    for (const { path, query } of lists) {
      const answer = await b.get(path + query);
      assert.ok(answer.status < 500, `${path}: ${answer.text}`);
      clean(answer.text, path);
      tries += 1;
    }
    for (const format of ['csv', 'ndjson']) {
      clean((await b.get('/manage/transfers/export', { query: { format } })).text, format);
    }
    clean((await client('').get('/metrics')).text, '/metrics');
    assert.ok((await a.get('/manage/transfers')).text.includes(`${MARK}-streamed.txt`), 'its own account sees it');
    await eventually(() => events.some((line) => line.startsWith('data: ')), 'an event of its own');
    stream.destroy();
    clean(events.join('\n'), 'the event stream');
    held({
      area: 'Attacks',
      what: 'Another account in listings, exports, event streams and metrics',
      done: 'every GET of both OpenAPI documents, both exports, server-sent events and /metrics searched for ids, names, files and addresses of another account',
      held: 'nothing of it is there',
      tries: tries + 4,
    });
  });
});

/** The document's own example of a body. */
function sampleOf({ requestBody }: OperationObject): unknown {
  const examples = Object.values(requestBody?.content['application/json']?.examples ?? {});
  const [first] = examples;
  return first !== undefined && 'value' in first ? first.value : undefined;
}

/** Every required parameter with its example. */
function queryOf(parameters: readonly Parameter[]): string {
  const required = parameters.filter(({ in: place, required }) => place === 'query' && required === true);
  const values = required.map(
    ({ name, example }) => [name, typeof example === 'string' ? example : '/x'] as [string, string],
  );
  return values.length === 0 ? '' : `?${new URLSearchParams(values).toString()}`;
}

/** A second node takes the sandbox over, so these come after the tests that use it. */
describe('how keys end', () => {
  const status = async (key: string, port = gateway.port): Promise<number> => {
    const once = new ApiClient(port, key);
    try {
      return (await once.get('/api/me')).status;
    } finally {
      once.close();
    }
  };
  const make = async (name: string, more: object = {}): Promise<{ id: string; key: string }> => {
    const made = await a.post('/manage/api-keys', { name: `${MARK} ${name}`, ...more });
    return { id: field<{ id: string }>(made, 'apiKey', 201).id, key: field(made, 'key', 201) };
  };

  test('revoked, expired, narrowed or bound to another address: within a second on another node too', async () => {
    const second = await startManagedOn(databaseUrl, config);
    const there = second.client('');
    try {
      const revoked = await make('revoked');
      const expired = await make('expired');
      const moved = await make('moved');
      const narrowed = await make('narrowed', { scopes: ['read', 'exec'] });
      const session = await gateway.browser(EMAIL_A);
      const exec = async () =>
        (await there.post('/api/exec/sandbox', { command: '' }, { key: narrowed.key })).headers['x-error-code'];
      const cookie = async () => (await there.get('/manage/session', { headers: { Cookie: session.cookie } })).status;
      // Each is cached by the other node when it ends.
      for (const { key } of [revoked, expired, moved]) assert.equal(await status(key, second.port), 200);
      assert.deepEqual([await exec(), await cookie()], ['bad_request', 200]);

      const others = field<{ id: string; isCurrent: boolean }[]>(await session.get('/manage/sessions'), 'sessions');
      const own = others.find(({ isCurrent }) => isCurrent)?.id ?? '';
      await withSql(
        databaseUrl,
        (sql) => sql`update api_keys set expires_at = now() + interval '100 milliseconds' where id = ${expired.id}`,
      );
      assert.equal((await a.delete(`/manage/api-keys/${revoked.id}`)).status, 200);
      assert.equal((await a.patch(`/manage/api-keys/${moved.id}`, { allowedIps: ['192.0.2.1'] })).status, 200);
      assert.equal((await a.patch(`/manage/api-keys/${narrowed.id}`, { scopes: ['read'] })).status, 200);
      assert.equal((await a.delete(`/manage/sessions/${own}`)).status, 200);
      const ended = performance.now();
      const all = async () => [
        await status(revoked.key, second.port),
        await status(expired.key, second.port),
        await status(moved.key, second.port),
        await exec(),
        await cookie(),
      ];
      const wanted = [401, 401, 403, 'scope_missing', 401];
      await eventually(async () => {
        // Measured by when they were sent: the expired one had 100 ms left.
        const sentMs = performance.now() - ended;
        const isOver = JSON.stringify(await all()) === JSON.stringify(wanted);
        assert.ok(isOver || sentMs < 1_100, `some have not ended in requests sent after ${sentMs} ms`);
        return isOver;
      }, 'all have ended');
      const unknown = await there.get('/api/me', { key: keyOf('nobodys') });
      for (const { key } of [revoked, expired]) {
        assert.deepEqual(comparable(await there.get('/api/me', { key })), comparable(unknown), 'as if it never was');
      }
    } finally {
      there.close();
      await second.stop();
    }
    held({
      area: 'Attacks',
      what: 'Keys and sessions that have ended, used on another node',
      done: 'a key revoked, expired, narrowed, bound to another address, and a login session ended, each warm in the memory of a second node of the same PostgreSQL',
      held: 'refused there within a second; an ended key is answered like one that never was',
      tries: 5,
    });
  });

  test('keys are looked up by their hash, and comparisons take constant time', async () => {
    const columns = await withSql(
      databaseUrl,
      (sql) => sql<{ name: string; type: string }[]>`
        select column_name as name, data_type as type from information_schema.columns where table_name = 'api_keys'`,
    );
    assert.deepEqual(
      columns.filter(({ name }) => /key|secret|hash/.test(name)),
      [{ name: 'key_hash', type: 'bytea' }],
    );
    // The comparisons of secrets: passwords, CSRF tokens, the bearer of /metrics, the sandbox's login.
    const comparing = ['storage/secrets/hashes', 'api/login/owner-sessions', 'api/system/probes', 'sandbox/server'];
    for (const file of comparing) {
      const source = readFileSync(new URL(`../../../src/${file}.ts`, import.meta.url), 'utf8');
      assert.match(source, /\btimingSafeEqual\(/, file);
    }
  });
});

describe('valid keys that were never used', () => {
  const MANY = 150;
  const keys = Array.from({ length: MANY }, (_, number) => `ftg_unseen-${String(number).padStart(20, '0')}`);
  const apiKeys = keys.map((key, number) => ({ name: `${number}`, key }));

  for (const [what, keyOf] of [
    ['each of its own', (number: number) => keys[number]],
    ['all the same', () => keys[0]],
  ] as const) {
    test(`${MANY} at once from one address, ${what}: none counts as a guess`, async (t) => {
      const gateway = await startGateway({ apiKeys });
      t.after(() => gateway.stop());
      const asked = Array.from({ length: MANY }, (_, number) => gateway.client(keyOf(number)).get('/api/me'));
      const answers = await Promise.all(asked);
      assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
    });
  }
});

/** Last: from here on this address must wait. */
describe('guessing', () => {
  test('is slowed down for bad keys, and valid keys pass meanwhile', async () => {
    let answer: ApiAnswer | undefined;
    let tries = 0;
    const guess = (): Promise<ApiAnswer> =>
      client('').get('/api/me', { key: `ftg_guess-${String(tries++).padStart(20, '0')}` });
    do answer = await guess();
    while (answer.status === 401 && tries < 100);
    assert.deepEqual([answer.status, answer.headers['x-error-code']], [429, 'rate_limited'], `after ${tries}`);
    assert.match(answer.headers['retry-after'] ?? '', /^[1-9]\d*$/);
    assert.ok(tries <= 61, `${tries} guesses in a minute`);
    assert.equal((await client('all').get('/api/me')).status, 200);
    held({
      area: 'Attacks',
      what: 'Guessing keys',
      done: 'bad keys one after another from one address',
      held: '429 with Retry-After from the 61st in a minute on; good keys of the same address are served',
      tries: 61,
    });
  });
});
