/** The rights that a connection gives to the files and folders that the gateway makes. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { GatewayError } from '../../../src/base/errors.js';
import type { SftpConnection } from '../../../src/connections/connection.js';
import type { PartJournal } from '../../../src/remotes/remote.js';
import { REPLY, REQUEST } from '../../../src/remotes/sftp/wire/wire.js';
import { openRemote, path, put, sftpConnection } from '../support/harness.js';
import { SFTP_SERVERS } from '../../servers/catalogue.js';
import { startOddServer, type OddRequest } from '../../servers/scripted-sftp.js';
import { SFTP_SERVER, startSshd, type TestSshd } from '../../servers/sshd.js';
import { connectionOf, openSeam, entriesOf } from '../../support/seam.js';

const MODES = { fileMode: '0640', folderMode: '2750' } as const;
/** SFTP does not use the journal: it keeps the bytes in a file. */
const NO_JOURNAL: PartJournal = {
  parts: async () => [],
  tails: async () => [],
  add: async () => undefined,
  keep: async () => undefined,
};
const PIECE = Buffer.from('a piece');

const modeAt = (file: string): string => (statSync(file).mode & 0o7777).toString(8).padStart(4, '0');

async function serverWith(t: TestContext, umask: string): Promise<TestSshd> {
  const server = await startSshd([], `${SFTP_SERVER} -u ${umask}`);
  t.after(() => server.stop());
  return server;
}

async function remoteOf(t: TestContext, server: TestSshd, changes: Partial<SftpConnection> = {}) {
  const opened = await openRemote(sftpConnection(server, { ...MODES, rootPath: server.files, ...changes }));
  t.after(opened.close);
  return opened;
}

const content = (size: number): Buffer => Buffer.alloc(size, 'x');

for (const umask of ['022', '077']) {
  describe(`on OpenSSH with umask ${umask}`, () => {
    test('new files and new folders on every level get the rights; what was there keeps its own', async (t) => {
      const server = await serverWith(t, umask);
      const { remote } = await remoteOf(t, server);
      mkdirSync(join(server.files, 'there'), { mode: 0o711 });
      chmodSync(join(server.files, 'there'), 0o711);
      await put(remote, path('/there/a/b/streamed'), content(300_000), 300_000);
      await remote.put?.(path('/there/short'), PIECE, {});
      await put(remote, path('/there/exclusive'), PIECE, PIECE.length, true);
      assert.deepEqual(await remote.makeFolder(path('/there/c/d/e')), { created: true });
      assert.deepEqual(await remote.makeFolder(path('/there')), { created: false });
      for (const file of ['a/b/streamed', 'short', 'exclusive']) {
        assert.equal(modeAt(join(server.files, 'there', file)), '0640', file);
      }
      for (const folder of ['a', 'a/b', 'c', 'c/d', 'c/d/e']) {
        assert.equal(modeAt(join(server.files, 'there', folder)), '2750', folder);
      }
      assert.equal(modeAt(join(server.files, 'there')), '0711');
    });

    test('a file that is written again is made again; an append and a move leave its rights', async (t) => {
      const server = await serverWith(t, umask);
      const { remote } = await remoteOf(t, server);
      const old = join(server.files, 'old');
      writeFileSync(old, 'old');
      chmodSync(old, 0o604);
      const writer = await remote.append?.(path('/old'));
      assert.ok(writer);
      writer.end(PIECE);
      await new Promise<void>((done) => writer.once('finish', done));
      await writer.commit({ size: PIECE.length });
      assert.equal(modeAt(old), '0604');
      await remote.move(path('/old'), path('/new/place/old'), { replace: false });
      assert.equal(modeAt(join(server.files, 'new/place/old')), '0604');
      assert.deepEqual([modeAt(join(server.files, 'new')), modeAt(join(server.files, 'new/place'))], ['2750', '2750']);
      await put(remote, path('/new/place/old'), PIECE, PIECE.length);
      assert.equal(modeAt(join(server.files, 'new/place/old')), '0640');
    });

    test('in place, too', async (t) => {
      const server = await serverWith(t, umask);
      const { remote } = await remoteOf(t, server, { atomicUploads: false });
      writeFileSync(join(server.files, 'old'), 'old');
      chmodSync(join(server.files, 'old'), 0o666);
      await put(remote, path('/old'), PIECE, PIECE.length);
      await put(remote, path('/folder/new'), PIECE, PIECE.length);
      assert.deepEqual(
        ['old', 'folder/new', 'folder'].map((name) => modeAt(join(server.files, name))),
        ['0640', '0640', '2750'],
      );
    });

    test('a resumable upload has them before it gets its name', async (t) => {
      const server = await serverWith(t, umask);
      const { remote } = await remoteOf(t, server, { fileMode: '4700' });
      const length = PIECE.length;
      const file = { path: path('/tus/file'), hidden: path('/tus/.hidden'), length, storeId: '', journal: NO_JOURNAL };
      await remote.pieces?.begin(file, { modifiedAt: undefined, isChecked: false });
      assert.equal(modeAt(join(server.files, 'tus/.hidden')), '0700');
      const from = { offset: 0, isUnproven: false };
      const writer = await remote.pieces?.resume(file, from, { isProven: false });
      assert.ok(writer);
      writer.end(PIECE);
      assert.deepEqual(await writer.settle(true), { offset: PIECE.length, isClean: true });
      await remote.pieces?.publish(file, { size: PIECE.length, isAgain: false });
      assert.equal(modeAt(join(server.files, 'tus/file')), '4700');
    });
  });
}

