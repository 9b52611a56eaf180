/** Connections for their owner, and the separation of accounts. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { apiRoutes } from '../../../src/api/endpoints.js';
import type { Services } from '../../../src/api/services.js';
import type { Browser } from '../../support/gateway.js';
import { ACCOUNTS, expectError, field, type ManagedGateway, startManaged, startManagedOn, withSql } from './support.js';

interface Connection {
  readonly id: string;
  readonly secrets: Record<string, boolean>;
  readonly [field: string]: unknown;
}

/** The first account has a connection of the configuration file; no server listens there. */
const OPERATORS_CONNECTION = {
  id: 'operators',
  name: 'Operators',
  type: 'sftp',
  host: '127.0.0.1',
  port: 1,
  username: 'gw',
  password: 'sesame-0',
  rootPath: '/tenants/one',
};
const OPERATORS = {
  accounts: ACCOUNTS.map((account, index) => ({ ...account, connections: index === 0 ? [OPERATORS_CONNECTION] : [] })),
};

let gateway: ManagedGateway;
let ops: Browser;
let other: Browser;

before(async () => {
  gateway = await startManaged(OPERATORS);
  [ops, other] = [await gateway.browser(), await gateway.browser('other@example.com')];
});
after(() => gateway.stop());

const SFTP = {
  name: 'Box',
  type: 'sftp',
  host: 'sftp.example.com',
  username: 'gw',
  password: 'sesame-1',
  passphrase: 'sesame-2',
};
const FTP = {
  name: 'Old',
  type: 'ftp',
  host: 'ftp.example.com',
  username: 'gw',
  password: 'sesame-3',
  tls: 'explicit',
};
const S3 = { name: 'Lake', type: 's3', bucket: 'b', accessKeyId: 'a', secretAccessKey: 'sesame-4', prefix: '/in' };

async function make(browser: Browser, input: object): Promise<Connection> {
  const answer = await browser.post('/manage/connections', input);
  assert.equal(answer.status, 201, answer.text);
  return answer.json as unknown as Connection;
}

test('connections of every type are created with their defaults, and no answer shows a secret', async () => {
  const sftp = await make(ops, { ...SFTP, id: 'box' });
  assert.deepEqual(
    [sftp['port'], sftp['rootPath'], sftp['atomicUploads'], sftp['algorithms']],
    [22, '/', true, 'default'],
  );
  assert.deepEqual(sftp.secrets, { password: true, proxyPassword: false, privateKey: false, passphrase: true });
  const ftp = await make(ops, FTP);
  assert.match(ftp.id, /^conn_[a-z0-9]{16}$/);
  assert.deepEqual([ftp['port'], ftp['tls'], ftp['tlsVerify']], [21, 'explicit', true]);
  const cyrillic = await make(ops, { ...FTP, encoding: 'CP1251' });
  assert.equal(cyrillic['encoding'], 'CP1251', 'as it was given');
  const s3 = await make(ops, S3);
  assert.deepEqual([s3['prefix'], s3['region'], s3['endpoint']], ['in/', 'us-east-1', null]);
  assert.deepEqual(s3.secrets, {
    proxyPassword: false,
    secretAccessKey: true,
    sessionToken: false,
    encryptionKey: false,
  });
  for (const { id } of [sftp, ftp, s3]) assert.equal((await ops.get(`/manage/connections/${id}`)).status, 200);
  const listed = field<Connection[]>(await ops.get('/manage/connections'), 'connections');
  assert.deepEqual(
    listed.map(({ id }) => id),
    ['operators', 'sandbox', 'box', ftp.id, cyrillic.id, s3.id],
  );
});

