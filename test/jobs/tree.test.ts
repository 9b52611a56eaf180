/**
 * Which parts of a tree a job takes: empty folders, files by size, age and depth, links, and the results of a former
 * job.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { PROTOCOLS, startServers, type ProtocolName } from '../faults/rig.js';
import { eventually } from '../support/eventually.js';
import { openAccount, type TestAccount } from '../support/account.js';
import { begin, ended, filesOf, history, look, run } from './support.js';

describe('trees of jobs', () => {
  let servers: Awaited<ReturnType<typeof startServers>>;
  let gateway: TestAccount;

  before(async () => {
    servers = await startServers();
    gateway = await openAccount({ connections: PROTOCOLS.map((id) => ({ id, name: id, ...servers[id].connection })) });
  });
  after(async () => {
    await gateway?.stop();
    await Promise.all(Object.values(servers ?? {}).map((server) => server.stop()));
  });

  const order = (type: string, from: ProtocolName, to: ProtocolName, path: string, more: object = {}): object => ({
    type,
    source: { connectionId: from, path },
    destination: { connectionId: to, path: `${path}-to` },
    ...more,
  });

  async function makeEmpty(protocol: ProtocolName, folder: string): Promise<void> {
    const answer = await gateway.api.post(`/api/mkdir/${protocol}`, { path: folder });
    assert.ok(answer.status < 300, answer.text);
  }

  async function isThere(protocol: ProtocolName, path: string): Promise<boolean> {
    const answer = await gateway.api.get(`/api/exists/${protocol}`, { query: { path } });
    assert.equal(answer.status, 200, answer.text);
    return answer.json['exists'] === true;
  }

  for (const [from, to] of [
    ['sftp', 'ftp'],
    ['ftp', 's3'],
    ['s3', 'sftp'],
  ] as const) {
    test(`empty folders are copied, from ${from} to ${to}`, async () => {
      for (const type of ['copy', 'sync', 'move']) {
        const root = `/empty-${type}`;
        await servers[from].disk.write(`${root}/full/a.txt`, 'a');
        await servers[from].disk.write(`${root}/filtered/a.tmp`, 'a');
        await makeEmpty(from, `${root}/void/below`);
        const planned = await run(gateway.api, order(type, from, to, root, { dryRun: true }));
        assert.equal(planned.state, 'succeeded', JSON.stringify(planned));
        assert.equal(await isThere(to, `${root}-to`), false, 'a dry run makes none');
        const job = await run(gateway.api, order(type, from, to, root, { exclude: ['*.tmp'] }));
        assert.deepEqual([job.state, job.counts.found], ['succeeded', 1], JSON.stringify(job));
        assert.equal(await isThere(to, `${root}-to/void/below`), true, type);
        assert.equal(await isThere(to, `${root}-to/filtered`), false, type);
        if (type === 'move') assert.equal(await isThere(from, `${root}/void`), false);
      }
    });
  }

  test('files by size, age and depth', async () => {
    const { disk } = servers.sftp;
    const sizes = { 'small.bin': 10, 'large.bin': 1000, 'a/middle.bin': 100, 'a/b/deep.bin': 100 };
    for (const [name, size] of Object.entries(sizes)) await disk.write(`/sized/${name}`, Buffer.alloc(size));
    const old = await gateway.api.post('/api/write/sftp', {
      path: '/sized/old.bin',
      content: 'x'.repeat(100),
      mtime: '2020-01-01T00:00:00Z',
    });
    assert.ok(old.status < 300, old.text);
    for (const [filters, expected] of [
      [{ minSize: 100 }, ['a/b/deep.bin', 'a/middle.bin', 'large.bin', 'old.bin']],
      [{ maxSize: 100, maxDepth: 2 }, ['a/middle.bin', 'old.bin', 'small.bin']],
      [{ maxDepth: 1 }, ['large.bin', 'old.bin', 'small.bin']],
      [{ minAgeSeconds: 86_400 }, ['old.bin']],
      [{ maxAgeSeconds: 86_400, minSize: 1000 }, ['large.bin']],
    ] as const) {
      for (const type of ['copy', 'sync']) {
        const job = await run(gateway.api, order(type, 'sftp', 'ftp', '/sized', { ...filters, dryRun: true }));
        const files = await filesOf(gateway.api, job.id);
        assert.deepEqual(files.map(({ path }) => path).sort(), expected, JSON.stringify([type, filters]));
      }
    }
    const refused = await gateway.api.post(
      '/api/jobs',
      order('copy', 'sftp', 'ftp', '/sized', { minSize: 2, maxSize: 1 }),
    );
    assert.equal(refused.status, 400, refused.text);
  });

  test('entries that a sync leaves out are neither copied nor deleted; nor are they by a deletion', async () => {
    for (const name of ['kept-large', 'a/kept-deep']) {
      await servers.ftp.disk.write(`/out-to/${name}`, Buffer.alloc(name === 'kept-large' ? 500 : 5));
    }
    await servers.ftp.disk.write('/out-to/goes', 'x');
    await servers.sftp.disk.write('/out/new-large', Buffer.alloc(500));
    await servers.sftp.disk.write('/out/new', 'new');
    const filters = { maxSize: 100, maxDepth: 1 };
    const job = await run(gateway.api, order('sync', 'sftp', 'ftp', '/out', { deleteExtra: true, ...filters }));
    assert.equal(job.state, 'succeeded', JSON.stringify(job));
    const left = await servers.ftp.disk.files('/out-to');
    assert.deepEqual(left, ['/out-to/a/kept-deep', '/out-to/kept-large', '/out-to/new']);
    const deletion = { type: 'delete', source: { connectionId: 'ftp', path: '/out-to' }, ...filters };
    assert.equal((await run(gateway.api, deletion)).state, 'succeeded');
    assert.deepEqual(await servers.ftp.disk.files('/out-to'), ['/out-to/a/kept-deep', '/out-to/kept-large']);
  });

  for (const from of ['sftp', 'ftp'] as const) {
    test(`a link that leads back up is reported and left, on ${from}`, async () => {
      const { disk } = servers[from];
      await disk.write('/loop/a/file.txt', 'once');
      await disk.link?.('..', '/loop/a/up');
      await disk.link?.('file.txt', '/loop/a/to-file.txt');
      for (const type of ['copy', 'sync']) {
        const job = await run(gateway.api, order(type, from, 's3', '/loop'));
        assert.deepEqual([job.state, job.counts.done, job.counts.skipped], ['succeeded', 2, 1], JSON.stringify(job));
        const files = (await servers.s3.disk.files('/loop-to')).sort();
        assert.deepEqual(files, ['/loop-to/a/file.txt', '/loop-to/a/to-file.txt']);
        const [link] = await filesOf(gateway.api, job.id, 'skipped');
        assert.deepEqual([link?.path, link?.action], ['a/up', 'list']);
        await run(gateway.api, { type: 'delete', source: { connectionId: 's3', path: '/loop-to' } });
      }
    });
  }

  test('cancelled during its listing, a job is retried without its finished files', async () => {
    const { disk } = servers.sftp;
    const names = Array.from({ length: 1500 }, (_, number) => `many/${number}`);
    for (const name of names) await disk.write(`/begun/${name}`, 'x');
    const { id } = await begin(gateway.api, order('copy', 'sftp', 'ftp', '/begun'));
    await eventually(async () => (await look(gateway.api, id)).counts.done > 0, 'a file is done');
    await gateway.api.post(`/api/jobs/${id}/cancel`, {});
    const isListed = (await look(gateway.api, id)).counts.found === names.length;
    const answer = await gateway.api.post(`/api/jobs/${id}/retry`, {});
    assert.equal(answer.status, 202, answer.text);
    const again = await ended(gateway.api, (answer.json['job'] as { id: string }).id);
    assert.equal(again.state, 'succeeded', JSON.stringify([again, isListed]));
    assert.equal((await servers.ftp.disk.files('/begun-to')).length, names.length);
    const items = (await history(gateway.api, { type: 'copy', status: 'success' })).filter(({ path }) =>
      path.startsWith('/begun-to/'),
    );
    assert.equal(new Set(items.map(({ path }) => path)).size, items.length, 'none is copied twice');
  });
});
