import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { test, type TestContext } from 'node:test';
import { GatewayError, type ErrorCode } from '../../../src/base/errors.js';
import { timeValueMs, timeValue } from '../../../src/remotes/ftp/names/entries.js';
import type { FileInfo, Remote } from '../../../src/remotes/remote.js';
import { putWhole, streamOf } from '../../../src/remotes/whole.js';
import { at, clientFor, LIMITS, get, list, put, type Client } from '../support/ftp-client.js';
import { MTIME, startScripted, type Script, type ScriptedFtp } from '../../servers/scripted-ftp.js';
import { held } from '../../support/reliability.js';
import { entriesOf } from '../../support/seam.js';

async function setUp(t: TestContext, script: Script = {}, feat?: readonly string[]): Promise<[ScriptedFtp, Client]> {
  const server = await startScripted(script, feat);
  t.after(() => server.stop());
  return [server, clientFor(server)];
}

const failsWith =
  (code: ErrorCode, text?: RegExp) =>
  (error: unknown): boolean => {
    assert.ok(error instanceof GatewayError, String(error));
    assert.equal(error.code, code, error.clientText);
    if (text !== undefined) assert.match(error.clientText, text);
    return true;
  };

const verbs = (server: ScriptedFtp): string[] => server.commands.map((line) => line.split(' ')[0] ?? '');

/** Also for what works: a busy machine must not look like a silent server. */
const SMALL = { connectTimeoutMs: 2_000, stallTimeoutMs: 2_000 };

test('a server without EPSV is used by PASV, and its wrong address is not believed', async (t) => {
  const [server, client] = await setUp(t, { EPSV: '500 what?' });
  await client.use((remote) => put(remote, '/a', 'one'));
  await client.use((remote) => put(remote, '/b', 'two'));
  assert.equal(server.files.get('/b')?.toString(), 'two');
  assert.equal(verbs(server).filter((verb) => verb === 'EPSV').length, 1, 'the refusal is remembered');
  held({
    area: 'Faults',
    what: 'FTP: the server lacks EPSV',
    done: 'a scripted server that knows only PASV and announces a wrong address',
    held: 'used by PASV; the address is not believed',
    tries: 1,
  });
});

test('any refusal of EPSV leads to PASV', async (t) => {
  const words = ['550 EPSV: command not found', '425 cannot open', '522 Network protocol not supported', '552 quota'];
  for (const refusal of words) {
    const [server, client] = await setUp(t, { EPSV: refusal });
    await client.use((remote) => put(remote, '/a', 'one'));
    assert.equal(server.files.get('/a')?.toString(), 'one', refusal);
  }
  const missing = '550 command not found';
  const [, none] = await setUp(t, { EPSV: missing, PASV: missing });
  await assert.rejects(
    none.use((remote) => list(remote, '/')),
    failsWith('remote_failure', /EPSV/),
  );
  const [, client] = await setUp(t, { EPSV: '425 cannot open', PASV: '425 cannot open either' });
  await assert.rejects(
    client.use((remote) => put(remote, '/a', 'one')),
    failsWith('connection_lost', /EPSV/),
  );
});

test('setting a time: by MFMT only, by a clock in another zone, and on a server that keeps none', async (t) => {
  const modifiedAt = new Date('2024-02-29T12:34:56.789Z');
  const asked = '20240229123456';
  // Hours between the server's zone and its reading of MFMT's time; undefined: it knows no MFMT.
  for (const ahead of [0, 2, -5, undefined]) {
    const sent: string[] = [];
    let current = MTIME;
    const shifted = (value: string): string => {
      const utc = timeValueMs(value) ?? NaN;
      return timeValue(new Date(utc - (ahead ?? 0) * 3_600_000));
    };
    const script: Script = {
      MDTM: (_path, { say }) => say(`213 ${current}`),
      MFMT: (argument, { say }) => {
        const [value = ''] = argument.split(' ');
        sent.push(value);
        if (ahead === undefined) return say('502 what?');
        current = shifted(value);
        say(`213 Modify=${value};`);
      },
    };
    const [server, client] = await setUp(t, script, ['MFMT']);
    await client.use(async (remote) => {
      const info = await putDated(remote, '/a', modifiedAt);
      const isKept = ahead !== undefined;
      assert.equal(timeValue(info.modifiedAt), isKept ? asked : MTIME);
      assert.equal(remote.can.keepsTimes, isKept ? 'listed' : 'no');
    });
    assert.equal(sent.length, ahead === undefined || ahead === 0 ? 1 : 2, String(sent));
    const commands = verbs(server);
    assert.ok(commands.indexOf('MFMT') < commands.indexOf('RNFR'), 'before the file is visible');
    assert.equal(server.files.get('/a')?.toString(), 'x');
  }
  const [silent, client] = await setUp(t);
  await client.use(async (remote) => {
    assert.equal(timeValue((await putDated(remote, '/a', modifiedAt)).modifiedAt), MTIME);
    assert.equal(remote.can.keepsTimes, 'no');
  });
  assert.deepEqual(verbs(silent).slice(-6), ['EPSV', 'STOR', 'SIZE', 'MDTM', 'RNFR', 'RNTO'], 'nothing was tried');
});

async function putDated(remote: Remote, path: string, modifiedAt: Date): Promise<FileInfo> {
  return putWhole(remote, at(path), Buffer.from('x'), { modifiedAt });
}

