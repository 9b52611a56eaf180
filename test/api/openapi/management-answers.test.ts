/** Every endpoint of the management API of a running gateway: each answer matches its document. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { TOTP } from 'otpauth';
import type { OpenApiDocument } from '../../../src/api/openapi/types.js';
import { ADMIN_KEY, PASSWORD, PLAIN_KEY } from '../manage/support.js';
import {
  type ApiClient,
  startGateway,
  type ApiAnswer,
  type ApiRequest,
  type TestGateway,
} from '../../support/gateway.js';
import { AnswerChecker } from './answer-checker.js';
import { eventually } from '../../support/eventually.js';
import { codeIn, type MailServer, startMailServer } from '../../servers/mail.js';

let gateway: TestGateway;
let admin: ApiClient;
let receiver: http.Server;
let hook = '';
let mails: MailServer;
let checker: AnswerChecker;
let document: OpenApiDocument;

before(async () => {
  // Accepts each event at the second attempt; which event comes first is random.
  const tries = new Map<unknown, number>();
  receiver = http.createServer((request, response) => {
    const id = request.headers['webhook-id'];
    const times = (tries.get(id) ?? 0) + 1;
    tries.set(id, times);
    request.resume().on('end', () => response.writeHead(times > 2 ? 204 : 500).end('no'));
  });
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  mails = await startMailServer();
  gateway = await startGateway({
    config: {
      sandbox: true,
      mail: { url: mails.url, from: 'alarms@example.com' },
      network: { webhooks: { allow: ['127.0.0.1/32'] } },
      webhooks: { retryMs: [10] },
      watcher: { settleMs: 0 },
      accounts: [
        {
          email: 'ops@example.com',
          plan: 'pro',
          password: PASSWORD,
          apiKeys: [
            { name: 'admin', key: ADMIN_KEY, scopes: ['admin'] },
            { name: 'plain', key: PLAIN_KEY },
          ],
        },
      ],
    },
  });
  admin = gateway.client(ADMIN_KEY);
  document = (await admin.get('/manage/openapi.json')).json as unknown as OpenApiDocument;
  checker = new AnswerChecker(document);
});

after(async () => {
  admin.close();
  await gateway.stop();
  await mails.stop();
  receiver.closeAllConnections();
  receiver.close();
});

type Sender = Pick<ApiClient, 'send'>;
const NOBODY = '0199c2f4-6f5e-7c1a-9a51-0d2f64b1c001';

/** Sends `GET /manage/x/{id}` and compares the answer with the document. */
async function expect(
  status: number,
  row: string,
  { at = '', with: sender = admin, ...request }: ApiRequest & { readonly at?: string; readonly with?: Sender } = {},
): Promise<Record<string, unknown>> {
  const [method = '', path = ''] = row.split(' ');
  const answer: ApiAnswer = await sender.send(path.replace('{id}', at), { ...request, method });
  assert.equal(answer.status, status, `${row}: ${answer.text.slice(0, 300)}`);
  checker.check(method, path, answer);
  const isJson = answer.headers['content-type']?.startsWith('application/json') === true && answer.text !== '';
  return isJson ? answer.json : {};
}

