/** What the seam promises, against three makers of FTP servers, in the clear and over TLS; asserted on their own disks. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { after, before, describe, test } from 'node:test';
import { GatewayError, hasCode, type ErrorCode } from '../../../src/base/errors.js';
import { at, clientFor, digest, get, list, noise, put, type Client } from '../support/ftp-client.js';
import {
  makeCertificate,
  startProftpd,
  startPureFtpd,
  startVsftpd,
  type FtpServer,
  type ServerOptions,
} from '../../servers/ftp.js';

interface Maker {
  readonly name: string;
  readonly start: () => Promise<FtpServer>;
  /** Names the server will not keep as they are; each is then refused, never kept under another name. */
  readonly refusedNames: readonly string[];
  readonly refusedFolders: readonly string[];
}

const maker = (
  name: string,
  start: (options: ServerOptions) => Promise<FtpServer>,
  tls: 'none' | 'explicit' | 'implicit',
  refused: Partial<Pick<Maker, 'refusedNames' | 'refusedFolders'>> = {},
): Maker => ({
  name: tls === 'none' ? name : `${name}, ${tls} TLS`,
  start: () => start({ tls }),
  refusedNames: [],
  refusedFolders: [],
  ...refused,
});

// Refuses backslashes and turns blanks at the end of a name into underscores.
const PURE_FTPD = { refusedNames: ['back\\slash', 'blank at the end '] };
const PROFTPD = { refusedFolders: ['st*r'] };

const MAKERS: readonly Maker[] = [
  maker('vsftpd', startVsftpd, 'none'),
  maker('vsftpd with require_ssl_reuse', startVsftpd, 'explicit'),
  maker('vsftpd with require_ssl_reuse', startVsftpd, 'implicit'),
  maker('pure-ftpd', startPureFtpd, 'none', PURE_FTPD),
  maker('pure-ftpd', startPureFtpd, 'explicit', PURE_FTPD),
  maker('proftpd', startProftpd, 'none', PROFTPD),
  maker('proftpd', startProftpd, 'explicit', PROFTPD),
  maker('proftpd', startProftpd, 'implicit', PROFTPD),
];

const NAMES = [
  ...['plain', 'with blanks', '  blanks first', 'blank at the end ', '"quoted"', "it's", 'st*r', '[brackets]', '{a,b}'],
  ...[
    '.hidden',
    '-la',
    '--',
    '~tilde',
    '?',
    '#',
    '%41',
    'a;b',
    'type=dir; x',
    'back\\slash',
    'ünïcödé',
    '日本語',
    '🙂',
  ],
  'n'.repeat(200),
];

const failsWith =
  (code: ErrorCode) =>
  (error: unknown): boolean => {
    assert.ok(error instanceof GatewayError, String(error));
    assert.equal(error.code, code, error.clientText);
    return true;
  };

describe('servers', { concurrency: 4 }, () => {
  for (const m of MAKERS) describe(m.name, () => conform(m));
});