test('250 ends an upload as well as 226', async (t) => {
  const [server, client] = await setUp(t, {
    STOR: async (path, { say, data }) => {
      say('125 already open');
      const chunks: Buffer[] = [];
      for await (const chunk of await data()) chunks.push(chunk as Buffer);
      server.files.set(path, Buffer.concat(chunks));
      say('250 fine');
    },
  });
  await client.use((remote) => put(remote, '/a', 'content'));
  assert.deepEqual([...server.files.keys()], ['/a']);
});

test('a folder that the server misses in the middle of a transfer is made before it, once per session', async (t) => {
  const [server, client] = await setUp(t, {
    STOR: async (path, { say, data, usual }) => {
      if (server.folders.has(path.slice(0, path.lastIndexOf('/')))) return usual();
      say('150 go');
      (await data()).destroy();
      say('550 ENOENT: no such file or directory');
    },
  });
  await client.use(async (remote) => {
    await put(remote, '/new/deep/a', 'one');
    server.commands.length = 0;
    await put(remote, '/new/deep/b', 'two');
    assert.deepEqual(verbs(server), ['EPSV', 'STOR', 'SIZE', 'MDTM', 'RNFR', 'RNTO']);
  });
  assert.equal(server.files.get('/new/deep/a')?.toString(), 'one');
});

test('text beside the replies of a transfer under way does not end it', async (t) => {
  const [server, client] = await setUp(t, {
    RETR: async (path, { say, data }) => {
      say('150 go');
      say('this server likes to chat');
      const connection = await data();
      const content = server.files.get(path) ?? Buffer.alloc(0);
      connection.write(content.subarray(0, 4));
      // Longer than the wait after stray text.
      setTimeout(() => {
        connection.end(content.subarray(4));
        say('226 done');
      }, 1_500);
    },
  });
  server.files.set('/a', Buffer.from('in two parts'));
  await client.use(async (remote) => {
    assert.equal((await get(remote, '/a')).toString(), 'in two parts');
  });
});

test('after a missing folder was refused before the transfer, folders are no longer checked first', async (t) => {
  const [server, client] = await setUp(t);
  server.folders.add('/first');
  await client.use(async (remote) => {
    await put(remote, '/first/a', 'x');
    server.folders.delete('/first');
    await put(remote, '/first/b', 'x');
    server.commands.length = 0;
    await put(remote, '/second/c', 'x');
    assert.equal(verbs(server).indexOf('STOR'), 1, server.commands.join(', '));
  });
  assert.deepEqual([...server.files.keys()], ['/first/a', '/first/b', '/second/c']);
});

test('an existing folder is not made again, although the server would report success', async (t) => {
  const [server, client] = await setUp(t, { MKD: (path, { say }) => say(`257 "${path}"`) });
  server.folders.add('/there');
  await client.use(async (remote) => {
    assert.deepEqual(await remote.makeFolder(at('/there')), { created: false });
  });
});

test('SIZE is asked in binary mode, and commands per small transfer stay few', async (t) => {
  const [server, client] = await setUp(t);
  await client.use(async (remote) => {
    await get(remote, '/none').catch(() => {});
    server.commands.length = 0;
    await put(remote, '/a', 'x');
    assert.deepEqual(verbs(server), ['EPSV', 'STOR', 'SIZE', 'MDTM', 'RNFR', 'RNTO']);
    await get(remote, '/a');
    server.commands.length = 0;
    await get(remote, '/a');
    assert.deepEqual(verbs(server), ['SIZE', 'MDTM', 'EPSV', 'RETR']);
  });
});

test('data that end early fail the download, although the server replies 226', async (t) => {
  const [server, client] = await setUp(t, {
    RETR: async (_path, { say, data }) => {
      say('150 go');
      (await data()).end('half');
      say('226 done');
    },
  });
  server.files.set('/a', Buffer.from('half and half'));
  await assert.rejects(
    client.use((remote) => get(remote, '/a')),
    failsWith('size_mismatch', /4 of 13 bytes/),
  );
});

test('426 in the middle of a download is the error, in the words of the server', async (t) => {
  const [server, client] = await setUp(t, {
    RETR: async (_path, { say, data }) => {
      say('150 go');
      (await data()).resetAndDestroy();
      say('426 disk on fire');
    },
  });
  server.files.set('/a', Buffer.from('content'));
  await assert.rejects(
    client.use((remote) => get(remote, '/a')),
    failsWith('connection_lost', /disk on fire/),
  );
});

test('a file that was open is never reported as missing', async (t) => {
  const [server, client] = await setUp(t, {
    RETR: async (_path, { say, data }) => {
      say('150 go');
      (await data()).resetAndDestroy();
      say('451 No such file or directory');
    },
  });
  server.files.set('/a', Buffer.from('content'));
  await assert.rejects(
    client.use((remote) => get(remote, '/a')),
    failsWith('remote_failure', /gave up in the middle.*No such file/s),
  );
});

test('a download whose last reply is lost is complete, but its session is not used again', async (t) => {
  const [server, client] = await setUp(t, {
    RETR: async (_path, { say, data }) => {
      say('150 go');
      (await data()).end('content');
    },
  });
  server.files.set('/a', Buffer.from('content'));
  await client.use(
    async (remote, session) => {
      assert.equal((await get(remote, '/a')).toString(), 'content');
      session.release(await session.lease(new AbortController().signal), 'keep');
      assert.equal(session.alive, false);
    },
    {},
    SMALL,
  );
});

