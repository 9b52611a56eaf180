/** connections, me and transfers, for two accounts and keys of different reach, over both databases. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { SCOPES } from '../../src/contract/scopes.js';
import { startScripted, type ScriptedFtp } from '../servers/scripted-ftp.js';
import { DATABASES, type TestServer } from '../storage/databases.js';
import type { ApiClient } from '../support/gateway.js';
import { startGateway, type ApiAnswer, type TestGateway } from '../support/gateway.js';
import { expectError, historyStands, uploadRaw, type HistoryItem } from './support.js';
import { startTogether } from '../support/together.js';

const key = (name: string): string => `ftg_account-test-${name}-0123456789`;
const TYPES = 'upload download read write append delete move mkdir list exists copy exec poll email pickup'.split(' ');

for (const kind of DATABASES) {
  describe(`the account calls over the ${kind.name}`, () => {
    let database: TestServer;
    let server: ScriptedFtp;
    let gateway: TestGateway;
    let all: ApiClient;
    let other: ApiClient;
    let onlyB: ApiClient;
    let between: Date;

    before(async () => {
      [database, server] = await startTogether([kind.start(), startScripted()]);
      const { port, username, password } = server;
      const connection = (id: string, isActive = true): object => ({
        id,
        name: `Name of ${id}`,
        type: 'ftp',
        isActive,
        host: '127.0.0.1',
        port,
        username,
        password,
      });
      gateway = await startGateway({
        config: {
          database: { url: await database.createDatabase() },
          accounts: [
            {
              email: 'first@example.com',
              plan: 'pro',
              connections: [connection('a'), connection('b'), connection('off', false)],
              apiKeys: [
                { name: 'all', key: key('all') },
                { name: 'only b', key: key('only-b'), connections: ['b'] },
              ],
            },
            {
              email: 'second@example.com',
              plan: 'free',
              connections: [connection('theirs')],
              apiKeys: [{ name: 'other', key: key('other') }],
            },
          ],
        },
      });
      [all, other, onlyB] = ['all', 'other', 'only-b'].map((name) => gateway.client(key(name))) as [
        ApiClient,
        ApiClient,
        ApiClient,
      ];
      for (const [api, id, file] of [
        [all, 'a', 'one'],
        [all, 'b', 'two'],
        [other, 'theirs', 'three'],
      ] as const) {
        assert.equal((await uploadRaw(api, id, { filename: file }, 'x')).status, 200);
      }
      await new Promise((done) => setTimeout(done, 5));
      between = new Date();
      await new Promise((done) => setTimeout(done, 5));
      assert.equal((await all.get('/api/download/a', { query: { path: '/one' } })).status, 200);
      assert.equal((await all.get('/api/read/a', { query: { path: '/missing' } })).status, 404);
      assert.equal((await onlyB.post('/api/delete/b', { path: '/two' })).status, 200);
      assert.equal((await other.get('/api/list/theirs')).status, 200);
      await historyStands(other);
    });

    after(async () => {
      for (const api of [all, other, onlyB]) api?.close();
      await gateway?.stop();
      await Promise.all([server?.stop(), database?.stop()]);
    });

    const transfers = async (
      query: Record<string, string> = {},
      api = all,
    ): Promise<{ items: HistoryItem[]; total: number; what: string }> => {
      const answer = await api.get('/api/transfers', { query });
      assert.equal(answer.status, 200, answer.text);
      const items = answer.json['transfers'] as HistoryItem[];
      const what = items.map(({ type, connectionId }) => `${type} ${connectionId}`).join(', ');
      return { items, total: answer.json['total'] as number, what };
    };

    test('connections: those of the account, sorted; for a limited key, those that it may use', async () => {
      const of = async (api: ApiClient): Promise<unknown> => (await api.get('/api/connections')).json;
      const shown = (id: string, isActive = true): object => ({ id, name: `Name of ${id}`, type: 'ftp', isActive });
      assert.deepEqual(await of(all), { connections: [shown('a'), shown('b'), shown('off', false)] });
      assert.deepEqual(await of(onlyB), { connections: [shown('b')] });
      assert.deepEqual(await of(other), { connections: [shown('theirs')] });
    });

    test('me: the counts are the account’s own', async () => {
      const expected = { email: 'first@example.com', plan: 'pro', connections: 3, transfers: 5, scopes: [...SCOPES] };
      assert.deepEqual((await all.get('/api/me')).json, expected);
      assert.deepEqual((await onlyB.get('/api/me')).json, expected);
      const second = { email: 'second@example.com', plan: 'free', connections: 1, transfers: 2, scopes: [...SCOPES] };
      assert.deepEqual((await other.get('/api/me')).json, second);
    });

    test('newest first, with the page; two accounts never see each other', async () => {
      const answer = (await all.get('/api/transfers')).json;
      assert.deepEqual([answer['total'], answer['limit'], answer['offset']], [5, 20, 0]);
      const { items, what } = await transfers();
      assert.equal(what, 'delete b, read a, download a, upload b, upload a');
      const times = items.map((item) => (item as unknown as { createdAt: string }).createdAt);
      assert.deepEqual(times, [...times].sort().reverse());
      assert.deepEqual(
        [...items].sort((x, y) => (x.id < y.id ? 1 : -1)),
        items,
        'ids are ordered by time',
      );
      assert.equal((await transfers({}, other)).what, 'list theirs, upload theirs');
      assert.deepEqual(await transfers({ connection_id: 'theirs' }), { items: [], total: 0, what: '' });
    });

    test('a key for some connections sees their items only, in the total too', async () => {
      assert.deepEqual(
        [await transfers({}, onlyB)].map(({ what, total }) => [what, total]),
        [['delete b, upload b', 2]],
      );
      assert.equal((await transfers({ connection_id: 'b' }, onlyB)).total, 2);
      assert.deepEqual(await transfers({ connection_id: 'a' }, onlyB), { items: [], total: 0, what: '' });
    });

    test('filters: connection, status, each type, and all together', async () => {
      assert.equal((await transfers({ connection_id: 'a' })).what, 'read a, download a, upload a');
      assert.equal((await transfers({ status: 'failed' })).what, 'read a');
      assert.equal((await transfers({ status: 'success' })).total, 4);
      assert.equal((await transfers({ status: 'pending' })).total, 0);
      for (const type of TYPES) {
        const expected = (await transfers()).items.filter((item) => item.type === type);
        assert.deepEqual((await transfers({ type })).items, expected, type);
        assert.equal((await transfers({ type })).total, expected.length, type);
      }
      assert.equal((await transfers({ type: 'upload', connection_id: 'b', status: 'success' })).what, 'upload b');
    });

    test('since: ISO with and without a zone, and Unix seconds; exclusive', async () => {
      const { items } = await transfers();
      const newer = 'delete b, read a, download a';
      const iso = between.toISOString();
      const inIndia = new Date(between.getTime() + 5.5 * 3_600_000).toISOString().replace('Z', '+05:30');
      for (const since of [iso, iso.replace('Z', ''), inIndia, String(between.getTime() / 1000)]) {
        const found = await transfers({ since });
        assert.deepEqual([found.what, found.total], [newer, 3], since);
      }
      const newest = items[0] as unknown as { createdAt: string };
      assert.equal((await transfers({ since: newest.createdAt })).total, 0, 'exclusive');
      assert.equal((await transfers({ since: '2020-01-01' })).total, 5);
      assert.equal((await transfers({ since: '0' })).total, 5);
      assert.equal((await transfers({ since: '0001-01-01' })).total, 5);
      assert.equal((await transfers({ since: '9999-12-31T23:59:59Z' })).total, 0);
      assert.equal((await transfers({ since: '99999999999' })).total, 0);
    });

    test('limit and offset select pages of one order', async () => {
      const { items } = await transfers();
      const pages: HistoryItem[] = [];
      for (let offset = 0; offset < 6; offset += 2) {
        const page = await transfers({ limit: '2', offset: String(offset) });
        assert.equal(page.total, 5);
        pages.push(...page.items);
      }
      assert.deepEqual(pages, items);
      assert.deepEqual(await transfers({ offset: '1000000000' }), { items: [], total: 5, what: '' });
    });

    test('invalid values are refused, each with the name of its field', async () => {
      const refuse = async (query: Record<string, string>): Promise<void> => {
        const answer: ApiAnswer = await all.get('/api/transfers', { query });
        expectError(answer, 'bad_request', new RegExp(Object.keys(query)[0] ?? ''));
      };
      for (const limit of ['0', '101', '-1', '1.5', 'ten', '', '1e9']) await refuse({ limit });
      for (const offset of ['-1', '0.5', 'none', '', '1000000001']) await refuse({ offset });
      for (const status of ['done', 'SUCCESS', '']) await refuse({ status });
      for (const type of ['uploads', 'Upload', '']) await refuse({ type });
      for (const since of [
        'yesterday',
        '2026-13-01',
        '2026-02-30T00:00:00Z',
        '-5',
        '',
        'NaN',
        '2026-01-01T25:00:00Z',
      ]) {
        await refuse({ since });
      }
      for (const connection_id of ['', 'x'.repeat(129), 'a\0b']) await refuse({ connection_id });
    });
  });
}
