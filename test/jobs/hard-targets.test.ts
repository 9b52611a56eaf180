/**
 * Trees that change during a job, several jobs on one tree, names that the target cannot have: each file is reported,
 * and stored files are complete.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { PROTOCOLS, startServers, type ProtocolName } from '../faults/rig.js';
import { eventually } from '../support/eventually.js';
import { openAccount, type TestAccount } from '../support/account.js';
import { begin, ended, filesOf, history, look, run } from './support.js';

const SIZE = 100_000;

describe('trees that change, and targets that cannot take them', () => {
  let servers: Awaited<ReturnType<typeof startServers>>;
  let gateway: TestAccount;

  before(async () => {
    servers = await startServers();
    gateway = await openAccount({
      connections: [...PROTOCOLS.map((id) => ({ id, name: id, ...servers[id].connection }))],
    });
  });
  after(async () => {
    await gateway?.stop();
    await Promise.all(Object.values(servers ?? {}).map((server) => server.stop()));
  });

  const order = (from: ProtocolName, to: string, path: string, more: object = {}): object => ({
    type: 'copy',
    source: { connectionId: from, path },
    destination: { connectionId: to, path: `${path}-to` },
    ...more,
  });

  test('names that are too long for the target', async () => {
    const long = `${'n'.repeat(260)}.txt`;
    for (const name of ['a.txt', long, `${'d'.repeat(260)}/b.txt`])
      await servers.s3.disk.write(`/too-long/${name}`, 'x');
    for (const target of ['sftp', 'ftp'] as const) {
      const job = await run(gateway.api, order('s3', target, '/too-long'));
      const files = await filesOf(gateway.api, job.id, 'failed');
      assert.deepEqual(
        [job.state, job.counts.found, job.counts.done, files.length],
        ['partly_failed', 3, 1, 2],
        JSON.stringify([job, files]),
      );
      assert.deepEqual(await servers[target].disk.files('/too-long-to'), ['/too-long-to/a.txt']);
    }
  });

  test('a tree that grows, shrinks and changes while it is copied', async () => {
    const { disk } = servers.ftp;
    const count = 30;
    for (let number = 0; number < count; number++) await disk.write(`/moving/${number}`, Buffer.alloc(SIZE, number));
    const { id } = await begin(gateway.api, order('ftp', 's3', '/moving', { bytesPerSecond: SIZE * 5 }));
    await eventually(async () => (await look(gateway.api, id)).counts.done > 0, 'a file is done');
    const tell = async (what: 'pause' | 'resume'): Promise<void> => {
      const answer = await gateway.api.post(`/api/jobs/${id}/${what}`, {});
      assert.equal(answer.status, 200, answer.text);
    };
    // The last files must not be copied before they have changed.
    await tell('pause');
    const { json } = await gateway.api.get('/api/jobs/' + id);
    assert.equal((json['job'] as { counts: { found: number } }).counts.found, count, 'all were listed by then');
    await disk.write('/moving/new', 'new');
    const last = String(count - 1);
    await disk.write(`/moving/${last}`, Buffer.alloc(SIZE * 2, 77));
    const gone = await gateway.api.post('/api/delete/ftp', { path: `/moving/${count - 2}` });
    assert.ok(gone.status < 300, gone.text);
    await tell('resume');
    const job = await ended(gateway.api, id);
    const failed = await filesOf(gateway.api, id, 'failed');
    assert.deepEqual(
      [job.state, job.counts.found, job.counts.done, failed.map(({ path }) => path)],
      ['partly_failed', count, count - 1, [String(count - 2)]],
      JSON.stringify(job),
    );
    assert.ok(
      (await servers.s3.disk.read(`/moving-to/${last}`)).equals(Buffer.alloc(SIZE * 2, 77)),
      'as it is by then',
    );
    const next = await run(gateway.api, { ...order('ftp', 's3', '/moving'), type: 'sync' });
    assert.deepEqual([next.state, next.counts.done], ['succeeded', 1], 'the next run brings what came');
  });

  test('two jobs of one tree at once: each file is complete, each job counts its own', async () => {
    const { disk } = servers.sftp;
    const names = Array.from({ length: 40 }, (_, number) => `${number % 4}/${number}`);
    for (const [number, name] of names.entries()) await disk.write(`/shared/${name}`, Buffer.alloc(SIZE / 2, number));
    for (const target of PROTOCOLS.filter((protocol) => protocol !== 'sftp')) {
      for (const onConflict of ['replace', 'skip', 'rename']) {
        const path = { path: `/shared-${onConflict}`, connectionId: target };
        const two = await Promise.all(
          [1, 2].map(() => begin(gateway.api, { ...order('sftp', target, '/shared'), destination: path, onConflict })),
        );
        const jobs = await Promise.all(two.map(({ id }) => ended(gateway.api, id)));
        for (const job of jobs) {
          const { found, done, skipped, failed } = job.counts;
          assert.deepEqual([found, done + skipped, failed], [names.length, names.length, 0], JSON.stringify(job));
        }
        const written = jobs.reduce((sum, { counts }) => sum + counts.done, 0);
        const items = (await history(gateway.api, { type: 'copy', connection_id: target, status: 'success' })).filter(
          (item) => item.path.startsWith(`${path.path}/`),
        );
        assert.equal(items.length, written, 'one item a file that was written');
        const standing = await servers[target].disk.files(path.path);
        assert.ok(!standing.some((file) => file.includes('.ftg-')), 'nothing is left over');
        assert.equal(standing.length, onConflict === 'rename' ? written : names.length, onConflict);
        for (const [number, name] of names.entries()) {
          const content = await servers[target].disk.read(`${path.path}/${name}`);
          assert.ok(content.equals(Buffer.alloc(SIZE / 2, number)), name);
        }
      }
    }
  });

  test('two moves of one tree at once: each file is moved by one of them, and none is lost', async () => {
    const { disk } = servers.sftp;
    const names = Array.from({ length: 40 }, (_, number) => `${number % 4}/${number}`);
    for (const [number, name] of names.entries()) await disk.write(`/raced/${name}`, Buffer.alloc(SIZE / 2, number));
    const two = await Promise.all(
      [1, 2].map(() => begin(gateway.api, { ...order('sftp', 'ftp', '/raced'), type: 'move' })),
    );
    const jobs = await Promise.all(two.map(({ id }) => ended(gateway.api, id)));
    for (const [number, name] of names.entries()) {
      assert.ok((await servers.ftp.disk.read(`/raced-to/${name}`)).equals(Buffer.alloc(SIZE / 2, number)), name);
    }
    assert.deepEqual(await disk.files('/raced').catch(() => []), [], JSON.stringify(jobs));
    for (const job of jobs) {
      const { found, done, failed } = job.counts;
      assert.equal(done + failed, found, JSON.stringify(job));
    }
  });
});