for (const [what, reported] of [
  ['of no size', ''],
  ['that is longer than its size', 'conte'],
] as const) {
  test(`a file ${what} is not complete without the last reply`, async (t) => {
    const [server, client] = await setUp(t, {
      RETR: async (_path, { say, data, socket }) => {
        say('150 go');
        (await data()).end(reported === '' ? '' : 'content that is c');
        await once(await data(), 'close');
        socket.destroy();
      },
    });
    server.files.set('/a', Buffer.from(reported));
    await assert.rejects(
      client.use((remote) => get(remote, '/a')),
      failsWith('connection_lost'),
    );
  });
}

test('a file that grows while it is read is read to its end', async (t) => {
  const [server, client] = await setUp(t, {
    RETR: async (_path, { say, data }) => {
      say('150 go');
      (await data()).end('content and more');
      say('226 done');
    },
  });
  server.files.set('/a', Buffer.from('content'));
  assert.equal((await client.use((remote) => get(remote, '/a'))).toString(), 'content and more');
});

test('whether a file has grown can be asked while its last reply is awaited', async (t) => {
  let time = MTIME;
  let ended: () => void = () => assert.fail();
  const hasEnded = new Promise<void>((resolve) => (ended = resolve));
  const [server, client] = await setUp(t, {
    MDTM: (_path, { say }) => say(`213 ${time}`),
    RETR: async (path, { say, data }) => {
      say('150 go');
      const grown = 'content and more';
      server.files.set(path, Buffer.from(grown));
      time = '20300101000000';
      (await data()).end(grown);
      await once(await data(), 'close');
      ended();
    },
  });
  server.files.set('/a', Buffer.from('content'));
  await client.use(async (remote) => {
    const file = await remote.read(at('/a'));
    assert.ok(file.whole === undefined);
    await once(file.body, 'readable');
    assert.equal(String(file.body.read()), 'content and more');
    await hasEnded;
    assert.equal(await file.hasGrown?.(), true);
    assert.deepEqual(await file.body.toArray(), []);
  });
});

test('REST that is accepted and ignored gives no other bytes than those of the range', async (t) => {
  const content = Buffer.from('0123456789'.repeat(20_000));
  const [server, client] = await setUp(t, { REST: '350 ok' });
  server.files.set('/a', content);
  const ranged = async (start: number, end: number): Promise<string> =>
    client.use(async (remote) => {
      const chunks = await streamOf(await remote.read(at('/a'), () => ({ start, end }))).toArray();
      return Buffer.concat(chunks as Buffer[]).toString();
    });
  assert.equal(await ranged(3, 6), '3456', 'amid the file');
  assert.equal(await ranged(199_998, 199_999), '89', 'its end');
  assert.equal(await ranged(150_001, 150_003), '123');
  assert.equal(verbs(server).filter((verb) => verb === 'REST').length, 1, 'it is remembered');
});

test('without REST a range is cut out of the whole', async (t) => {
  const [server, client] = await setUp(t, { REST: '502 no' });
  server.files.set('/a', Buffer.from('0123456789'));
  assert.equal((await client.use((remote) => get(remote, '/a', { start: 3, end: 6 }))).toString(), '3456');
  assert.equal((await client.use((remote) => get(remote, '/a', { start: 3, end: 9 }))).toString(), '3456789');
});

test('a server that stalls ends the download in time', async (t) => {
  const [server, client] = await setUp(t, {
    RETR: async (_path, { say, data }) => {
      say('150 go');
      (await data()).write('con');
    },
  });
  server.files.set('/a', Buffer.from('content'));
  await assert.rejects(
    client.use((remote) => get(remote, '/a'), {}, SMALL),
    failsWith('stall_timeout'),
  );
});

test('a reader that pauses longer than the stall timeout is not a stall', async (t) => {
  const [server, client] = await setUp(t);
  const content = Buffer.alloc(20_000_000, 'x');
  server.files.set('/a', content);
  await client.use(
    async (remote) => {
      const body = streamOf(await remote.read(at('/a')));
      let bytes = 0;
      for await (const chunk of body) {
        if (bytes === 0) await new Promise((done) => setTimeout(done, 2 * SMALL.stallTimeoutMs));
        bytes += (chunk as Buffer).length;
      }
      assert.equal(bytes, content.length);
    },
    {},
    SMALL,
  );
});

test('replies that arrive byte by byte are understood', async (t) => {
  const [server, client] = await setUp(t, {
    GREETING: async (_argument, { socket }) => {
      const whole = socket.write.bind(socket);
      socket.setNoDelay(true);
      let queue = Promise.resolve();
      socket.write = (text: string): boolean => {
        for (const byte of Buffer.from(text)) {
          queue = queue.then(() => new Promise((done) => void whole(Buffer.of(byte), () => setImmediate(done))));
        }
        return true;
      };
      socket.write('220-several lines\r\n220 and no 220 more\r\n');
    },
  });
  await client.use((remote) => put(remote, '/a', 'content'));
  assert.equal(server.files.get('/a')?.toString(), 'content');
});

