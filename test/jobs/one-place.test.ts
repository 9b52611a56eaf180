/**
 * Two connections that lead to one place under different names: nothing is copied onto itself, and nothing is removed.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { FTG, Terminal } from '../cli/support.js';
import { behindProxy, PROTOCOLS, type ProtocolName, type Remote, startServers } from '../faults/rig.js';
import { openAccount, type TestAccount } from '../support/account.js';
import { KEY } from '../support/gateway.js';
import { ended, filesOf, history, run } from './support.js';

const RULES: Readonly<Record<string, readonly string[]>> = {
  'sftp-again': ['replace', 'rename', 'skip', 'newer', 'fail'],
};

describe('one place under two names', () => {
  let servers: Awaited<ReturnType<typeof startServers>>;
  let gateway: TestAccount;
  let terminal: Terminal;
  let agent: Client;
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
    const key = { FTG_URL: gateway.url, FTG_KEY: gateway.keyOf(KEY) };
    terminal = new Terminal(key);
    agent = new Client({ name: 'test', version: '1' });
    const env = { PATH: process.env['PATH'] ?? '', HOME: terminal.home, ...key };
    await agent.connect(new StdioClientTransport({ command: process.execPath, args: [FTG, 'mcp'], env }));
  });
  after(async () => {
    await agent?.close();
    terminal?.close();
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

  /** What a tool answers an agent. */
  async function tool(name: string, input: Record<string, unknown>): Promise<{ text: string; isError: boolean }> {
    const result = await agent.callTool({ name, arguments: input });
    const [content] = result.content as readonly { readonly text: string }[];
    return { text: content?.text ?? '', isError: result.isError === true };
  }

  const ways = PROTOCOLS.flatMap((protocol) => [
    { protocol, other: `${protocol}-again` },
    ...(protocol === 's3' ? [] : [{ protocol, other: `${protocol}-in-place` }]),
  ]);
  for (const { protocol, other } of ways) {
    for (const type of ['move', 'copy'] as const) {
      for (const onConflict of RULES[other] ?? (['replace'] as const)) {
        test(`a job that would ${type} a tree of ${protocol} onto itself through ${other} (${onConflict})`, async () => {
          const root = await lay(protocol);
          const job = await run(gateway.api, {
            type,
            onConflict,
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

    test(`a sync of a tree of ${protocol} onto itself through ${other} changes nothing`, async () => {
      const root = await lay(protocol);
      const job = await run(gateway.api, {
        type: 'sync',
        compare: 'digest',
        deleteExtra: true,
        source: { connectionId: protocol, path: root },
        destination: { connectionId: other, path: root },
      });
      const shown = JSON.stringify([job, await filesOf(gateway.api, job.id)]);
      await isWhole(protocol, root, shown);
      assert.deepEqual([job.counts.done, job.counts.deleted], [0, 0], shown);
    });

    test(`a mirror of ${protocol} that would delete its own source through ${other}`, async () => {
      const root = await lay(protocol);
      await servers[protocol].disk.write(`${root}/extra/x.txt`, 'x');
      const job = await run(gateway.api, {
        type: 'sync',
        deleteExtra: true,
        source: { connectionId: protocol, path: `${root}/deep` },
        destination: { connectionId: other, path: root },
      });
      const shown = JSON.stringify([job, await filesOf(gateway.api, job.id)]);
      for (const name of [...names, 'extra/x.txt']) await servers[protocol].disk.read(`${root}/${name}`);
      assert.equal(job.counts.deleted, 0, shown);
      assert.match(job.error ?? '', /onto itself/, shown);
    });

    test(`one file of ${protocol} onto itself through ${other}: copied, or moved by a job`, async () => {
      const root = await lay(protocol);
      const path = `${root}/deep/b.txt`;
      const answer = await gateway.api.post('/api/copy', {
        source_connection_id: protocol,
        source_path: path,
        dest_connection_id: other,
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

    if (other.endsWith('-again')) {
      test(`the command line and agents: ${protocol} onto itself through ${other}`, async () => {
        const root = await lay(protocol);
        const [from, to] = [`${protocol}:${root}`, `${other}:${root}`];
        const commands = [
          ['cp', `${from}/a.txt`, `${to}/`],
          ['mv', '--overwrite', `${from}/a.txt`, `${to}/a.txt`],
          ['mv', '-r', '--overwrite', from, to],
        ];
        for (const words of commands) {
          const { code, stdout, stderr } = await terminal.run(words);
          const shown = `ftg ${words.join(' ')}: ${code} ${stdout}${stderr}`;
          assert.notEqual(code, 0, shown);
          assert.match(stdout + stderr, /onto itself|same folder/, shown);
          await isWhole(protocol, root, shown);
        }
        const path = `${root}/deep/b.txt`;
        const ends = { fromConnection: protocol, fromPath: path, toConnection: other, overwrite: true };
        const copied = await tool('copy_file', ends);
        assert.ok(copied.isError, copied.text);
        assert.match(copied.text, /onto itself/);
        const order = { source: { connection: protocol, path: root }, destination: { connection: other, path: root } };
        const { text } = await tool('create_job', { type: 'move', ...order });
        const { job } = JSON.parse(text) as { readonly job: { readonly id: string } };
        const end = await ended(gateway.api, job.id);
        assert.deepEqual([end.state, end.counts.done, end.counts.deleted], ['failed', 0, 0], text);
        await isWhole(protocol, root, 'agents');
      });
    }

    test(`one file of ${protocol} beside itself through ${other}`, async () => {
      const root = await lay(protocol);
      const answer = await gateway.api.post('/api/copy', {
        source_connection_id: protocol,
        source_path: `${root}/a.txt`,
        dest_connection_id: other,
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

  for (const protocol of ['sftp', 'ftp'] as const) {
    test(`${protocol}: one connection, and a folder that is a link to the source`, async () => {
      const { disk } = servers[protocol];
      const root = await lay(protocol);
      const link = disk.link?.bind(disk) ?? assert.fail();
      await link(`one-${folders}`, `${root}-link`);
      const [from, to] = [`${root}/a.txt`, `${root}-link/a.txt`];
      const copied = await gateway.api.post('/api/copy', {
        source_connection_id: protocol,
        source_path: from,
        dest_connection_id: protocol,
        dest_path: to,
      });
      assert.deepEqual([copied.status, copied.headers['x-error-code']], [409, 'already_exists'], copied.text);
      assert.match(copied.text, /onto itself/);
      await isWhole(protocol, root, copied.text);
      // A server renames a file onto itself without a change, or refuses: the file is there in either case.
      const moved = await gateway.api.post(`/api/move/${protocol}`, { from, to, overwrite: true });
      await isWhole(protocol, root, moved.text);
      const command = await terminal.run(['mv', '--overwrite', `${protocol}:${from}`, `${protocol}:${to}`]);
      await isWhole(protocol, root, command.stderr);
      const byAgent = await tool('move_file', { connection: protocol, from, to, overwrite: true });
      await isWhole(protocol, root, byAgent.text);
      const agentsCopy = await tool('copy_file', {
        fromConnection: protocol,
        fromPath: from,
        toConnection: protocol,
        toPath: to,
        overwrite: true,
      });
      assert.ok(agentsCopy.isError, agentsCopy.text);
      for (const type of ['move', 'copy', 'sync'] as const) {
        const job = await run(gateway.api, {
          type,
          source: { connectionId: protocol, path: root },
          destination: { connectionId: protocol, path: `${root}-link` },
        });
        const shown = JSON.stringify([job, await filesOf(gateway.api, job.id)]);
        await isWhole(protocol, root, shown);
        assert.equal(job.counts.deleted, 0, shown);
        if (type !== 'move') assert.equal(job.counts.done, 0, shown);
      }
    });
  }

  test('trees that only look equal are two', async () => {
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