function conform({ start, refusedNames, refusedFolders }: Maker): void {
  let server: FtpServer;
  let client: Client;
  const onDisk = (file: string): string => path.join(server.folder, file);

  before(async () => {
    server = await start();
    client = clientFor(server);
  });
  after(() => server.stop());

  test('an upload makes missing folders, replaces, and leaves nothing hidden', async () => {
    await client.use(async (remote) => {
      const first = await put(remote, '/up/and/down/file.txt', 'first');
      assert.deepEqual(
        { ...first, modifiedAt: 0 },
        { name: 'file.txt', path: '/up/and/down/file.txt', size: 5, isDirectory: false, modifiedAt: 0 },
      );
      assert.ok(Math.abs(first.modifiedAt.getTime() - statSync(onDisk('up/and/down/file.txt')).mtimeMs) < 1_000);
      await put(remote, '/up/and/down/file.txt', 'second');
      await put(remote, '/up/and/down/empty', '');
      assert.equal((await get(remote, '/up/and/down/empty')).length, 0);
    });
    assert.deepEqual(readdirSync(onDisk('up/and/down')).sort(), ['empty', 'file.txt']);
    assert.equal(readFileSync(onDisk('up/and/down/file.txt'), 'utf8'), 'second');
    assert.ok(client.expected.includes(at('/up/and/down')));
  });

  test('names of every kind come back as they were given', async () => {
    await client.use(async (remote) => {
      const kept: string[] = [];
      for (const file of NAMES) {
        if (refusedNames.includes(file)) {
          await assert.rejects(put(remote, `/odd names/${file}`, file), GatewayError);
          continue;
        }
        await put(remote, `/odd names/${file}`, file);
        assert.equal((await get(remote, `/odd names/${file}`)).toString(), file);
        assert.equal((await remote.stat(at(`/odd names/${file}`))).size, Buffer.byteLength(file));
        kept.push(file);
      }
      const listed = await list(remote, '/odd names');
      assert.deepEqual(listed.map((entry) => entry.name).sort(), [...kept].sort());
      assert.deepEqual(readdirSync(onDisk('odd names')).sort(), [...kept].sort());
      for (const file of kept) await remote.remove(at(`/odd names/${file}`));
      assert.deepEqual(await list(remote, '/odd names'), []);
    });
  });

  test('folders of every name are made, listed and moved', async () => {
    await client.use(async (remote) => {
      for (const folder of ['a b', '-la', 'st*r', '[x]', '{a,b}', '  lead', 'ünï']) {
        if (refusedFolders.includes(folder)) {
          await assert.rejects(remote.makeFolder(at(`/folders/${folder}`)), failsWith('bad_path'));
          continue;
        }
        await put(remote, `/folders/${folder}/f`, 'x');
        assert.deepEqual(
          (await list(remote, `/folders/${folder}`)).map((entry) => entry.path),
          [`/folders/${folder}/f`],
        );
        const info = await remote.stat(at(`/folders/${folder}`));
        assert.deepEqual([info.isDirectory, info.size], [true, 0]);
      }
      await remote.move(at('/folders/a b'), at('/folders/deep/er/a b'), { replace: false });
      assert.deepEqual((await list(remote, '/folders/deep/er/a b')).length, 1);
    });
  });

  test('content survives both ways, whole and in ranges', async () => {
    const content = noise(3_000_001);
    await client.use((remote) => put(remote, '/ranges', content.source));
    const whole = await client.use((remote) => get(remote, '/ranges'));
    assert.equal(digest(whole), content.digest());
    for (const range of [
      { start: 0, end: 0 },
      { start: 1_000, end: 70_000 },
      { start: 2_999_999, end: 3_000_000 },
      { start: 17, end: 3_000_000 },
    ]) {
      const part = await client.use((remote) => get(remote, '/ranges', range));
      assert.equal(digest(part), digest(whole.subarray(range.start, range.end + 1)));
    }
  });

  test('stat, list and read tell absent, folder and file apart', async () => {
    await client.use(async (remote) => {
      await put(remote, '/kinds/file', 'x');
      for (const work of [
        remote.stat.bind(remote, at('/kinds/none')),
        remote.stat.bind(remote, at('/kinds/file/below')),
        list.bind(null, remote, '/kinds/none'),
        get.bind(null, remote, '/kinds/none'),
        remote.remove.bind(remote, at('/kinds/none')),
        remote.move.bind(remote, at('/kinds/none'), at('/kinds/other'), { replace: true }),
        async () => remote.append?.(at('/kinds/none')),
      ]) {
        await assert.rejects(async () => work(), failsWith('not_found'));
      }
      await assert.rejects(list(remote, '/kinds/file'), failsWith('not_a_folder'));
      await assert.rejects(remote.makeFolder(at('/kinds/file')), failsWith('not_a_folder'));
      await assert.rejects(remote.makeFolder(at('/kinds/file/below')), failsWith('not_a_folder'));
      await assert.rejects(get(remote, '/kinds'), failsWith('is_a_folder'));
      await assert.rejects(put(remote, '/kinds', 'x'), failsWith('is_a_folder'));
      await assert.rejects(remote.remove(at('/kinds')), failsWith('is_a_folder'));
      await assert.rejects(async () => remote.append?.(at('/kinds')), failsWith('is_a_folder'));
      assert.equal((await remote.stat(at('/'))).isDirectory, true);
      assert.equal(existsSync(onDisk('kinds/none')), false);
    });
    assert.deepEqual(readdirSync(onDisk('kinds')), ['file']);
  });

  test('makeFolder tells whether it made one', async () => {
    await client.use(async (remote) => {
      assert.deepEqual(await remote.makeFolder(at('/made/by/us')), { created: true });
      assert.deepEqual(await remote.makeFolder(at('/made/by/us')), { created: false });
      assert.deepEqual(await remote.makeFolder(at('/')), { created: false });
    });
    assert.ok(statSync(onDisk('made/by/us')).isDirectory());
  });

  test('two sessions that make the same folders at once both succeed', async () => {
    const made = await Promise.all(
      ['one', 'two', 'three'].map((file) => client.use((remote) => put(remote, `/race/of/makers/${file}`, file))),
    );
    assert.equal(made.length, 3);
    assert.deepEqual(readdirSync(onDisk('race/of/makers')).sort(), ['one', 'three', 'two']);
  });

  test('moves replace only when told, and make folders', async () => {
    await client.use(async (remote) => {
      await put(remote, '/moves/a', 'a');
      await put(remote, '/moves/b', 'b');
      await remote.makeFolder(at('/moves/folder'));
      const [a, b] = [at('/moves/a'), at('/moves/b')];
      await assert.rejects(remote.move(a, b, { replace: false }), failsWith('already_exists'));
      await assert.rejects(remote.move(a, at('/moves/folder'), { replace: true }), failsWith('is_a_folder'));
      assert.equal(readFileSync(onDisk('moves/b'), 'utf8'), 'b');
      await remote.move(a, b, { replace: true });
      assert.equal(readFileSync(onDisk('moves/b'), 'utf8'), 'a');
      const moved = await remote.move(b, at('/moves/to/new/place'), { replace: false });
      assert.deepEqual([moved.name, moved.path, moved.size], ['place', '/moves/to/new/place', 1]);
    });
    assert.deepEqual(readdirSync(onDisk('moves')).sort(), ['folder', 'to']);
  });

  test('exclusive refuses what exists; a wrong size publishes nothing', async () => {
    await client.use(async (remote) => {
      await put(remote, '/excl/file', 'old');
      await assert.rejects(put(remote, '/excl/file', 'new', { exclusive: true }), failsWith('already_exists'));
      const writer = await remote.write(at('/excl/file'), {});
      writer.end('four');
      await once(writer, 'finish');
      await assert.rejects(writer.commit({ size: 5 }), failsWith('size_mismatch'));
      await writer.abort(new Error('over'));
      await writer.abort(new Error('twice'));
    });
    assert.deepEqual(readdirSync(onDisk('excl')), ['file']);
    assert.equal(readFileSync(onDisk('excl/file'), 'utf8'), 'old');
  });

  test('where the login leads can be asked while the content of a provisional upload flows', async () => {
    await client.use(async (remote) => {
      const writer = await remote.write(at('/unsettled'), { provisional: true });
      writer.write('con');
      await remote.home();
      writer.end('tent');
      await once(writer, 'finish');
      await writer.commit({ size: 7, path: at('/settled') });
    });
    assert.equal(readFileSync(onDisk('settled'), 'utf8'), 'content');
  });

  test('a provisional upload appears under its final name alone', async () => {
    await client.use(async (remote) => {
      const writer = await remote.write(at('/later/unknown'), { provisional: true });
      writer.end('content');
      await once(writer, 'finish');
      const info = await writer.commit({ size: 7, path: at('/later/in/the end') });
      assert.equal(info.path, '/later/in/the end');
      await writer.abort(new Error('too late'));
    });
    assert.deepEqual(readdirSync(onDisk('later')), ['in']);
    assert.equal(readFileSync(onDisk('later/in/the end'), 'utf8'), 'content');
  });

  test('appending adds to the end and tells the new size', async () => {
    await client.use(async (remote) => {
      await put(remote, '/log', 'one,');
      const writer = await remote.append?.(at('/log'));
      assert.ok(writer);
      await pipeline(Readable.from([Buffer.from('two')]), writer);
      assert.equal((await writer.commit({ size: 3 })).size, 7);
    });
    assert.equal(readFileSync(onDisk('log'), 'utf8'), 'one,two');
  });

  test('an upload that breaks half way leaves the old file and nothing else', async () => {
    await client.use((remote) => put(remote, '/cut/file', 'old'));
    const source = new Readable({ read() {} });
    source.push(Buffer.alloc(1_000_000));
    const left = new GatewayError('client_gone', 'the client left');
    await client.use(async (remote) => {
      const writer = await remote.write(at('/cut/file'), {});
      const flowing = pipeline(source, writer);
      setTimeout(() => source.destroy(left), 100);
      await assert.rejects(flowing, failsWith('client_gone'));
      await writer.abort(left);
    });
    assert.deepEqual(readdirSync(onDisk('cut')), ['file']);
    assert.equal(readFileSync(onDisk('cut/file'), 'utf8'), 'old');
    assert.deepEqual(client.removedLater, []);
  });

  test('an operation whose signal fires leaves nothing', async () => {
    const controller = new AbortController();
    const left = new GatewayError('client_gone', 'the client left');
    await client.use(
      async (remote) => {
        const writer = await remote.write(at('/signal/file'), {});
        writer.write(Buffer.alloc(100_000));
        setTimeout(() => controller.abort(left), 50);
        await assert.rejects(once(writer, 'finish'), failsWith('client_gone'));
        await writer.abort(left);
        await assert.rejects(remote.stat(at('/')), failsWith('client_gone'));
      },
      {},
      {},
      controller.signal,
    );
    assert.deepEqual(readdirSync(onDisk('signal')), []);
  });

  test('a reader that leaves half way gives the server no rest to send', async () => {
    await client.use(async (remote, session) => {
      await put(remote, '/large', Buffer.alloc(20_000_000));
      const { body } = await remote.read(at('/large'));
      body.once('data', () => body.destroy());
      await once(body, 'close');
      session.release(await session.lease(new AbortController().signal), 'keep');
      assert.equal(session.alive, false);
    });
  });

  test('sizes, times and kinds are listed; links are followed', async () => {
    await client.use(async (remote) => {
      await put(remote, '/listed/.dot', '1');
      await put(remote, '/listed/file', '1234');
      await remote.makeFolder(at('/listed/sub'));
      symlinkSync('file', onDisk('listed/to file'));
      symlinkSync('sub', onDisk('listed/to folder'));
      symlinkSync('nothing', onDisk('listed/to nothing'));
      utimesSync(onDisk('listed/file'), 1_700_000_000, 1_700_000_000);
      const entries = await list(remote, '/listed');
      assert.deepEqual(
        entries.map((entry) => [entry.name, entry.size, entry.isDirectory]),
        [
          ['.dot', 1, false],
          ['file', 4, false],
          ['sub', 0, true],
          ['to file', 4, false],
          ['to folder', 0, true],
        ],
      );
      const told = entries[1]?.modifiedAt.getTime() ?? 0;
      // LIST shows only the day of an old file.
      assert.ok(Math.abs(told - 1_700_000_000_000) <= (remote.can.timeResolutionMs === 1_000 ? 0 : 86_400_000));
      assert.equal((await remote.stat(at('/listed/file'))).modifiedAt.getTime(), 1_700_000_000_000);
    });
  });

  test('what the server denies is permission_denied, and stays', async () => {
    await client.use(async (remote) => {
      await put(remote, '/denied/file', 'x');
      chmodSync(onDisk('denied/file'), 0o000);
      await assert.rejects(get(remote, '/denied/file'), failsWith('permission_denied'));
      chmodSync(onDisk('denied'), 0o555);
      await assert.rejects(remote.remove(at('/denied/file')), failsWith('permission_denied'));
      await assert.rejects(put(remote, '/denied/new', 'x'), failsWith('permission_denied'));
      await assert.rejects(remote.makeFolder(at('/denied/sub')), failsWith('permission_denied'));
      await put(remote, '/afterwards', 'the session still works');
    });
  });

  test('everything stays below the root of the connection', async () => {
    await client.use((remote) => put(remote, '/root/inner/file', 'x'));
    await client.use(
      async (remote) => {
        assert.deepEqual(
          (await list(remote, '/')).map((entry) => entry.path),
          ['/inner'],
        );
        assert.equal(await remote.home(), '/');
        await put(remote, '/other', 'y');
      },
      { rootPath: '/root' },
    );
    assert.equal(readFileSync(onDisk('root/other'), 'utf8'), 'y');
  });

  test('an idle session proves itself, and one that the server drops is noticed', async () => {
    const session = await client.open();
    await session.check(new AbortController().signal);
    assert.equal(session.alive, true);
    session.close();
    session.close();
    assert.equal(session.alive, false);
    await assert.rejects(session.check(new AbortController().signal), failsWith('connection_lost'));
  });

  test('a wrong login is refused in words without the password', async () => {
    const wrong = { username: 'nobody-here', password: 'wrong-secret' };
    await assert.rejects(
      client.open(wrong, { connectTimeoutMs: 15_000, stallTimeoutMs: 15_000 }),
      (error: GatewayError) => {
        assert.equal(error.code, 'login_refused');
        assert.doesNotMatch(error.clientText, /wrong-secret/);
        return true;
      },
    );
  });
}