test('login, password and one-time passwords', async () => {
  const browser = gateway.visitor();
  const visitor = { with: browser };
  const password = { json: { password: PASSWORD }, ...visitor };
  await expect(401, 'POST /manage/login', { json: { email: 'ops@example.com', password: 'wrong' }, ...visitor });
  await expect(400, 'POST /manage/login', { json: {}, ...visitor });
  await expect(401, 'GET /manage/session', { with: browser });
  const { csrfToken } = await expect(200, 'POST /manage/login', {
    json: { email: 'ops@example.com', password: PASSWORD },
    ...visitor,
  });
  await expect(403, 'POST /manage/logout', visitor);
  browser.csrfToken = String(csrfToken);
  await expect(200, 'GET /manage/session', visitor);
  await expect(200, 'GET /manage/session');
  const other = gateway.visitor();
  await other.login('ops@example.com', PASSWORD);
  const { sessions } = (await expect(200, 'GET /manage/sessions', visitor)) as {
    sessions: { id: string; isCurrent: boolean }[];
  };
  await expect(200, 'DELETE /manage/sessions/{id}', {
    at: sessions.find((one) => !one.isCurrent)?.id ?? '',
    ...visitor,
  });
  await expect(404, 'DELETE /manage/sessions/{id}', { at: NOBODY, ...visitor });
  await expect(200, 'POST /manage/sessions/revoke-others', visitor);
  await expect(409, 'POST /manage/totp/recovery-codes', password);
  const { secret } = await expect(200, 'POST /manage/totp/enrol', password);
  const code = new TOTP({ secret: String(secret) }).generate();
  await expect(400, 'POST /manage/totp/confirm', { json: { code: '000000x' }, ...visitor });
  await expect(200, 'POST /manage/totp/confirm', { json: { code }, ...visitor });
  await expect(409, 'POST /manage/totp/enrol', password);
  await expect(401, 'POST /manage/login', { json: { email: 'ops@example.com', password: PASSWORD }, with: other });
  await expect(200, 'POST /manage/totp/recovery-codes', password);
  await expect(403, 'POST /manage/totp/disable', { json: { password: 'wrong' }, ...visitor });
  await expect(200, 'POST /manage/totp/disable', password);
  const change = { currentPassword: PASSWORD, newPassword: `${PASSWORD} 2` };
  await expect(200, 'POST /manage/password', { json: change, ...visitor });
  await expect(200, 'POST /manage/logout', visitor);
  browser.close();
  other.close();
});

test('connections of every type, their test and their host keys', async () => {
  const sftp = { id: 'box', name: 'Box', type: 'sftp', host: '127.0.0.1', port: 1, username: 'u', password: 'p' };
  await expect(201, 'POST /manage/connections', { json: sftp });
  await expect(409, 'POST /manage/connections', { json: sftp });
  await expect(400, 'POST /manage/connections', { json: { ...sftp, port: 0 } });
  await expect(201, 'POST /manage/connections', { json: { ...sftp, id: 'old', type: 'ftp', tls: 'explicit' } });
  const s3 = { id: 'lake', name: 'Lake', type: 's3', bucket: 'b', accessKeyId: 'a', secretAccessKey: 's' };
  await expect(201, 'POST /manage/connections', { json: { ...s3, pool: { maxSessions: 2 } } });
  await expect(200, 'GET /manage/connections');
  await expect(200, 'PATCH /manage/connections/{id}', { at: 'box', json: { name: 'Box 2' } });
  await expect(400, 'PATCH /manage/connections/{id}', { at: 'box', json: { bucket: 'b' } });
  await expect(409, 'PATCH /manage/connections/{id}', { at: 'sandbox', json: { name: 'Mine' } });
  await expect(200, 'POST /manage/connections/{id}/deactivate', { at: 'box' });
  await expect(200, 'POST /manage/connections/{id}/activate', { at: 'box' });
  await expect(201, 'POST /manage/connections/{id}/duplicate', { at: 'box', json: {} });
  await expect(200, 'POST /manage/connections/{id}/test', { at: 'sandbox', json: { probe: true } });
  await expect(200, 'POST /manage/connections/{id}/test', { at: 'box', json: {} });
  await expect(200, 'POST /manage/test-connection', { json: { connection: { ...sftp, id: undefined } } });
  for (const id of ['sandbox', 'box', 'old', 'lake']) await expect(200, 'GET /manage/connections/{id}', { at: id });
  await expect(404, 'GET /manage/connections/{id}', { at: 'nobody' });
  await expect(200, 'GET /manage/connection-types');
  await expect(200, 'GET /manage/connections/{id}/health', { at: 'sandbox' });
  await expect(404, 'GET /manage/connections/{id}/health', { at: 'never-was' });
  await expect(200, 'GET /manage/health');
  await expect(200, 'GET /manage/connections/{id}/host-keys', { at: 'sandbox' });
  await expect(400, 'GET /manage/connections/{id}/host-keys', { at: 'lake' });
  const { shown } = (await expect(200, 'POST /manage/connections/{id}/host-keys/scan', { at: 'sandbox' })) as {
    shown: { fingerprint: string }[];
  };
  await expect(502, 'POST /manage/connections/{id}/host-keys/scan', { at: 'box' });
  const pin = { fingerprint: shown[0]?.fingerprint };
  await expect(200, 'POST /manage/connections/{id}/host-keys', { at: 'box', json: pin });
  await expect(200, 'DELETE /manage/connections/{id}/host-keys', { at: 'box' });
  for (const verdict of ['accept', 'reject']) {
    const json = { fingerprint: `SHA256:${'A'.repeat(43)}` };
    await expect(404, `POST /manage/connections/{id}/host-keys/${verdict}`, { at: 'box', json });
  }
  await expect(200, 'GET /manage/connections/{id}/dependents', { at: 'box' });
  await expect(200, 'DELETE /manage/connections/{id}', { at: 'old' });
});

