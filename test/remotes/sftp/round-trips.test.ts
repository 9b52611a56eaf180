/**
 * The requests of each call to an OpenSSH server, and which of them wait for an answer: every line is one round trip.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { GatewayError } from '../../../src/base/errors.js';
import type { Remote, SelectRange } from '../../../src/remotes/remote.js';
import { putWhole, streamOf } from '../../../src/remotes/whole.js';
import { startTappedSshd, type TappedSshd } from '../../servers/sftp-tap.js';
import { eventually } from '../../support/eventually.js';
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
import { entriesOf } from '../../support/seam.js';

const CONTENT = Buffer.alloc(4096, 7);
const LARGE = randomBytes(1_000_000);

for (const kind of ['/', 'a folder'] as const) {
  describe(`round trips if rootPath is ${kind}`, () => {
    const isRooted = kind !== '/';
    const deps = testDeps();
    let server: TappedSshd;
    let opened: OpenRemote;
    let remote: Remote;
    const at = (name: string): ReturnType<typeof path> => path(isRooted ? `/${name}` : `${server.files}/${name}`);
    before(async () => {
      server = await startTappedSshd();
      mkdirSync(join(server.files, 'folder'));
      writeFileSync(join(server.files, 'folder/a'), 'a');
      writeFileSync(join(server.files, 'f'), CONTENT);
      writeFileSync(join(server.files, 'large'), LARGE);
      opened = await openRemote(sftpConnection(server), deps);
      await opened.remote.stat(path('/'));
    });
    // One for each operation, on the one channel.
    beforeEach(async () => {
      opened.session.release(opened.lease, 'keep');
      const connection = sftpConnection(server, isRooted ? { rootPath: server.files } : {});
      opened = await onSession(opened.session, connection, deps);
      ({ remote } = opened);
      server.asked();
    });
    after(() => {
      opened.close();
      return server.stop();
    });

    const asks = async (work: () => Promise<unknown>, plain: string[], rooted: string[]): Promise<void> => {
      const expected = isRooted ? rooted : plain;
      await work();
      const seen: string[] = [];
      // The last one may be a request whose answer is not awaited.
      await eventually(() => seen.push(...server.asked()) >= expected.length, expected.join(', '));
      assert.deepEqual(seen, expected);
    };

    test('exists', () => asks(() => remote.stat(at('f')), ['STAT'], ['REALPATH REALPATH STAT']));

    test('list', () =>
      asks(
        async () => {
          for await (const info of entriesOf(remote.list(at('folder')))) assert.equal(info.name, 'a');
        },
        ['OPENDIR', 'READDIR READDIR', 'CLOSE'],
        ['REALPATH REALPATH OPENDIR', 'READDIR READDIR', 'CLOSE'],
      ));

    test('a small download', () =>
      asks(
        async () => assert.deepEqual(await get(remote, at('f')), CONTENT),
        ['OPEN', 'FSTAT READ', 'CLOSE'],
        ['REALPATH REALPATH OPEN', 'FSTAT READ', 'CLOSE'],
      ));

    const read = async (select: SelectRange): Promise<Buffer> =>
      Buffer.concat((await streamOf(await remote.read(at('large'), select)).toArray()) as Buffer[]);

    test('a range: its bytes come with the facts of the open file', () =>
      asks(
        async () => assert.deepEqual(await read(() => ({ start: 900_000, end: 999_999 })), LARGE.subarray(900_000)),
        ['OPEN STAT', 'FSTAT READ READ', 'CLOSE'],
        ['REALPATH REALPATH OPEN STAT', 'FSTAT READ READ', 'CLOSE'],
      ));

    test('a range at the end of a file whose size the client does not know', () =>
      asks(
        async () => {
          const last = await read(({ size }) => ({ start: size - 8, end: size - 1 }));
          assert.deepEqual(last, LARGE.subarray(-8));
        },
        ['OPEN STAT', 'FSTAT READ READ', 'CLOSE'],
        ['REALPATH REALPATH OPEN STAT', 'FSTAT READ READ', 'CLOSE'],
      ));

    test('a file whose bytes are not needed once it was looked at', () =>
      asks(
        async () => {
          const refusal = new GatewayError('already_exists', 'another version');
          const refuse = (): never => {
            throw refusal;
          };
          await assert.rejects(remote.read(at('large'), refuse), (error) => error === refusal);
        },
        ['OPEN STAT', 'CLOSE'],
        ['REALPATH REALPATH OPEN STAT', 'CLOSE'],
      ));

    test('a small file that is looked at first, and read whole', () =>
      asks(
        async () => assert.equal((await remote.read(at('f'), () => undefined)).whole?.length, CONTENT.length),
        ['OPEN STAT', 'FSTAT READ', 'CLOSE'],
        ['REALPATH REALPATH OPEN STAT', 'FSTAT READ', 'CLOSE'],
      ));

    test('a small file whose size is checked, and read whole', () =>
      asks(
        async () => {
          const check = Object.assign(() => undefined, { isCheck: true });
          assert.equal((await remote.read(at('f'), check)).whole?.length, CONTENT.length);
        },
        ['OPEN', 'FSTAT READ', 'CLOSE'],
        ['REALPATH REALPATH OPEN', 'FSTAT READ', 'CLOSE'],
      ));

    test('a small upload', () =>
      asks(
        () => put(remote, at('new'), CONTENT, CONTENT.length),
        ['OPEN STAT', 'WRITE FSTAT CLOSE', 'EXTENDED'],
        ['REALPATH REALPATH', 'OPEN STAT', 'WRITE FSTAT CLOSE REALPATH', 'EXTENDED'],
      ));

    test('a small upload in one piece', () =>
      asks(
        () => putWhole(remote, at('whole'), CONTENT),
        ['OPEN STAT', 'WRITE FSTAT CLOSE', 'EXTENDED'],
        ['REALPATH REALPATH', 'OPEN STAT', 'WRITE FSTAT CLOSE REALPATH', 'EXTENDED'],
      ));

    test('the same with a given time: no additional round trip', () =>
      asks(
        () => putWhole(remote, at('whole'), CONTENT, { modifiedAt: new Date('2024-02-29T12:34:56Z') }),
        ['OPEN STAT', 'WRITE FSETSTAT FSTAT CLOSE', 'EXTENDED'],
        ['REALPATH REALPATH', 'OPEN STAT', 'WRITE FSETSTAT FSTAT CLOSE REALPATH', 'EXTENDED'],
      ));

    test('a move', () =>
      asks(
        () => remote.move(at('new'), at('moved'), { replace: false }),
        ['LSTAT LSTAT', 'RENAME'],
        ['REALPATH REALPATH LSTAT REALPATH LSTAT', 'RENAME'],
      ));

    test('an existing folder', () => asks(() => remote.makeFolder(at('folder')), ['STAT'], ['REALPATH REALPATH STAT']));

    test('a new folder', () =>
      asks(() => remote.makeFolder(at('made')), ['STAT', 'MKDIR'], ['REALPATH REALPATH STAT', 'MKDIR']));

    test('a delete', () => asks(() => remote.remove(at('moved')), ['REMOVE'], ['REALPATH REALPATH', 'REMOVE']));

    test('a folder is removed', () =>
      asks(() => remote.removeFolder(at('made')), ['RMDIR'], ['REALPATH REALPATH', 'RMDIR']));
  });
}