describe('certificates', () => {
  let server: FtpServer;
  let client: Client;
  before(async () => {
    server = await startVsftpd({ tls: 'explicit' });
    client = clientFor(server);
  });
  after(() => server.stop());

  test('an unknown authority, another authority and another name are refused', async (t) => {
    const place = mkdtempSync(path.join(os.tmpdir(), 'ftg-ca-'));
    t.after(() => rmSync(place, { recursive: true }));
    await assert.rejects(client.open({ tlsCa: undefined }), failsWith('certificate_rejected'));
    await assert.rejects(client.open({ tlsCa: makeCertificate(place).ca }), failsWith('certificate_rejected'));
    await assert.rejects(client.open({ host: '127.0.0.2' }), failsWith('unreachable'));
    await assert.rejects(client.open({ tls: 'implicit' }), failsWith('certificate_rejected'));
  });

  test('the authority of the connection, or no verification, lets it in, by name too', async () => {
    for (const trust of [{}, { host: 'localhost' }, { tlsCa: undefined, tlsVerify: false }]) {
      await client.use((remote) => put(remote, '/trusted', 'x'), trust);
    }
  });

  test('a server without TLS is not spoken to in the clear', async () => {
    const plain = await startVsftpd();
    try {
      await assert.rejects(clientFor(plain).open({ tls: 'explicit' }), failsWith('remote_failure'));
    } finally {
      await plain.stop();
    }
  });
});

