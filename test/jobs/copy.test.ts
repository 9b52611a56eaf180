/** Whole folders copied between the real servers. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { PROTOCOLS, type ProtocolName, startServers } from '../faults/rig.js';
import { openAccount, type TestAccount } from '../support/account.js';
import { KEY } from '../support/gateway.js';
import { ended, filesOf, history, look, run } from './support.js';

const READER = 'ftg_key-that-may-only-read-012345';
const LIMITED = 'ftg_key-for-one-connection-012345';
const WRITER = 'ftg_key-that-may-only-write-01234';
const OTHER = 'ftg_key-of-another-account-012345';

describe('jobs that copy', () => {
  let servers: Awaited<ReturnType<typeof startServers>>;
  let gateway: TestAccount;
  const tree = new Map<string, Buffer>();

  before(async () => {
    servers = await startServers();
    const connections = PROTOCOLS.map((id) => ({ id, name: id, ...servers[id].connection }));
    gateway = await openAccount({
      apiKeys: [
        { name: 'reader', key: READER, scopes: ['read'] },
        { name: 'writer', key: WRITER, scopes: ['write'] },
        { name: 'limited', key: LIMITED, connections: ['sftp'] },
      ],
      connections: [...connections, { ...connections[0], id: 'asleep', name: 'asleep', isActive: false }],
      other: { apiKeys: [{ name: 'other', key: OTHER }] },
    });
    for (let number = 0; number < 120; number++) {
      const folder = ['', 'a/', 'a/b/', 'ä ö/', 'c/d/e/'][number % 5] ?? '';
      tree.set(`${folder}file ${number}.bin`, randomBytes(number % 40 === 0 ? 300_000 : number * 7));
    }
    for (const protocol of PROTOCOLS) {
      for (const [name, content] of tree) await servers[protocol].disk.write(`/from/${name}`, content);
    }
  });
  after(async () => {
    await gateway?.stop();
    await Promise.all(Object.values(servers ?? {}).map((server) => server.stop()));
  });

  const next = (protocol: ProtocolName): ProtocolName => PROTOCOLS[(PROTOCOLS.indexOf(protocol) + 1) % 3] ?? 'sftp';

  for (const protocol of PROTOCOLS) {
    const target = next(protocol);
    test(`a tree from ${protocol} to ${target}, each file once`, async () => {
      const job = await run(gateway.api, {
        type: 'copy',
        source: { connectionId: protocol, path: '/from' },
        destination: { connectionId: target, path: `/copied-from-${protocol}` },
      });
      const bytes = [...tree.values()].reduce((sum, content) => sum + content.length, 0);
      assert.equal(job.state, 'succeeded', JSON.stringify(job));
      assert.deepEqual(job.counts, {
        found: tree.size,
        done: tree.size,
        skipped: 0,
        failed: 0,
        deleted: 0,
        bytes,
        bytesTotal: bytes,
      });
      const { disk } = servers[target];
      const standing = await disk.files(`/copied-from-${protocol}`);
      assert.equal(standing.length, tree.size);
      for (const [name, content] of tree) {
        assert.ok((await disk.read(`/copied-from-${protocol}/${name}`)).equals(content), name);
      }
      const items = (await history(gateway.api, { type: 'copy', connection_id: target })).filter(({ path }) =>
        path.startsWith(`/copied-from-${protocol}/`),
      );
      assert.equal(items.length, tree.size);
      assert.equal(new Set(items.map(({ path }) => path)).size, tree.size);
      assert.ok(items.every(({ status }) => status === 'success'));
      const files = await filesOf(gateway.api, job.id);
      assert.deepEqual(files.map(({ path }) => path).sort(), [...tree.keys()].sort());
      assert.ok(files.every(({ state, action }) => state === 'done' && action === 'copy'));
    });
  }

  test('globs, and a single file', async () => {
    const globs = await run(gateway.api, {
      type: 'copy',
      source: { connectionId: 'sftp', path: '/from' },
      destination: { connectionId: 'ftp', path: '/globs' },
      include: ['file 1*.bin'],
      exclude: ['a/**'],
    });
    const wanted = [...tree.keys()].filter((name) => /(^|\/)file 1[^/]*$/.test(name) && !name.startsWith('a/'));
    assert.equal(globs.counts.found, wanted.length);
    assert.deepEqual(await servers.ftp.disk.files('/globs'), wanted.map((name) => `/globs/${name}`).sort());
    const one = await run(gateway.api, {
      type: 'copy',
      source: { connectionId: 'sftp', path: '/from/file 40.bin' },
      destination: { connectionId: 's3', path: '/one.bin' },
    });
    assert.equal(one.counts.done, 1, JSON.stringify(one));
    assert.ok((await servers.s3.disk.read('/one.bin')).equals(tree.get('file 40.bin') ?? assert.fail()));
  });

  test('an existing file is replaced, left, kept if it is newer, kept beside it, or a failure', async () => {
    const source = { connectionId: 'sftp', path: '/rules' };
    await servers.sftp.disk.write('/rules/x.txt', 'new');
    await servers.sftp.disk.write('/rules/y.txt', 'only here');
    for (const onConflict of ['replace', 'skip', 'newer', 'rename', 'fail'] as const) {
      const folder = `/rules-${onConflict}`;
      await servers.ftp.disk.write(`${folder}/x.txt`, 'old');
      const destination = { connectionId: 'ftp', path: folder };
      const job = await run(gateway.api, { type: 'copy', source, destination, onConflict });
      const read = async (name: string): Promise<string> =>
        (await servers.ftp.disk.read(`${folder}/${name}`)).toString();
      const isReplaced = onConflict === 'replace';
      assert.equal(await read('x.txt'), isReplaced ? 'new' : 'old', onConflict);
      assert.equal(await read('y.txt'), 'only here');
      if (onConflict === 'rename') assert.equal(await read('x (2).txt'), 'new');
      const { state, counts } = job;
      assert.equal(state, onConflict === 'fail' ? 'partly_failed' : 'succeeded', JSON.stringify(job));
      const skipped = onConflict === 'skip' || onConflict === 'newer' ? 1 : 0;
      const failed = onConflict === 'fail' ? 1 : 0;
      assert.deepEqual([counts.done, counts.skipped, counts.failed], [2 - skipped - failed, skipped, failed]);
      const [bad] = await filesOf(gateway.api, job.id, 'failed');
      if (failed === 1) assert.match(bad?.error ?? '', /exists/);
    }
  });

  test('failed files are listed with their reason, and the others are done; retry does only those', async () => {
    for (const name of ['good.txt', 'bad.txt']) await servers.sftp.disk.write(`/partly/${name}`, name);
    await servers.ftp.disk.write('/partly/bad.txt/a-folder-is-here', '');
    const order = {
      type: 'copy',
      source: { connectionId: 'sftp', path: '/partly' },
      destination: { connectionId: 'ftp', path: '/partly' },
    };
    const job = await run(gateway.api, order);
    assert.equal(job.state, 'partly_failed');
    assert.deepEqual([job.counts.done, job.counts.failed], [1, 1]);
    const failed = await filesOf(gateway.api, job.id, 'failed');
    assert.deepEqual(
      failed.map(({ path }) => path),
      ['bad.txt'],
    );
    assert.match(failed[0]?.error ?? '', /folder/);
    const again = await gateway.api.post(`/api/jobs/${job.id}/retry`, {});
    assert.equal(again.status, 202, again.text);
    const second = await ended(gateway.api, (again.json['job'] as { id: string }).id);
    assert.deepEqual([second.state, second.counts.found, second.counts.failed], ['failed', 1, 1]);
  });

  test('a missing source, a missing connection, keys without the right', async () => {
    const destination = { connectionId: 'ftp', path: '/nowhere' };
    const missing = await run(gateway.api, {
      type: 'copy',
      source: { connectionId: 'sftp', path: '/missing' },
      destination,
    });
    assert.equal(missing.state, 'failed');
    assert.match(missing.error ?? '', /missing/);
    const source = { connectionId: 'sftp', path: '/from' };
    const refused = async (body: object, status: number, code: string, key = KEY): Promise<void> => {
      const answer = await gateway.client(key).post('/api/jobs', { type: 'copy', source, destination, ...body });
      assert.deepEqual([answer.status, answer.headers['x-error-code']], [status, code], answer.text);
    };
    await refused({ source: { connectionId: 'unknown' } }, 404, 'unknown_connection');
    await refused({}, 404, 'unknown_connection', OTHER);
    await refused({ source: { connectionId: 'asleep' } }, 403, 'connection_inactive');
    await refused({}, 403, 'scope_missing', READER);
    await refused({}, 403, 'scope_missing', WRITER);
    await refused({}, 403, 'forbidden', LIMITED);
    await refused({ destination: { connectionId: 'sftp', path: '/from/deep/er' } }, 400, 'bad_request');
    await refused({ destination: { connectionId: 'sftp', path: '/from' } }, 400, 'bad_request');
    await refused({ type: 'sync', destination: { connectionId: 'sftp', path: '/' } }, 400, 'bad_request');
    await refused({ type: 'delete' }, 400, 'bad_request');
    await refused({ destination: undefined }, 400, 'bad_request');
    await refused({ include: ['[never closed'] }, 400, 'bad_request');
    for (const key of [OTHER, LIMITED]) {
      const api = gateway.client(key);
      for (const way of ['', '/files']) assert.equal((await api.get(`/api/jobs/${missing.id}${way}`)).status, 404);
      assert.equal((await api.post(`/api/jobs/${missing.id}/retry`, {})).status, 404);
      assert.deepEqual((await api.get('/api/jobs')).json['jobs'], []);
    }
    assert.equal((await look(gateway.api, missing.id)).state, 'failed');
  });

  test('one copy without waiting for it', async () => {
    const body = {
      source_connection_id: 'sftp',
      source_path: '/from/file 40.bin',
      dest_connection_id: 'ftp',
      dest_path: '/later/x.bin',
      filename_template: '{name}-copy.{ext}',
    };
    const send = () =>
      gateway.api.send('/api/copy', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Prefer: 'respond-async, wait=10' },
        body: Buffer.from(JSON.stringify({ ...body, overwrite: false })),
      });
    const answer = await send();
    assert.equal(answer.status, 202, answer.text);
    assert.equal(answer.headers['preference-applied'], 'respond-async');
    const { id } = answer.json['job'] as { id: string };
    assert.equal(answer.headers['location'], `/api/jobs/${id}`);
    assert.equal((await ended(gateway.api, id)).state, 'succeeded');
    const content = tree.get('file 40.bin') ?? assert.fail();
    assert.ok((await servers.ftp.disk.read('/later/x-copy.bin')).equals(content));
    const again = await ended(gateway.api, ((await send()).json['job'] as { id: string }).id);
    assert.deepEqual([again.state, again.counts.failed], ['failed', 1]);
  });

  test('the list is read page by page', async () => {
    const ids: string[] = [];
    for (let cursor: string | null = null; ;) {
      const query: Record<string, string> = { limit: '2', type: 'copy', ...(cursor === null ? {} : { cursor }) };
      const { json } = await gateway.api.get('/api/jobs', { query });
      ids.push(...(json['jobs'] as { id: string }[]).map(({ id }) => id));
      cursor = json['nextCursor'] as string | null;
      if (cursor === null) break;
    }
    assert.deepEqual(ids, [...new Set(ids)].sort().reverse());
    assert.ok(ids.length >= 5);
  });

  test('conflicts in a store are reported for each file, among others of its folder', async () => {
    const [from, to] = [servers.sftp.disk, servers.s3.disk];
    const names = ['free', 'folder', 'file/below', 'file/beside', 'free too'];
    for (const name of names) await from.write(`/in-the-way/${name}`, name);
    await to.write('/in-the-way/folder/inner', 'inner');
    await to.write('/in-the-way/file', 'file');
    const job = await run(gateway.api, {
      type: 'copy',
      source: { connectionId: 'sftp', path: '/in-the-way' },
      destination: { connectionId: 's3', path: '/in-the-way' },
    });
    assert.equal(job.state, 'partly_failed', JSON.stringify(job));
    const failed = await filesOf(gateway.api, job.id, 'failed');
    assert.deepEqual(failed.map(({ path }) => path).sort(), ['file/below', 'file/beside', 'folder']);
    assert.deepEqual(await to.files('/in-the-way'), [
      ...['/in-the-way/file', '/in-the-way/folder/inner', '/in-the-way/free', '/in-the-way/free too'],
    ]);
    assert.equal((await to.read('/in-the-way/file')).toString(), 'file');
  });
});
