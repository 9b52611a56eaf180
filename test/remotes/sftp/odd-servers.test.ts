import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { describe, test, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { GatewayError } from '../../../src/base/errors.js';
import type { SftpConnection } from '../../../src/connections/connection.js';
import type { FileInfo, LeftOut } from '../../../src/remotes/remote.js';
import { streamOf } from '../../../src/remotes/whole.js';
import { REPLY, REQUEST } from '../../../src/remotes/sftp/wire/wire.js';
import { get, LIMITS, openRemote, path, put, sftpConnection, testDeps, type OpenRemote } from '../support/harness.js';
import { nameFields, startOddServer, type Oddities, type OddServer } from '../../servers/scripted-sftp.js';
import { startMisreportingSftp } from '../../servers/misreporting.js';
import { eventually } from '../../support/eventually.js';
import { held } from '../../support/reliability.js';
import { connectionOf, openSeam, entriesOf } from '../../support/seam.js';
import { despiteStalls } from '../../support/stalls.js';

/** Behaviour that was observed on servers other than OpenSSH; each case is one of them. */
async function odd(
  t: TestContext,
  oddities: Oddities,
  changes: Partial<SftpConnection> = {},
  limits = LIMITS,
): Promise<
  OpenRemote & { readonly server: OddServer; readonly again: () => Promise<OpenRemote>; readonly messages: string[] }
> {
  const server = await startOddServer(oddities);
  t.after(() => server.stop());
  const connection = sftpConnection(server, { password: 'x', ...changes });
  const deps = testDeps();
  const open = async (): Promise<OpenRemote> => {
    const opened = await openRemote(connection, deps, limits);
    t.after(() => opened.close());
    return opened;
  };
  return { ...(await open()), server, again: open, messages: deps.messages };
}

const code =
  (expected: string, words = /^/) =>
  (error: unknown) => {
    assert.ok(error instanceof GatewayError, String(error));
    assert.equal(error.code, expected, error.clientText);
    assert.match(error.clientText, words);
    return true;
  };

async function listed(remote: OpenRemote['remote'], folder = '/'): Promise<FileInfo[]> {
  const found: FileInfo[] = [];
  for await (const info of entriesOf(remote.list(path(folder)))) found.push(info);
  return found;
}

describe('SFTP servers that are unlike OpenSSH', () => {
  test('ranges of short replies are requested again, in order', async (t) => {
    const { remote, server } = await odd(t, {
      odd: ({ type, fields, reply }) => {
        if (type !== REQUEST.READ) return false;
        const content = server.files.get(fields.string().toString())!;
        const offset = fields.uint64();
        const wanted = fields.uint32();
        reply(REPLY.DATA, [content.subarray(offset, offset + Math.min(wanted, 1 + (offset % 10_000)))]);
        return true;
      },
    });
    const content = randomBytes(90_000);
    server.files.set('/f', content);
    assert.ok((await get(remote, path('/f'))).equals(content));
  });

  test('replies in any order are put in order', async (t) => {
    const waiting: (() => void)[] = [];
    const { remote, server } = await odd(t, {
      odd: ({ type, usual }) => {
        if (type !== REQUEST.READ) return false;
        waiting.push(usual);
        setTimeout(() => waiting.sort(() => Math.random() - 0.5).pop()?.(), 2);
        return true;
      },
    });
    const content = randomBytes(900_000);
    server.files.set('/f', content);
    assert.ok((await get(remote, path('/f'))).equals(content));
  });

  test('a server that fails on several reads at once gets them one by one, and is remembered', async (t) => {
    const { remote, server, again } = await odd(t, {
      odd: ({ type, underWay, status }) => {
        if (type !== REQUEST.READ || underWay === 1) return false;
        status(4, 'Failure');
        return true;
      },
    });
    const content = randomBytes(300_000);
    server.files.set('/f', content);
    assert.ok((await get(remote, path('/f'))).equals(content));
    await put((await again()).remote, path('/g'), content, content.length);
    assert.ok(server.files.get('/g')?.equals(content));
  });

  test('a server that ends the channel on several writes at once gets them one by one the next time', async (t) => {
    let worst = 0;
    // The first write waits for its answer until the second has arrived: an answered one may be stored for good.
    let isPatient = false;
    let ended: object | undefined;
    const { remote, server, again } = await odd(t, {
      odd: ({ type, underWay, channel }) => {
        if (type !== REQUEST.WRITE) return false;
        // Requests sent before the end was known may arrive much later.
        if (channel === ended) return true;
        worst = Math.max(worst, underWay);
        if (underWay === 1) return !isPatient;
        ended = channel;
        channel.close();
        return true;
      },
    });
    const content = randomBytes(300_000);
    await assert.rejects(put(remote, path('/f'), content, content.length), code('connection_lost'));
    worst = 0;
    isPatient = true;
    await put((await again()).remote, path('/f'), content, content.length);
    assert.equal(worst, 1);
    assert.ok(server.files.get('/f')?.equals(content));
  });

  test('a failed write ends the upload with the words of the server', async (t) => {
    const { remote, server } = await odd(t, {
      odd: ({ type, status }) => {
        if (type !== REQUEST.WRITE) return false;
        status(4, 'write: No space left on device');
        return true;
      },
    });
    await assert.rejects(put(remote, path('/f'), randomBytes(100_000), 100_000), code('no_space', /No space left/));
    assert.deepEqual([...server.files.keys()], []);
  });

  for (const [words, status] of [
    ['code 4', 4],
    ['code 11', 11],
  ] as const) {
    test(`a rename that refuses with ${words} moves the old file aside and learns`, async (t) => {
      const { remote, server } = await odd(t, {
        odd: (request) => {
          if (request.type !== REQUEST.RENAME) return false;
          const copy = request.fields;
          const from = copy.string().toString();
          const to = copy.string().toString();
          const content = server.files.get(from)!;
          if (server.files.has(to)) request.status(status, 'exists');
          else {
            server.files.delete(from);
            server.files.set(to, content);
            request.status(0);
          }
          return true;
        },
      });
      assert.equal(remote.can.moveOnto, 'unknown');
      assert.equal(remote.can.exclusiveCreate, false);
      server.files.set('/f', Buffer.from('old'));
      await put(remote, path('/f'), 'new', 3);
      assert.deepEqual([...server.files.entries()], [['/f', Buffer.from('new')]]);
      assert.deepEqual(remote.can.exclusiveCreate, true);
      await assert.rejects(put(remote, path('/f'), 'no', 2, true), code('already_exists'));
      assert.deepEqual([...server.files.keys()], ['/f']);
      held({
        area: 'Faults',
        what: 'SFTP: no posix-rename, and a rename onto an existing name is refused',
        done: 'refused with code 4, or with code 11',
        held: 'the old file is moved aside and replaced; learned for the next time',
        tries: 1,
      });
    });
  }

  test('a rename that simply overwrites replaces the file in one step', async (t) => {
    let renames = 0;
    const { remote, server } = await odd(t, {
      odd: (request) => {
        if (request.type !== REQUEST.RENAME) return false;
        renames += 1;
        const from = request.fields.string().toString();
        server.files.set(request.fields.string().toString(), server.files.get(from)!);
        server.files.delete(from);
        request.status(0);
        return true;
      },
    });
    server.files.set('/f', Buffer.from('old'));
    await put(remote, path('/f'), 'new', 3);
    assert.deepEqual([...server.files], [['/f', Buffer.from('new')]]);
    assert.equal(renames, 1);
    held({
      area: 'Faults',
      what: 'SFTP: no posix-rename, and a rename overwrites an existing name',
      done: 'a server whose plain rename replaces',
      held: 'the file is replaced by the one rename',
      tries: 1,
    });
  });

  test('when the second rename fails, the old file is restored', async (t) => {
    let renames = 0;
    const { remote, server, leftovers } = await odd(t, {
      odd: ({ type, status }) => {
        if (type !== REQUEST.RENAME) return false;
        renames += 1;
        // 1: onto the target; 2: the old one aside; 3: into the free place; 4: the old one back.
        if (renames !== 3) return false;
        status(4, 'Quota? Who knows');
        return true;
      },
    });
    server.files.set('/f', Buffer.from('old'));
    await assert.rejects(put(remote, path('/f'), 'new', 3), code('no_space'));
    assert.deepEqual([...server.files.entries()], [['/f', Buffer.from('old')]]);
    assert.deepEqual([...leftovers.aside.values()], [{ path: '/f', ended: 'done' }]);
    held({
      area: 'Faults',
      what: 'SFTP: the old file is moved aside, then the new one is refused',
      done: 'the second rename refused',
      held: 'the old file comes back',
      tries: 1,
    });
  });

  test('a server that forbids renaming names the solution, and that works', async (t) => {
    const noRename: Oddities = {
      odd: ({ type, status }) => {
        if (type !== REQUEST.RENAME) return false;
        status(3, 'Permission denied');
        return true;
      },
    };
    const refused = await odd(t, noRename);
    await assert.rejects(put(refused.remote, path('/f'), 'x', 1), code('remote_failure', /atomicUploads: false/));
    assert.deepEqual([...refused.server.files.keys()], []);
    const inPlace = await odd(t, noRename, { atomicUploads: false });
    await put(inPlace.remote, path('/f'), 'x', 1);
    assert.equal(inPlace.server.files.get('/f')?.toString(), 'x');
    held({
      area: 'Faults',
      what: 'SFTP: every rename is refused',
      done: 'permission denied for RENAME',
      held: '502 naming atomicUploads: false, which then works',
      tries: 1,
    });
  });

  test('a size that is right only after the close is accepted, a wrong one is not', async (t) => {
    let isClosed = false;
    let cut = 0;
    const { remote, server } = await odd(t, {
      odd: ({ type, fields, reply }) => {
        if (type === REQUEST.CLOSE) isClosed = true;
        if (type === REQUEST.FSTAT && !isClosed) {
          reply(REPLY.ATTRS, [0x5, 0, 0, 0o100644]);
          return true;
        }
        if (type !== REQUEST.STAT || cut === 0) return false;
        const size = server.files.get(fields.string().toString())?.length;
        if (size === undefined) return false;
        reply(REPLY.ATTRS, [0x5, 0, size - cut, 0o100644]);
        return true;
      },
    });
    await put(remote, path('/f'), 'content', 7);
    isClosed = false;
    cut = 1;
    await assert.rejects(put(remote, path('/f'), 'another', 7), code('size_mismatch', /6 bytes long .* instead of 7/));
    assert.equal(server.files.get('/f')?.toString(), 'content');
    assert.deepEqual([...server.files.keys()], ['/f']);
  });

  test('names that are no UTF-8 keep their bytes, unsafe ones are left out and logged', async (t) => {
    let isRead = false;
    const latin = Buffer.from('caf\xe9', 'latin1');
    const { remote, messages } = await odd(t, {
      odd: ({ type, reply }) => {
        if (type !== REQUEST.READDIR || isRead) return false;
        isRead = true;
        const unsafe = ['.', '..', '', '../etc', 'a/b', 'new\nline', 'esc\u001b[2J', 'c1\u0085'].map((name) =>
          Buffer.from(name),
        );
        reply(REPLY.NAME, nameFields([...unsafe, latin, Buffer.from('fine')]));
        return true;
      },
    });
    const found = await listed(remote);
    assert.deepEqual(
      found.map(({ name }) => name),
      ['caf\ufffd', 'fine'],
    );
    assert.equal(found[0]?.rawName, latin.toString('base64'));
    assert.equal(found[1] !== undefined && 'rawName' in found[1], false);
    assert.equal(messages.filter((message) => message.includes('incomplete')).length, 1);
  });

  for (const gaps of [['attributes of READDIR'], ['every type'], ['attributes of READDIR', 'every type']] as const) {
    test(`without ${gaps.join(' and ')}, a folder is listed as one, a file with its size`, async (t) => {
      const server = await startMisreportingSftp(...gaps);
      t.after(() => server.stop());
      for (let number = 100; number < 200; number++) server.put(`/in/${number}`, Buffer.alloc(number), number);
      server.put('/in/sub/file', Buffer.alloc(1), 1);
      const seam = openSeam(connectionOf(server.connection));
      t.after(() => seam.close());
      await seam.use(async (remote) => {
        const found = new Map((await listed(remote, '/in')).map((info) => [info.name, info]));
        assert.equal(found.size, 101);
        assert.deepEqual([found.get('sub')?.isDirectory, found.get('sub')?.size], [true, 0]);
        for (let number = 100; number < 200; number++)
          assert.deepEqual([found.get(String(number))?.isDirectory, found.get(String(number))?.size], [false, number]);
        assert.equal((await remote.stat(path('/in/sub'))).isDirectory, true);
        assert.equal((await remote.stat(path('/in/150'))).isDirectory, false);
        await assert.rejects(remote.read(path('/in/sub')), code('is_a_folder'));
      });
      assert.ok(server.mostUnderWay() <= 20, `${server.mostUnderWay()} requests at once`);
      const looks = server.requests.filter((type) => type === REQUEST.LSTAT).length;
      assert.equal(looks, 101, 'each entry once');
    });
  }

  test('attributes reported by READDIR are not requested again', async (t) => {
    const server = await startMisreportingSftp();
    t.after(() => server.stop());
    server.put('/in/sub/file', Buffer.alloc(1), 1);
    server.put('/in/file', Buffer.alloc(1), 1);
    const seam = openSeam(connectionOf(server.connection));
    t.after(() => seam.close());
    assert.equal((await seam.use((remote) => listed(remote, '/in'))).length, 2);
    assert.equal(server.requests.includes(REQUEST.LSTAT), false);
  });

  test('an entry that may not be looked at is left out and counted, one that disappeared is omitted', async (t) => {
    const { remote } = await odd(t, {
      odd: ({ type, fields, reply, status }) => {
        if (type === REQUEST.READDIR) {
          if (isListed) return false;
          isListed = true;
          const names = ['denied', 'gone', 'there'].map((name) => Buffer.from(name));
          reply(REPLY.NAME, [3, ...names.flatMap((name) => [name, name, 0])]);
          return true;
        }
        if (type !== REQUEST.LSTAT) return false;
        const name = fields.string().toString();
        if (name === '/there') reply(REPLY.ATTRS, [0x5, 0, 7, 0o100644]);
        else status(name === '/gone' ? 2 : 3);
        return true;
      },
    });
    let isListed = false;
    const leftOut: string[] = [];
    const names: string[] = [];
    const options = { leftOut: async (what: LeftOut) => void leftOut.push(`${what.why} ${String(what.name)}`) };
    for await (const { name, size } of entriesOf(remote.list(path('/'), options))) names.push(`${name} ${size}`);
    assert.deepEqual([names, leftOut], [['there 7'], ['unreadable denied']]);
  });

  for (const gaps of [['FSTAT'], ['FSTAT', 'every size']] as const) {
    test(`without ${gaps.join(' and ')}, files arrive complete and are appended to at their end`, async (t) => {
      const server = await startMisreportingSftp(...gaps);
      t.after(() => server.stop());
      const seam = openSeam(connectionOf(server.connection));
      t.after(() => seam.close());
      for (const size of [0, 3, 65_537, 700_000]) {
        const content = randomBytes(size);
        server.put('/file', content, size);
        assert.ok((await seam.use((remote) => get(remote, path('/file')))).equals(content), `${size} bytes`);
      }
      server.put('/log', Buffer.from('one'), 3);
      await seam.use(async (remote) => {
        const writer = await remote.append?.(path('/log'));
        if (writer === undefined) return assert.ok(gaps.length === 2, 'its end is not known');
        await pipeline(Readable.from([Buffer.from('two')]), writer);
        await writer.commit({ size: 3 });
        assert.equal(server.files.get('/log')?.toString(), 'onetwo');
      });
    });
  }

  test('an append does not overwrite bytes after the reported size', async (t) => {
    const server = await startMisreportingSftp();
    t.after(() => server.stop());
    const seam = openSeam(connectionOf(server.connection));
    t.after(() => seam.close());
    server.put('/log', Buffer.from('one and more'), 3);
    assert.equal(await seam.use(async (remote) => remote.append?.(path('/log'))), undefined);
    assert.equal(server.files.get('/log')?.toString(), 'one and more');
  });

  test('a range of a file that has just grown is chosen again', async (t) => {
    let isFirst = true;
    const { remote, server } = await odd(t, {
      odd: ({ type, reply }) => {
        if (type !== REQUEST.FSTAT || !isFirst) return false;
        isFirst = false;
        reply(REPLY.ATTRS, [0x5, 0, 100_000, 0o100644]);
        return true;
      },
    });
    const content = randomBytes(200_000);
    server.files.set('/log', content);
    const file = await remote.read(path('/log'), ({ size }) => ({ start: 90_000, end: size - 1 }));
    assert.deepEqual(file.range, { start: 90_000, end: 199_999 });
    assert.ok(Buffer.concat((await streamOf(file).toArray()) as Buffer[]).equals(content.subarray(90_000)));
  });

  test('a server that refuses to read after the end of a file has sent all of it', async (t) => {
    const { remote, server } = await odd(t, {
      odd: ({ type, fields, status, reply }) => {
        if (type !== REQUEST.READ) return false;
        const content = server.files.get(fields.string().toString())!;
        const offset = fields.uint64();
        const data = content.subarray(offset, offset + fields.uint32());
        if (data.length === 0) status(4, 'Failure');
        else reply(REPLY.DATA, [data]);
        return true;
      },
    });
    for (const size of [0, 65_536, 200_000]) {
      const content = randomBytes(size);
      server.files.set('/f', content);
      assert.ok((await get(remote, path('/f'))).equals(content), `${size}`);
    }
  });

  test('readdir of a file is answered with code 2 or 4; both are checked', async (t) => {
    for (const status of [2, 4]) {
      const { remote, server } = await odd(t, {
        odd: (request) => {
          if (request.type !== REQUEST.OPENDIR) return false;
          request.status(status, 'no');
          return true;
        },
      });
      server.files.set('/f', Buffer.from('x'));
      await assert.rejects(listed(remote, '/f'), code('not_a_folder'));
      await assert.rejects(listed(remote, '/none'), code('not_found'));
    }
  });

  test('success for making a folder that exists does not count as created', async (t) => {
    const { remote } = await odd(t, {
      odd: ({ type, status }) => {
        if (type !== REQUEST.MKDIR) return false;
        status(0);
        return true;
      },
    });
    assert.deepEqual(await remote.makeFolder(path('/')), { created: false });
    assert.deepEqual(await remote.makeFolder(path('/new')), { created: true });
  });

  test('a server that never lets a folder be made is given up', async (t) => {
    const { remote } = await odd(t, {
      odd: ({ type, status }) => {
        if (type !== REQUEST.MKDIR) return false;
        status(2, 'No such file');
        return true;
      },
    });
    await assert.rejects(remote.makeFolder(path('/a/b/c')), code('not_found'));
  });

  for (const reason of ['cancelled', 'draining', 'database_away', 'upload_locked'] as const) {
    test(`an upload that ends with ${reason} before the server answers OPEN leaves nothing`, async (t) => {
      let end = (): void => undefined;
      const opened = await odd(t, {
        odd: ({ type }) => {
          if (type === REQUEST.OPEN) end();
          return false;
        },
      });
      end = () => opened.abort.abort(new GatewayError(reason, 'it ends'));
      await assert.rejects(put(opened.remote, path('/g'), Buffer.from('new'), 3), code(reason));
      assert.equal(opened.server.files.size, 1);
      await eventually(() => opened.server.files.size === 0, 'the hidden file is removed');
    });
  }

  test('a server that becomes silent is a stall, at every kind of request', async (t) => {
    const limits = { ...LIMITS, stallTimeoutMs: 1_000 };
    let silent: number | undefined;
    const oddities: Oddities = { odd: ({ type }) => type === silent };
    for (const type of [REQUEST.STAT, REQUEST.OPEN, REQUEST.WRITE, REQUEST.CLOSE, REQUEST.RENAME, REQUEST.READ]) {
      silent = undefined;
      const { remote, server, leftovers } = await odd(t, oddities, {}, limits);
      server.files.set('/f', randomBytes(100_000));
      silent = type;
      const work = async (): Promise<void> => {
        if (type === REQUEST.STAT) await remote.stat(path('/f'));
        else if (type === REQUEST.READ) await get(remote, path('/f'));
        else await put(remote, path('/g'), randomBytes(100_000), 100_000);
      };
      await assert.rejects(work(), code('stall_timeout'), `request ${type}`);
      // OPEN too: the file may have been made before the server became silent.
      const leaves = type !== REQUEST.STAT && type !== REQUEST.READ;
      assert.equal(leftovers.later.length, leaves ? 1 : 0, `request ${type}`);
    }
    held({
      area: 'Faults',
      what: 'SFTP: the server falls silent at one kind of request',
      done: 'no reply to STAT, OPEN, READ, WRITE, CLOSE or RENAME',
      held: '504 stall_timeout; a hidden name that may stand is noted',
      tries: 1,
    });
  });

  test('a server that works slowly but steadily is no stall', async (t) => {
    // All of it takes longer than the limit, each step a twentieth of it.
    const limits = { ...LIMITS, stallTimeoutMs: 2_000 };
    await despiteStalls(async () => {
      let last = Promise.resolve();
      const { remote, server } = await odd(
        t,
        {
          odd: ({ type, usual }) => {
            if (type !== REQUEST.WRITE) return false;
            last = last.then(() => new Promise((next) => setTimeout(next, 100))).then(usual);
            return true;
          },
        },
        {},
        limits,
      );
      const content = randomBytes(25 * 32_768);
      await put(remote, path('/f'), content, content.length);
      assert.ok(server.files.get('/f')?.equals(content));
    });
  });

  test('text instead of SFTP is reported as such', async (t) => {
    const { remote } = await odd(t, {
      onSession: (session) => {
        session.on('subsystem', (accept) => {
          accept().write('Welcome to this host!\r\n');
        });
      },
    });
    await assert.rejects(remote.stat(path('/')), code('protocol_error', /Welcome to this host/));
  });

  test('a malformed reply ends the channel', async (t) => {
    const { remote } = await odd(t, {
      odd: ({ type, reply }) => {
        if (type !== REQUEST.STAT) return false;
        reply(REPLY.ATTRS, [0x1]);
        return true;
      },
    });
    await assert.rejects(remote.stat(path('/')), code('protocol_error'));
    await assert.rejects(remote.stat(path('/')), code('protocol_error'));
  });

  test('a status that ends in the middle of a field ends its request, of every kind', async (t) => {
    const text = (remote: OpenRemote['remote'], at: string): Promise<FileInfo> => put(remote, path(at), 'text', 4);
    const replace = ({ remote }: OpenRemote): Promise<unknown> => text(remote, '/f');
    const append = async ({ remote }: OpenRemote): Promise<unknown> => {
      const writer = (await remote.append!(path('/f')))!;
      try {
        await pipeline(Readable.from([Buffer.from('more')]), writer);
        return await writer.commit({ size: 4 });
      } finally {
        await writer.abort(new Error('over'));
      }
    };
    const KINDS: readonly (readonly [type: number, work: (opened: OpenRemote) => Promise<unknown>])[] = [
      [REQUEST.STAT, ({ remote }) => remote.stat(path('/f'))],
      [REQUEST.REALPATH, ({ remote }) => remote.home()],
      [REQUEST.OPENDIR, ({ remote }) => listed(remote)],
      [REQUEST.READDIR, ({ remote }) => listed(remote)],
      [REQUEST.READ, ({ remote }) => get(remote, path('/f'))],
      [REQUEST.OPEN, replace],
      [REQUEST.WRITE, replace],
      [REQUEST.FSTAT, replace],
      [REQUEST.CLOSE, replace],
      [REQUEST.RENAME, replace],
      [REQUEST.WRITE, append],
      [REQUEST.FSTAT, append],
      [REQUEST.CLOSE, append],
      [REQUEST.RENAME, ({ remote }) => remote.move(path('/f'), path('/g'), { replace: true })],
      [REQUEST.REMOVE, ({ remote }) => remote.remove(path('/f'))],
      [REQUEST.MKDIR, ({ remote }) => remote.makeFolder(path('/d'))],
    ];
    const BROKEN: readonly (readonly number[])[] = [[], [4, 0xffffffff], [1, 3]];
    for (const [type, work] of KINDS) {
      for (const fields of BROKEN) {
        let isOdd = false;
        const opened = await odd(
          t,
          {
            odd: (request) => {
              if (!isOdd || request.type !== type) return false;
              request.reply(REPLY.STATUS, fields);
              return true;
            },
          },
          {},
          { ...LIMITS, stallTimeoutMs: 2_000 },
        );
        opened.server.files.set('/f', Buffer.from('fine'));
        // Everything that is asked once per session has been asked.
        await opened.remote.stat(path('/f'));
        isOdd = true;
        const what = `request ${type}, status [${fields.join()}]`;
        const late = delay(120_000, undefined, { ref: false }).then(() => assert.fail(`${what}: nothing came of it`));
        await assert.rejects(Promise.race([work(opened), late]), code('protocol_error'), what);
      }
    }
  });

  test('a server without SFTP, and one that ends it at once', async (t) => {
    const none = await odd(t, { onSession: (session) => session.on('exec', (accept) => accept()) });
    await assert.rejects(none.remote.stat(path('/')), code('remote_failure', /does not offer SFTP/));
    const ended = await odd(t, {
      onSession: (session) => {
        session.on('subsystem', (accept) => {
          const channel = accept();
          channel.stderr.write('sftp is closed today');
          channel.exit(1);
          channel.close();
        });
      },
    });
    await assert.rejects(ended.remote.stat(path('/')), code('connection_lost', /closed today|closed the SFTP channel/));
  });

  test('a server without commands', async (t) => {
    const { remote } = await odd(t, {});
    await assert.rejects(
      remote.exec!('id', { timeoutMs: 1000, maxOutputBytes: 100 }),
      code('unsupported_operation', /does not offer commands/),
    );
  });

  test('a source that is faster than the server stays within the budget', async (t) => {
    let underWay = 0;
    let most = 0;
    const { remote } = await odd(t, {
      odd: ({ type, fields, status }) => {
        if (type !== REQUEST.WRITE) return false;
        fields.string();
        fields.uint64();
        const bytes = fields.string().length;
        underWay += bytes;
        most = Math.max(most, underWay);
        setTimeout(() => {
          underWay -= bytes;
          status(0);
        }, 1);
        return true;
      },
    });
    const writer = await remote.write(path('/f'), {});
    let taken = 0;
    const source = Readable.from(
      (function* () {
        for (; taken < 200; taken += 1) yield Buffer.alloc(100_000);
      })(),
      { highWaterMark: 1 },
    );
    await pipeline(source, writer);
    await writer.abort(new Error('enough'));
    assert.ok(most <= 2.5 * 1024 * 1024, `${most} bytes under way`);
  });
});

test('a folder whose last entry goes just after its removal was refused is removed', async (t) => {
  const FOLDER = [0x4, 0o040755];
  let tries = 0;
  const { remote } = await odd(t, {
    odd: ({ type, reply, status }) => {
      if (type === REQUEST.LSTAT || type === REQUEST.STAT) return (reply(REPLY.ATTRS, FOLDER), true);
      if (type === REQUEST.RMDIR) return ((tries += 1) === 1 ? status(4, 'Failure') : status(0), true);
      return false;
    },
  });
  await remote.removeFolder(path('/full'));
  assert.equal(tries, 2);
});
