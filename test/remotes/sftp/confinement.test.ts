import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { GatewayError } from '../../../src/base/errors.js';
import type { FileInfo, Remote } from '../../../src/remotes/remote.js';
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
import { startSshd, type TestSshd } from '../../servers/sshd.js';

/** A root other than "/" holds although the server follows every link. */
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
    for (const folder of [root, outside, join(root, 'inner'), `${root}-sibling`]) mkdirSync(folder);
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
    for await (const info of remote.list(path(folder))) found.push(info);
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
    await assert.rejects(remote.makeFolder(path('/escape/folder')), denied);
    await assert.rejects(remote.makeFolder(path('/escape/a/b')), denied);
    await assert.rejects(remote.move(secret, path('/stolen'), { replace: true }), denied);
    await assert.rejects(remote.move(path('/inner/own'), path('/escape/own'), { replace: true }), denied);
    await assert.rejects(put(inPlace, path('/escape/x'), 'x', 1), denied);
    await assert.rejects(put(inPlace, path('/escape-file'), 'x', 1), denied);
    await assert.rejects(put(inPlace, path('/escape-new'), 'x', 1), denied);
    assert.deepEqual(readdirSync(outside), ['secret']);
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

  test('a listing tells nothing about what links outside point to', async () => {
    const found = new Map((await list('/')).map((info) => [info.name, info]));
    assert.equal(found.get('escape')?.isDirectory, false);
    assert.equal(found.get('escape-file')?.size, '../outside/secret'.length);
    assert.equal(found.get('inside')?.isDirectory, true);
  });

  test('an upload over such a link replaces the link, not what it points to', async () => {
    symlinkSync('../outside/secret', join(root, 'replaced'));
    await put(remote, path('/replaced'), 'mine', 4);
    assert.equal(readFileSync(join(root, 'replaced'), 'utf8'), 'mine');
    assert.equal(readFileSync(join(outside, 'secret'), 'utf8'), 'secret');
  });

  test('a root that does not exist is named', async () => {
    const nowhere = await onSession(opened.session, sftpConnection(server, { rootPath: `${root}/none` }), testDeps());
    await assert.rejects(nowhere.remote.stat(path('/')), (error: unknown) => {
      assert.ok(error instanceof GatewayError);
      assert.equal(error.code, 'not_found');
      return true;
    });
  });
});
