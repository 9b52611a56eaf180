/** Random trees and random changes: the result of a sync equals a model, file by file. */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { FTP_SERVERS, S3_SERVERS, SFTP_SERVERS, type TestServer } from '../servers/catalogue.js';
import { openAccount, type TestAccount } from '../support/account.js';
import { startTogether } from '../support/together.js';
import { filesOf, history, run } from './support.js';

const ROUNDS = Number(process.env['SYNC_ROUNDS'] ?? 4);
type Tree = Map<string, string>;

describe('jobs that sync', () => {
  const servers: Record<string, TestServer> = {};
  let gateway: TestAccount;

  before(async () => {
    const entries = { sftp: SFTP_SERVERS[1], ftp: FTP_SERVERS[0], s3: S3_SERVERS[0] };
    await startTogether(
      Object.entries(entries).map(async ([name, entry]) => (servers[name] = await (entry ?? assert.fail()).start())),
    );
    gateway = await openAccount({
      connections: Object.entries(servers).map(([id, { connection }]) => ({ id, name: id, ...connection })),
    });
  });
  after(async () => {
    await gateway?.stop();
    await Promise.all(Object.values(servers).map((server) => server.stop()));
  });

  const server = (name: string): TestServer => servers[name] ?? assert.fail(name);

  async function treeOf(name: string, root: string): Promise<Tree> {
    const { disk } = server(name);
    const tree: Tree = new Map();
    const files = await disk.files(root).catch(() => [] as string[]);
    for (const file of files) {
      if (!file.endsWith('/')) tree.set(file.slice(root.length + 1), (await disk.read(file)).toString());
    }
    return tree;
  }

  for (const [from, to] of [
    ['sftp', 'ftp'],
    ['ftp', 's3'],
    ['s3', 'sftp'],
  ] as const) {
    for (const deleteExtra of [false, true]) {
      test(`${from} to ${to}, ${deleteExtra ? 'deleting' : 'keeping'} extra files`, async () => {
        const root = `/sync-${from}-${to}-${deleteExtra}`;
        const sourceTree: Tree = new Map();
        let targetTree: Tree = new Map();
        for (let count = 0; count < 8; count++) await put(to, root, targetTree);
        for (let round = 0; round < ROUNDS; round++) {
          for (let changes = 0; changes < 15; changes++) {
            // This test has no way to delete on S3; there files are added and changed.
            await put(from, root, sourceTree);
          }
          for (let changes = 0; changes < 2; changes++) await put(to, root, targetTree);
          const expected = new Map([...(deleteExtra ? [] : targetTree), ...sourceTree]);
          const extra = [...targetTree.keys()].filter((name) => !sourceTree.has(name));
          const order = {
            type: 'sync',
            source: { connectionId: from, path: root },
            destination: { connectionId: to, path: root },
            deleteExtra,
            compare: 'size',
          };
          const changed = [...sourceTree].filter(([name, content]) => targetTree.get(name)?.length !== content.length);
          const planned = await run(gateway.api, { ...order, dryRun: true });
          assert.deepEqual(await treeOf(to, root), targetTree, 'a dry run touches nothing');
          const job = await run(gateway.api, order);
          assert.equal(job.state, 'succeeded', JSON.stringify(job));
          const { found, done, skipped, failed, deleted } = job.counts;
          assert.deepEqual(
            [found, done, skipped, failed, deleted],
            [sourceTree.size, changed.length, sourceTree.size - changed.length, 0, deleteExtra ? extra.length : 0],
          );
          assert.deepEqual(planned.counts, job.counts, 'a dry run reports what is done');
          assert.deepEqual(
            (await filesOf(gateway.api, planned.id)).map(({ state }) => state),
            Array(done + deleted).fill('planned'),
          );
          // With an equal size it was treated as unchanged.
          const same = [...sourceTree].filter(([name]) => !changed.some(([other]) => other === name));
          for (const [name] of same) expected.set(name, targetTree.get(name) ?? '');
          targetTree = await treeOf(to, root);
          assert.deepEqual([...targetTree].sort(), [...expected].sort());
          const again = await run(gateway.api, order);
          assert.deepEqual([again.counts.done, again.counts.deleted, again.counts.skipped], [0, 0, sourceTree.size]);
        }
        const items = await history(gateway.api, { connection_id: to });
        assert.ok(items.filter(({ path }) => path.startsWith(root)).every(({ status }) => status === 'success'));
      });
    }
  }

  test('size and time: unchanged files are left, newer ones are copied again', async () => {
    for (const [from, to] of [
      ['sftp', 'ftp'],
      ['sftp', 's3'],
      ['s3', 'sftp'],
      ['ftp', 'sftp'],
    ] as const) {
      const root = `/times-${from}-${to}`;
      for (let number = 0; number < 5; number++)
        await server(from).disk.write(`${root}/${number}`, `content ${number}`);
      const order = {
        type: 'sync',
        source: { connectionId: from, path: root },
        destination: { connectionId: to, path: root },
      };
      assert.equal((await run(gateway.api, order)).counts.done, 5);
      assert.equal((await run(gateway.api, order)).counts.skipped, 5);
      await server(from).disk.write(`${root}/3`, 'another one, and longer');
      const third = await run(gateway.api, order);
      assert.deepEqual([third.counts.done, third.counts.skipped], [1, 4]);
      assert.equal((await server(to).disk.read(`${root}/3`)).toString(), 'another one, and longer');
    }
  });

  test('a digest finds changes that size and time hide', async () => {
    await server('sftp').disk.write('/digest/a', 'one');
    await server('sftp').disk.write('/digest/b', 'two');
    await server('s3').disk.write('/digest/a', 'one');
    await server('s3').disk.write('/digest/b', 'owt');
    const job = await run(gateway.api, {
      type: 'sync',
      compare: 'digest',
      source: { connectionId: 'sftp', path: '/digest' },
      destination: { connectionId: 's3', path: '/digest' },
    });
    assert.deepEqual([job.counts.done, job.counts.skipped], [1, 1], JSON.stringify(job));
    assert.equal((await server('s3').disk.read('/digest/b')).toString(), 'two');
  });

  test('a folder that is empty in the source is kept in a store whose objects of it are deleted', async () => {
    const root = '/emptied';
    await server('sftp').disk.write(`${root}/file`, 'a file');
    const made = await gateway.api.post('/api/mkdir/sftp', { path: `${root}/folder` });
    assert.equal(made.status, 200, made.text);
    await server('s3').disk.write(`${root}/folder/extra`, 'an object');
    const places = { source: { connectionId: 'sftp', path: root }, destination: { connectionId: 's3', path: root } };
    const job = await run(gateway.api, { type: 'sync', deleteExtra: true, ...places });
    assert.deepEqual([job.state, job.counts.deleted], ['succeeded', 1], JSON.stringify(job));
    const listed = await gateway.api.get('/api/list/s3', { query: { path: root, recursive: 'true' } });
    const shown = (listed.json['files'] as { path: string }[]).map(({ path }) => path);
    assert.deepEqual(shown, [`${root}/file`, `${root}/folder`]);
  });

  test('an object and a folder of one name: neither is left out silently', async () => {
    const root = '/twice';
    await server('s3').disk.write(`${root}/one`, 'an object');
    await server('s3').disk.write(`${root}/one/below`, 'below its name');
    for (const type of ['sync', 'copy']) {
      const places = { source: { connectionId: 's3', path: root }, destination: { connectionId: 'sftp', path: root } };
      const job = await run(gateway.api, { type, ...places });
      const { found, done, skipped, failed } = job.counts;
      assert.deepEqual([job.state, found, done + skipped, failed], ['partly_failed', 2, 1, 1], JSON.stringify(job));
      const [file] = await filesOf(gateway.api, job.id, 'failed');
      assert.match(file?.path ?? '', /^one/);
    }
  });

  test('more deletions than allowed, or a failure before them: none', async () => {
    await server('sftp').disk.write('/most/kept', 'kept');
    for (let number = 0; number < 6; number++) await server('ftp').disk.write(`/most/extra-${number}`, 'x');
    const order = {
      type: 'sync',
      deleteExtra: true,
      source: { connectionId: 'sftp', path: '/most' },
      destination: { connectionId: 'ftp', path: '/most' },
    };
    const dry = await run(gateway.api, { ...order, maxDeletes: 5, dryRun: true });
    assert.match(dry.error ?? '', /maxDeletes/);
    const many = await run(gateway.api, { ...order, maxDeletes: 5 });
    assert.match(many.error ?? '', /maxDeletes/);
    assert.equal(many.counts.deleted, 0);
    assert.equal((await treeOf('ftp', '/most')).size, 7);
    await server('sftp').disk.write('/most/clash', 'a file');
    await server('ftp').disk.write('/most/clash/below', 'in a folder');
    const failed = await run(gateway.api, { ...order, maxDeletes: 100 });
    assert.equal(failed.state, 'partly_failed');
    assert.match(failed.error ?? '', /nothing was deleted/);
    assert.equal((await treeOf('ftp', '/most')).size, 8);
  });

  async function put(name: string, root: string, tree: Tree): Promise<void> {
    const folder = ['', 'a/', 'a/b/', 'a-b/', 'c/d/e/', 'ö/'][randomInt(6)] ?? '';
    const file = `${folder}f${randomInt(12)}`;
    const content = 'x'.repeat(randomInt(1, 400)) + name;
    await server(name).disk.write(`${root}/${file}`, content);
    tree.set(file, content);
  }
});