test('a resumable upload that has its name already is found, and one that is gone is reported as gone', async (t) => {
  const server = await serverWith(t, '022');
  const { remote } = await remoteOf(t, server);
  const length = PIECE.length;
  const file = { path: path('/tus/file'), hidden: path('/tus/.hidden'), length, storeId: '', journal: NO_JOURNAL };
  await remote.pieces?.begin(file, { modifiedAt: undefined, isChecked: false });
  const writer = await remote.pieces?.resume(file, { offset: 0, isUnproven: false }, { isProven: false });
  assert.ok(writer);
  writer.end(PIECE);
  await writer.settle(true);
  await remote.pieces?.publish(file, { size: length, isAgain: false });
  const again = await remote.pieces?.publish(file, { size: length, isAgain: true });
  assert.equal(again?.size, length);
  rmSync(join(server.files, 'tus/file'));
  await assert.rejects(async () => remote.pieces?.publish(file, { size: length, isAgain: true }), {
    code: 'unknown_upload',
  });
});

test('a file never has more rights than those, not even under its hidden name', async (t) => {
  const server = await serverWith(t, '000');
  const { remote, leftovers } = await remoteOf(t, server, { fileMode: '0600' });
  const writer = await remote.write(path('/secret'), {});
  const [hidden = ''] = readdirSync(server.files);
  assert.notEqual(hidden, 'secret');
  assert.equal(modeAt(join(server.files, hidden)), '0600');
  await writer.abort(new GatewayError('client_gone', 'the client left'));
  assert.deepEqual([readdirSync(server.files), leftovers.later], [[], []]);
});

test('without the settings the server decides', async (t) => {
  const server = await serverWith(t, '026');
  const { remote } = await remoteOf(t, server, { fileMode: undefined, folderMode: undefined });
  await put(remote, path('/folder/file'), PIECE, PIECE.length);
  assert.equal(modeAt(join(server.files, 'folder/file')), '0640');
  assert.equal(modeAt(join(server.files, 'folder')), '0751');
});

/** They answer SETSTAT, but keep no rights. */
const WITHOUT_RIGHTS: readonly string[] = ['rclone', 'the sandbox'];

describe('on the servers of the catalogue', () => {
  for (const entry of SFTP_SERVERS) {
    test(`${entry.name}: files and folders get the rights`, async (t) => {
      const server = await entry.start();
      t.after(() => server.stop());
      const seam = openSeam(connectionOf({ ...server.connection, fileMode: '0640', folderMode: '0750' }));
      t.after(() => seam.close());
      const base = server.base ?? '';
      await seam.use((remote) => put(remote, path(`${base}/made/here/file`), content(70_000), 70_000));
      const { root } = server.disk as { readonly root?: string };
      const found = ['made/here/file', 'made/here', 'made'].map((name) => modeAt(`${root}${base}/${name}`));
      if (WITHOUT_RIGHTS.includes(entry.name)) assert.notDeepEqual(found, ['0640', '0750', '0750']);
      else assert.deepEqual(found, ['0640', '0750', '0750']);
    });
  }
});