test('an endless greeting is cut: in size, and in time', async (t) => {
  const [, flood] = await setUp(t, {
    GREETING: (_argument, { socket }) => void Readable.from(endless('220-x'.padEnd(1000, 'x') + '\r\n')).pipe(socket),
  });
  await assert.rejects(flood.open(), failsWith('protocol_error'));
  const [, drip] = await setUp(t, {
    GREETING: (_argument, { socket }) => {
      const timer = setInterval(() => socket.write('nonsense\r\n'), 20);
      socket.on('close', () => clearInterval(timer));
    },
  });
  // Shorter than the wait after stray text.
  await assert.rejects(drip.open({}, { connectTimeoutMs: 400 }), failsWith('connect_timeout'));
});

function* endless(text: string): Generator<Buffer> {
  for (;;) yield Buffer.from(text);
}

test('a silent server is given up in time, and an abort of the caller is obeyed', async (t) => {
  const [, client] = await setUp(t, { GREETING: () => {} });
  await assert.rejects(client.open({}, SMALL), failsWith('connect_timeout'));
  const controller = new AbortController();
  const reason = new GatewayError('client_gone', 'left');
  setTimeout(() => controller.abort(reason), 50);
  await assert.rejects(client.open({}, {}, controller.signal), failsWith('client_gone'));
});

test('a full server and a wrong password are distinguished', async (t) => {
  const cases: [Script, ErrorCode][] = [
    [{ GREETING: '421 There are too many connected users, please try later.' }, 'too_many_sessions'],
    [
      { USER: '530 Sorry, the maximum number of clients (3) for this user are already connected.' },
      'too_many_sessions',
    ],
    [{ PASS: '421 8 users (the maximum) are already logged in, sorry' }, 'too_many_sessions'],
    [{ PASS: '530 Login incorrect.' }, 'login_refused'],
    [{ PASS: '530 Too many failed password attempts' }, 'login_refused'],
    [{ PASS: '332 Need account' }, 'login_refused'],
  ];
  for (const [script, code] of cases) {
    const [, client] = await setUp(t, script);
    await assert.rejects(client.open(), failsWith(code));
  }
});

test('no text shows the password, even if the server echoes it', async (t) => {
  const [, client] = await setUp(t, {
    PASS: (password, { say }) => say(`530 user tester, password ${password}: wrong`),
  });
  await assert.rejects(client.open(), (error: GatewayError) => {
    assert.equal(error.code, 'login_refused');
    assert.match(error.clientText, /tester/);
    assert.doesNotMatch(error.clientText, /pass word/);
    return true;
  });
  assert.doesNotMatch(client.logged.join(), /pass word/);
});

test('a password cannot smuggle a command', async (t) => {
  const [server, client] = await setUp(t);
  await assert.rejects(client.open({ password: 'x\r\nDELE /a' }), failsWith('bad_request'));
  assert.ok(!verbs(server).includes('DELE'));
});

test('an upload whose last reply never comes fails, leaves nothing and keeps the old file', async (t) => {
  const [server, client] = await setUp(t, {
    STOR: async (path, { say, data }) => {
      say('150 go');
      for await (const chunk of await data()) server.files.set(path, chunk as Buffer);
    },
  });
  server.files.set('/a', Buffer.from('old'));
  await assert.rejects(
    client.use((remote) => put(remote, '/a', 'new'), {}, SMALL),
    failsWith('stall_timeout'),
  );
  assert.deepEqual([...server.files], [['/a', Buffer.from('old')]]);
  assert.equal(server.sessions.length, 2, 'the temporary file was deleted by a fresh login');
  assert.deepEqual(client.removedLater, []);
  held({
    area: 'Faults',
    what: 'FTP: the final reply is lost after the file arrived',
    done: 'the whole file stored, then silence',
    held: '504 stall_timeout; the old file stays; the hidden one is deleted by a fresh login',
    tries: 1,
  });
});

test('what cannot be deleted now is noted for later', async (t) => {
  const [server, client] = await setUp(t, {
    GREETING: (_argument, { session, say, socket }) => (session === 1 ? say('220 hello') : void socket.destroy()),
    STOR: async (path, { say, data, socket }) => {
      say('150 go');
      for await (const chunk of await data()) server.files.set(path, chunk as Buffer);
      socket.destroy();
    },
  });
  await assert.rejects(
    client.use((remote) => put(remote, '/a', 'new')),
    failsWith('connection_lost'),
  );
  assert.deepEqual(client.removedLater, [...server.files.keys()]);
  held({
    area: 'Faults',
    what: 'FTP: the connection ends before the final reply, and no login is taken',
    done: 'the whole file stored, then the line is cut',
    held: '502; the hidden name is noted and deleted later',
    tries: 1,
  });
});

// Some of these reasons end no session by themselves, like a refusal of the server.
for (const reason of ['cancelled', 'draining', 'database_away', 'upload_locked'] as const) {
  test(`an upload that ends with ${reason} before the server answers STOR leaves nothing`, async (t) => {
    const controller = new AbortController();
    const [server, client] = await setUp(t, {
      STOR: (path) => {
        server.files.set(path, Buffer.alloc(0));
        controller.abort(new GatewayError(reason, 'it ends'));
      },
    });
    await assert.rejects(
      client.use((remote) => put(remote, '/a', 'new'), {}, {}, controller.signal),
      failsWith(reason),
    );
    assert.equal(server.files.size, 1);
    assert.deepEqual(client.removedLater, [...server.files.keys()]);
  });
}

