/** An account's own settings stay within the operator's: sessions of a host, and allowed addresses of its hosts. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { startSshd, type TestSshd } from '../servers/sshd.js';
import type { ApiClient } from '../support/gateway.js';
import { startGateway, type ApiAnswer, type TestGateway } from '../support/gateway.js';

const OPEN = 'ftg_open-0123456789-abcdefghijkl';
const CLOSED = 'ftg_closed-0123456789-abcdefghij';
const SCOPES = ['read', 'write', 'admin'];
const WIDE = { maxSessions: 60, maxChannelsPerSession: 60, acquireTimeoutMs: 86_400_000, stallTimeoutMs: 86_400_000 };

let server: TestSshd;
let gateway: TestGateway;
let open: ApiClient;
let closed: ApiClient;

before(async () => {
  server = await startSshd();
  const { port, username, clientKeyFile: privateKeyFile, files: rootPath } = server;
  const login = { type: 'sftp', host: '127.0.0.1', port, username, privateKeyFile, rootPath };
  gateway = await startGateway({
    config: {
      network: { connections: { allowPrivate: false } },
      pools: { hosts: { [`127.0.0.1:${port}`]: { maxSessions: 2, maxChannelsPerSession: 1 } } },
      accounts: [
        {
          email: 'open@example.com',
          plan: 'pro',
          allowPrivate: true,
          apiKeys: [{ name: 'open', key: OPEN, scopes: SCOPES }],
          connections: [{ id: 'configured', name: 'Configured', ...login, pool: WIDE }],
        },
        { email: 'closed@example.com', plan: 'pro', apiKeys: [{ name: 'closed', key: CLOSED, scopes: SCOPES }] },
      ],
    },
  });
  [open, closed] = [gateway.client(OPEN), gateway.client(CLOSED)];
});
after(async () => {
  open.close();
  closed.close();
  await gateway.stop();
  await server.stop();
});

function input(id: string): object {
  const { port, username, clientKeyFile, files: rootPath } = server;
  const privateKey = readFileSync(clientKeyFile, 'utf8');
  return { id, name: id, type: 'sftp', host: '127.0.0.1', port, username, privateKey, rootPath, pool: WIDE };
}

async function crowd(id: string): Promise<ApiAnswer[]> {
  return Promise.all(Array.from({ length: 60 }, () => open.get(`/api/list/${id}?path=/`)));
}

test('sixty sessions requested, two set for the host: two, for every author of the connection', async () => {
  assert.equal((await open.post('/manage/connections', input('own'))).status, 201);
  for (const [index, id] of ['configured', 'own'].entries()) {
    const statuses = new Set((await crowd(id)).map(({ status }) => status));
    assert.deepEqual([...statuses], [200], id);
    const { pools } = (await open.get('/manage/pools')).json as { pools: { maxSessions: number }[] };
    assert.deepEqual(
      pools.map(({ maxSessions }) => maxSessions),
      [2],
      `after ${index + 1}`,
    );
  }
  const logins = (await server.log()).match(/Accepted publickey/g)?.length ?? 0;
  assert.ok(logins <= 2, `${logins} logins`);
});

test('an account that may not reach private addresses does not, although another one with the same login does', async () => {
  assert.equal((await open.get('/api/list/configured?path=/')).status, 200);
  assert.equal((await closed.post('/manage/connections', input('denied'))).status, 201);
  const answer = await closed.get('/api/list/denied?path=/');
  assert.deepEqual([answer.status, answer.headers['x-error-code']], [403, 'address_denied'], answer.text);
  const draft = await closed.post('/manage/test-connection', { connection: input('draft') });
  const [resolve] = draft.json['steps'] as { status: string; code?: string }[];
  assert.deepEqual([resolve?.status, resolve?.code], ['failed', 'address_denied'], draft.text);
  const allowed = await open.post('/manage/test-connection', { connection: input('draft') });
  assert.equal(allowed.json['isOk'], true, allowed.text);
});
