import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { GatewayError } from '../../../src/base/errors.js';
import type { SftpConnection } from '../../../src/connections/connection.js';
import type { RemotePath } from '../../../src/remotes/path.js';
import type { FileInfo } from '../../../src/remotes/remote.js';
import { startSandbox } from '../../../src/sandbox/server.js';
import type { SftpSession } from '../../../src/remotes/sftp/session/session.js';
import {
  get,
  onSession,
  openRemote,
  path,
  put,
  sftpConnection,
  testDeps,
  type OpenRemote,
} from '../support/harness.js';
import { SFTP_SERVER, startSshd } from '../../servers/sshd.js';

interface ServerUnderTest {
  readonly connection: SftpConnection;
  /** The folder on this machine that `inside` paths of the server lie in. */
  readonly files: string;
  inside(name: string): RemotePath;
  /** A rename that replaces in one step. */
  readonly canReplace: boolean;
  stop(): Promise<void>;
}

const openSsh = (subsystem?: string) => async (): Promise<ServerUnderTest> => {
  const server = await startSshd([], subsystem);
  return {
    connection: sftpConnection(server),
    files: server.files,
    inside: (name) => path(`${server.files}/${name}`),
    canReplace: subsystem === undefined,
    stop: () => server.stop(),
  };
};

const sandbox = async (): Promise<ServerUnderTest> => {
  const home = mkdtempSync(join(tmpdir(), 'ftg-sandbox-'));
  const login = { username: 'guest', password: randomBytes(8).toString('hex') };
  const files = join(home, 'files');
  const server = await startSandbox({
    folder: files,
    host: '127.0.0.1',
    port: 0,
    ...login,
    hostKeyFile: join(home, 'key'),
  });
  return {
    connection: sftpConnection({ port: server.port, username: login.username }, { password: login.password }),
    files,
    inside: (name) => path(`/${name}`),
    canReplace: false,
    stop: async () => {
      await server.close();
      rmSync(home, { recursive: true });
    },
  };
};

const confined = async (): Promise<ServerUnderTest> => {
  const server = await openSsh()();
  return {
    ...server,
    connection: { ...server.connection, rootPath: server.files },
    inside: (name) => path(`/${name}`),
  };
};

const SERVERS: Record<string, () => Promise<ServerUnderTest>> = {
  OpenSSH: openSsh(),
  'OpenSSH below a root': confined,
  'OpenSSH without posix-rename': openSsh(`${SFTP_SERVER} -P posix-rename`),
  'the sandbox': sandbox,
};

const code = (expected: string) => (error: unknown) => {
  assert.ok(error instanceof GatewayError, String(error));
  assert.equal(error.code, expected, error.clientText);
  return true;
};

