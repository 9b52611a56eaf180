/** Large files over a long round trip, which the windows of one channel do not fill. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createReadStream, readdirSync } from 'node:fs';
import { rename, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { suite, test, type TestContext } from 'node:test';
import { startFarAway } from '../../../bench/lab/servers.js';
import { GatewayError } from '../../../src/base/errors.js';
import { type MoreSessions, Recall, type SpareLease } from '../../../src/remotes/more-sessions.js';
import type { SftpLease, SftpSession } from '../../../src/remotes/sftp/session/session.js';
import type { SftpConnection } from '../../../src/connections/connection.js';
import { type RemotePath, ROOT } from '../../../src/remotes/path.js';
import { streamOf } from '../../../src/remotes/whole.js';
import {
  LIMITS,
  type OpenRemote,
  openRemote,
  path,
  patterned,
  put,
  sftpConnection,
  sftpOf,
  testDeps,
} from '../support/harness.js';
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
    // The quickest answer counts: on a busy machine, one of the first few may take long.
    for (let asked = 0; asked < 20; asked++) await remote.stat(ROOT);
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

interface Spares extends MoreSessions<SftpLease> {
  /** Those taken so far, and what became of each. */
  readonly sessions: readonly SftpSession[];
  readonly fates: readonly ('keep' | 'discard')[];
  recall(): void;
}

/** A remote that uses `most` sessions besides its own at once: they were useful a moment ago. */
async function withSpares(
  t: TestContext,
  connection: SftpConnection,
  most: number,
  change: (lease: SftpLease) => void = () => undefined,
): Promise<OpenRemote & { readonly spares: Spares }> {
  const deps = testDeps();
  const sessions: SftpSession[] = [];
  const fates: ('keep' | 'discard')[] = [];
  const recalls: Recall[] = [];
  const never = new AbortController().signal;
  // Open already, like the idle sessions of a pool.
  const ready = await Promise.all(
    Array.from({ length: most }, async () => {
      const session = (await sftpOf(deps).openSession(connection, LIMITS, never)) as SftpSession;
      t.after(() => session.close());
      const item = await session.lease(never);
      await item.channel();
      change(item);
      return { session, item };
    }),
  );
  const spares: Spares = {
    most,
    sessions,
    fates,
    recall: () => recalls.forEach((recall) => recall.call()),
    take: async (): Promise<SpareLease<SftpLease> | undefined> => {
      const next = ready.shift();
      if (next === undefined) return undefined;
      const { session, item } = next;
      sessions.push(session);
      const recall = new Recall();
      recalls.push(recall);
      const release = (fate: 'keep' | 'discard'): void => {
        session.release(item, fate);
        fates.push(fate);
      };
      return { item, onRecall: (listener) => recall.listen(listener), release };
    },
  };
  const opened = await openRemote(connection, deps, LIMITS, spares);
  t.after(opened.close);
  const useful = { count: most, isMost: true, at: performance.now() };
  Object.assign(opened.session.memory.usefulSessions, { up: useful, down: useful });
  return { ...opened, spares };
}

/** A file whose time shows that it is not being written. */
async function seeded({ server, near, at }: LongLine, name: string): Promise<() => string> {
  const writer = await openRemote(near);
  const { body, digest } = patterned(SIZE);
  await put(writer.remote, at(name), body, SIZE);
  writer.close();
  await utimes(join(server.files, name), new Date(), new Date('2024-01-02T03:04:05Z'));
  return digest;
}

