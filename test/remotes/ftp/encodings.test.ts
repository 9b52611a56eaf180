/** FTP servers whose names are in another encoding: text in the API, the same bytes on the server, and nothing lost. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import { entryKey, nameOfKey } from '../../../src/base/entry-key.js';
import { GatewayError } from '../../../src/base/errors.js';
import { pathKeyOf, pathBelow, rawNamesOf, ROOT, withRawName } from '../../../src/remotes/path.js';
import type { Remote } from '../../../src/remotes/remote.js';
import { streamOf } from '../../../src/remotes/whole.js';
import { startProftpd, startPureFtpd, startVsftpd } from '../../servers/ftp.js';
import { startScripted, type Script, type ScriptedFtp } from '../../servers/scripted-ftp.js';
import { at, clientFor, list, put, type Client } from '../support/ftp-client.js';

const MACHINE = ['UTF8', 'MLST type*;size*;modify*;'];

/** Its names are bytes, one character each. */
async function setUp(
  t: TestContext,
  script: Script = {},
  feat: readonly string[] = [],
): Promise<[ScriptedFtp, Client]> {
  const server = await startScripted(script, feat, 'latin1');
  t.after(() => server.stop());
  return [server, clientFor(server)];
}

const bytes = (hex: string): string => Buffer.from(hex, 'hex').toString('latin1');
const read = async (remote: Remote, path = at('/')): Promise<string> =>
  (await buffer(streamOf(await remote.read(path)))).toString();

/** The label, a name, and its bytes, by other programs. */
const NAMES = [
  ['windows-1251', 'Отчёт №5', 'cef2f7b8f220b935'],
  // Its first letter is the byte 255, which begins a command of Telnet, and the next byte completes one.
  ['cp1251', 'гуляющая пятница', 'e3f3ebfffef9e0ff20effff2ede8f6e0'],
  // The second byte of two of its characters is that of a backslash.
  ['Shift_JIS', '表示ソ能', '955c8ea6835c945c'],
  ['gbk', '报告镕', 'b1a8b8e6e946'],
  ['euc-kr', '보고서', 'bab8b0edbcad'],
  ['iso-8859-15', 'Übersicht 5€', 'dc62657273696368742035a4'],
  ['gb18030', '报告㐀😀', 'b1a8b8e68139ee399439fc36'],
] as const;

for (const [encoding, name, hex] of NAMES) {
  test(`names in ${encoding}: list, write, read, move and delete`, async (t) => {
    const [server, client] = await setUp(t, {}, ['UTF8']);
    server.folders.add(`/${bytes(hex)}`);
    server.files.set(`/${bytes(hex)}/${bytes(hex)}.txt`, Buffer.from('there'));
    await client.use(
      async (remote) => {
        const shown = (await list(remote, '/')).map((file) => [file.path, file.rawName, file.isDirectory]);
        assert.deepEqual(shown, [[`/${name}`, undefined, true]]);
        const [file] = await list(remote, `/${name}`);
        assert.deepEqual([file?.path, file?.size], [`/${name}/${name}.txt`, 5]);
        assert.equal(await read(remote, at(`/${name}/${name}.txt`)), 'there');
        await put(remote, `/new/${name}/a ${name}`, 'new');
        await remote.move(at(`/new/${name}/a ${name}`), at(`/${name}/moved ${name}`), { replace: true });
        await remote.remove(at(`/${name}/${name}.txt`));
      },
      { encoding },
    );
    assert.deepEqual([...server.files.keys()], [`/${bytes(hex)}/moved ${bytes(hex)}`]);
    assert.ok(server.folders.has(`/new/${bytes(hex)}`));
    assert.ok(server.commands.includes('FEAT'));
    assert.ok(!server.commands.some((command) => command.startsWith('OPTS UTF8')), 'names would be UTF-8 then');
  });
}

