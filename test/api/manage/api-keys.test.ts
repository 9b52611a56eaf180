/** API keys: their rights, their ends, and how fast all nodes notice. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ApiClient, type Browser } from '../../support/gateway.js';
import {
  expectError,
  field,
  type ManagedGateway,
  PLAIN_KEY,
  startManaged,
  startManagedOn,
  withSql,
} from './support.js';
import { eventually } from '../../support/eventually.js';
import { assertRecent } from '../../support/recent.js';

interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly hint: string | null;
  readonly scopes: readonly string[];
  readonly state: string;
  readonly expiresAt: string | null;
}

let gateway: ManagedGateway;
let ops: Browser;

before(async () => {
  gateway = await startManaged();
  ops = await gateway.browser();
});
after(() => gateway.stop());

async function make(input: object): Promise<{ key: string; apiKey: ApiKey }> {
  const answer = await ops.post('/manage/api-keys', input);
  assert.equal(answer.status, 201, answer.text);
  return answer.json as unknown as { key: string; apiKey: ApiKey };
}

const use = async (key: string, port = gateway.port): Promise<number> =>
  (await new ApiClient(port, key).get('/api/me')).status;

test('a key is shown once, may not run commands by default, and is recognized by its last four characters', async () => {
  const { key, apiKey } = await make({ name: 'first' });
  assert.match(key, /^ftg_k1_/);
  assert.deepEqual(apiKey.scopes, ['read', 'write', 'watch']);
  assert.equal(apiKey.hint, key.slice(-4));
  assert.equal(await use(key), 200);
  const client = gateway.client(key);
  expectError(await client.post('/api/exec/sandbox', { command: 'id' }), 403, 'scope_missing');
  expectError(await client.get('/manage/account'), 403, 'scope_missing');
  const list = await ops.get('/manage/api-keys');
  assert.ok(!list.text.includes(key));
  const stored = await withSql(gateway.databaseUrl, (sql) => sql`select * from api_keys where name = 'first'`);
  assert.ok(!JSON.stringify(stored).includes(key));
  expectError(await ops.post('/manage/api-keys', { name: 'first' }), 409, 'already_exists');
  await eventually(async () => {
    const keys = field<(ApiKey & { lastUsedAt: string | null })[]>(await ops.get('/manage/api-keys'), 'apiKeys');
    return keys.find(({ id }) => id === apiKey.id)?.lastUsedAt !== null;
  }, 'the last use shows');
});

test('mistakes in rights are refused', async () => {
  const wrong = [
    { name: 'x', scopes: ['everything'] },
    { name: 'x', scopes: [] },
    { name: 'x', connections: ['nowhere'] },
    { name: 'x', allowedIps: ['home'] },
    { name: 'x', expiresAt: '2001-01-01T00:00:00Z' },
    { name: 'x', expiresAt: 'tomorrow' },
    { name: 'x', scopes: ['admin'], connections: ['sandbox'] },
    { name: 'x', key: 'ftg_chosen-by-the-caller-000000' },
    {},
  ];
  for (const input of wrong) expectError(await ops.post('/manage/api-keys', input), 400, 'bad_request');
});

test('an edit applies to the next request', async () => {
  const { key, apiKey } = await make({ name: 'edited' });
  assert.equal(await use(key), 200);
  const edited = await ops.patch(`/manage/api-keys/${apiKey.id}`, { allowedIps: ['192.0.2.1'] });
  assert.deepEqual(field(edited, 'allowedIps'), ['192.0.2.1']);
  assert.equal(await use(key), 403);
});

test('a stored answer is not returned to a key that was limited to other connections meanwhile', async () => {
  const { key, apiKey } = await make({ name: 'narrowed', scopes: ['read', 'write'] });
  const client = gateway.client(key);
  const headers = { 'Idempotency-Key': 'narrowed' };
  const upload = (target: string) =>
    client.send(target, {
      method: 'POST',
      body: 'x',
      headers: { 'Content-Type': 'application/octet-stream', ...headers },
    });
  const send = [
    () => upload('/api/upload/sandbox?filename=narrowed.txt'),
    () => client.post('/api/mkdir/sandbox', { path: '/narrowed' }, { headers: { 'Idempotency-Key': 'narrowed-2' } }),
  ];
  for (const one of send) assert.equal((await one()).status, 200);
  assert.equal((await ops.post('/manage/connections/sandbox/duplicate', { id: 'elsewhere' })).status, 201);
  assert.equal((await ops.patch(`/manage/api-keys/${apiKey.id}`, { connections: ['elsewhere'] })).status, 200);
  for (const one of send) expectError(await one(), 403, 'forbidden');
  assert.equal((await ops.patch(`/manage/api-keys/${apiKey.id}`, { connections: [] })).status, 200);
  for (const one of send) assert.equal((await one()).headers['idempotency-replayed'], 'true');
  client.close();
});

test('rotation gives a second key, and the first one ends with the overlap', async () => {
  const { key: former, apiKey } = await make({ name: 'rotated', scopes: ['read', 'exec'] });
  const since = Date.now();
  const answer = await ops.post(`/manage/api-keys/${apiKey.id}/rotate`, { overlapMinutes: 10 });
  const next = field<string>(answer, 'key', 201);
  const { apiKey: fresh, previous } = answer.json as unknown as { apiKey: ApiKey; previous: ApiKey };
  assert.deepEqual([fresh.name, fresh.scopes], ['rotated', ['read', 'exec']]);
  assertRecent(Date.parse(previous.expiresAt ?? '') - 600_000, since);
  assert.deepEqual([await use(former), await use(next)], [200, 200]);
  const again = await ops.post(`/manage/api-keys/${fresh.id}/rotate`, { overlapMinutes: 0 });
  assert.equal(again.status, 201, again.text);
  assert.deepEqual([await use(next), await use(field(again, 'key', 201))], [401, 200]);
});

test('a revoked key is refused here at once, and soon on every node', async () => {
  const second = await startManagedOn(gateway.databaseUrl);
  try {
    const { key, apiKey } = await make({ name: 'lost' });
    assert.deepEqual([await use(key), await use(key, second.port)], [200, 200]);
    // In use, so that the other node has it in memory when it is revoked.
    assert.equal(await use(key, second.port), 200);
    const revoked = await ops.delete(`/manage/api-keys/${apiKey.id}`);
    assert.equal(field(revoked, 'comesBack'), false);
    assert.equal(await use(key), 401, 'here at once');
    await eventually(async () => {
      const status = await use(key, second.port);
      assert.ok(status === 401 || status === 200, String(status));
      return status === 401;
    }, 'refused on the other node');
    expectError(await ops.patch(`/manage/api-keys/${apiKey.id}`, { name: 'back' }), 409, 'not_running');
  } finally {
    await second.stop();
  }
});

test('a key of the configuration file is revoked at once, and the answer says that it will return', async () => {
  const keys = field<(ApiKey & { source: string })[]>(await ops.get('/manage/api-keys'), 'apiKeys');
  const plain = keys.find(({ name }) => name === 'plain');
  assert.equal(plain?.source, 'configuration');
  expectError(await ops.patch(`/manage/api-keys/${plain?.id}`, { name: 'mine' }), 409, 'from_configuration');
  expectError(await ops.post(`/manage/api-keys/${plain?.id}/rotate`, {}), 409, 'from_configuration');
  assert.equal(field(await ops.delete(`/manage/api-keys/${plain?.id}`), 'comesBack'), true);
  assert.equal(await use(PLAIN_KEY), 401);
});