test('mistakes are reported by field', async () => {
  const wrong: readonly [object, RegExp][] = [
    [{ ...SFTP, host: 'http://x' }, /host/],
    [{ ...SFTP, host: undefined }, /host is missing/],
    [{ ...SFTP, bucket: 'b' }, /bucket is not a known field/],
    [{ ...SFTP, port: 70_000 }, /port/],
    [{ ...SFTP, id: 'Not A Slug' }, /id/],
    [{ ...SFTP, username: 'a\nb' }, /username/],
    [{ ...SFTP, hostKeys: ['MD5:x'] }, /hostKeys/],
    [{ ...FTP, tlsCa: 'no pem' }, /tlsCa/],
    [{ ...FTP, encoding: 'cp850' }, /encoding must be a label .* such as "utf-8", "windows-1251"/],
    [{ ...FTP, encoding: 'utf-16' }, /encoding must be .*UTF-16 and ISO-2022-JP cannot be used/],
    [{ ...FTP, encoding: '' }, /encoding/],
    [{ ...S3, endpoint: 'ftp://x' }, /endpoint/],
    [{ ...S3, region: 'example.com/#' }, /region/],
    [{ ...S3, region: '𝗩╢' }, /region/],
    [{ ...S3, region: 'XN--a' }, /region/],
    [{ ...S3, secretAccessKey: undefined }, /secretAccessKey is missing/],
    [{ ...S3, role: { externalId: 'partner' } }, /arn is missing/],
    [{ ...S3, role: { arn: 'arn of a role' } }, /role\.arn/],
    [{ ...S3, role: { arn: 'arn:x', sessionName: 'a b' } }, /role\.sessionName/],
    [{ ...S3, role: { arn: 'arn:x', endpoint: 'ftp://sts' } }, /role\.endpoint/],
    [{ ...S3, role: { arn: 'arn:x', endpoint: 'https://:x' } }, /role\.endpoint must be an http or https URL/],
    [{ ...SFTP, type: 'webdav' }, /type must be one of sftp, ftp, s3/],
  ];
  for (const [input, text] of wrong) {
    const answer = await ops.post('/manage/connections', input);
    expectError(answer, 400, 'bad_request');
    assert.match(String(answer.json['error']), text);
  }
  expectError(await ops.post('/manage/connections', { ...SFTP, id: 'sandbox' }), 409, 'already_exists');
});

test('the password of a proxy is a secret of its own, and nothing stored is sent through another proxy', async () => {
  const proxy = { url: 'socks5://proxy.example.com:1080', username: 'gw', password: 'word-of-proxy' };
  for (const url of ['ftp://p:21', 'http://p', 'http://u:w@p:80', 'socks5://p:65536', 'http://p:80/path']) {
    expectError(await ops.post('/manage/connections', { ...SFTP, proxy: { url } }), 400, 'bad_request');
  }
  const made = await make(ops, { ...SFTP, proxy });
  const at = `/manage/connections/${made.id}`;
  const shown = await ops.get(at);
  assert.ok(!shown.text.includes('word-of-proxy'));
  assert.deepEqual(field(shown, 'proxy'), { url: proxy.url, username: 'gw' });
  const secrets = async (): Promise<unknown> =>
    field<Connection['secrets']>(await ops.get(at), 'secrets')['proxyPassword'];
  assert.equal(await secrets(), true);
  // The same proxy with another user keeps the password.
  assert.equal((await ops.patch(at, { proxy: { url: proxy.url, username: 'other' } })).status, 200);
  assert.equal(await secrets(), true);
  const url = 'socks5://elsewhere.example.com:1080';
  const unsaid = await ops.patch(at, { proxy: { url, username: 'gw' }, password: 'again' });
  expectError(unsaid, 400, 'bad_request');
  assert.match(unsaid.text, /proxy\.password must be given again/);
  const half = await ops.patch(at, { proxy: { ...proxy, url } });
  expectError(half, 400, 'bad_request');
  assert.match(half.text, /password must be given again/);
  assert.equal((await ops.patch(at, { proxy: { ...proxy, url }, password: 'again' })).status, 200);
  assert.equal((await ops.patch(at, { proxy: null, password: 'again' })).status, 200);
  assert.equal(await secrets(), false);
});

