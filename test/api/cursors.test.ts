/** Cursors of lists: valid only for their own list, on any node. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startPostgres, type PostgresServer } from '../servers/postgres.js';
import { startSshd, type TestSshd } from '../servers/sshd.js';
import { KEY, startGateway, type ApiAnswer, type TestGateway } from '../support/gateway.js';
import { startTogether } from '../support/together.js';

const OTHER_KEY = 'ftg_other-key-0123456789-abcdefgh';

describe('cursors of lists', () => {
  let sshd: TestSshd;
  let database: PostgresServer;
  let nodes: TestGateway[];

  before(async () => {
    [sshd, database] = await startTogether([startSshd(), startPostgres()]);
    const login = { type: 'sftp', host: '127.0.0.1', port: sshd.port, username: sshd.username };
    const connection = { ...login, privateKeyFile: sshd.clientKeyFile, defaultPath: sshd.files };
    const account = (email: string, key: string, ids: readonly string[]): object => ({
      email,
      plan: 'pro',
      apiKeys: [{ name: 'test', key }],
      connections: ids.map((id) => ({ ...connection, id, name: id })),
    });
    const accounts = [account('a@example.com', KEY, ['c1', 'c2']), account('b@example.com', OTHER_KEY, ['c3'])];
    const masterKey = '0123456789abcdef'.repeat(4);
    const start = (): Promise<TestGateway> =>
      startGateway({ config: { database: { url: database.url }, accounts }, env: { GATEWAY_MASTER_KEY: masterKey } });
    nodes = [await start()];
    nodes.push(await start());
    mkdirSync(path.join(sshd.files, 'in'));
    for (const name of ['a', 'b', 'c', 'd']) writeFileSync(path.join(sshd.files, 'in', name), '');
  });
  after(async () => {
    for (const node of nodes ?? []) await node.stop();
    await database?.stop();
    await sshd?.stop();
  });

  const list = (query: Record<string, string>, { node = 0, id = 'c1', key = KEY } = {}): Promise<ApiAnswer> =>
    (nodes[node] as TestGateway).api.get(`/api/list/${id}`, { query: { path: 'in', limit: '2', ...query }, key });
  const namesOf = (answer: ApiAnswer): string[] => {
    assert.equal(answer.status, 200, answer.text);
    return (answer.json['files'] as { name: string }[]).map(({ name }) => name);
  };

  test('another node continues, with another limit too', async () => {
    const first = await list({});
    assert.deepEqual(namesOf(first), ['a', 'b']);
    const cursor = first.json['nextCursor'] as string;
    const rest = await list({ cursor, limit: '10' }, { node: 1 });
    assert.deepEqual(namesOf(rest), ['c', 'd']);
    assert.equal(rest.json['nextCursor'], null);
  });

  test('items that come and go between pages move no others', async () => {
    const { json } = await list({});
    writeFileSync(path.join(sshd.files, 'in', 'a0'), '');
    writeFileSync(path.join(sshd.files, 'in', 'bb'), '');
    assert.deepEqual(namesOf(await list({ cursor: json['nextCursor'] as string, limit: '10' })), ['bb', 'c', 'd']);
  });

  test('a forged cursor, and one of another list, account or connection, is 400', async () => {
    const { json } = await list({});
    const cursor = json['nextCursor'] as string;
    const [place = '', signature = ''] = cursor.split('.');
    const forged = [
      ...['x', '.', `${place}.`, place, `.${signature}`, `${cursor}.x`, `${cursor}=`, `${cursor}%`, ` ${cursor}`],
      `${Buffer.from('c').toString('base64url')}.${signature}`,
      `${place}.${Buffer.alloc(16).toString('base64url')}`,
    ];
    const refused = [
      ...forged.map((text) => list({ cursor: text })),
      list({ cursor, path: '/' }),
      list({ cursor, recursive: 'true' }),
      list({ cursor, pattern: '*' }),
      list({ cursor }, { id: 'c2' }),
      list({ cursor }, { id: 'c3', key: OTHER_KEY }),
    ];
    for (const answer of await Promise.all(refused)) {
      assert.equal(answer.status, 400, answer.text);
      assert.match(answer.text, /cursor must be the nextCursor of an answer to the same request/);
    }
  });

  test('a limit out of bounds, a cursor without one, and pages of lines are 400', async () => {
    const lines = { Accept: 'application/x-ndjson' };
    for (const limit of ['0', '10001', '-1', '1.5', 'x']) assert.equal((await list({ limit })).status, 400, limit);
    const api = (nodes[0] as TestGateway).api;
    assert.equal((await api.get('/api/list/c1', { query: { cursor: 'x' } })).status, 400);
    assert.equal((await api.get('/api/list/c1', { query: { limit: '5' }, headers: lines })).status, 400);
    assert.equal((await list({ pattern: '[a' })).status, 400);
    // JSON is preferred, or equally acceptable.
    for (const accept of ['*/*', 'application/json, application/x-ndjson;q=0.5', 'application/x-ndjson;q=0']) {
      const answer = await api.get('/api/list/c1', { query: { path: 'in' }, headers: { Accept: accept } });
      assert.equal(answer.headers['content-type'], 'application/json', accept);
    }
  });
});
