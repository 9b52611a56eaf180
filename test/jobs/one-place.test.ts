/** Two connections that lead to one place by different names: nothing is copied onto itself, and nothing is removed. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { behindProxy, PROTOCOLS, type ProtocolName, type Remote, startServers } from '../faults/rig.js';
import { openAccount, type TestAccount } from '../support/account.js';
import { filesOf, history, run } from './support.js';

const RULES: Readonly<Record<string, readonly string[]>> = {
  'sftp-again': ['replace', 'rename', 'skip', 'newer', 'fail'],
};

describe('one place under two names', () => {
  let servers: Awaited<ReturnType<typeof startServers>>;
  let gateway: TestAccount;
  const proxies: Remote[] = [];
  const names = ['a.txt', 'deep/b.txt', 'deep/er/c.txt'];
  let folders = 0;

  before(async () => {
    servers = await startServers();
    for (const id of PROTOCOLS) proxies.push(await behindProxy(servers[id], `${id}-again`));
    gateway = await openAccount({
      connections: PROTOCOLS.flatMap((id, index) => [
        { id, name: id, ...servers[id].connection },
        proxies[index]!.connection,
        ...(id === 's3'
          ? []
          : [{ ...proxies[index]!.connection, id: `${id}-in-place`, name: `${id} in place`, atomicUploads: false }]),
      ]),
    });
  });
  after(async () => {
    await gateway?.stop();
    await Promise.all(proxies.map(({ proxy }) => proxy.stop()));
    await Promise.all(Object.values(servers ?? {}).map((server) => server.stop()));
  });

  async function lay(protocol: ProtocolName, root = `/one-${++folders}`): Promise<string> {
    for (const name of names) await servers[protocol].disk.write(`${root}/${name}`, `${protocol} ${name}`);
    return root;
  }

  async function isWhole(protocol: ProtocolName, root: string, shown: string): Promise<void> {
    const { disk } = servers[protocol];
    const standing = (await disk.files(root)).filter((file) => !file.endsWith('/'));
    assert.deepEqual(standing, names.map((name) => `${root}/${name}`).sort(), shown);
    for (const name of names) {
      assert.equal((await disk.read(`${root}/${name}`)).toString(), `${protocol} ${name}`, shown);
    }
  }

  const ways = PROTOCOLS.flatMap((protocol) => [
    { protocol, other: `${protocol}-again` },
    ...(protocol === 's3' ? [] : [{ protocol, other: `${protocol}-in-place` }]),
  ]);
  for (const { protocol, other } of ways) {
    for (const type of ['move', 'copy'] as const) {
      for (const onConflict of RULES[other] ?? (['replace'] as const)) {
        test(`a job that would ${type} a tree of ${protocol} onto itself by way of ${other} (${onConflict})`, async () => {
          const root = await lay(protocol);
          const job = await run(gateway.api, {
            ...{ type, onConflict },
            source: { connectionId: protocol, path: root },
            destination: { connectionId: other, path: root },
          });
          const shown = JSON.stringify([job, await filesOf(gateway.api, job.id)]);
          await isWhole(protocol, root, shown);
          assert.equal(job.state, 'failed', shown);
          assert.match(job.error ?? '', /same folder/, shown);
          assert.deepEqual([job.counts.done, job.counts.deleted], [0, 0], shown);
        });
      }
    }

    test(`a sync of a tree of ${protocol} onto itself by way of ${other} changes nothing`, async () => {
      const root = await lay(protocol);
      const job = await run(gateway.api, {
        ...{ type: 'sync', compare: 'digest', deleteExtra: true },
        source: { connectionId: protocol, path: root },
        destination: { connectionId: other, path: root },
      });
      const shown = JSON.stringify([job, await filesOf(gateway.api, job.id)]);
      await isWhole(protocol, root, shown);
      assert.deepEqual([job.counts.done, job.counts.deleted], [0, 0], shown);
    });

    test(`a mirror of ${protocol} that would delete its own source by way of ${other}`, async () => {
      const root = await lay(protocol);
      await servers[protocol].disk.write(`${root}/extra/x.txt`, 'x');
      const job = await run(gateway.api, {
        ...{ type: 'sync', deleteExtra: true },
        source: { connectionId: protocol, path: `${root}/deep` },
        destination: { connectionId: other, path: root },
      });
      const shown = JSON.stringify([job, await filesOf(gateway.api, job.id)]);
      for (const name of [...names, 'extra/x.txt']) await servers[protocol].disk.read(`${root}/${name}`);
      assert.equal(job.counts.deleted, 0, shown);
      assert.match(job.error ?? '', /onto itself/, shown);
    });

    test(`one file of ${protocol} onto itself by way of ${other}: copied, or moved by a job`, async () => {
      const root = await lay(protocol);
      const path = `${root}/deep/b.txt`;
      const answer = await gateway.api.post('/api/copy', {
        ...{ source_connection_id: protocol, source_path: path, dest_connection_id: other },
      });
      assert.equal(answer.status, 409, answer.text);
      assert.match(answer.text, /onto itself/);
      const job = await run(gateway.api, {
        type: 'move',
        source: { connectionId: protocol, path },
        destination: { connectionId: other, path },
      });
      assert.deepEqual([job.state, job.counts.done], ['failed', 0], JSON.stringify(job));
      await isWhole(protocol, root, JSON.stringify(job));
      const failed = (await history(gateway.api, { status: 'failed' })).filter((item) => item.path === path);
      assert.ok(failed.length > 0);
    });

    test(`one file of ${protocol} beside itself by way of ${other}`, async () => {
      const root = await lay(protocol);
      const answer = await gateway.api.post('/api/copy', {
        ...{ source_connection_id: protocol, source_path: `${root}/a.txt`, dest_connection_id: other },
        dest_path: `${root}/b.txt`,
      });
      assert.equal(answer.status, 200, answer.text);
      const job = await run(gateway.api, {
        type: 'move',
        source: { connectionId: protocol, path: `${root}/b.txt` },
        destination: { connectionId: other, path: `${root}/c.txt` },
      });
      assert.equal(job.state, 'succeeded', JSON.stringify(job));
      assert.equal((await servers[protocol].disk.read(`${root}/c.txt`)).toString(), `${protocol} a.txt`);
    });
  }

  test('a folder of the destination is a link into the source', async () => {
    const { disk } = servers.sftp;
    const root = await lay('sftp');
    await disk.write(`${root}-to/own.txt`, 'own');
    const link = disk.link?.bind(disk) ?? assert.fail();
    await link(`../one-${folders}/deep`, `${root}-to/deep`);
    const job = await run(gateway.api, {
      type: 'move',
      source: { connectionId: 'sftp', path: root },
      destination: { connectionId: 'sftp-again', path: `${root}-to` },
    });
    const shown = JSON.stringify([job, await filesOf(gateway.api, job.id)]);
    for (const name of ['deep/b.txt', 'deep/er/c.txt']) {
      assert.equal((await disk.read(`${root}/${name}`)).toString(), `sftp ${name}`, shown);
    }
    assert.notEqual(job.state, 'succeeded', shown);
  });

  test('trees that only look alike are two', async () => {
    const [from, to] = [await lay('sftp'), await lay('sftp')];
    const job = await run(gateway.api, {
      type: 'move',
      source: { connectionId: 'sftp', path: from },
      destination: { connectionId: 'sftp-again', path: to },
    });
    assert.deepEqual([job.state, job.counts.done], ['succeeded', names.length], JSON.stringify(job));
    assert.deepEqual(await servers.sftp.disk.files(from), []);
    await isWhole('sftp', to, JSON.stringify(job));
  });
});