test('a rename whose answer is lost has succeeded if the file exists', async (t) => {
  const [server, client] = await setUp(t, {
    RNTO: async (_to, { usual, socket, session }) => {
      if (session === 1) socket.write = () => true;
      await usual();
      if (session === 1) socket.destroy();
    },
  });
  const info = await client.use((remote) => put(remote, '/a', 'new'));
  assert.equal(info.path, '/a');
  assert.deepEqual([...server.files], [['/a', Buffer.from('new')]]);
  held({
    area: 'Faults',
    what: 'FTP: the reply to the last rename is lost',
    done: 'the file renamed, then the line is cut',
    held: 'looked at by a fresh login: the file is there, so it is a success',
    tries: 1,
  });
});

test('a rename that was lost on the way has failed, and nothing is left', async (t) => {
  const [server, client] = await setUp(t, { RNTO: (_to, { socket }) => void socket.destroy() });
  await assert.rejects(
    client.use((remote) => put(remote, '/a', 'new')),
    failsWith('connection_lost'),
  );
  assert.deepEqual([...server.files], []);
  held({
    area: 'Faults',
    what: 'FTP: the last rename is lost on the way',
    done: 'the line is cut at RNTO',
    held: '502, no file stays',
    tries: 1,
  });
});

const refusesToReplace = (server: () => ScriptedFtp): Script => ({
  RNTO: async (to, { say, usual }) => (server().files.has(to) ? say('553 File exists.') : usual()),
});

test('if a rename does not replace, the old file is renamed aside', async (t) => {
  const [server, client] = await setUp(
    t,
    refusesToReplace(() => server),
  );
  server.files.set('/a', Buffer.from('old'));
  await client.use(async (remote) => {
    assert.equal(remote.can.moveOnto, 'replaces');
    await put(remote, '/a', 'new');
    assert.equal(remote.can.moveOnto, 'refuses');
  });
  assert.deepEqual([...server.files], [['/a', Buffer.from('new')]]);
  held({
    area: 'Faults',
    what: 'FTP: a rename onto an existing name is refused',
    done: 'a scripted server that refuses RNTO onto a file',
    held: 'the old file steps aside and is replaced',
    tries: 1,
  });
});

test('the old file is restored when the new one cannot take its place', async (t) => {
  let renames = 0;
  const [server, client] = await setUp(t, {
    RNTO: async (_target, { say, usual }) => {
      if (++renames === 1 || renames === 3) return say('553 Refused.');
      await usual();
    },
  });
  server.files.set('/a', Buffer.from('old'));
  await assert.rejects(
    client.use((remote) => put(remote, '/a', 'new')),
    failsWith('remote_failure', /atomicUploads: false/),
  );
  assert.deepEqual([...server.files], [['/a', Buffer.from('old')]]);
  held({
    area: 'Faults',
    what: 'FTP: the old file is moved aside, then the new one is refused',
    done: 'the second rename refused',
    held: 'the old file comes back',
    tries: 1,
  });
});

test('the old file is restored when the connection dies between the two renames', async (t) => {
  let renames = 0;
  const [server, client] = await setUp(t, {
    RNTO: async (_to, { say, usual, socket }) => {
      if (++renames === 1) return say('553 Refused.');
      if (renames === 3) return void socket.destroy();
      await usual();
    },
  });
  server.files.set('/a', Buffer.from('old'));
  await assert.rejects(
    client.use((remote) => put(remote, '/a', 'new')),
    failsWith('connection_lost'),
  );
  assert.deepEqual([...server.files], [['/a', Buffer.from('old')]]);
  held({
    area: 'Faults',
    what: 'FTP: the connection dies between the two renames',
    done: 'the old file moved aside, then the line is cut',
    held: 'the old file comes back by a fresh login',
    tries: 1,
  });
});

test('the old file is restored when the connection dies at the answer to the first of the two renames', async (t) => {
  let renames = 0;
  const [server, client] = await setUp(t, {
    RNTO: async (_to, { say, usual, socket }) => {
      if (++renames === 1) return say('553 Refused.');
      if (renames > 2) return usual();
      socket.write = () => true;
      await usual();
      socket.destroy();
    },
  });
  server.files.set('/a', Buffer.from('old'));
  await assert.rejects(
    client.use((remote) => put(remote, '/a', 'new')),
    failsWith('connection_lost'),
  );
  assert.deepEqual([...server.files], [['/a', Buffer.from('old')]]);
});

test('a file that appears between the lookup and the rename is not replaced by one that must be new', async (t) => {
  const [server, client] = await setUp(t, {
    RNTO: async (to, { say, usual }) => {
      if (to !== '/a') return usual();
      server.files.set('/a', Buffer.from('of another'));
      say('553 File exists.');
    },
  });
  await assert.rejects(
    client.use((remote) => put(remote, '/a', 'new', { exclusive: true })),
    failsWith('already_exists'),
  );
  assert.deepEqual([...server.files], [['/a', Buffer.from('of another')]]);
});

test('a server that refuses every rename is recognised, and atomicUploads: false solves it', async (t) => {
  const [server, client] = await setUp(t, { RNFR: '550 Permission denied.' });
  await assert.rejects(
    client.use((remote) => put(remote, '/a', 'new')),
    failsWith('remote_failure', /"atomicUploads: false"/),
  );
  assert.deepEqual([...server.files], []);
  await client.use((remote) => put(remote, '/a', 'new'), { atomicUploads: false });
  assert.deepEqual([...server.files], [['/a', Buffer.from('new')]]);
  held({
    area: 'Faults',
    what: 'FTP: every rename is refused',
    done: 'RNFR or RNTO refused',
    held: '502 naming atomicUploads: false, which then works',
    tries: 1,
  });
});

