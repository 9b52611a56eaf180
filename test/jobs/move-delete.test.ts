/** Whole folders moved and deleted, on every protocol; what a link leads to stays. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { PROTOCOLS, startServers } from '../faults/rig.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { filesOf, history, run } from './support.js';

describe('jobs that move and delete', () => {
  let servers: Awaited<ReturnType<typeof startServers>>;
  let gateway: TestGateway;

  before(async () => {
    servers = await startServers();
    gateway = await startGateway({
      connections: PROTOCOLS.map((id) => ({ id, name: id, ...servers[id].connection })),
    });
  });
  after(async () => {
    await gateway?.stop();
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

  test('links go, and what they lead to stays', async () => {
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