for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
  test(`data connections resume the session of the control connection with ${version}`, async () => {
    const server = await startProftpd({ tls: 'explicit', extra: [`TLSProtocol ${version}`] });
    try {
      await clientFor(server).use(async (remote) => {
        for (let turn = 0; turn < 5; turn++) await put(remote, `/${turn}`, 'x');
        assert.equal((await list(remote, '/')).length, 5);
      });
    } finally {
      await server.stop();
    }
  });
}

test('a server that is full says so as too_many_sessions', async () => {
  const server = await startVsftpd({ extra: ['max_clients=1'] });
  const client = clientFor(server);
  try {
    const session = await openOnceFree(client);
    await assert.rejects(client.open(), failsWith('too_many_sessions'));
    session.close();
  } finally {
    await server.stop();
  }
});

/** The look whether the server had started counts as a client until the server has seen it leave. */
async function openOnceFree(client: Client): ReturnType<Client['open']> {
  for (let left = 50; ; left--) {
    try {
      return await client.open();
    } catch (error) {
      if (!hasCode(error, 'too_many_sessions') || left === 0) throw error;
    }
  }
}

test('a server in another zone lists times that are UTC', async () => {
  const server = await startVsftpd({ extra: ['use_localtime=YES'], env: { TZ: 'Asia/Kolkata' } });
  try {
    await clientFor(server).use(async (remote) => {
      const written = await put(remote, '/now', 'x');
      const [listed] = await list(remote, '/');
      assert.equal(
        Math.floor(written.modifiedAt.getTime() / 60_000),
        Math.floor((listed?.modifiedAt.getTime() ?? 0) / 60_000),
      );
    });
  } finally {
    await server.stop();
  }
});

test('300 MiB up and down keep the memory small', async () => {
  const server = await startVsftpd();
  const bytes = 314_572_800;
  try {
    await clientFor(server).use(async (remote) => {
      const before = process.memoryUsage().rss;
      let peak = before;
      const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 20);
      const content = noise(bytes, 262_144);
      await put(remote, '/large', content.source, { size: bytes });
      const { body } = await remote.read(at('/large'));
      const hash = createHash('sha256');
      for await (const chunk of body) hash.update(chunk as Buffer);
      clearInterval(watch);
      assert.equal(hash.digest('hex'), content.digest());
      assert.ok(peak - before < 120_000_000, `${Math.round((peak - before) / 1e6)} MB more`);
    });
  } finally {
    await server.stop();
  }
});