test('MLSD and PWD are in the encoding, and the login is in UTF-8', async (t) => {
  const [server, client] = await setUp(
    t,
    {
      PWD: `257 "/${bytes('cef2f7b8f2')}"`,
      MLSD: async (_argument, { say, data }) => {
        say('150 go');
        (await data()).end(`type=file;size=3;modify=20240102030405; ${bytes('cef2f7b8f2')}\r\n`, 'latin1');
        say('226 done');
      },
    },
    MACHINE,
  );
  await client.use(
    async (remote) => {
      assert.equal(await remote.home(), '/Отчёт');
      assert.deepEqual(
        (await list(remote, '/')).map(({ name }) => name),
        ['Отчёт'],
      );
    },
    { encoding: 'cp1251', username: 'Отчёт' },
  );
  assert.ok(server.commands.includes(`USER ${Buffer.from('Отчёт').toString('latin1')}`));
});

test('months of other languages are read in the encoding', async (t) => {
  const lines = [
    ['koi8-r', '-rw-r--r-- 1 u g 3 ', 'c4c5cb', ' 20 2024 a'],
    ['iso-8859-15', '-rw-r--r-- 1 u g 3 20 ', '64e963', ' 2024 a'],
    ['euc-kr', '-rw-r--r-- 1 u g 3 ', '3132bff9203230c0cf', ' 2024 a'],
    ['gbk', '-rw-r--r-- 1 u g 3 ', '3132d4c2203230c8d5', ' 2024 a'],
  ] as const;
  for (const [encoding, before, hex, behind] of lines) {
    const [, client] = await setUp(t, {
      LIST: async (_argument, { say, data }) => {
        say('150 go');
        (await data()).end(`${before}${bytes(hex)}${behind}\r\n`, 'latin1');
        say('226 done');
      },
    });
    const [file] = await client.use((remote) => list(remote, '/'), { encoding });
    assert.equal(file?.modifiedAt.toISOString().slice(0, 10), '2024-12-20', encoding);
  }
});

test('a name that is no text in the encoding keeps its bytes, even if they are UTF-8 by chance', async (t) => {
  const [server, client] = await setUp(t);
  // The same text in UTF-8, which is no text in Shift_JIS; a lone first byte; a character that has other bytes as well.
  const [inUtf8, lone, twofold] = [Buffer.from('あ.txt').toString('latin1'), '\x82', bytes('ed40')];
  const all = [bytes('82a02e747874'), lone, twofold, inUtf8];
  for (const name of all) server.files.set(`/${name}`, Buffer.from(Buffer.from(name, 'latin1').toString('hex')));
  await client.use(
    async (remote) => {
      const files = await list(remote, '/');
      assert.deepEqual(
        files.map(({ name, rawName }) => [name, rawName && Buffer.from(rawName, 'base64').toString('latin1')]),
        [
          ['あ.txt', undefined],
          ['\ufffd', lone],
          ['\ufffd@', twofold],
          ['\ufffd\ufffd\ufffd.txt', inUtf8],
        ],
      );
      for (const [index, file] of files.entries()) {
        const name = all[index] ?? '';
        const path = file.rawName === undefined ? file.path : withRawName(file.path, file.rawName, 'rawName');
        const content = Buffer.from(name, 'latin1').toString('hex');
        assert.equal(await read(remote, path), content, 'by its rawName');
        assert.equal(rawNamesOf(path), file.rawName);
        const key = entryKey('', file);
        assert.deepEqual(pathKeyOf(path.slice(1)), key);
        assert.equal(pathBelow(ROOT, key), path, 'as jobs and watched folders keep it');
        assert.equal(nameOfKey(key).rawName, file.rawName);
        assert.equal(nameOfKey(key).path, file.name);
        assert.equal((await remote.stat(path)).size, content.length);
        await remote.remove(path);
        assert.equal(server.files.size, all.length - index - 1);
      }
    },
    { encoding: 'shift_jis' },
  );
});