test('a failed upload in place removes its file', async (t) => {
  const [server, client] = await setUp(t);
  const pieces = ['half'];
  const broken = new Readable({
    read() {
      const piece = pieces.shift();
      if (piece === undefined) this.destroy(new GatewayError('client_gone', 'left'));
      else this.push(piece);
    },
  });
  await assert.rejects(
    client.use((remote) => put(remote, '/a', broken), { atomicUploads: false }),
    failsWith('client_gone'),
  );
  assert.deepEqual([...server.files], []);
});

test('an upload that the server stores incompletely is not published', async (t) => {
  const [server, client] = await setUp(t, {
    STOR: async (path, { usual }) => {
      await usual();
      server.files.set(path, Buffer.from('sho'));
    },
    // The reply is sent before the file is cut short; SIZE comes after it.
    SIZE: async (path, { usual, say }) => (path.includes('.ftg-') ? say('213 3') : usual()),
  });
  server.files.set('/a', Buffer.from('old'));
  await assert.rejects(
    client.use((remote) => put(remote, '/a', 'short')),
    failsWith('size_mismatch'),
  );
  assert.deepEqual([...server.files], [['/a', Buffer.from('old')]]);
});

test('a full disk in the middle of an upload is reported in the words of the server', async (t) => {
  const [server, client] = await setUp(t, {
    STOR: async (path, { say, data }) => {
      say('150 go');
      server.files.set(path, Buffer.from('some'));
      const socket = await data();
      await once(socket, 'data');
      say('552 Quota exceeded.');
      socket.resetAndDestroy();
    },
  });
  await assert.rejects(
    client.use((remote) => put(remote, '/a', Readable.from(endless('x'.repeat(65_536))))),
    failsWith('no_space', /Quota exceeded/),
  );
  assert.deepEqual([...server.files], []);
});

test('an append that the server stores incompletely fails', async (t) => {
  const [server, client] = await setUp(t, {
    APPE: async (_path, { say, data }) => {
      say('150 go');
      (await data()).resume();
      await once(await data(), 'end');
      say('226 done');
    },
  });
  server.files.set('/log', Buffer.from('one'));
  await client.use(async (remote) => {
    const writer = await remote.append?.(at('/log'));
    assert.ok(writer);
    writer.end('two');
    await once(writer, 'finish');
    await assert.rejects(writer.commit({ size: 3 }), failsWith('size_mismatch'));
    await writer.abort(new Error('over'));
  });
});

test('421 to an idle session ends it; an unasked reply too', async (t) => {
  for (const words of ['421 Timeout.', '226 Surprise.']) {
    const [server, client] = await setUp(t);
    const session = await client.open();
    const closed = new Promise<void>((done) => session.onClose(done));
    server.sessions[0]?.write(`${words}\r\n`);
    await closed;
    assert.equal(session.alive, false);
    await new Promise<void>((done) => session.onClose(done));
    await assert.rejects(session.check(new AbortController().signal));
  }
  held({
    area: 'Faults',
    what: 'FTP: an idle session gets 421',
    done: '421 and the end of the connection while it rests',
    held: 'the session is not used again',
    tries: 1,
  });
});

test('a session out of step is given up', async (t) => {
  const [server, client] = await setUp(t, { SIZE: '226 that was the last transfer' });
  server.files.set('/a', Buffer.from('x'));
  await client.use(async (remote, session) => {
    const lease = await session.lease(new AbortController().signal);
    await assert.rejects(remote.stat(at('/a')), failsWith('protocol_error'));
    session.release(lease, 'keep');
    assert.equal(session.alive, false);
  });
});

test('check finds a session whose server went silent', async (t) => {
  const [, client] = await setUp(t, { NOOP: () => {} });
  const session = await client.open({}, SMALL);
  await assert.rejects(session.check(new AbortController().signal), failsWith('stall_timeout'));
  assert.equal(session.alive, false);
});

const listing = (...lines: string[]): Script => ({
  LIST: async (_argument, { say, data }) => {
    say('150 go');
    (await data()).end(lines.map((line) => `${line}\r\n`).join(''));
    say('226 done');
  },
});

test('the server clock is found by one file, and times are UTC from the first listing on', async (t) => {
  const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
  const written = new Date(Math.floor(Date.now() / 60_000) * 60_000 - 3_600_000);
  const local = new Date(written.getTime() + 19_800_000);
  const two = (value: number): string => String(value).padStart(2, '0');
  const shown = `${months[local.getUTCMonth()]} ${two(local.getUTCDate())} ${two(local.getUTCHours())}:${two(local.getUTCMinutes())}`;
  const stamp = written.toISOString().replace(/[-:T]|\.\d+Z/g, '');
  const [, client] = await setUp(t, { ...listing(`-rw-r--r-- 1 a a 3 ${shown} new.txt`), MDTM: `213 ${stamp}` });
  const [entry] = await client.use((remote) => list(remote, '/'));
  assert.equal(entry?.modifiedAt.toISOString(), written.toISOString());
});