test('the key of encrypted objects is a secret of its own, which no other store and no plain http gets', async () => {
  const key = Buffer.alloc(32, 'k').toString('base64');
  const endpoint = 'https://s3.example.com';
  const own = { ...S3, endpoint, encryption: { type: 'customer', key } };
  const wrong: readonly [object, RegExp][] = [
    [{ type: 'rot13' }, /encryption\.type/],
    [{}, /type is missing/],
    [{ type: 'kms' }, /encryption\.keyId must be the id of a key/],
    [{ type: 'aes256', keyId: 'k' }, /encryption\.keyId must be absent/],
    [{ type: 'kms', keyId: 'a\nb' }, /encryption\.keyId/],
    [{ type: 'customer' }, /encryption\.key must be 32 bytes in base64/],
    [{ type: 'customer', key: `${key}=` }, /encryption\.key/],
    [{ type: 'customer', key: Buffer.alloc(31).toString('base64') }, /encryption\.key/],
    [{ type: 'kms', keyId: 'k', key }, /encryption\.key must be absent/],
  ];
  const refused = async (input: object, text: RegExp): Promise<void> => {
    const answer = await ops.post('/manage/connections', input);
    expectError(answer, 400, 'bad_request');
    assert.match(String(answer.json['error']), text);
    assert.ok(!answer.text.includes(key));
  };
  for (const [encryption, text] of wrong) await refused({ ...own, encryption }, text);
  await refused({ ...own, endpoint: 'HTTP://s3.example.com' }, /encryption\.type must be .*in the clear/);
  const made = await make(ops, own);
  const at = `/manage/connections/${made.id}`;
  const shown = await ops.get(at);
  assert.ok(!shown.text.includes(key));
  assert.deepEqual(field(shown, 'encryption'), { type: 'customer' });
  const hasKey = async (): Promise<unknown> =>
    field<Connection['secrets']>(await ops.get(at), 'secrets')['encryptionKey'];
  assert.equal(await hasKey(), true);
  assert.equal((await ops.patch(at, { encryption: { type: 'customer' } })).status, 200);
  assert.equal(await hasKey(), true);
  expectError(await ops.patch(at, { endpoint: 'http://s3.example.com' }), 400, 'bad_request');
  const moved = await ops.patch(at, { endpoint: 'https://elsewhere.example.com' });
  expectError(moved, 400, 'bad_request');
  assert.match(moved.text, /encryption\.key must be given again/);
  // Another way leads past others, who would read the key if the certificate is not checked.
  await make(ops, { ...SFTP, id: 'key-way' });
  for (const way of [{ proxy: { url: 'http://elsewhere.example.com:8080' } }, { via: 'key-way' }]) {
    const led = await ops.patch(at, { ...way, tlsVerify: false });
    expectError(led, 400, 'bad_request');
    assert.match(led.text, /encryption\.key must be given again/);
    const connection = { ...S3, endpoint, encryption: { type: 'customer' }, ...way, tlsVerify: false };
    expectError(await ops.post('/manage/test-connection', { connection, basedOn: made.id }), 400, 'bad_request');
    assert.equal((await ops.patch(at, { ...way, encryption: own.encryption })).status, 200);
    assert.equal((await ops.patch(at, { proxy: null, via: null, encryption: own.encryption })).status, 200);
  }
  const draft = { ...S3, endpoint: 'https://elsewhere.example.com', encryption: { type: 'customer' } };
  expectError(await ops.post('/manage/test-connection', { connection: draft, basedOn: made.id }), 400, 'bad_request');
  expectError(await ops.post('/manage/test-connection', { connection: draft }), 400, 'bad_request');
  assert.equal((await ops.patch(at, { endpoint: draft.endpoint, encryption: own.encryption })).status, 200);
  assert.equal((await ops.patch(at, { encryption: { type: 'kms', keyId: 'arn:aws:kms:x' } })).status, 200);
  assert.equal(await hasKey(), false);
  assert.deepEqual(field(await ops.get(at), 'encryption'), { type: 'kms', keyId: 'arn:aws:kms:x' });
  expectError(await ops.patch(at, { encryption: { type: 'customer' } }), 400, 'bad_request');
});

