/** Large files over a long round trip, which the windows of one channel do not fill. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createReadStream, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { suite, test, type TestContext } from 'node:test';
import { startFarAway } from '../../../bench/lab/servers.js';
import { GatewayError } from '../../../src/base/errors.js';
import type { SftpConnection } from '../../../src/connections/connection.js';
import type { RemotePath } from '../../../src/remotes/path.js';
import { streamOf } from '../../../src/remotes/whole.js';
import { openRemote, path, patterned, put, sftpConnection } from '../support/harness.js';
import { startSshd, type TestSshd } from '../../servers/sshd.js';

const MIB = 1 << 20;
/** Long enough that even on a busy machine one channel is the bottleneck. */
const ROUND_TRIP_MS = 200;
const SIZE = 40 * MIB;

interface LongLine {
  readonly server: TestSshd;
  readonly near: SftpConnection;
  readonly far: SftpConnection;
  readonly at: (name: string) => RemotePath;
}

async function longLine(t: TestContext, extra: readonly string[] = []): Promise<LongLine> {
  const server = await startSshd(extra);
  t.after(() => server.stop());
  const near = sftpConnection(server);
  const { port, username, clientKeyFile: keyFile, files: folder } = server;
  const target = { protocol: 'sftp', host: '127.0.0.1', port, username, keyFile, folder } as const;
  const proxy = await startFarAway(target, ROUND_TRIP_MS);
  t.after(() => proxy.stop());
  return { server, near, far: { ...near, host: '127.0.0.2' }, at: (name) => path(`${folder}/${name}`) };
}

async function digestOf(file: AsyncIterable<unknown>): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of file) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

async function channelsOpened(server: TestSshd): Promise<number> {
  return (await server.log()).split("Starting session: subsystem 'sftp'").length - 1;
}

suite('a large upload on a long line', () => {
  test('goes through several channels of its session, and returns them', async (t) => {
    const { server, far, at } = await longLine(t);
    const { remote, session, close } = await openRemote(far);
    t.after(close);
    const free = session.capacity;
    const { body, digest } = patterned(SIZE);
    const info = await put(remote, at('striped'), body, SIZE);
    assert.equal(info.size, SIZE);
    assert.equal(await digestOf(createReadStream(join(server.files, 'striped'))), digest());
    assert.equal(await channelsOpened(server), 5);
    assert.equal(session.capacity, free);
    assert.deepEqual(readdirSync(server.files), ['striped']);
  });

  test('works with the channels that the server admits', async (t) => {
    for (const most of [1, 2]) {
      const { server, far, at } = await longLine(t, [`MaxSessions ${most}`]);
      const { remote, close } = await openRemote(far);
      t.after(close);
      const { body, digest } = patterned(SIZE);
      await put(remote, at('few'), body, SIZE);
      assert.equal(await digestOf(createReadStream(join(server.files, 'few'))), digest());
      assert.equal(await channelsOpened(server), most);
    }
  });

  test('cut in the middle leaves no file and no channel in use', async (t) => {
    const { server, far, at } = await longLine(t);
    const { remote, session, close } = await openRemote(far);
    t.after(close);
    const free = session.capacity;
    const source = patterned(SIZE).body;
    let passed = 0;
    const gone = new GatewayError('client_gone', 'the client left');
    const cut = Readable.from(
      (async function* () {
        for await (const chunk of source) {
          passed += (chunk as Buffer).length;
          // Late enough for the other channels to be in use.
          if (passed > 30 * MIB) throw gone;
          yield chunk as Buffer;
        }
      })(),
    );
    await assert.rejects(put(remote, at('cut'), cut, SIZE), gone);
    assert.equal(await channelsOpened(server), 5);
    assert.deepEqual(readdirSync(server.files), []);
    while (session.capacity < free) await delay(5);
  });

  test('stays on one channel on a short line', async (t) => {
    const { server, near, at } = await longLine(t);
    const { remote, close } = await openRemote(near);
    t.after(close);
    await put(remote, at('plain'), patterned(SIZE).body, SIZE);
    assert.equal(await channelsOpened(server), 1);
  });
});

suite('a large download on a long line', () => {
  test('requests further ahead, for as long as its consumer keeps up', async (t) => {
    const { near, far, at } = await longLine(t);
    const writer = await openRemote(near);
    t.after(writer.close);
    const { body, digest } = patterned(SIZE);
    await put(writer.remote, at('f'), body, SIZE);

    const reader = await openRemote(far);
    t.after(reader.close);
    const { memory } = reader.session;
    const file = await reader.remote.read(at('f'));
    let mostExtra = 0;
    const watched = (async function* () {
      for await (const chunk of streamOf(file)) {
        mostExtra = Math.max(mostExtra, memory.extraWindowBytes);
        yield chunk;
      }
    })();
    assert.equal(await digestOf(watched), digest());
    assert.ok(mostExtra > 3 * MIB, `${mostExtra / MIB} MiB`);
    assert.equal(memory.extraWindowBytes, 0);
  });

  test('holds no more than its budget once the consumer stops, and returns the rest when it is given up', async (t) => {
    const { near, far, at } = await longLine(t);
    const writer = await openRemote(near);
    t.after(writer.close);
    await put(writer.remote, at('f'), patterned(SIZE).body, SIZE);

    const reader = await openRemote(far);
    t.after(reader.close);
    const { memory } = reader.session;
    const body = streamOf(await reader.remote.read(at('f')));
    let taken = 0;
    for await (const chunk of body.iterator({ destroyOnReturn: false })) {
      taken += (chunk as Buffer).length;
      if (taken > SIZE / 2) break;
    }
    // Everything that was requested arrives within a few round trips.
    let held = -1;
    while (held < body.readableLength) {
      held = body.readableLength;
      await delay(5 * ROUND_TRIP_MS);
    }
    assert.ok(held <= 8.5 * MIB, `${held / MIB} MiB`);
    body.destroy();
    assert.equal(memory.extraWindowBytes, 0);
  });
});
