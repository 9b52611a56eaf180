/** Whole folders moved and deleted, on every protocol; targets of links are kept. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { behindProxy, PROTOCOLS, type Remote, startServers } from '../faults/rig.js';
import { eventually } from '../support/eventually.js';
import { openAccount, type TestAccount } from '../support/account.js';
import { Tus } from '../uploads/support.js';
import { begin, ended, filesOf, history, look, run } from './support.js';

const [EMAIL, PASSWORD] = ['owner@example.com', 'password of the owner'];

describe('jobs that move and delete', () => {
  let servers: Awaited<ReturnType<typeof startServers>>;
  let held: Remote;
  let gateway: TestAccount;

  before(async () => {
    servers = await startServers();
    held = await behindProxy(servers.sftp, 'held');
    gateway = await openAccount({
      email: EMAIL,
      password: PASSWORD,
      connections: [...PROTOCOLS.map((id) => ({ id, name: id, ...servers[id].connection })), held.connection],
    });
  });
  after(async () => {
    await gateway?.stop();
    await held?.proxy.stop();
    await Promise.all(Object.values(servers ?? {}).map((server) => server.stop()));
  });

  const names = ['a.txt', 'deep/b.txt', 'deep/er/c.txt', 'deep/er/d e.txt'];

  async function lay(protocol: (typeof PROTOCOLS)[number], root: string): Promise<void> {
    for (const name of names) await servers[protocol].disk.write(`${root}/${name}`, `${protocol} ${name}`);
  }

  async function folderIsThere(protocol: string, path: string): Promise<boolean> {
    const answer = await gateway.api.get(`/api/exists/${protocol}`, { query: { path } });
    assert.equal(answer.status, 200, answer.text);
    return answer.json['exists'] === true;
  }

  for (const protocol of PROTOCOLS) {
    for (const target of PROTOCOLS) {
      test(`a tree moved from ${protocol} to ${target}`, async () => {
        const [from, to] = [`/move-${target}`, `/moved-from-${protocol}`];
        await lay(protocol, from);
        const job = await run(gateway.api, {
          type: 'move',
          source: { connectionId: protocol, path: from },
          destination: { connectionId: target, path: to },
        });
        assert.equal(job.state, 'succeeded', JSON.stringify([job, await filesOf(gateway.api, job.id)]));
        assert.deepEqual([job.counts.found, job.counts.done], [names.length, names.length]);
        for (const name of names) {
          assert.equal((await servers[target].disk.read(`${to}/${name}`)).toString(), `${protocol} ${name}`);
        }
        assert.deepEqual(await servers[protocol].disk.files(from).catch(() => []), []);
        assert.equal(await folderIsThere(protocol, `${from}/deep`), false);
        const items = (await history(gateway.api, { type: 'move' })).filter(({ path }) => path.startsWith(`${to}/`));
        assert.equal(items.filter(({ connectionId }) => connectionId === target).length, names.length);
      });
    }

    test(`a tree deleted on ${protocol}, with globs and without`, async () => {
      await lay(protocol, '/gone');
      const source = { connectionId: protocol, path: '/gone' };
      const dry = await run(gateway.api, { type: 'delete', source, dryRun: true });
      assert.deepEqual([dry.counts.found, dry.counts.deleted], [names.length, names.length]);
      const some = await run(gateway.api, { type: 'delete', source, include: ['c.txt'] });
      assert.deepEqual([some.counts.found, some.counts.deleted, some.state], [1, 1, 'succeeded']);
      assert.equal((await servers[protocol].disk.files('/gone')).filter((file) => file.endsWith('.txt')).length, 3);
      const all = await run(gateway.api, { type: 'delete', source });
      assert.deepEqual([all.counts.found, all.counts.deleted, all.state], [3, 3, 'succeeded'], JSON.stringify(all));
      assert.equal(await folderIsThere(protocol, '/gone'), false);
      const items = await history(gateway.api, { type: 'delete', connection_id: protocol });
      assert.equal(items.filter(({ path }) => path.startsWith('/gone/')).length, names.length);
      const whole = await gateway.api.post('/api/jobs', {
        type: 'delete',
        source: { connectionId: protocol, path: '/' },
      });
      assert.equal(whole.status, 400);
    });
  }

  test('a move whose source does not answer can be cancelled', async () => {
    const path = '/silent/one.txt';
    await servers.sftp.disk.write(path, 'one');
    await servers.s3.disk.write(path, 'in the way');
    const [source, destination] = ['held', 's3'].map((connectionId) => ({ connectionId, path }));
    const job = await run(gateway.api, { type: 'move', source, destination, onConflict: 'fail' });
    assert.equal(job.state, 'failed', JSON.stringify(job));
    await gateway.api.post('/api/delete/s3', { path });
    const owner = await gateway.login(EMAIL, PASSWORD);
    const running = async (): Promise<string | undefined> => {
      const { json } = await owner.get('/manage/transfers/live');
      return (json['transfers'] as { id: string; type: string }[]).find(({ type }) => type === 'move')?.id;
    };
    const asked = held.proxy.hold(1);
    try {
      assert.equal((await gateway.api.post(`/api/jobs/${job.id}/retry`, {})).status, 202);
      await asked;
      await eventually(async () => (await running()) !== undefined, 'the move waits');
      const id = (await running()) ?? assert.fail();
      assert.equal((await owner.post(`/manage/transfers/${id}/cancel`)).status, 202);
      await eventually(async () => (await running()) === undefined, 'the move has ended');
      assert.equal((await owner.get(`/manage/transfers/${id}`)).json['errorCode'], 'cancelled');
    } finally {
      held.proxy.release();
    }
    assert.equal((await servers.sftp.disk.read(path)).toString(), 'one');
  });

  for (const protocol of PROTOCOLS) {
    const target = protocol === 's3' ? 'sftp' : 's3';
    const move = (path: string, more: object = {}): object => ({
      type: 'move',
      source: { connectionId: protocol, path },
      destination: { connectionId: target, path: `${path}-from-${protocol}` },
      ...more,
    });
    const makeFolder = async (path: string): Promise<void> => {
      const answer = await gateway.api.post(`/api/mkdir/${protocol}`, { path });
      assert.ok(answer.status < 300, answer.text);
    };

    test(`a moved tree includes its folders, also its own, on ${protocol}`, async () => {
      await lay(protocol, '/in/box');
      await makeFolder('/in/box/void');
      await servers[protocol].disk.write('/in/beside.txt', 'stays');
      const job = await run(gateway.api, move('/in/box'));
      assert.equal(job.state, 'succeeded', JSON.stringify(job));
      assert.equal(await folderIsThere(protocol, '/in/box'), false);
      assert.equal(await folderIsThere(protocol, '/in'), true);
      const again = await run(gateway.api, move('/in/box'));
      assert.equal(again.state, 'failed', 'there is nothing left to move');
    });

    test(`within ${protocol}, and a single file`, async () => {
      await lay(protocol, '/own/box');
      const destination = { connectionId: protocol, path: '/own/boxed' };
      assert.equal((await run(gateway.api, move('/own/box', { destination }))).state, 'succeeded');
      assert.equal(await folderIsThere(protocol, '/own/box'), false);
      await servers[protocol].disk.write('/single/one.txt', 'x');
      await servers[protocol].disk.write('/single/other.txt', 'x');
      assert.equal((await run(gateway.api, move('/single/one.txt'))).state, 'succeeded');
      const left = await servers[protocol].disk.files('/single');
      assert.deepEqual([left.includes('/single/one.txt'), left.includes('/single/other.txt')], [false, true]);
    });

    test(`folders with failed or left out entries are kept; retry moves them, on ${protocol}`, async () => {
      const { disk } = servers[protocol];
      for (const name of ['goes/a.csv', 'mixed/b.csv', 'mixed/b.tmp']) await disk.write(`/some/${name}`, name);
      await makeFolder('/some/void');
      const filtered = await run(gateway.api, move('/some', { include: ['*.csv'] }));
      assert.deepEqual([filtered.state, filtered.counts.done], ['succeeded', 2], JSON.stringify(filtered));
      const there = await Promise.all(
        ['/some', '/some/goes', '/some/mixed', '/some/void'].map((path) => folderIsThere(protocol, path)),
      );
      // A folder that was empty before is not part of what was moved; if the files were filtered, their folder is kept.
      assert.deepEqual(there, [true, false, true, true]);

      for (const name of ['a.txt', 'deep/b.txt']) await disk.write(`/held/${name}`, name);
      await servers[target].disk.write(`/held-from-${protocol}/deep/b.txt`, 'in the way');
      const job = await run(gateway.api, move('/held', { onConflict: 'fail' }));
      assert.deepEqual([job.state, job.counts.done, job.counts.failed], ['partly_failed', 1, 1], JSON.stringify(job));
      assert.deepEqual(await disk.files('/held'), ['/held/deep/b.txt']);
      await gateway.api.post(`/api/delete/${target}`, { path: `/held-from-${protocol}/deep/b.txt` });
      const answer = await gateway.api.post(`/api/jobs/${job.id}/retry`, {});
      const again = await ended(gateway.api, (answer.json['job'] as { id: string }).id);
      assert.deepEqual([again.state, again.counts.done], ['succeeded', 1], JSON.stringify(again));
      assert.equal(await folderIsThere(protocol, '/held'), false);
    });

    test(`an upload in pieces goes on while jobs copy, mirror and move its folder, on ${protocol}`, async () => {
      const { disk } = servers[protocol];
      const [root, other] = ['/pieces', `/pieces-from-${protocol}`];
      await disk.write(`${root}/a.txt`, 'a');
      const tus = new Tus(gateway.api, protocol);
      const url = await tus.begin({ filename: 'up.bin', path: root }, 10);
      assert.equal((await tus.patch(url, 0, Buffer.from('01234'))).status, 204);
      const [here, there] = [
        { connectionId: protocol, path: root },
        { connectionId: target, path: other },
      ];
      const copied = await run(gateway.api, { type: 'copy', source: here, destination: there });
      assert.deepEqual([copied.state, copied.counts.found], ['succeeded', 1], JSON.stringify(copied));
      assert.deepEqual(await servers[target].disk.files(other), [`${other}/a.txt`]);
      const mirror = { type: 'sync', source: there, destination: here, deleteExtra: true };
      const synced = await run(gateway.api, mirror);
      assert.deepEqual([synced.state, synced.counts.deleted], ['succeeded', 0], JSON.stringify(synced));
      const moved = await run(gateway.api, { type: 'move', source: here, destination: there, include: ['*'] });
      assert.deepEqual([moved.state, moved.counts.found], ['succeeded', 1], JSON.stringify(moved));
      assert.equal((await tus.patch(url, 5, Buffer.from('56789'))).status, 204);
      assert.equal((await disk.read(`${root}/up.bin`)).toString(), '0123456789');
    });

    for (const type of ['move', 'delete', 'sync'] as const) {
      test(`a hidden file of a dead node delays the removal of its folder: ${type}, on ${protocol}`, async () => {
        const { disk } = servers[protocol];
        const [root, other] = [`/left-${type}`, `/left-${type}-on-${protocol}`];
        const temporary = `${root}/deep/er/.ftg-0badc0de-0123456789abcdef.same`;
        for (const name of ['deep/er/a.txt', 'deep/b.txt']) await disk.write(`${root}/${name}`, name);
        await disk.write(temporary, '');
        // What only the destination has is removed from there.
        if (type === 'sync') await servers[target].disk.write(`${other}/c.txt`, 'c');
        const [here, there] = [
          { connectionId: protocol, path: root },
          { connectionId: target, path: other },
        ];
        const { id } = await begin(
          gateway.api,
          {
            move: { type, source: here, destination: there },
            delete: { type, source: here },
            sync: { type, source: there, destination: here, deleteExtra: true },
          }[type],
        );
        await eventually(async () => {
          const { done, deleted } = (await look(gateway.api, id)).counts;
          return type === 'move' ? done === 2 : deleted === 2;
        }, 'only folders are left');
        for (let looks = 0; looks < 20; looks++) assert.equal((await look(gateway.api, id)).state, 'running');
        await gateway.api.post(`/api/delete/${protocol}`, { path: temporary });
        const job = await ended(gateway.api, id);
        assert.equal(job.state, 'succeeded', JSON.stringify([job, await filesOf(gateway.api, job.id, 'failed')]));
        assert.equal(await folderIsThere(protocol, `${root}/deep`), false);
      });
    }

    test(`a schedule that empties a folder keeps it for its next run, on ${protocol}`, async () => {
      await lay(protocol, '/inbox');
      await makeFolder('/inbox/void');
      const made = await gateway.api.post('/api/schedules', { name: 'x', cron: '@yearly', job: move('/inbox') });
      assert.equal(made.status, 201, made.text);
      const { id } = made.json['schedule'] as { id: string };
      for (let count = 0; count < 2; count++) {
        const { json } = await gateway.api.post(`/api/schedules/${id}/run`, {});
        const job = await ended(gateway.api, (json['job'] as { id: string }).id);
        // A store has a folder while something is in it.
        if (protocol !== 's3' || count === 0) assert.equal(job.state, 'succeeded', JSON.stringify(job));
        assert.equal(await folderIsThere(protocol, '/inbox/deep'), false);
        if (protocol !== 's3') assert.equal(await folderIsThere(protocol, '/inbox'), true);
      }
    });
  }

  test('a folder without permission to remove it is kept, and everything in it is moved', async () => {
    const { disk } = servers.ftp;
    const { chmod } = disk;
    assert.ok(chmod !== undefined);
    await disk.write('/locked/box/a.txt', 'x');
    await chmod('/locked', 0o555);
    try {
      const job = await run(gateway.api, {
        type: 'move',
        source: { connectionId: 'ftp', path: '/locked/box' },
        destination: { connectionId: 'sftp', path: '/unlocked' },
      });
      assert.deepEqual([job.state, job.counts.done], ['succeeded', 1], JSON.stringify(job));
    } finally {
      await chmod('/locked', 0o755);
    }
    assert.equal(await folderIsThere('ftp', '/locked/box'), true);
  });

  test('entries created meanwhile are kept', async () => {
    const { disk } = servers.sftp;
    for (let number = 0; number < 8; number++) await disk.write(`/grows/${number}.bin`, Buffer.alloc(50_000));
    const { id } = await begin(gateway.api, {
      type: 'move',
      bytesPerSecond: 200_000,
      source: { connectionId: 'sftp', path: '/grows' },
      destination: { connectionId: 'ftp', path: '/grown' },
    });
    await eventually(async () => (await look(gateway.api, id)).counts.done > 0, 'a file is moved');
    await disk.write('/grows/new.bin', 'new');
    const job = await ended(gateway.api, id);
    assert.deepEqual([job.state, job.counts.done], ['succeeded', 8], JSON.stringify(job));
    assert.deepEqual(await disk.files('/grows'), ['/grows/new.bin']);
  });

  test('links are removed, and their targets are kept', async () => {
    const { disk } = servers.sftp;
    await disk.write('/kept/inside.txt', 'stays');
    await disk.write('/links/file.txt', 'goes');
    await disk.link?.('../kept', '/links/to-kept');
    await disk.link?.('..', '/links/up');
    const job = await run(gateway.api, { type: 'delete', source: { connectionId: 'sftp', path: '/links' } });
    assert.deepEqual([job.state, job.counts.deleted], ['succeeded', 3], JSON.stringify(job));
    assert.equal(await folderIsThere('sftp', '/links'), false);
    assert.equal((await disk.read('/kept/inside.txt')).toString(), 'stays');
  });
});
