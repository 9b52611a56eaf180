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

interface Pair {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly apiKey: ApiKey & { readonly s3: readonly { readonly accessKeyId: string; readonly createdAt: string }[] };
}

const NO_KEY = '0199c2f4-6f5e-7c1a-9a51-0d2f64b1a001';
const s3Of = ({ id }: ApiKey): string => `/manage/api-keys/${id}/s3`;

async function makePair(apiKey: ApiKey): Promise<Pair> {
  const answer = await ops.post(s3Of(apiKey), {});
  assert.equal(answer.status, 201, answer.text);
  return answer.json as unknown as Pair;
}

async function listed(id: string): Promise<Pair['apiKey'] | undefined> {
  return field<Pair['apiKey'][]>(await ops.get('/manage/api-keys'), 'apiKeys').find((apiKey) => apiKey.id === id);
}

test('an S3 access key is shown once, listed with its API key, and deleted', async () => {
  const { apiKey } = await make({ name: 'for S3' });
  assert.deepEqual((await listed(apiKey.id))?.s3, []);
  const { accessKeyId, secretAccessKey, apiKey: shown } = await makePair(apiKey);
  assert.match(accessKeyId, /^FTGA[A-Z2-7]{16}$/);
  assert.match(secretAccessKey, /^[0-9A-Za-z]{40}$/);
  assert.deepEqual((await listed(apiKey.id))?.s3, shown.s3);
  assert.deepEqual(
    shown.s3.map((pair) => pair.accessKeyId),
    [accessKeyId],
  );
  for (const path of ['/manage/api-keys', '/manage/audit']) {
    const { text } = await ops.get(path);
    assert.ok(text.includes(accessKeyId), path);
    assert.ok(!text.includes(secretAccessKey), path);
  }
  const stored = await withSql(gateway.databaseUrl, (sql) => sql`select * from s3_access_key_secrets`);
  assert.ok(!JSON.stringify(stored).includes(secretAccessKey));
  const left = await ops.delete(`${s3Of(apiKey)}/${accessKeyId}`);
  assert.deepEqual(field(left, 's3'), []);
  expectError(await ops.delete(`${s3Of(apiKey)}/${accessKeyId}`), 404, 'unknown_item');
  const actions = field<{ action: string; target: { name: string } }[]>(await ops.get('/manage/audit'), 'entries');
  assert.deepEqual(
    actions.filter(({ target }) => target?.name === 'for S3').map(({ action }) => action),
    ['api_key.s3_delete', 'api_key.s3_create', 'api_key.create'],
  );
});

test('an API key has five S3 access keys at most', async () => {
  const { apiKey } = await make({ name: 'many for S3' });
  const answers = await Promise.all(Array.from({ length: 7 }, () => ops.post(s3Of(apiKey), {})));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 201, 201, 201, 201, 429, 429]);
  expectError(await ops.post(s3Of(apiKey), {}), 429, 'share_exceeded');
  assert.equal((await listed(apiKey.id))?.s3.length, 5);
});

test('an S3 access key moves to the new API key in a rotation, and ends with a revoked one', async () => {
  const { apiKey } = await make({ name: 'moves' });
  const { accessKeyId } = await makePair(apiKey);
  const rotated = await ops.post(`/manage/api-keys/${apiKey.id}/rotate`, {});
  const next = field<Pair['apiKey']>(rotated, 'apiKey', 201);
  assert.deepEqual(field<Pair['apiKey']>(rotated, 'previous', 201).s3, []);
  assert.deepEqual(
    next.s3.map((pair) => pair.accessKeyId),
    [accessKeyId],
  );
  const revoked = field<Pair['apiKey']>(await ops.delete(`/manage/api-keys/${next.id}`), 'apiKey');
  assert.deepEqual(revoked.s3, []);
  expectError(await ops.post(s3Of(next), {}), 409, 'not_running');
});

test('S3 access keys are for the owner alone, and for API keys of the account', async () => {
  const { key, apiKey } = await make({ name: 'guarded', scopes: ['read', 'write', 'watch', 'exec'] });
  const { accessKeyId } = await makePair(apiKey);
  const client = gateway.client(key);
  expectError(await client.post(s3Of(apiKey), {}), 403, 'scope_missing');
  expectError(await client.send(`${s3Of(apiKey)}/${accessKeyId}`, { method: 'DELETE' }), 403, 'scope_missing');
  const others = await gateway.browser('other@example.com');
  expectError(await others.post(s3Of(apiKey), {}), 404, 'unknown_item');
  expectError(await others.delete(`${s3Of(apiKey)}/${accessKeyId}`), 404, 'unknown_item');
  for (const id of [NO_KEY, 'none', '%00', '..%2f']) {
    const status = (await ops.post(`/manage/api-keys/${id}/s3`, {})).status;
    assert.ok(status === 404 || status === 400, `${id}: ${status}`);
  }
  const { apiKey: second } = await make({ name: 'second guarded' });
  for (const id of [accessKeyId, 'FTGA', '%00', '%ff', 'x'.repeat(500)]) {
    const { status } = await ops.delete(`${s3Of(second)}/${id}`);
    assert.ok(status === 404 || status === 400, `${id}: ${status}`);
  }
  assert.equal((await listed(apiKey.id))?.s3.length, 1);
  client.close();
});

test('the S3 access keys of an API key of the configuration are set there alone', async () => {
  const keys = field<(ApiKey & { source: string })[]>(await ops.get('/manage/api-keys'), 'apiKeys');
  const admin = keys.find(({ name }) => name === 'admin');
  assert.ok(admin !== undefined);
  expectError(await ops.post(s3Of(admin), {}), 409, 'from_configuration');
  expectError(await ops.delete(`${s3Of(admin)}/FTGA222222222222`), 409, 'from_configuration');
});