test('an edit keeps the secrets that it does not name, but no password is sent to another server', async () => {
  const { id } = await make(ops, SFTP);
  const at = `/manage/connections/${id}`;
  const renamed = await ops.patch(at, { name: 'Renamed', pool: { maxSessions: 2 } });
  assert.equal(field(renamed, 'name'), 'Renamed');
  assert.equal((renamed.json as unknown as Connection).secrets['password'], true);
  const moved = await ops.patch(at, { host: 'elsewhere.example.com' });
  expectError(moved, 400, 'bad_request');
  assert.match(moved.text, /password must be given again/);
  const draft = { connection: { ...SFTP, password: undefined, host: '127.0.0.1', port: 1 }, basedOn: id };
  expectError(await ops.post('/manage/test-connection', draft), 400, 'bad_request');
  assert.equal((await ops.patch(at, { host: 'elsewhere.example.com', password: 'sesame-5' })).status, 200);
  const without = await ops.patch(at, { password: null, passphrase: null });
  assert.deepEqual(field(without, 'secrets'), {
    password: false,
    proxyPassword: false,
    privateKey: false,
    passphrase: false,
  });
  expectError(await ops.patch(at, { bucket: 'x' }), 400, 'bad_request');
  expectError(await ops.patch(at, { type: 'ftp' }), 400, 'bad_request');
});

test('a duplicate has the secrets of its source', async () => {
  const { id } = await make(ops, SFTP);
  const copy = await ops.post(`/manage/connections/${id}/duplicate`, { name: 'Copy' });
  assert.deepEqual(field(copy, 'secrets', 201), {
    password: true,
    proxyPassword: false,
    privateKey: false,
    passphrase: true,
  });
  assert.notEqual(copy.json['id'], id);
});

test('connections of the configuration file cannot be edited here, but duplicated', async () => {
  const at = '/manage/connections/sandbox';
  assert.equal(field(await ops.get(at), 'source'), 'configuration');
  expectError(await ops.patch(at, { name: 'Mine' }), 409, 'from_configuration');
  expectError(await ops.post(`${at}/deactivate`), 409, 'from_configuration');
  expectError(await ops.delete(at), 409, 'from_configuration');
  expectError(await ops.delete(`${at}/host-keys`), 409, 'from_configuration');
  const copy = await ops.post(`${at}/duplicate`, { id: 'sandbox-2' });
  assert.equal(field(copy, 'source', 201), 'dashboard');
  assert.equal((await ops.get('/api/list/sandbox-2')).status, 200, 'and the copy works');
});

test('the host key of a connection from the configuration file is pinned there', async () => {
  const fingerprint = `SHA256:${'A'.repeat(43)}`;
  for (const id of ['sandbox', 'operators']) {
    const pinned = await ops.post(`/manage/connections/${id}/host-keys`, { fingerprint });
    expectError(pinned, 409, 'from_configuration');
    assert.match(pinned.text, /hostKey/);
  }
});

/**
 * Former defect: a tenant copied the operator's connection, removed the copy's root, and could read more with the
 * stored password.
 */
test('secrets of the configuration file are sent only to the servers that it names', async () => {
  const copy = await ops.post('/manage/connections/operators/duplicate', { id: 'mine' });
  assert.deepEqual(field(copy, 'secrets', 201), {
    password: false,
    proxyPassword: false,
    privateKey: false,
    passphrase: false,
  });
  const own = await ops.post('/manage/connections/operators/duplicate', { id: 'own', password: 'my own' });
  assert.equal(field<Connection['secrets']>(own, 'secrets', 201)['password'], true);
  assert.equal((await ops.patch('/manage/connections/own', { rootPath: '/' })).status, 200, 'with secrets of its own');

  const shown = (await ops.get('/manage/connections/operators')).json;
  const { type, name, host, port, username, rootPath } = shown;
  const draft = { type, name, host, port, username, rootPath };
  const test = (changes: object) =>
    ops.post('/manage/test-connection', { connection: { ...draft, ...changes }, basedOn: 'operators' });
  const changes = [
    { rootPath: '/' },
    { host: '127.0.0.2' },
    { port: 2 },
    { username: 'other' },
    { hostKeys: [`SHA256:${'B'.repeat(43)}`] },
  ];
  for (const change of changes) {
    const refused = await test(change);
    expectError(refused, 400, 'bad_request');
    assert.match(refused.text, /password must be given/, JSON.stringify(change));
  }
  for (const fine of [{}, { defaultPath: '/below' }, { rootPath: '/', password: 'my own' }]) {
    assert.equal((await test(fine)).status, 200, JSON.stringify(fine));
  }
});