test('API keys and key pairs', async () => {
  const { apiKey } = (await expect(201, 'POST /manage/api-keys', {
    json: { name: 'ci', connections: ['box'], expiresAt: '2999-01-01T00:00:00Z' },
  })) as { apiKey: { id: string } };
  await expect(400, 'POST /manage/api-keys', { json: { name: 'ci', allowedIps: ['nowhere'] } });
  await expect(409, 'DELETE /manage/connections/{id}', { at: 'box' });
  await expect(200, 'PATCH /manage/api-keys/{id}', { at: apiKey.id, json: { scopes: ['read'] } });
  const { accessKeyId } = await expect(201, 'POST /manage/api-keys/{id}/s3', { at: apiKey.id });
  const deleted = await admin.send(`/manage/api-keys/${apiKey.id}/s3/${String(accessKeyId)}`, { method: 'DELETE' });
  checker.check('DELETE', '/manage/api-keys/{id}/s3/{accessKeyId}', deleted);
  await expect(404, 'POST /manage/api-keys/{id}/s3', { at: NOBODY });
  await expect(201, 'POST /manage/api-keys/{id}/rotate', { at: apiKey.id, json: {} });
  await expect(200, 'DELETE /manage/api-keys/{id}', { at: apiKey.id });
  await expect(409, 'PATCH /manage/api-keys/{id}', { at: apiKey.id, json: { name: 'x' } });
  await expect(404, 'DELETE /manage/api-keys/{id}', { at: NOBODY });
  await expect(200, 'GET /manage/api-keys');
  const pair = await expect(201, 'POST /manage/key-pairs', { json: { name: 'pair' } });
  await expect(200, 'GET /manage/key-pairs');
  await expect(200, 'DELETE /manage/key-pairs/{id}', { at: String(pair['id']) });
  await expect(404, 'DELETE /manage/key-pairs/{id}', { at: NOBODY });
  const plain = gateway.client(PLAIN_KEY);
  await expect(403, 'GET /manage/api-keys', { with: plain });
  plain.close();
});