suite('one file over several sessions', () => {
  test('goes up whole, and every session is returned', async (t) => {
    const line = await longLine(t);
    const { remote, session, spares } = await withSpares(t, line.far, 2);
    const free = session.capacity;
    const { body, digest } = patterned(SIZE);
    assert.equal((await put(remote, line.at('up'), body, SIZE)).size, SIZE);
    assert.equal(await digestOf(createReadStream(join(line.server.files, 'up'))), digest());
    assert.deepEqual(spares.fates, ['keep', 'keep']);
    assert.equal(session.capacity, free);
    assert.ok(spares.sessions.every(({ alive }) => alive));
  });

  test('comes down whole, and every session is returned', async (t) => {
    const line = await longLine(t);
    const digest = await seeded(line, 'down');
    const { remote, session, spares } = await withSpares(t, line.far, 2);
    assert.equal(await digestOf(streamOf(await remote.read(line.at('down')))), digest());
    while (spares.fates.length < 2) await delay(5);
    assert.equal(spares.sessions.length, 2);
    assert.equal(session.memory.extraWindowBytes, 0);
  });

  test('comes down whole although a session is lost in the middle', async (t) => {
    const line = await longLine(t);
    const digest = await seeded(line, 'lost');
    const { remote, spares } = await withSpares(t, line.far, 2, ({ current, session }) => {
      const read = current!.read.bind(current);
      let reads = 0;
      current!.read = (...call) => {
        if (++reads === 3) session.close();
        read(...call);
      };
    });
    assert.equal(await digestOf(streamOf(await remote.read(line.at('lost')))), digest());
    assert.equal(spares.sessions.length, 2);
    assert.ok(spares.sessions.some(({ alive }) => !alive));
    while (spares.fates.length < 2) await delay(5);
  });

  test('does not go up if a session is lost in the middle, and leaves nothing', async (t) => {
    const line = await longLine(t);
    const { remote, session, spares } = await withSpares(t, line.far, 1, (lease) => {
      const write = lease.current!.write.bind(lease.current);
      let writes = 0;
      lease.current!.write = (...call) => {
        if (++writes === 3) lease.session.close();
        write(...call);
      };
    });
    const isLost = (error: unknown): boolean => error instanceof GatewayError && error.code === 'connection_lost';
    await assert.rejects(put(remote, line.at('lost'), patterned(SIZE).body, SIZE), isLost);
    assert.deepEqual(readdirSync(line.server.files), []);
    while (spares.fates.length < 1) await delay(5);
    assert.deepEqual(spares.fates, ['discard']);
    assert.ok(session.alive);
  });

  test('a recalled session is returned while the file goes on', async (t) => {
    const line = await longLine(t);
    const { remote, spares } = await withSpares(t, line.far, 2);
    const size = 2 * SIZE;
    const { body, digest } = patterned(size);
    let passed = 0;
    let atReturn = 0;
    const watched = Readable.from(
      (async function* () {
        for await (const chunk of body) {
          passed += (chunk as Buffer).length;
          if (spares.sessions.length === 2) spares.recall();
          if (atReturn === 0 && spares.fates.length === 2) atReturn = passed;
          yield chunk as Buffer;
        }
      })(),
    );
    await put(remote, line.at('recalled'), watched, size);
    assert.equal(await digestOf(createReadStream(join(line.server.files, 'recalled'))), digest());
    assert.deepEqual(spares.fates, ['keep', 'keep']);
    assert.ok(atReturn > 0 && atReturn < size, `${atReturn}`);
  });

  test('does not wait for a session that is still being opened, and returns it then', async (t) => {
    const line = await longLine(t);
    const { remote, spares } = await withSpares(t, line.far, 1);
    let admit: () => void = () => undefined;
    const admitted = new Promise<void>((resolve) => (admit = resolve));
    const take = spares.take.bind(spares);
    Object.assign(spares, { take: () => admitted.then(take) });
    const { body, digest } = patterned(SIZE);
    await put(remote, line.at('soon'), body, SIZE);
    assert.equal(await digestOf(createReadStream(join(line.server.files, 'soon'))), digest());
    assert.deepEqual(spares.fates, []);
    admit();
    while (spares.fates.length < 1) await delay(5);
    assert.deepEqual(spares.fates, ['keep']);
  });

  test('a download that is given up returns them', async (t) => {
    const line = await longLine(t);
    await seeded(line, 'left');
    const { remote, spares } = await withSpares(t, line.far, 2);
    const body = streamOf(await remote.read(line.at('left')));
    for await (const _chunk of body) if (spares.sessions.length === 2) break;
    while (spares.fates.length < 2) await delay(5);
    assert.ok(body.destroyed);
  });

  test('a file that was replaced since it was opened is read from the first session alone', async (t) => {
    const line = await longLine(t);
    const digest = await seeded(line, 'replaced');
    const { remote, spares } = await withSpares(t, line.far, 2);
    const file = await remote.read(line.at('replaced'));
    await writeFile(join(line.server.files, 'other'), Buffer.alloc(SIZE, 'x'));
    await rename(join(line.server.files, 'other'), join(line.server.files, 'replaced'));
    assert.equal(await digestOf(streamOf(file)), digest());
    while (spares.fates.length < 2) await delay(5);
    assert.deepEqual(spares.fates, ['keep', 'keep']);
  });
});
