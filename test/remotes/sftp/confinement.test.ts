import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { after, before, describe, test, type TestContext } from 'node:test';
import { GatewayError } from '../../../src/base/errors.js';
import type { FileInfo, Remote } from '../../../src/remotes/remote.js';
import { OPEN, REPLY, REQUEST, uint64 } from '../../../src/remotes/sftp/wire/wire.js';
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
import { deleteTree } from '../../../src/operations/tree/delete.js';
import { startOddServer, type OddServer } from '../../servers/scripted-sftp.js';
import { startSshd, type TestSshd } from '../../servers/sshd.js';
import { eventually } from '../../support/eventually.js';
import { entriesOf } from '../../support/seam.js';

/** A root other than "/" is enforced although the server follows every link. */
describe('below a rootPath', () => {
  let server: TestSshd;
  let opened: OpenRemote;
  let remote: Remote;
  let inPlace: Remote;
  let root: string;
  let outside: string;
  before(async () => {
    server = await startSshd();
    root = join(server.files, 'root');
    outside = join(server.files, 'outside');
    for (const folder of [root, outside, join(root, 'inner'), `${root}-sibling`, `${root}-sibling/empty`])
      mkdirSync(folder);
    writeFileSync(join(outside, 'secret'), 'secret');
    writeFileSync(join(root, 'inner/own'), 'own');
    symlinkSync('../outside', join(root, 'escape'));
    symlinkSync('../outside/secret', join(root, 'escape-file'));
    symlinkSync('../outside/new', join(root, 'escape-new'));
    symlinkSync(`${root}-sibling`, join(root, 'sibling'));
    symlinkSync('inner', join(root, 'inside'));
    symlinkSync('inner/own', join(root, 'inside-file'));
    const connection = sftpConnection(server, { rootPath: root });
    opened = await openRemote(connection);
    ({ remote } = opened);
    ({ remote: inPlace } = await onSession(opened.session, { ...connection, atomicUploads: false }, testDeps()));
  });
  after(() => {
    opened.close();
    return server.stop();
  });

  const denied = (error: unknown): boolean => {
    assert.ok(error instanceof GatewayError);
    assert.equal(error.code, 'permission_denied', error.clientText);
    assert.match(error.clientText, /outside the connection's root/);
    assert.ok(!error.clientText.includes(root));
    return true;
  };
  const list = async (folder: string): Promise<FileInfo[]> => {
    const found: FileInfo[] = [];
    for await (const info of entriesOf(remote.list(path(folder)))) found.push(info);
    return found;
  };

  test('links that lead outside are refused for every operation', async () => {
    const secret = path('/escape/secret');
    await assert.rejects(remote.stat(secret), denied);
    await assert.rejects(remote.stat(path('/escape-file')), denied);
    await assert.rejects(remote.stat(path('/sibling')), denied);
    await assert.rejects(remote.read(secret), denied);
    await assert.rejects(remote.read(path('/escape-file')), denied);
    await assert.rejects(list('/escape'), denied);
    await assert.rejects(put(remote, path('/escape/x'), 'x', 1), denied);
    await assert.rejects(put(remote, path('/escape/deep/x'), 'x', 1), denied);
    await assert.rejects(remote.append!(secret), denied);
    await assert.rejects(remote.append!(path('/escape-file')), denied);
    await assert.rejects(remote.remove(secret), denied);
    await assert.rejects(remote.removeFolder(path('/sibling/empty')), denied);
    await assert.rejects(deleteTree(remote, path('/sibling/empty'), { signal: opened.abort.signal }), denied);
    await assert.rejects(remote.makeFolder(path('/escape/folder')), denied);
    await assert.rejects(remote.makeFolder(path('/escape/a/b')), denied);
    await assert.rejects(remote.move(secret, path('/stolen'), { replace: true }), denied);
    await assert.rejects(remote.move(path('/inner/own'), path('/escape/own'), { replace: true }), denied);
    await assert.rejects(put(inPlace, path('/escape/x'), 'x', 1), denied);
    await assert.rejects(put(inPlace, path('/escape-file'), 'x', 1), denied);
    await assert.rejects(put(inPlace, path('/escape-new'), 'x', 1), denied);
    assert.deepEqual(readdirSync(outside), ['secret']);
    assert.deepEqual(readdirSync(`${root}-sibling`), ['empty']);
    assert.equal(readFileSync(join(outside, 'secret'), 'utf8'), 'secret');
    assert.ok(existsSync(join(root, 'inner/own')));
  });

  test('links that stay inside work', async () => {
    assert.equal((await get(remote, path('/inside/own'))).toString(), 'own');
    assert.equal((await get(remote, path('/inside-file'))).toString(), 'own');
    await put(remote, path('/inside/more'), 'more', 4);
    assert.equal(readFileSync(join(root, 'inner/more'), 'utf8'), 'more');
    assert.deepEqual((await list('/inside')).map(({ name }) => name).sort(), ['more', 'own']);
  });

  test('a listing shows nothing about targets outside', async () => {
    const found = new Map((await list('/')).map((info) => [info.name, info]));
    assert.equal(found.get('escape')?.isDirectory, false);
    assert.equal(found.get('escape-file')?.size, '../outside/secret'.length);
    assert.equal(found.get('inside')?.isDirectory, true);
  });

  test('an upload over such a link replaces the link, not its target', async () => {
    symlinkSync('../outside/secret', join(root, 'replaced'));
    await put(remote, path('/replaced'), 'mine', 4);
    assert.equal(readFileSync(join(root, 'replaced'), 'utf8'), 'mine');
    assert.equal(readFileSync(join(outside, 'secret'), 'utf8'), 'secret');
  });

  test('a root that does not exist is named in the error', async () => {
    const nowhere = await onSession(opened.session, sftpConnection(server, { rootPath: `${root}/none` }), testDeps());
    await assert.rejects(nowhere.remote.stat(path('/')), (error: unknown) => {
      assert.ok(error instanceof GatewayError);
      assert.equal(error.code, 'not_found');
      return true;
    });
  });
});

/** A server that reports real paths late; meanwhile, or afterwards, a link may change. */
describe('below a rootPath, on a server that reports real paths slowly', () => {
  const CHANGING: ReadonlySet<number> = new Set([
    REQUEST.REMOVE,
    REQUEST.MKDIR,
    REQUEST.RMDIR,
    REQUEST.SETSTAT,
    REQUEST.RENAME,
    REQUEST.FSETSTAT,
    REQUEST.WRITE,
    REQUEST.EXTENDED,
  ]);
  const FOLDERS = ['/root', '/root/folder', '/outside'];

  interface Slow extends OpenRemote {
    readonly server: OddServer;
    readonly inPlace: Remote;
    /** Requests sent before a real path was known. */
    readonly meanwhile: string[];
    readonly closed: string[];
  }

  async function slowToTell(t: TestContext, leads = (asked: string): string => asked): Promise<Slow> {
    const meanwhile: string[] = [];
    const closed: string[] = [];
    let untold = 0;
    const server = await startOddServer({
      odd: ({ type, fields, reply, status, usual }) => {
        if (CHANGING.has(type) && untold > 0) meanwhile.push(`change ${type}`);
        switch (type) {
          case REQUEST.REALPATH: {
            const asked = fields.string().toString();
            untold += 1;
            setTimeout(() => {
              untold -= 1;
              reply(REPLY.NAME, [1, Buffer.from(leads(asked)), Buffer.alloc(0), 0]);
            }, 20);
            return true;
          }
          case REQUEST.OPEN: {
            const name = fields.string();
            const isForWriting = (fields.uint32() & OPEN.WRITE) !== 0;
            if (untold > 0) meanwhile.push(`open ${isForWriting ? 'to write' : 'to read'}`);
            if (isForWriting) server.files.set(name.toString(), Buffer.alloc(0));
            if (server.files.has(name.toString())) reply(REPLY.HANDLE, [name]);
            else status(2);
            return true;
          }
          case REQUEST.CLOSE:
            closed.push(fields.string().toString());
            status(0);
            return true;
          case REQUEST.STAT:
          case REQUEST.LSTAT: {
            const name = fields.string().toString();
            const size = server.files.get(name)?.length ?? 0;
            if (FOLDERS.includes(name)) reply(REPLY.ATTRS, [0x4, 0o040755]);
            else if (server.files.has(name)) reply(REPLY.ATTRS, [0x5, ...uint64(size), 0o100644]);
            else status(2);
            return true;
          }
          case REQUEST.MKDIR:
            status(0);
            return true;
          default:
            usual();
            return true;
        }
      },
    });
    t.after(() => server.stop());
    server.files.set('/root/f', Buffer.from('own'));
    server.files.set('/root/escape', Buffer.from('secret'));
    const connection = sftpConnection(server, { password: 'x', rootPath: '/root' });
    const opened = await openRemote(connection);
    t.after(() => opened.close());
    const { remote: inPlace } = await onSession(opened.session, { ...connection, atomicUploads: false }, testDeps());
    return { ...opened, server, inPlace, meanwhile, closed };
  }

  test('nothing is changed before the server has reported the real path', async (t) => {
    const { remote, inPlace, meanwhile } = await slowToTell(t);
    await put(remote, path('/folder/new'), 'new', 3);
    await put(inPlace, path('/folder/in-place'), 'new', 3);
    await remote.move(path('/folder/new'), path('/folder/moved'), { replace: false });
    await remote.makeFolder(path('/made'));
    await remote.remove(path('/folder/moved'));
    await remote.removeFolder(path('/folder/gone')).catch(() => undefined);
    const writer = await remote.append!(path('/f'));
    await writer?.abort(new GatewayError('client_gone', 'the test ends'));
    assert.deepEqual(meanwhile, []);
    assert.equal((await get(remote, path('/f'))).toString(), 'own');
    assert.deepEqual(meanwhile, ['open to read']);
  });

  test('what was read early from a place outside is not used, and closed', async (t) => {
    const { remote, closed, server } = await slowToTell(t, (asked) => (asked === '/root' ? asked : '/outside/secret'));
    const denied = { code: 'permission_denied' };
    await assert.rejects(remote.stat(path('/escape')), denied);
    await assert.rejects(remote.stat(path('/absent')), denied);
    await assert.rejects(remote.read(path('/escape')), denied);
    await assert.rejects(remote.list(path('/escape'))[Symbol.asyncIterator]().next(), denied);
    await assert.rejects(remote.makeFolder(path('/escape/folder')), denied);
    await assert.rejects(remote.move(path('/escape/a'), path('/b'), { replace: true }), denied);
    await eventually(() => closed.length === 2, 'both handles were given back');
    assert.deepEqual(closed, ['/root/escape', 'folder']);
    assert.ok(!server.requests.includes(REQUEST.READ));
    assert.ok(!server.requests.includes(REQUEST.READDIR));
  });

  test('a folder that leads outside by the time of the commit gets no file', async (t) => {
    let place = '/root/folder';
    const { remote, server } = await slowToTell(t, (asked) => (asked === '/root/folder' ? place : asked));
    const writer = await remote.write(path('/folder/new'), { size: 3 });
    await pipeline(Readable.from([Buffer.from('new')]), writer);
    place = '/outside';
    await assert.rejects(writer.commit({ size: 3 }), { code: 'permission_denied' });
    await writer.abort(new Error('the test ends'));
    assert.ok(!server.requests.includes(REQUEST.RENAME));
    assert.deepEqual([...server.files.keys()], ['/root/f', '/root/escape']);
  });
});