test('transfers, the overview, and the events', async () => {
  const plain = gateway.client(PLAIN_KEY);
  const headers = { 'Content-Type': 'application/octet-stream' };
  const upload = await plain.send('/api/upload/sandbox?filename=a.csv', { method: 'POST', body: 'x', headers });
  assert.equal(upload.status, 200, upload.text);
  plain.close();
  const { id } = upload.json['transfer'] as { id: string };
  await expect(200, 'GET /manage/transfers', { query: { search: 'A.CSV', limit: '1' } });
  await expect(400, 'GET /manage/transfers', { query: { limit: '0' } });
  await expect(200, 'GET /manage/transfers/live');
  await expect(200, 'GET /manage/transfers/{id}', { at: id });
  await expect(404, 'GET /manage/transfers/{id}', { at: NOBODY });
  await expect(409, 'POST /manage/transfers/{id}/cancel', { at: id });
  await expect(403, 'POST /manage/transfers/{id}/again', { at: id });
  await expect(200, 'GET /manage/transfers/export', { query: { format: 'csv' } });
  await expect(200, 'GET /manage/transfers/export', { query: { format: 'ndjson' } });
  for (const name of ['account', 'overview', 'figures', 'usage', 'pools', 'audit'])
    await expect(200, `GET /manage/${name}`);
  const stream = await admin.open('/manage/events');
  const bytes = Buffer.from(String((await once(stream, 'data'))[0]));
  checker.check('GET', '/manage/events', { status: stream.statusCode ?? 0, headers: stream.headers, bytes });
  stream.destroy();
});

test('jobs', async () => {
  const job = {
    type: 'copy',
    dryRun: true,
    source: { connectionId: 'sandbox', path: '/originals' },
    destination: { connectionId: 'sandbox', path: '/copies' },
  };
  const made = await gateway.client(PLAIN_KEY).post('/api/jobs', job);
  const { id } = made.json['job'] as { id: string };
  await expect(200, 'GET /manage/jobs');
  await expect(200, 'GET /manage/feed', { query: { limit: '2' } });
  await expect(400, 'GET /manage/feed', { query: { cursor: 'x' } });
  await expect(400, 'GET /manage/jobs', { query: { cursor: 'x' } });
  await expect(200, 'GET /manage/jobs/{id}', { at: id });
  await expect(404, 'GET /manage/jobs/{id}', { at: NOBODY });
  await expect(200, 'GET /manage/jobs/{id}/events', { at: id });
  const schedule = await gateway.client(PLAIN_KEY).post('/api/schedules', { name: 'n', cron: '@daily', job });
  const { id: at } = schedule.json['schedule'] as { id: string };
  await expect(200, 'GET /manage/schedules');
  await expect(200, 'GET /manage/schedules/{id}', { at });
  await expect(404, 'GET /manage/schedules/{id}', { at: NOBODY });
});

test('watched folders and deliveries', async () => {
  const body = { connectionId: 'sandbox', path: '/', webhookUrl: hook };
  await expect(404, 'POST /manage/watched-folders', { json: { ...body, path: '/nowhere' } });
  const folder = await expect(201, 'POST /manage/watched-folders', { json: body });
  const own = { at: String(folder['id']) };
  await eventually(
    async () => (await expect(200, 'GET /manage/watched-folders/{id}', own))['baselineAt'] !== null,
    'the baseline',
  );
  await expect(200, 'GET /manage/watched-folders');
  await expect(200, 'PATCH /manage/watched-folders/{id}', { ...own, json: { scheduleMinutes: 10 } });
  await expect(404, 'PATCH /manage/watched-folders/{id}', { ...own, json: { path: '/nowhere' } });
  await expect(200, 'POST /manage/watched-folders/{id}/dry-run', own);
  await expect(202, 'POST /manage/watched-folders/{id}/check', own);
  await expect(200, 'GET /manage/watched-folders/{id}/files', own);
  const { checks } = (await expect(200, 'GET /manage/watched-folders/{id}/checks', own)) as {
    checks: { id: string }[];
  };
  const reasons = await admin.get(`/manage/watched-folders/${own.at}/checks/${checks[0]?.id}`);
  checker.check('GET', '/manage/watched-folders/{id}/checks/{checkId}', reasons);
  await expect(200, 'POST /manage/watched-folders/{id}/pause', own);
  await expect(200, 'POST /manage/watched-folders/{id}/resume', own);
  await expect(200, 'POST /manage/watched-folders/{id}/forget', { ...own, json: {} });
  await expect(200, 'GET /manage/webhook-secret');
  await expect(200, 'POST /manage/webhook-secret/rotate');
  await expect(200, 'GET /manage/watched-folders/{id}/secret', own);
  await expect(200, 'POST /manage/watched-folders/{id}/secret/rotate', own);
  const { eventId } = await expect(202, 'POST /manage/watched-folders/{id}/test-event', own);
  const delivery = { at: String(eventId) };
  await eventually(async () => {
    const { deliveries } = await expect(200, 'GET /manage/deliveries', { query: { state: 'dead' } });
    return JSON.stringify(deliveries).includes(delivery.at);
  }, 'the receiver has refused it twice');
  await expect(200, 'GET /manage/receivers');
  await expect(200, 'GET /manage/deliveries/{id}', delivery);
  await expect(404, 'GET /manage/deliveries/{id}', { at: NOBODY });
  await expect(200, 'GET /manage/deliveries/{id}/attempts', delivery);
  await expect(202, 'POST /manage/deliveries/replay', { json: { state: 'dead', dryRun: true } });
  await expect(400, 'POST /manage/deliveries/replay', { json: { state: 'pending' } });
  await expect(200, 'GET /manage/deliveries/{id}/copies', delivery);
  await expect(404, 'GET /manage/deliveries/{id}/copies', { at: NOBODY });
  await expect(202, 'POST /manage/deliveries/{id}/replay', delivery);
  await expect(404, 'POST /manage/deliveries/{id}/replay', { at: NOBODY });
  await expect(200, 'DELETE /manage/watched-folders/{id}', own);
  await expect(404, 'DELETE /manage/watched-folders/{id}', own);
});