test('DOS listings are read', async (t) => {
  const lines = ['02-03-26  04:05PM       <DIR>          a folder', '02-03-2026  04:05AM             1234 a file.txt'];
  const [, client] = await setUp(t, { ...listing(...lines), MDTM: '500 no' });
  const entries = await client.use((remote) => list(remote, '/'));
  assert.deepEqual(
    entries.map(({ name, size, isDirectory, modifiedAt }) => [name, size, isDirectory, modifiedAt.toISOString()]),
    [
      ['a file.txt', 1234, false, '2026-02-03T04:05:00.000Z'],
      ['a folder', 0, true, '2026-02-03T16:05:00.000Z'],
    ],
  );
});

test('names that no file can have are skipped and logged', async (t) => {
  const line = (name: string): string => `-rw-r--r-- 1 a a 3 Feb 03 2026 ${name}`;
  const [, client] = await setUp(t, listing(...['../up', 'a/b', 'bell\u0007', '..', '.', 'good'].map(line)));
  const entries = await client.use((remote) => list(remote, '/'));
  assert.deepEqual(
    entries.map((entry) => entry.name),
    ['good'],
  );
  const logged = client.logged.filter((text) => text.includes('a listing is incomplete'));
  assert.equal(logged.length, 1);
  assert.match(logged[0] ?? '', /"count":3/);
});

test('a name that is not UTF-8 keeps its bytes', async (t) => {
  const [, client] = await setUp(t, {
    LIST: async (_argument, { say, data }) => {
      say('150 go');
      (await data()).end(Buffer.from('-rw-r--r-- 1 a a 3 Feb 03 2026 caf\xe9.txt\r\n', 'latin1'));
      say('226 done');
    },
  });
  const [entry] = await client.use((remote) => list(remote, '/'));
  assert.equal(entry?.name, 'caf\ufffd.txt');
  assert.equal(Buffer.from(entry?.rawName ?? '', 'base64').toString('latin1'), 'caf\xe9.txt');
});

test('if "-a" is refused or taken for a name, plain LIST is used, and remembered', async (t) => {
  for (const answer of ['550 No such file -a', '226 nothing']) {
    const [server, client] = await setUp(t, {
      LIST: async (argument, { say, usual }) => (argument === '-a' ? say(answer) : usual()),
    });
    server.files.set('/x', Buffer.from('x'));
    assert.equal((await client.use((remote) => list(remote, '/'))).length, 1);
    server.commands.length = 0;
    assert.equal((await client.use((remote) => list(remote, '/'))).length, 1);
    assert.deepEqual(
      server.commands.filter((line) => line.startsWith('LIST')),
      ['LIST'],
    );
  }
});

test('MLSD that is announced but unknown, or unreadable, is replaced by LIST', async (t) => {
  const scripts: Script[] = [
    { MLSD: '502 not here' },
    {
      MLSD: async (_argument, { say, data }) => {
        say('150 go');
        (await data()).end('this is no fact line\r\n');
        say('226 done');
      },
    },
  ];
  for (const script of scripts) {
    const [server, client] = await setUp(t, script, ['MLST type*;size*;modify*;']);
    server.files.set('/x', Buffer.from('x'));
    const [entry] = await client.use((remote) => list(remote, '/'));
    assert.equal(entry?.name, 'x');
  }
  held({
    area: 'Faults',
    what: 'FTP: MLSD is announced but unknown, or unreadable',
    done: 'refused, or answered in an unknown format',
    held: 'LIST instead, remembered',
    tries: 1,
  });
});

test('links in a listing are followed; those that lead nowhere are left out', async (t) => {
  const [server, client] = await setUp(
    t,
    listing('lrwxrwxrwx 1 a a 3 Feb 03 2026 good -> x', 'lrwxrwxrwx 1 a a 3 Feb 03 2026 bad -> y'),
  );
  server.files.set('/good', Buffer.from('content'));
  const entries = await client.use((remote) => list(remote, '/'));
  assert.deepEqual(
    entries.map(({ name, size }) => [name, size]),
    [['good', 7]],
  );
});

test('a giant line ends a listing before it fills the memory', async (t) => {
  const [, client] = await setUp(t, {
    LIST: async (_argument, { say, data }) => {
      say('150 go');
      Readable.from(endless('x'.repeat(60_000))).pipe(await data());
    },
  });
  await assert.rejects(
    client.use((remote) => list(remote, '/')),
    failsWith('protocol_error', /line of more than/),
  );
});

test('a listing in an unknown format is an error, not an empty folder', async (t) => {
  const [, client] = await setUp(t, listing('REPORT   JOB00042  OUTPUT    3 Spool Files'));
  await assert.rejects(
    client.use((remote) => list(remote, '/')),
    failsWith('protocol_error', /unknown format/),
  );
});

test('a listing left half way costs the session, not the next operation', async (t) => {
  const [server, client] = await setUp(t, {
    LIST: async (_argument, { say, data }) => {
      say('150 go');
      Readable.from(endless('-rw-r--r-- 1 a a 3 Feb 03 2026 f\r\n'.repeat(500))).pipe(await data());
    },
    MDTM: '500 no',
  });
  server.files.set('/known', Buffer.from('x'));
  const session = await client.open();
  const lease = await session.lease(new AbortController().signal);
  const context = { signal: new AbortController().signal, leftovers: undefined as never };
  const remote = client.protocol.openRemote(lease, client.connection(), LIMITS, context);
  await remote.stat(at('/known'));
  for await (const _entry of entriesOf(remote.list(at('/')))) break;
  session.release(lease, 'keep');
  assert.equal(session.alive, false);
});

