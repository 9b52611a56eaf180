import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createReadStream, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { describe, test, type TestContext } from 'node:test';
import type { SftpConnection } from '../../../src/connections/connection.js';
import type { RemotePath } from '../../../src/remotes/path.js';
import { startSandbox } from '../../../src/sandbox/server.js';
import { onSession, openRemote, path, patterned, put, sftpConnection, testDeps } from '../support/harness.js';
import { startSshd } from '../../servers/sshd.js';

const MIB = 1 << 20;

async function openSsh(
  t: TestContext,
): Promise<{ connection: SftpConnection; at: (name: string) => RemotePath; disk: (name: string) => string }> {
  const server = await startSshd();
  t.after(() => server.stop());
  return {
    connection: sftpConnection(server),
    at: (name) => path(`${server.files}/${name}`),
    disk: (name) => join(server.files, name),
  };
}

async function digestOf(source: AsyncIterable<unknown>): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of source) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

/** Peak growth of the process while `work` runs. */
async function growth(work: () => Promise<void>): Promise<number> {
  const before = process.memoryUsage.rss();
  let peak = before;
  const timer = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 5);
  await work();
  clearInterval(timer);
  return Math.max(peak, process.memoryUsage.rss()) - before;
}

describe('large files', () => {
  test('300 MiB up and down arrive unchanged, in little memory', async (t) => {
    const { connection, at, disk } = await openSsh(t);
    const { remote, close } = await openRemote(connection);
    const size = 300 * MIB;
    const { body, digest } = patterned(size);
    const up = await growth(async () => void (await put(remote, at('big'), body, size)));
    const sent = digest();
    assert.equal(await digestOf(createReadStream(disk('big'))), sent);
    let received = '';
    const down = await growth(async () => {
      const file = await remote.read(at('big'));
      received = await digestOf(file.body);
    });
    assert.equal(received, sent);
    // Far above what a transfer holds (under 4 MiB), far below what holding the file would take: garbage is collected late.
    assert.ok(up < 150 * MIB, `upload: ${up / MIB} MiB`);
    assert.ok(down < 150 * MIB, `download: ${down / MIB} MiB`);
    close();
  });

  test('a slow consumer holds a download back, within the budget', async (t) => {
    const { connection, at } = await openSsh(t);
    const { remote, close } = await openRemote(connection);
    await put(remote, at('f'), patterned(30 * MIB).body, 30 * MIB);
    const { body } = await remote.read(at('f'));
    // One chunk a turn: whatever the server could send meanwhile has to wait there.
    let most = 0;
    for await (const _chunk of body) {
      await new Promise((next) => setTimeout(next, 2));
      most = Math.max(most, body.readableLength);
    }
    assert.ok(most <= 3.75 * MIB, `${most / MIB} MiB`);
    close();
  });

  test('consumers of every rhythm get all of it', async (t) => {
    const { connection, at } = await openSsh(t);
    const { remote, close } = await openRemote(connection);
    const size = 3 * MIB + 1;
    const { body, digest } = patterned(size);
    await put(remote, at('f'), body, size);
    const whole = digest();
    for (const bytes of [1, 16 << 10, 256 << 10, 512 << 10, 600 << 10, 2 * MIB]) {
      const hash = createHash('sha256');
      // What a chunk holds, what waits before it, and when it is taken all decide when the next read is asked for.
      const sink = new Writable({
        highWaterMark: bytes,
        write(chunk: Buffer, _encoding, taken) {
          hash.update(chunk);
          if (chunk.length % 3 === 0) taken();
          else setImmediate(taken);
        },
      });
      await pipeline((await remote.read(at('f'))).body, sink);
      assert.equal(hash.digest('hex'), whole, `${bytes}`);
    }
    close();
  });

  test('many transfers at once on the channels of one connection', async (t) => {
    const { connection, at, disk } = await openSsh(t);
    const deps = testDeps();
    const first = await openRemote(connection, deps);
    const all = [first];
    for (let index = 1; index < 6; index += 1) all.push(await onSession(first.session, connection, deps));
    const size = 8 * MIB + 11;
    await Promise.all(
      all.map(async ({ remote }, index) => {
        const { body, digest } = patterned(size);
        await put(remote, at(`${index}`), body, size);
        assert.equal(await digestOf((await remote.read(at(`${index}`))).body), digest());
        assert.equal(statSync(disk(`${index}`)).size, size);
      }),
    );
    first.close();
  });

  test('a copy from one server to another, through both streams at once', async (t) => {
    const { connection, at, disk } = await openSsh(t);
    const home = mkdtempSync(join(tmpdir(), 'ftg-sandbox-'));
    const login = { username: 'u', password: 'p' };
    const sandbox = await startSandbox({
      folder: join(home, 'f'),
      host: '127.0.0.1',
      port: 0,
      ...login,
      hostKeyFile: join(home, 'k'),
    });
    t.after(async () => {
      await sandbox.close();
      rmSync(home, { recursive: true });
    });
    const from = await openRemote(connection);
    const to = await openRemote(sftpConnection({ port: sandbox.port, username: 'u' }, { password: 'p' }));
    const size = 20 * MIB + 7;
    const { body, digest } = patterned(size);
    await put(from.remote, at('source'), body, size);
    const source = await from.remote.read(at('source'));
    const writer = await to.remote.write(path('/target'), { size });
    await pipeline(source.body, writer);
    await writer.commit({ size });
    assert.equal(await digestOf(createReadStream(join(home, 'f/target'))), digest());
    assert.equal(statSync(disk('source')).size, size);
    from.close();
    to.close();
  });
});
