/**
 * Jobs whose key is revoked, expires or is narrowed while they run: they end within seconds, and leave no half file.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { contentOf, KIB, MIB } from '../faults/rig.js';
import { FTP_SERVERS, SFTP_SERVERS } from '../servers/catalogue.js';
import { eventually } from '../support/eventually.js';
import { type ApiClient, KEY } from '../support/gateway.js';
import { type Cluster, startCluster } from './cluster.js';
import { begin, ended, ENDED, filesOf, history, type JobView, look } from './support.js';

const ADMIN_KEY = 'ftg_admin-key-0123456789-abcdefghi';
const SIZE = 4 * MIB;
/** For a job that must not end by itself. */
const SLOW = SIZE / 256;
/** For one that does. */
const PASSABLE = 200 * KIB;
const SMALL_FILES = 3;

interface Key {
  readonly id: string;
  readonly name: string;
  readonly api: ApiClient;
}

type Reported = JobView & { readonly errorCode: string | null };

describe('jobs whose key changes', { timeout: 900_000 }, () => {
  let cluster: Cluster<'from' | 'to'>;
  let admin: ApiClient;
  let made = 0;

  before(async () => {
    const apiKeys = [
      { name: 'test', key: KEY },
      { name: 'admin', key: ADMIN_KEY, scopes: ['admin'] },
    ];
    const options = { nodes: 2, account: { apiKeys }, config: { jobs: { runningPerAccount: 4 } } };
    cluster = await startCluster({ from: SFTP_SERVERS[1], to: FTP_SERVERS[0] }, options);
    admin = cluster.node(1).client(ADMIN_KEY);
    const { disk } = cluster.servers.from;
    await disk.write('/tree/large.bin', contentOf('large', SIZE));
    for (let number = 0; number < SMALL_FILES; number++) await disk.write(`/tree/${number}.bin`, 'small');
  });
  after(() => cluster?.stop());

  async function makeKey(rights: object = {}): Promise<Key> {
    const name = `key ${++made}`;
    const answer = await admin.post('/manage/api-keys', { name, scopes: ['read', 'write'], ...rights });
    assert.equal(answer.status, 201, answer.text);
    const { id } = answer.json['apiKey'] as { id: string };
    return { id, name, api: cluster.node(0).client(answer.json['key'] as string) };
  }

  async function change({ id, name }: Key, rights: object): Promise<void> {
    const json = { name, scopes: ['read', 'write'], ...rights };
    const answer = await admin.send(`/manage/api-keys/${id}`, { method: 'PATCH', json });
    assert.equal(answer.status, 200, answer.text);
  }

  const order = (path: string, bytesPerSecond = SLOW): object => ({
    type: 'copy',
    bytesPerSecond,
    source: { connectionId: 'from', path: '/tree' },
    destination: { connectionId: 'to', path },
  });

  /** With its large file under way. */
  async function moving({ api }: Key, path: string, bytesPerSecond = SLOW): Promise<string> {
    const { id } = await begin(api, order(path, bytesPerSecond));
    const isMoving = async (): Promise<boolean> => {
      const { counts } = await look(cluster.api, id);
      return counts.done === SMALL_FILES && (await cluster.servers.to.disk.files(path)).length > SMALL_FILES;
    };
    await eventually(isMoving, 'the large file is under way');
    return id;
  }

  const CASES: readonly (readonly [string, (key: Key) => Promise<unknown>, string, RegExp])[] = [
    [
      'is revoked',
      ({ id }) => admin.send(`/manage/api-keys/${id}`, { method: 'DELETE' }),
      'unauthenticated',
      /was revoked or has expired: retry it with another key/,
    ],
    [
      'expires',
      (key) => change(key, { expiresAt: new Date(Date.now() + 4_000).toISOString() }),
      'unauthenticated',
      /was revoked or has expired/,
    ],
    ['loses "write"', (key) => change(key, { scopes: ['read'] }), 'scope_missing', /lost the scope "write"/],
    ['loses "read"', (key) => change(key, { scopes: ['write'] }), 'scope_missing', /lacks the scope "read"/],
    [
      'loses a connection',
      (key) => change(key, { connections: ['from'] }),
      'scope_missing',
      /lost the connections from and to/,
    ],
  ];
  for (const [index, [what, change, code, words]] of CASES.entries()) {
    test(`a key ${what}`, async () => {
      const path = `/lost-${index}`;
      const key = await makeKey();
      const id = await moving(key, path);
      await change(key);
      const job = (await ended(cluster.api, id)) as Reported;
      assert.deepEqual([job.state, job.errorCode, job.counts.done], ['partly_failed', code, SMALL_FILES]);
      assert.match(job.error ?? '', words);
      const { disk } = cluster.servers.to;
      await eventually(async () => (await disk.files(path)).length === SMALL_FILES, 'the half file is taken back');
      const isTold = async (): Promise<boolean> =>
        (await history(cluster.api, { type: 'copy', status: 'failed' })).some(
          (item) => item.path === `${path}/large.bin` && item.errorMessage?.startsWith('the job was ended: ') === true,
        );
      await eventually(isTold, 'its item says why');
      const { json, text } = await cluster.api.post(`/api/jobs/${id}/retry`, {});
      const retried = json['job'] as { id: string } | undefined;
      assert.ok(retried !== undefined, text);
      await cluster.api.post(`/api/jobs/${retried.id}/cancel`, {});
    });
  }

  test('waiting and paused ones end too, and those that need no more than the key still has do not', async () => {
    const [narrow, revoked] = [await makeKey(), await makeKey()];
    await cluster.servers.from.disk.write('/old/a.bin', 'old');
    const kept = await begin(narrow.api, { type: 'delete', source: { connectionId: 'from', path: '/old' } });
    await cluster.api.post(`/api/jobs/${kept.id}/pause`, {});
    const paused = await begin(revoked.api, order('/paused'));
    await cluster.api.post(`/api/jobs/${paused.id}/pause`, {});
    const running = await Promise.all([1, 2, 3, 4].map((number) => begin(cluster.api, order(`/busy-${number}`))));
    const queued = await begin(revoked.api, order('/queued'));
    assert.equal((await look(cluster.api, queued.id)).state, 'queued');
    await change(narrow, { scopes: ['write'], connections: ['from'] });
    await admin.send(`/manage/api-keys/${revoked.id}`, { method: 'DELETE' });
    for (const { id } of [paused, queued]) {
      const job = (await ended(cluster.api, id)) as Reported;
      assert.deepEqual([job.errorCode, ENDED.includes(job.state)], ['unauthenticated', true]);
    }
    // It came first, and was checked first.
    assert.ok(['paused', 'succeeded'].includes((await look(cluster.api, kept.id)).state));
    for (const { id } of running) {
      assert.equal((await look(cluster.api, id)).state, 'running');
      await cluster.api.post(`/api/jobs/${id}/cancel`, {});
    }
    await cluster.api.post(`/api/jobs/${kept.id}/resume`, {});
    assert.equal((await ended(cluster.api, kept.id)).state, 'succeeded');
  });

  test('a rotated key passes its jobs on, and they continue after it is gone', async () => {
    const key = await makeKey();
    const id = await moving(key, '/rotated', PASSABLE);
    const answer = await admin.post(`/manage/api-keys/${key.id}/rotate`, { overlapMinutes: 0 });
    assert.equal(answer.status, 201, answer.text);
    const gone = await makeKey();
    const other = await begin(gone.api, order('/other'));
    await admin.send(`/manage/api-keys/${gone.id}`, { method: 'DELETE' });
    await ended(cluster.api, other.id);
    // It was looked at before the other one.
    assert.ok(['running', 'succeeded'].includes((await look(cluster.api, id)).state));
    const job = await ended(cluster.api, id);
    assert.deepEqual([job.state, job.counts.done], ['succeeded', SMALL_FILES + 1]);
    const [failed] = await filesOf(cluster.api, id, 'failed');
    assert.equal(failed, undefined);
  });
});