test('SIZE that answers for folders does not make them files', async (t) => {
  const [server, client] = await setUp(t, { SIZE: '213 4096' });
  server.folders.add('/sub');
  server.files.set('/file', Buffer.from('x'));
  await client.use(async (remote) => {
    assert.equal((await remote.stat(at('/sub'))).isDirectory, true);
    assert.equal((await remote.stat(at('/file'))).isDirectory, false);
  });
});

test('without SIZE and MLST a file is found in the listing of its folder', async (t) => {
  const [server, client] = await setUp(t, { SIZE: '502 no', MDTM: '502 no' });
  server.files.set('/file', Buffer.from('four'));
  await client.use(async (remote) => {
    assert.equal((await remote.stat(at('/file'))).size, 4);
    await assert.rejects(remote.stat(at('/none')), failsWith('not_found'));
  });
  held({
    area: 'Faults',
    what: 'FTP: the server lacks SIZE and MLST',
    done: 'neither is known',
    held: 'the file is found in the listing of its folder',
    tries: 1,
  });
});

test('an existing entry that cannot be looked at is denied, not absent', async (t) => {
  const [, client] = await setUp(t, { RNFR: '350 it is there' });
  await client.use((remote) => assert.rejects(remote.stat(at('/secret')), failsWith('permission_denied')));
});

test('the login folder is shown as a path below the connection root', async (t) => {
  const [, client] = await setUp(t, { PWD: '257 "/home/a ""b""/in" is here' });
  const cases: [string, string][] = [
    ['/', '/home/a "b"/in'],
    ['/home', '/a "b"/in'],
    ['/home/a "b"/in', '/'],
    ['/ho', '/'],
    ['/elsewhere', '/'],
  ];
  for (const [rootPath, home] of cases) {
    assert.equal(await client.use((remote) => remote.home(), { rootPath }), home);
  }
});

test('a file left by a dead session is deleted only when the server no longer writes to it', async (t) => {
  let isDead = false;
  const growths = ['three', 'four'];
  const [server, client] = await setUp(t, {
    STOR: async (path, { say, data, socket }) => {
      say('150 go');
      for await (const chunk of await data()) {
        server.files.set(path, chunk as Buffer);
        break;
      }
      isDead = true;
      socket.destroy();
    },
    SIZE: async (path, { usual }) => {
      await usual();
      const more = isDead ? growths.shift() : undefined;
      const current = server.files.get(path);
      if (more !== undefined && current !== undefined)
        server.files.set(path, Buffer.concat([current, Buffer.from(more)]));
    },
    // Like Pure-FTPd for a file that grows while it is deleted.
    DELE: async (path, { say, usual }) => {
      if (growths.length === 0) return usual();
      server.files.set('/.pureftpd-rename.1.2', server.files.get(path) ?? Buffer.alloc(0));
      server.files.delete(path);
      say('550 Could not delete the file');
    },
  });
  await assert.rejects(client.use((remote) => put(remote, '/a', 'onetwo')));
  assert.ok(verbs(server).includes('DELE'));
  assert.deepEqual([...server.files.keys()], []);
  held({
    area: 'Faults',
    what: 'FTP: a dead session is still writing what had reached the server',
    done: 'a scripted server that, as Pure-FTPd does, keeps a file under a name of its own if it grows while it is deleted',
    held: 'the half file is deleted once its size stays; nothing is left',
    tries: 1,
  });
});

test('a file left by a dead session is deleted even if it cannot be looked at, or another client continues to write to it', async (t) => {
  const dying: Script = {
    STOR: async (path, { say, data, socket }) => {
      say('150 go');
      for await (const chunk of await data()) {
        server.files.set(path, chunk as Buffer);
        break;
      }
      socket.destroy();
    },
  };
  let size = 0;
  const looks: readonly Script[] = [
    { SIZE: '550 Permission denied', CWD: '550 Permission denied', RNFR: '350 ready' },
    { SIZE: (_path, { say }) => say(`213 ${(size += 1)}`) },
  ];
  let server!: ScriptedFtp;
  for (const look of looks) {
    const [started, client] = await setUp(t, { ...dying, ...look });
    server = started;
    await assert.rejects(client.use((remote) => put(remote, '/a', 'onetwo')));
    assert.deepEqual([...server.files.keys()], []);
  }
});

test('a folder whose last entry goes just after its removal was refused is removed', async (t) => {
  const [server, client] = await setUp(t, {
    RMD: (path, { say }) => {
      const [isFull, isGone] = [server.files.delete(`${path}/a`), server.folders.delete(path)];
      if (isFull) server.folders.add(path);
      say(isGone && !isFull ? '250 removed' : '550 Remove directory operation failed.');
    },
  });
  server.folders.add('/full');
  server.files.set('/full/a', Buffer.from('a'));
  await client.use((remote) => remote.removeFolder(at('/full')));
  assert.equal(server.folders.has('/full'), false);
});

test('an empty folder that may not be removed is refused as such', async (t) => {
  const [server, client] = await setUp(t, { RMD: '550 Permission denied.' });
  server.folders.add('/kept');
  await assert.rejects(
    client.use((remote) => remote.removeFolder(at('/kept'))),
    failsWith('permission_denied'),
  );
});