for (const [name, start] of Object.entries(SERVERS)) {
  describe(`the remote of ${name}`, () => {
    let server: ServerUnderTest;
    let opened: OpenRemote;
    const deps = testDeps();
    const at = (file: string): RemotePath => server.inside(file);
    const disk = (file: string): string => join(server.files, file);
    const here = (): string[] => readdirSync(server.files).sort();
    const list = async (folder: RemotePath): Promise<FileInfo[]> => {
      const found: FileInfo[] = [];
      for await (const info of opened.remote.list(folder)) found.push(info);
      return found.sort((a, b) => (a.name < b.name ? -1 : 1));
    };

    // One login serves all cases: each has a lease of its own on it, as operations from the pool have.
    let session: SftpSession;
    before(async () => {
      server = await start();
      ({ session } = await openRemote(server.connection, deps));
    });
    after(() => {
      session.close();
      return server.stop();
    });
    beforeEach(async () => {
      opened = await onSession(session, server.connection, deps);
    });
    afterEach(() => {
      session.release(opened.lease, 'keep');
      for (const entry of readdirSync(server.files)) rmSync(disk(entry), { recursive: true });
    });

    test('an upload appears whole, under its name alone, and reads back the same', async () => {
      const info = await put(opened.remote, at('a.txt'), 'content', 7);
      assert.deepEqual([info.name, info.path, info.size, info.isDirectory], ['a.txt', at('a.txt'), 7, false]);
      assert.ok(Math.abs(info.modifiedAt.getTime() - Date.now()) < 60_000);
      assert.deepEqual(here(), ['a.txt']);
      assert.equal(readFileSync(disk('a.txt'), 'utf8'), 'content');
      assert.equal((await get(opened.remote, at('a.txt'))).toString(), 'content');
      assert.deepEqual(await opened.remote.stat(at('a.txt')), info);
    });

    test('nothing is visible before the commit, and the folder was noted before the temporary file', async () => {
      const writer = await opened.remote.write(at('a.txt'), {});
      assert.equal(opened.leftovers.expected.length, 1);
      assert.deepEqual(
        here().filter((entry) => !entry.startsWith('.ftg-test-')),
        [],
      );
      await pipeline(Readable.from([Buffer.from('abc')]), writer);
      assert.equal(existsSync(disk('a.txt')), false);
      await writer.commit({ size: 3 });
      assert.deepEqual(here(), ['a.txt']);
    });

    test('sizes round the packet limits arrive byte by byte', async () => {
      for (const size of [0, 1, 32_767, 32_768, 32_769, 261_119, 261_120, 261_121, 1_000_003]) {
        const content = randomBytes(size);
        await put(opened.remote, at('sized'), content, size);
        assert.ok(readFileSync(disk('sized')).equals(content), `upload of ${size}`);
        assert.ok((await get(opened.remote, at('sized'))).equals(content), `download of ${size}`);
      }
    });

    test('many small chunks are put together in order', async () => {
      const pieces = Array.from({ length: 5000 }, (_, index) => Buffer.from(`${index},`));
      const whole = Buffer.concat(pieces);
      await put(opened.remote, at('pieces'), Readable.from(pieces), whole.length);
      assert.ok(readFileSync(disk('pieces')).equals(whole));
    });

    test('missing folders are made, and only then', async () => {
      await put(opened.remote, at('x/y/z/a.txt'), 'deep', 4);
      assert.equal(readFileSync(disk('x/y/z/a.txt'), 'utf8'), 'deep');
    });

    test('an upload replaces an existing file', async () => {
      writeFileSync(disk('a.txt'), 'old content');
      await put(opened.remote, at('a.txt'), 'new', 3);
      assert.equal(readFileSync(disk('a.txt'), 'utf8'), 'new');
      assert.deepEqual(here(), ['a.txt']);
    });

    test('an exclusive upload onto an existing file leaves it alone', async () => {
      writeFileSync(disk('a.txt'), 'old');
      await assert.rejects(put(opened.remote, at('a.txt'), 'new', 3, true), code('already_exists'));
      assert.equal(readFileSync(disk('a.txt'), 'utf8'), 'old');
      assert.deepEqual(here(), ['a.txt']);
      assert.equal(opened.remote.can.exclusiveCreate, true);
    });

    test('of two exclusive writers of one name, one wins whole', async () => {
      const other = await onSession(session, server.connection, deps);
      await put(opened.remote, at('probe'), '', 0, true);
      await put(opened.remote, at('probe'), '', 0, true).catch(() => undefined);
      const writers = await Promise.all([opened.remote.write(at('one'), {}), other.remote.write(at('one'), {})]);
      await Promise.all(
        writers.map((writer, index) => pipeline(Readable.from([Buffer.alloc(50_000, index + 65)]), writer)),
      );
      const results = await Promise.allSettled(
        writers.map((writer) => writer.commit({ size: 50_000, exclusive: true })),
      );
      await Promise.all(writers.map((writer) => writer.abort(new Error('over'))));
      assert.deepEqual(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
      const winner = results.findIndex(({ status }) => status === 'fulfilled');
      assert.ok(readFileSync(disk('one')).equals(Buffer.alloc(50_000, winner + 65)));
      assert.deepEqual(here(), ['one', 'probe']);
      session.release(other.lease, 'keep');
    });

    test('two writers that replace one name leave one of the two files', async () => {
      const other = await onSession(session, server.connection, deps);
      await Promise.allSettled([
        put(opened.remote, at('one'), Buffer.alloc(90_000, 'a'), 90_000),
        put(other.remote, at('one'), Buffer.alloc(90_000, 'b'), 90_000),
      ]);
      const content = readFileSync(disk('one'));
      assert.ok(content.equals(Buffer.alloc(90_000, 'a')) || content.equals(Buffer.alloc(90_000, 'b')));
      session.release(other.lease, 'keep');
    });

    test('a folder is not replaced by a file', async () => {
      mkdirSync(disk('folder'));
      await assert.rejects(put(opened.remote, at('folder'), 'x', 1), code('is_a_folder'));
      assert.ok(statSync(disk('folder')).isDirectory());
      assert.deepEqual(here(), ['folder']);
    });

    test('a size that differs from the announced one publishes nothing', async () => {
      writeFileSync(disk('a.txt'), 'old');
      const writer = await opened.remote.write(at('a.txt'), {});
      await pipeline(Readable.from([Buffer.from('12345')]), writer);
      await assert.rejects(writer.commit({ size: 6 }), code('size_mismatch'));
      await writer.abort(new Error('mismatch'));
      assert.equal(readFileSync(disk('a.txt'), 'utf8'), 'old');
      assert.deepEqual(here(), ['a.txt']);
    });

    test('a source that fails half way leaves nothing behind', async () => {
      const writer = await opened.remote.write(at('a.bin'), {});
      const broken = new Readable({
        read() {
          this.push(Buffer.alloc(300_000));
          this.push(Buffer.alloc(300_000));
          this.destroy(new GatewayError('client_gone', 'the client left'));
        },
      });
      await assert.rejects(pipeline(broken, writer), code('client_gone'));
      const cause = new Error('gone');
      await Promise.all([writer.abort(cause), writer.abort(cause)]);
      assert.deepEqual(here(), []);
      assert.deepEqual(opened.leftovers.later, []);
    });

    test('an abort before the first byte, and one after the commit', async () => {
      const first = await opened.remote.write(at('a'), {});
      await first.abort(new Error('no'));
      assert.deepEqual(here(), []);
      const second = await opened.remote.write(at('a'), {});
      await pipeline(Readable.from([Buffer.from('x')]), second);
      await second.commit({ size: 1 });
      await second.abort(new Error('late'));
      assert.deepEqual(here(), ['a']);
    });

    test('the end of the operation stops an upload, and cleaning up still works', async () => {
      const writer = await opened.remote.write(at('a'), {});
      const endless = new Readable({ read: () => undefined });
      endless.push(Buffer.alloc(100_000));
      const flowing = pipeline(endless, writer);
      opened.abort.abort(new GatewayError('draining', 'the gateway stops'));
      await assert.rejects(flowing, code('draining'));
      await writer.abort(new Error('drained'));
      assert.deepEqual(here(), []);
      await assert.rejects(opened.remote.stat(at('a')), code('draining'));
    });

    test('a name that is decided at the end', async () => {
      const writer = await opened.remote.write(at('draft'), { provisional: true });
      await pipeline(Readable.from([Buffer.from('late')]), writer);
      const info = await writer.commit({ size: 4, path: at('other/final.txt') });
      assert.equal(info.path, at('other/final.txt'));
      assert.equal(readFileSync(disk('other/final.txt'), 'utf8'), 'late');
      assert.deepEqual(here(), ['other']);
    });

    test('writing in place', async () => {
      const inPlace = await onSession(session, { ...server.connection, atomicUploads: false }, deps);
      writeFileSync(disk('a.txt'), 'the old and longer content');
      await put(inPlace.remote, at('a.txt'), 'short', 5);
      assert.equal(readFileSync(disk('a.txt'), 'utf8'), 'short');
      await put(inPlace.remote, at('new/folder/a.txt'), 'made', 4);
      assert.equal(readFileSync(disk('new/folder/a.txt'), 'utf8'), 'made');
      const writer = await inPlace.remote.write(at('half'), {});
      await new Promise((written) => writer.write(Buffer.alloc(100_000), written));
      await writer.abort(new Error('no'));
      assert.deepEqual(here(), ['a.txt', 'new']);
      await assert.rejects(inPlace.remote.write(at('a.txt'), { exclusive: true }), code('already_exists'));
      assert.equal(readFileSync(disk('a.txt'), 'utf8'), 'short');
      await assert.rejects(inPlace.remote.write(at('new'), {}), code('is_a_folder'));
      session.release(inPlace.lease, 'keep');
    });

    test('appending', async () => {
      writeFileSync(disk('log'), 'one\n');
      const append = async (file: RemotePath) => (await opened.remote.append!(file)) ?? assert.fail();

      const writer = await append(at('log'));
      await pipeline(Readable.from([Buffer.from('two\n'), Buffer.alloc(400_000, 'x')]), writer);
      const info = await writer.commit({ size: 400_004 });
      assert.equal(info.size, 400_008);
      assert.equal(readFileSync(disk('log'), 'utf8'), `one\ntwo\n${'x'.repeat(400_000)}`);

      const cut = await append(at('log'));
      await new Promise((written) => cut.write(Buffer.alloc(50_000), written));
      await cut.abort(new Error('no'));
      assert.equal(statSync(disk('log')).size, 400_008);

      await assert.rejects(append(at('none')), code('not_found'));
      assert.equal(existsSync(disk('none')), false);
      mkdirSync(disk('folder'));
      await assert.rejects(append(at('folder')), code('is_a_folder'));
    });

    test('ranges', async () => {
      const content = randomBytes(700_000);
      writeFileSync(disk('r'), content);
      for (const [start, end] of [
        [0, 0],
        [0, 699_999],
        [699_999, 699_999],
        [300_000, 650_000],
        [10, 40_000],
      ] as const) {
        const { body, range, info } = await opened.remote.read(at('r'), () => ({ start, end }));
        assert.deepEqual([range, info.size], [{ start, end }, 700_000]);
        assert.ok(Buffer.concat(await body.toArray()).equals(content.subarray(start, end + 1)), `${start}-${end}`);
      }
    });

    test('a choice that throws opens nothing, and a body that is not wanted is freed', async () => {
      writeFileSync(disk('r'), randomBytes(5_000_000));
      const no = new GatewayError('bad_range', 'no');
      await assert.rejects(
        opened.remote.read(at('r'), () => {
          throw no;
        }),
        no,
      );
      const { body } = await opened.remote.read(at('r'));
      await new Promise((readable) => body.once('readable', readable));
      body.destroy();
      assert.equal((await opened.remote.stat(at('r'))).size, 5_000_000);
    });

    test('a file that shrinks while it is read is an error, not a short file', async () => {
      writeFileSync(disk('s'), randomBytes(9_000_000));
      const { body } = await opened.remote.read(at('s'));
      await new Promise((readable) => body.once('readable', readable));
      writeFileSync(disk('s'), 'short');
      await assert.rejects(body.toArray(), code('size_mismatch'));
    });

    test('reading what is not there, and reading a folder', async () => {
      mkdirSync(disk('folder'));
      await assert.rejects(opened.remote.read(at('none')), code('not_found'));
      await assert.rejects(opened.remote.read(at('no/where')), code('not_found'));
      await assert.rejects(opened.remote.read(at('folder')), code('is_a_folder'));
      await assert.rejects(opened.remote.stat(at('none')), code('not_found'));
      assert.equal((await opened.remote.stat(at('folder'))).isDirectory, true);
    });

    test('a listing', async () => {
      mkdirSync(disk('l/sub'), { recursive: true });
      writeFileSync(disk('l/file'), '12345');
      symlinkSync('file', disk('l/to-file'));
      symlinkSync('sub', disk('l/to-folder'));
      symlinkSync('nowhere', disk('l/broken'));
      const found = await list(at('l'));
      assert.deepEqual(
        found.map((info) => [info.name, info.isDirectory]),
        [
          ['broken', false],
          ['file', false],
          ['sub', true],
          ['to-file', false],
          ['to-folder', true],
        ],
      );
      assert.deepEqual(found.map(({ size }) => size).slice(1), [5, 0, 5, 0]);
      assert.equal(found[1]?.path, at('l/file'));
    });

    test('a listing of 1,000 names, one of nothing, one that is broken off', async () => {
      mkdirSync(disk('many'));
      mkdirSync(disk('empty'));
      for (let index = 0; index < 1000; index += 1) writeFileSync(disk(`many/${index}`), '');
      assert.equal((await list(at('many'))).length, 1000);
      assert.deepEqual(await list(at('empty')), []);
      for await (const info of opened.remote.list(at('many'))) {
        assert.ok(info.name);
        break;
      }
      assert.equal((await list(at('many'))).length, 1000);
    });

    test('listing a file, and what is not there', async () => {
      writeFileSync(disk('file'), '');
      await assert.rejects(list(at('file')), code('not_a_folder'));
      await assert.rejects(list(at('none')), code('not_found'));
    });

    test('names with everything in them', async () => {
      const names = [
        ' lead',
        'trail ',
        'a  b',
        `it's "q"`,
        '*',
        '[x]',
        '.hidden',
        '-la',
        '~',
        '日本',
        'é́',
        '%2F',
        'a\\b',
        '$(x)',
        '😀',
      ];
      for (const file of names) {
        await put(opened.remote, at(`n/${file}`), file, Buffer.byteLength(file));
        assert.equal((await get(opened.remote, at(`n/${file}`))).toString(), file);
      }
      assert.deepEqual((await list(at('n'))).map((info) => info.name).sort(), [...names].sort());
      for (const file of names) await opened.remote.remove(at(`n/${file}`));
      assert.deepEqual(await list(at('n')), []);
    });

    test('moving', async () => {
      writeFileSync(disk('a'), 'A');
      const moved = await opened.remote.move(at('a'), at('new/folder/b'), { replace: false });
      assert.deepEqual([moved.path, moved.size], [at('new/folder/b'), 1]);
      assert.equal(readFileSync(disk('new/folder/b'), 'utf8'), 'A');

      writeFileSync(disk('c'), 'C');
      await assert.rejects(opened.remote.move(at('c'), at('new/folder/b'), { replace: false }), code('already_exists'));
      assert.equal(readFileSync(disk('new/folder/b'), 'utf8'), 'A');
      await opened.remote.move(at('c'), at('new/folder/b'), { replace: true });
      assert.equal(readFileSync(disk('new/folder/b'), 'utf8'), 'C');
      assert.deepEqual(readdirSync(disk('new/folder')), ['b']);

      await assert.rejects(opened.remote.move(at('none'), at('x'), { replace: true }), code('not_found'));
      await opened.remote.move(at('new/folder'), at('elsewhere'), { replace: false });
      assert.equal(readFileSync(disk('elsewhere/b'), 'utf8'), 'C');
      writeFileSync(disk('d'), 'D');
      await assert.rejects(opened.remote.move(at('d'), at('elsewhere'), { replace: true }), code('is_a_folder'));
      for (const replace of [false, true]) {
        assert.equal((await opened.remote.move(at('d'), at('d'), { replace })).size, 1);
      }
      assert.equal(readFileSync(disk('d'), 'utf8'), 'D');
    });

    test('removing', async () => {
      writeFileSync(disk('a'), '');
      mkdirSync(disk('folder'));
      await opened.remote.remove(at('a'));
      await assert.rejects(opened.remote.remove(at('a')), code('not_found'));
      await assert.rejects(opened.remote.remove(at('folder')), code('is_a_folder'));
      assert.deepEqual(here(), ['folder']);
    });

    test('making folders', async () => {
      assert.deepEqual(await opened.remote.makeFolder(at('p/q/r')), { created: true });
      assert.deepEqual(await opened.remote.makeFolder(at('p/q/r')), { created: false });
      const other = await onSession(session, server.connection, deps);
      await Promise.all([opened.remote.makeFolder(at('race/x/y/z')), other.remote.makeFolder(at('race/x/y/w'))]);
      assert.deepEqual(readdirSync(disk('race/x/y')).sort(), ['w', 'z']);
      session.release(other.lease, 'keep');
      writeFileSync(disk('file'), '');
      await assert.rejects(opened.remote.makeFolder(at('file')), code('not_a_folder'));
      await assert.rejects(opened.remote.makeFolder(at('file/below')), code('not_a_folder'));
      await assert.rejects(put(opened.remote, at('file/below/a'), 'x', 1), code('not_a_folder'));
    });
  });
}