test("they stay the operator's when their connection is gone from the file", async () => {
  await withSql(gateway.databaseUrl, (sql) => sql`update connections set configured = false where id = 'operators'`);
  const at = '/manage/connections/operators';
  const copy = await ops.post(`${at}/duplicate`, {});
  assert.equal(field<Connection['secrets']>(copy, 'secrets', 201)['password'], false);
  assert.equal((await ops.patch(at, { name: 'Renamed' })).status, 200);
  expectError(await ops.patch(at, { rootPath: '/' }), 400, 'bad_request');
  assert.equal((await ops.patch(at, { rootPath: '/', password: 'my own' })).status, 200);
  assert.equal((await ops.patch(at, { rootPath: '/a' })).status, 200, 'from now on they are its own');
});

/** Names appear in logs, terminals and mails. */
test('no name contains characters that control a terminal or a log', async () => {
  const { id } = await make(ops, SFTP);
  const folder = { connectionId: 'sandbox', path: '/' };
  for (const character of ['\r', '\n', '\u001b', '\u007f', '\u0085', '\u009b', '\u2028']) {
    const name = `a${character}b`;
    for (const refused of [
      await ops.post('/manage/connections', { ...SFTP, name }),
      await ops.patch(`/manage/connections/${id}`, { name }),
      await ops.post(`/manage/connections/${id}/duplicate`, { name }),
      await ops.post('/manage/test-connection', { connection: { ...SFTP, name } }),
      await ops.post('/manage/api-keys', { name }),
      await ops.post('/manage/key-pairs', { name }),
      await ops.post('/manage/watched-folders', { ...folder, name }),
      await ops.post('/api/watched-folders', { ...folder, name }),
    ]) {
      expectError(refused, 400, 'bad_request');
      assert.match(refused.text, /name must not hold control characters/, JSON.stringify(character));
    }
  }
});

test('a connection is switched off for the next request', async () => {
  assert.equal(field(await ops.post('/manage/connections/sandbox-2/deactivate'), 'isActive'), false);
  expectError(await ops.get('/api/list/sandbox-2'), 403, 'connection_inactive');
  assert.equal(field(await ops.post('/manage/connections/sandbox-2/activate'), 'isActive'), true);
  assert.equal((await ops.get('/api/list/sandbox-2')).status, 200);
});

test('deleting names what depends on it, and no key for one connection becomes a key for all', async () => {
  const { id } = await make(ops, SFTP);
  const keys = [
    { name: 'only', connections: [id] },
    { name: 'both', connections: [id, 'sandbox'] },
  ];
  for (const key of keys) assert.equal((await ops.post('/manage/api-keys', key)).status, 201);
  const refused = await ops.delete(`/manage/connections/${id}`);
  expectError(refused, 409, 'in_use');
  assert.match(refused.text, /only.*would be revoked.*both|both.*only.*would be revoked/);
  assert.equal((await ops.delete(`/manage/connections/${id}?confirm=true`)).status, 200);
  expectError(await ops.get(`/manage/connections/${id}`), 404, 'unknown_connection');
  const left = field<{ name: string; state: string; connections: string[] }[]>(
    await ops.get('/manage/api-keys'),
    'apiKeys',
  );
  assert.equal(left.find(({ name }) => name === 'only')?.state, 'revoked');
  assert.deepEqual(left.find(({ name }) => name === 'both')?.connections, ['sandbox']);
});

test('the plan limits the connections, also two that are created at once', async () => {
  const small = await gateway.browser('small@example.com');
  const made = await Promise.all([1, 2, 3].map(() => small.post('/manage/connections', SFTP)));
  assert.deepEqual(made.map(({ status }) => status).sort(), [201, 403, 403]);
  const refused = made.find(({ status }) => status === 403);
  assert.ok(refused !== undefined);
  expectError(refused, 403, 'plan_required');
});