describe('a server that refuses', () => {
  const PERMISSION_DENIED = 3;
  const OP_UNSUPPORTED = 8;

  const named = (code: string, setting: string) => (error: unknown) => {
    assert.ok(error instanceof GatewayError, String(error));
    assert.equal(error.code, code);
    assert.match(error.clientText, new RegExp(`the server refuses to give /.* the rights 0\\d{3} \\(${setting} of`));
    return true;
  };

  async function refusing(
    t: TestContext,
    ident: string,
    answer: (request: OddRequest) => boolean,
    changes: Partial<SftpConnection> = {},
  ) {
    const server = await startOddServer({ ident, odd: answer });
    t.after(() => server.stop());
    const modes = { fileMode: '0640', folderMode: '0750', ...changes };
    const { remote, close } = await openRemote(sftpConnection(server, modes));
    t.after(close);
    return { server, remote };
  }

  for (const ident of ['OpenSSH_9.9', 'Other_1.0']) {
    for (const [status, code] of [
      [PERMISSION_DENIED, 'permission_denied'],
      [OP_UNSUPPORTED, 'remote_failure'],
    ] as const) {
      test(`${ident} refuses both ways with ${status}: the error names the setting, nothing is left`, async (t) => {
        const { server, remote } = await refusing(t, ident, ({ type, status: answer }) => {
          if (type !== REQUEST.FSETSTAT && type !== REQUEST.SETSTAT) return false;
          answer(status, 'no');
          return true;
        });
        await assert.rejects(put(remote, path('/f'), content(100_000), 100_000), named(code, 'fileMode'));
        assert.deepEqual([...server.files.keys()], []);
        const count = (type: number): number => server.requests.filter((request) => request === type).length;
        assert.equal(count(REQUEST.CLOSE), count(REQUEST.OPEN));
      });
    }

    // As for a file that belongs to another user, who lets the login write it.
    for (const [fileMode, isWritten] of [
      ['0640', false],
      ['0644', true],
    ] as const) {
      test(`${ident} refuses in place: a file that is there is ${isWritten ? 'written, if it has them' : 'kept'}`, async (t) => {
        const refuse = ({ type, status: answer }: OddRequest): boolean => {
          if (type !== REQUEST.FSETSTAT && type !== REQUEST.SETSTAT) return false;
          answer(PERMISSION_DENIED, 'no');
          return true;
        };
        const { server, remote } = await refusing(t, ident, refuse, { fileMode, atomicUploads: false });
        server.files.set('/f', content(5));
        const written = put(remote, path('/f'), content(100_000), 100_000);
        if (isWritten) await written;
        else await assert.rejects(written, named('permission_denied', 'fileMode'));
        assert.equal(server.files.get('/f')?.length, isWritten ? 100_000 : 5);
        assert.ok(!isWritten || !server.requests.includes(REQUEST.FSETSTAT));
      });
    }

    test(`${ident} can set rights by the name only`, async (t) => {
      const { server, remote } = await refusing(t, ident, ({ type, status }) => {
        if (type === REQUEST.FSETSTAT) status(OP_UNSUPPORTED);
        else if (type === REQUEST.SETSTAT) status(0);
        else return false;
        return true;
      });
      await put(remote, path('/f'), content(100_000), 100_000);
      assert.deepEqual([...server.files.keys()], ['/f']);
      assert.ok(server.requests.indexOf(REQUEST.SETSTAT) < server.requests.indexOf(REQUEST.RENAME));
    });
  }

  test('the rights of a folder: it is removed again', async (t) => {
    const folders = new Set<string>();
    const { remote } = await refusing(t, 'Other_1.0', ({ type, fields, status, reply }) => {
      const known = [REQUEST.MKDIR, REQUEST.RMDIR, REQUEST.STAT, REQUEST.LSTAT, REQUEST.SETSTAT] as number[];
      if (!known.includes(type)) return false;
      const name = fields.string().toString();
      if (type === REQUEST.SETSTAT) status(PERMISSION_DENIED, 'no');
      else if (type === REQUEST.MKDIR) {
        folders.add(name);
        status(0);
      } else if (type === REQUEST.RMDIR) status(folders.delete(name) ? 0 : 2);
      else if (name === '/' || folders.has(name)) reply(REPLY.ATTRS, [0x4, 0o040755]);
      else status(2, 'No such file');
      return true;
    });
    await assert.rejects(remote.makeFolder(path('/a/b')), named('permission_denied', 'folderMode'));
    assert.deepEqual([...folders], []);
  });
});

test('a listing of OpenSSH has rights, and owner and group by name; a single file has their numbers', async (t) => {
  const server = await serverWith(t, '022');
  const { remote } = await remoteOf(t, server);
  mkdirSync(join(server.files, 'folder'));
  chmodSync(join(server.files, 'folder'), 0o2750);
  writeFileSync(join(server.files, 'mine'), 'x');
  chmodSync(join(server.files, 'mine'), 0o604);
  writeFileSync(join(server.files, 'unnamed'), 'x');
  chownSync(join(server.files, 'unnamed'), 54_321, 54_322);
  symlinkSync('unnamed', join(server.files, 'link'));
  const { username } = userInfo();
  const group = execFileSync('id', ['-gn'], { encoding: 'utf8' }).trim();
  const found = new Map<string, unknown>();
  for await (const { name, mode = 0, owner, group: of, isLink } of entriesOf(remote.list(path('/'))))
    found.set(name, [mode.toString(8), owner, of, isLink]);
  assert.deepEqual(found.get('folder'), ['2750', username, group, undefined]);
  assert.deepEqual(found.get('mine'), ['604', username, group, undefined]);
  assert.deepEqual(found.get('unnamed'), ['644', '54321', '54322', undefined]);
  assert.deepEqual(found.get('link'), ['644', '54321', '54322', true]);
  const single = await remote.stat(path('/mine'));
  assert.deepEqual(
    [single?.mode, single?.owner, single?.group],
    [0o604, String(userInfo().uid), String(userInfo().gid)],
  );
});