test('the brand', async () => {
  await expect(200, 'GET /manage/account/brand');
  await expect(200, 'PATCH /manage/account/brand', { json: { name: 'ACME Ltd', color: '#0757b8' } });
  await expect(400, 'PATCH /manage/account/brand', { json: { logo: 'PHN2Zz4=' } });
});

test('alarms', async () => {
  const night = 'night@example.com';
  const json = { isOn: true, kinds: ['quota'], language: 'de', quiet: null, recipients: ['ops@example.com', night] };
  await expect(200, 'GET /manage/alarms');
  await expect(404, 'POST /manage/alarms/test');
  await expect(200, 'PUT /manage/alarms', { json });
  const quiet = { from: '22:00', to: '07:00', timeZone: 'Nowhere/Else' };
  await expect(400, 'PUT /manage/alarms', { json: { ...json, quiet } });
  await expect(200, 'POST /manage/alarms/test');
  await expect(200, 'POST /manage/alarms/code', { json: { address: night } });
  await expect(404, 'POST /manage/alarms/code', { json: { address: 'nobody@example.com' } });
  await expect(403, 'POST /manage/alarms/confirm', { json: { address: night, code: 'wrong' } });
  const code = codeIn(mails.to(night).at(-1));
  await expect(200, 'POST /manage/alarms/confirm', { json: { address: night, code } });
});

test('the document, and its page beside the other one', async () => {
  await expect(200, 'GET /manage/openapi.json');
  await expect(200, 'GET /manage/docs');
  assert.match((await admin.get('/docs')).text, /<a href="\/manage\/docs">/);
  const { headers } = await admin.get('/manage/openapi.json');
  await expect(304, 'GET /manage/openapi.json', { headers: { 'If-None-Match': String(headers.etag) } });
});

test('no operation was left out', () => {
  const missed = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.keys(item)
      .filter(
        (method) => method !== 'head' && ![200, 201, 202].some((ok) => checker.seen.has(`${method} ${path} ${ok}`)),
      )
      .map((method) => `${method} ${path}`),
  );
  // Covered elsewhere: cancelling and repeating transfers, and a server that announces host keys.
  assert.deepEqual(missed, [
    'post /manage/connections/{id}/host-keys/accept',
    'post /manage/connections/{id}/host-keys/reject',
    'post /manage/transfers/{id}/cancel',
    'post /manage/transfers/{id}/again',
  ]);
});