test('a generated key pair: the private half is never shown, and a used pair cannot be deleted', async () => {
  const made = await ops.post('/manage/key-pairs', { name: 'gateway@example' });
  assert.match(field(made, 'publicKey', 201), /^ssh-ed25519 [A-Za-z0-9+/=]+ gateway@example$/);
  const keyPairId = String(made.json['id']);
  const { id, secrets } = await make(ops, { ...SFTP, password: undefined, passphrase: undefined, keyPairId });
  assert.deepEqual(secrets, { password: false, proxyPassword: false, privateKey: true, passphrase: false });
  expectError(await ops.delete(`/manage/key-pairs/${keyPairId}`), 409, 'in_use');
  assert.equal((await ops.patch(`/manage/connections/${id}`, { keyPairId: null, privateKey: null })).status, 200);
  assert.equal((await ops.delete(`/manage/key-pairs/${keyPairId}`)).status, 200);
  expectError(await other.post('/manage/connections', { ...SFTP, keyPairId }), 404, 'unknown_item');
});

test('host keys are shown, pinned and forgotten', async () => {
  const at = '/manage/connections/sandbox-2/host-keys';
  const shown = field<{ fingerprint: string; isPinned: boolean }[]>(await ops.post(`${at}/scan`), 'shown');
  assert.ok(shown.length > 0 && shown.every(({ isPinned }) => isPinned), 'the copy has the pin of its source');
  const wrong = `SHA256:${'A'.repeat(43)}`;
  assert.deepEqual(field(await ops.post(at, { fingerprint: wrong, replace: true }), 'hostKeys'), [wrong]);
  expectError(await ops.get('/api/list/sandbox-2'), 502, 'host_key_mismatch');
  const right = shown[0]?.fingerprint;
  assert.deepEqual(field(await ops.post(at, { fingerprint: right }), 'hostKeys'), [wrong, right]);
  assert.equal((await ops.get('/api/list/sandbox-2')).status, 200);
  assert.deepEqual(field(await ops.delete(at), 'hostKeys'), []);
});

test('for another account, nothing of this one exists', async () => {
  const made = await Promise.all([
    make(ops, SFTP),
    ops.post('/manage/key-pairs', { name: 'wall' }),
    ops.post('/manage/api-keys', { name: 'wall' }),
    ops.get('/api/list/sandbox'),
    ops.get('/manage/sessions'),
  ]);
  const [connection, pair, key, , sessions] = made;
  const folder = await ops.post('/manage/watched-folders', {
    connectionId: 'sandbox',
    path: '/',
    webhookUrl: 'https://receiver.invalid/',
  });
  const folderId = field<string>(folder, 'id', 201);
  const event = await ops.post(`/manage/watched-folders/${folderId}/test-event`);
  const deletion = { type: 'delete', source: { connectionId: 'sandbox', path: '/nothing' } };
  const job = await ops.post('/api/jobs', deletion);
  const schedule = await ops.post('/api/schedules', { name: 'nightly', cron: '@daily', job: deletion });
  const [transfer] = field<{ id: string }[]>(await ops.get('/manage/transfers'), 'transfers');
  const ids: Record<string, string | undefined> = {
    connections: connection.id,
    'key-pairs': String(pair.json['id']),
    'api-keys': (key.json['apiKey'] as { id: string }).id,
    transfers: transfer?.id,
    'watched-folders': folderId,
    deliveries: field<string>(event, 'eventId', 202),
    sessions: field<{ id: string }[]>(sessions, 'sessions')[0]?.id,
    jobs: field<{ id: string }>(job, 'job', 202).id,
    schedules: field<{ id: string }>(schedule, 'schedule', 201).id,
  };
  const bodies: Record<string, unknown> = {
    ...Object.fromEntries(
      ['', '/accept', '/reject'].map((what) => [
        `/manage/connections/:id/host-keys${what}`,
        { fingerprint: `SHA256:${'A'.repeat(43)}` },
      ]),
    ),
    '/manage/connections/:id': { name: 'stolen' },
    '/manage/api-keys/:id': { name: 'stolen' },
  };
  const routes = apiRoutes({} as Services).filter(({ path }) => /^\/manage\/.*:id/.test(path));
  assert.ok(routes.length >= 30, 'the route table was not found');
  for (const { method, path: pattern } of routes) {
    const path = pattern.replace(':checkId', '01900000-0000-7000-8000-000000000001');
    const id = ids[path.split('/')[2] ?? ''];
    assert.ok(id !== undefined, `no id for ${path}`);
    const json = method === 'GET' || method === 'DELETE' ? undefined : (bodies[path] ?? {});
    const answer = await other.send(path.replace(':id', id), { method, json });
    const absent = await other.send(path.replace(':id', '01900000-0000-7000-8000-000000000000'), { method, json });
    const what = `${method} ${path}`;
    assert.equal(answer.status, 404, `${what}: ${answer.text}`);
    assert.equal(answer.text.replaceAll(id, 'X'), absent.text.replaceAll(/01900000-[0-9a-f-]+/g, 'X'), what);
  }
  for (const list of [
    'connections',
    'key-pairs',
    'api-keys',
    'transfers',
    'watched-folders',
    'deliveries',
    'jobs',
    'schedules',
  ]) {
    assert.ok(!(await other.get(`/manage/${list}`)).text.includes(ids[list] ?? ''), list);
  }
});

