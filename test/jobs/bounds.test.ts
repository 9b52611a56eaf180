/**
 * Requests beyond the bounds of jobs: lists of globs, and cursors that the gateway has not issued, or issued to others.
 */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startSshd, type TestSshd } from '../servers/sshd.js';
import { type ApiClient, KEY, startGateway, type TestGateway } from '../support/gateway.js';
import { ended, type JobFileView, type JobView, run } from './support.js';

const OTHER_KEY = 'ftg_other-key-0123456789-abcdefgh';
const FILES = 5;

describe('requests about jobs', () => {
  let sshd: TestSshd;
  let gateway: TestGateway;
  let other: ApiClient;

  before(async () => {
    sshd = await startSshd();
    const { port, username, clientKeyFile: privateKeyFile, files: rootPath } = sshd;
    const login = { type: 'sftp', host: '127.0.0.1', port, username, privateKeyFile, rootPath };
    const account = (email: string, key: string, id: string): object => ({
      email,
      plan: 'pro',
      apiKeys: [{ name: 'test', key }],
      connections: [{ ...login, id, name: id }],
    });
    const accounts = [account('a@example.com', KEY, 'mine'), account('b@example.com', OTHER_KEY, 'theirs')];
    gateway = await startGateway({ config: { accounts } });
    other = gateway.client(OTHER_KEY);
    mkdirSync(path.join(rootPath, 'in'));
    for (let number = 0; number < FILES; number++) writeFileSync(path.join(rootPath, 'in', `${number}.txt`), 'x');
  });
  after(async () => {
    await gateway?.stop();
    await sshd?.stop();
  });

  const order = (connectionId: string, more: object = {}): object => ({
    type: 'delete',
    dryRun: true,
    source: { connectionId, path: '/in' },
    ...more,
  });

  for (const list of ['include', 'exclude']) {
    test(`as many and as long globs of ${list} as allowed, and no more`, async () => {
      const { api } = gateway;
      const long = Array.from({ length: 100 }, (_, number) => String(number).padStart(1_024, 'n'));
      const { state, counts } = await run(api, order('mine', { [list]: long }));
      assert.deepEqual([state, counts.found], ['succeeded', list === 'include' ? 0 : FILES]);
      for (const globs of [[...long, 'one more'], ['n'.repeat(1_025)], [''], ['a', 1], 'all', [null]]) {
        const schedule = { name: 's', cron: '@yearly', timeZone: 'UTC', isActive: false };
        const job = order('mine', { [list]: globs });
        for (const answer of [
          await api.post('/api/jobs', job),
          await api.post('/api/schedules', { ...schedule, job }),
        ]) {
          assert.equal(answer.status, 400, answer.text);
          assert.match(String(answer.json['error']), new RegExp(list));
          assert.ok(answer.text.length < 1_000, 'what was sent is not sent back');
        }
      }
    });
  }

  test('a cursor of the list of jobs is valid only for the own jobs', async () => {
    const own: string[] = [];
    for (let number = 0; number < 3; number++) {
      own.push((await run(gateway.api, order('mine', { name: `page ${number}` }))).id);
      await run(other, order('theirs'));
    }
    const page = async (api: ApiClient, query: Record<string, string>): Promise<readonly [string[], string | null]> => {
      const { status, json, text } = await api.get('/api/jobs', { query });
      assert.equal(status, 200, text);
      return [(json['jobs'] as JobView[]).map(({ id }) => id), json['nextCursor'] as string | null];
    };
    const [first, cursor] = await page(gateway.api, { limit: '2' });
    assert.deepEqual(first, [own[2], own[1]]);
    assert.equal((await page(gateway.api, { limit: '1', cursor: cursor ?? '' }))[0][0], own[0]);
    const [theirs] = await page(other, { limit: '100', cursor: cursor ?? '' });
    assert.ok(theirs.length > 0 && theirs.every((id) => !own.includes(id)));
    for (const bad of ['x', '', '0', `${own[0]}'`, `${own[0]} or true`, '../..', '%00', 'n'.repeat(10_000)]) {
      const answer = await gateway.api.get('/api/jobs', { query: { cursor: bad } });
      assert.equal(answer.status, 400, `${bad.slice(0, 50)}: ${answer.text}`);
    }
  });

  test('a cursor of the files of a job shows nothing of another one', async () => {
    const [mine, theirs] = [await run(gateway.api, order('mine')), await run(other, order('theirs'))];
    await ended(other, theirs.id);
    const at = `/api/jobs/${mine.id}/files`;
    const first = await gateway.api.get(at, { query: { limit: '2' } });
    const foreign = await other.get(`/api/jobs/${theirs.id}/files`, { query: { limit: '2' } });
    const cursors = [first, foreign].map(({ json }) => json['nextCursor'] as string);
    const pathsOf = (files: unknown): string[] => (files as JobFileView[]).map((file) => file.path);
    const rest = await gateway.api.get(at, { query: { cursor: cursors[0] ?? '' } });
    const all = [...pathsOf(first.json['files']), ...pathsOf(rest.json['files'])];
    assert.deepEqual(
      all.toSorted(),
      Array.from({ length: FILES }, (_, number) => `${number}.txt`),
    );
    const answer = await gateway.api.get(at, { query: { cursor: cursors[1] ?? '' } });
    assert.equal(answer.status, 200, answer.text);
    assert.ok(pathsOf(answer.json['files']).every((file) => all.includes(file)));
    assert.equal((await other.get(at, { query: { cursor: cursors[0] ?? '' } })).status, 404);
    for (const bad of ['x', '', '-1', '1.5', '1e9', '9'.repeat(16), ' 1', '1;', '0x10']) {
      const refused = await gateway.api.get(at, { query: { cursor: bad } });
      assert.equal(refused.status, 400, `${bad}: ${refused.text}`);
    }
  });
});