test('a path that the encoding cannot express is refused before anything is sent', async (t) => {
  const [server, client] = await setUp(t);
  await client.use(
    async (remote, session) => {
      const refused = (error: unknown): boolean => {
        assert.ok(error instanceof GatewayError);
        assert.equal(error.code, 'bad_path');
        assert.match(error.clientText, /"日" \(U\+65E5\), which windows-1251, the encoding of the connection/);
        return true;
      };
      await assert.rejects(remote.stat(at('/日本')), refused);
      await assert.rejects(remote.makeFolder(at('/日本')), refused);
      await assert.rejects(put(remote, '/日本', 'x'), refused);
      const paths = server.commands.map((command) => /^(?!USER|PASS|TYPE|SITE)\S+ (.*)/.exec(command)?.[1] ?? '/');
      assert.deepEqual([...new Set(paths)], ['/']);
      assert.equal(session.alive, true);
      await put(remote, '/б', 'x');
    },
    { encoding: 'windows-1251' },
  );
});

for (const [refusal, isTwice] of [
  ["500 'SITE \xff' not understood", true],
  ["500 'SITE \xdf': command not understood.", true],
  ["500 'SITE \xff\xff': command not understood.", false],
  ['500 Unknown SITE command.', false],
  ['200 done', false],
] as const) {
  test(`the byte 255 is sent ${isTwice ? 'twice' : 'once'} to a server that answers: ${refusal}`, async (t) => {
    const [server, client] = await setUp(t, { SITE: refusal });
    await client.use((remote) => put(remote, '/пятница', 'x'), { encoding: 'windows-1251' });
    const [moved = ''] = server.commands.filter((command) => command.startsWith('RNTO'));
    assert.equal(moved, `RNTO /\xef${isTwice ? '\xff\xff' : '\xff'}\xf2\xed\xe8\xf6\xe0`);
    assert.ok(server.commands.includes('SITE \xff\xff'));
  });
}

test('an encoding without the byte 255 asks for nothing', async (t) => {
  const [server, client] = await setUp(t);
  await client.use((remote) => put(remote, '/報告', 'x'), { encoding: 'shift_jis' });
  assert.ok(!server.commands.some((command) => command.startsWith('SITE')));
});

test('sessions are shared by the encoding, not by its label', () => {
  const client = clientFor({ port: 1, username: 'u', password: 'p', tls: 'none', ca: undefined });
  const identity = (encoding: string): readonly string[] => client.protocol.identity(client.connection({ encoding }));
  assert.deepEqual(identity('latin1'), identity('ISO-8859-1'));
  assert.notDeepEqual(identity('latin1'), identity('utf-8'));
});

for (const [maker, start] of [
  ['vsftpd', startVsftpd],
  ['pure-ftpd', startPureFtpd],
  ['proftpd', startProftpd],
] as const) {
  test(`${maker}: a name is written in the bytes of the encoding, and comes back as text`, async (t) => {
    const server = await start({ tls: 'none' });
    t.after(() => server.stop());
    const client = clientFor(server);
    const onDisk: string[] = [];
    // Pure-FTPd takes no name with the byte of a backslash.
    const taken = NAMES.filter(([, , hex]) => maker !== 'pure-ftpd' || !bytes(hex).includes('\\'));
    for (const [encoding, name, hex] of taken) {
      onDisk.push(bytes(hex));
      await client.use(
        async (remote) => {
          await put(remote, `/${name}/${name}`, name);
          assert.equal(await read(remote, at(`/${name}/${name}`)), name);
          const names = (await list(remote, '/')).map((file) => file.name);
          assert.ok(names.includes(name), `${encoding}: ${names.join(' ')}`);
        },
        { encoding },
      );
      const inside = readdirSync(Buffer.from(`${server.folder}/${bytes(hex)}`, 'latin1'), { encoding: 'latin1' });
      assert.deepEqual(inside, [bytes(hex)]);
    }
    assert.deepEqual(readdirSync(server.folder, { encoding: 'latin1' }).sort(), onDisk.sort());
  });
}