test('no secret was in any answer, in the log, in the audit log or readable in the database', async () => {
  const secrets = [1, 2, 3, 4, 5].map((n) => `sesame-${n}`);
  const audit = await ops.get('/manage/audit?limit=200');
  assert.match(audit.text, /connection\.create.*connection\.|connection\./);
  const rows = await withSql(gateway.databaseUrl, async (sql) => [
    ...(await sql`select * from connections`),
    ...(await sql`select encode(ciphertext, 'escape') from connection_secrets`),
    ...(await sql`select * from audit_log`),
  ]);
  const places = [ops.seen.join('\n'), gateway.output(), audit.text, JSON.stringify(rows)];
  for (const secret of secrets) assert.ok(!places.some((place) => place.includes(secret)), secret);
  assert.ok(!ops.seen.join('\n').includes('PRIVATE KEY'));
});

/** The last test: another gateway has another sandbox. */
test('a host key that is no longer in the file can be forgotten after the next start', async () => {
  const fingerprint = `SHA256:${'A'.repeat(43)}`;
  // A key that an earlier version has pinned, or an earlier file: once it is not in the file, it can be forgotten.
  await withSql(
    gateway.databaseUrl,
    (sql) =>
      sql`update connections set configured = true, host_keys = ${[fingerprint]}, host_keys_learned = false where id = 'operators'`,
  );
  expectError(await ops.delete('/manage/connections/operators/host-keys'), 409, 'from_configuration');
  const again = await startManagedOn(gateway.databaseUrl, OPERATORS);
  try {
    const browser = await again.browser();
    const at = '/manage/connections/operators/host-keys';
    assert.deepEqual((await browser.get(at)).json, { hostKeys: [fingerprint], learned: true, announced: [] });
    assert.equal((await browser.delete(at)).status, 200);
  } finally {
    await again.stop();
  }
});

test('the rate of a connection: a number of bytes, or none', async () => {
  const { id } = await make(ops, { ...SFTP, name: 'Slow', bytesPerSecond: 65_536 });
  assert.equal((await ops.get(`/manage/connections/${id}`)).json['bytesPerSecond'] ?? 65_536, 65_536);
  for (const bytesPerSecond of [0, 1023, -1, 1.5, '2000', 1e13]) {
    const answer = await ops.post('/manage/connections', { ...SFTP, name: 'Slower', bytesPerSecond });
    expectError(answer, 400, 'bad_request');
    assert.match(answer.text, /bytesPerSecond/);
  }
});

test('a conflict in the database that does not end is 503, with the time to repeat', async () => {
  await withSql(gateway.databaseUrl, (sql) =>
    sql.unsafe(`
      create function conflict() returns trigger language plpgsql as
        $$ begin raise exception 'deadlock detected' using errcode = '40P01'; end $$;
      create trigger conflict before insert on connections execute function conflict()`),
  );
  const answer = await ops.post('/manage/connections', { ...SFTP, id: 'late' });
  expectError(answer, 503, 'database_away');
  assert.equal(answer.headers['retry-after'], '2');
  await withSql(gateway.databaseUrl, (sql) => sql`drop trigger conflict on connections`);
  await make(ops, { ...SFTP, id: 'late' });
});
