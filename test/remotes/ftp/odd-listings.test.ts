/**
 * FTP servers with unusual listings, ends and greetings. Their entries are complete, counted as left out, or an error.
 */
import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import fc from 'fast-check';
import { GatewayError, type ErrorCode } from '../../../src/base/errors.js';
import type { RemotePath } from '../../../src/remotes/path.js';
import type { FileInfo, LeftOut, Remote } from '../../../src/remotes/remote.js';
import { streamOf } from '../../../src/remotes/whole.js';
import { startScripted, type Script, type ScriptedFtp } from '../../servers/scripted-ftp.js';
import { clientFor, type Client } from '../support/ftp-client.js';
import { entriesOf } from '../../support/seam.js';

const MACHINE = ['MLST type*;size*;modify*;'];

async function setUp(t: TestContext, script: Script, feat?: readonly string[]): Promise<[ScriptedFtp, Client]> {
  const server = await startScripted(script, feat);
  t.after(() => server.stop());
  server.folders.add('/in');
  return [server, clientFor(server)];
}

interface Listed {
  readonly files: readonly FileInfo[];
  readonly leftOut: readonly LeftOut[];
}

async function listed(remote: Remote, folder = '/in'): Promise<Listed> {
  const files: FileInfo[] = [];
  const leftOut: LeftOut[] = [];
  const reported = remote.list(folder as RemotePath, { leftOut: async (what) => void leftOut.push(what) });
  for await (const info of entriesOf(reported)) files.push(info);
  return { files, leftOut };
}

const sending =
  (text: () => string): Exclude<Script[string], string> =>
  async (_argument, { say, data }) => {
    say('150 go');
    (await data()).end(text());
    say('226 done');
  };

const failsWith = (code: ErrorCode) => (error: unknown) => error instanceof GatewayError && error.code === code;

test('sizes that are uncertain in a line are asked for', async (t) => {
  const lines = [
    '-????????? ? ? ? ? ? keep.csv',
    '-rw-r--r-- 1 u g -1294967296 Nov 20 10:15 wrapped.bin',
    '?rw-r--r-- 1 u g 3 Nov 20 10:15 folder',
    '-????????? ? ? ? ? ? gone.csv',
  ];
  const [server, client] = await setUp(t, { LIST: sending(() => lines.map((line) => `${line}\r\n`).join('')) });
  server.files.set('/in/keep.csv', Buffer.from('four'));
  server.files.set('/in/wrapped.bin', Buffer.alloc(3_000));
  server.folders.add('/in/folder');
  const { files, leftOut } = await client.use((remote) => listed(remote));
  assert.deepEqual(
    files.map(({ name, size, isDirectory }) => [name, size, isDirectory]),
    [
      ['keep.csv', 4, false],
      ['wrapped.bin', 3_000, false],
      ['folder', 0, true],
    ],
  );
  assert.deepEqual(
    leftOut.map(({ name, why }) => [name?.toString(), why]),
    [['gone.csv', 'unreadable']],
  );
});

test('a line has its rights with every form of its time', async (t) => {
  const times = ['Nov 20 10:15', 'Nov 20 2024', '2024-11-20 10:15:30.5 +0100'];
  const lines = times.map((time, index) => `-rw-r----- 1 alice users 3 ${time} ${index}`);
  const [, client] = await setUp(t, { LIST: sending(() => lines.map((line) => `${line}\r\n`).join('')) });
  const { files } = await client.use((remote) => listed(remote));
  assert.deepEqual(
    files.map(({ name, mode, owner, group }) => [name, mode, owner, group]),
    ['0', '1', '2'].map((name) => [name, 0o640, 'alice', 'users']),
  );
});

test('entries listed by their paths, and folders with a slash', async (t) => {
  const names = ['/in/a.txt', './b.txt', 'in/c.txt', 'other/d.txt', '../e.txt'];
  const lines = [
    ...names.map((name) => `-rw-r--r-- 1 u g 3 Feb 03 2026 ${name}`),
    'drwxr-xr-x 1 u g 3 Feb 03 2026 sub/',
  ];
  const [, client] = await setUp(t, { LIST: sending(() => lines.map((line) => `${line}\r\n`).join('')) });
  const { files, leftOut } = await client.use((remote) => listed(remote));
  assert.deepEqual(
    files.map(({ path }) => path),
    ['/in/a.txt', '/in/b.txt', '/in/c.txt', '/in/sub'],
  );
  assert.deepEqual(
    leftOut.map(({ name }) => name?.toString()),
    ['other/d.txt', '../e.txt'],
  );
});

test('a listing that ends in the middle of a line is an error', async (t) => {
  for (const [feat, verb, line] of [
    [[], 'LIST', '-rw-r--r-- 1 u g 3 Feb 03 2026 keep.csv'],
    [MACHINE, 'MLSD', 'type=file;size=3;modify=20240102030405; keep.csv'],
  ] as const) {
    let end = line.length;
    const [, client] = await setUp(t, { [verb]: sending(() => `${line}\r\n${line.slice(0, end)}`) }, feat);
    for (const cut of [line.length, line.length - 3, 5]) {
      end = cut;
      await assert.rejects(
        client.use((remote) => listed(remote)),
        failsWith('connection_lost'),
        `${verb} ${cut}`,
      );
    }
    end = 0;
    assert.equal((await client.use((remote) => listed(remote))).files.length, 1);
  }
});

test('a data connection that stays open after the last reply', async (t) => {
  let text = '-rw-r--r-- 1 u g 3 Feb 03 2026 a.txt\r\n';
  const [, client] = await setUp(t, {
    LIST: async (_argument, { say, data }) => {
      say('150 go');
      (await data()).write(text);
      say('226 done');
    },
  });
  const limits = { stallTimeoutMs: 2_000 };
  const { files } = await client.use((remote) => listed(remote), {}, limits);
  assert.deepEqual(
    files.map(({ name }) => name),
    ['a.txt'],
  );
  text += '-rw-r--r-- 1 u g 3 Feb 03';
  await assert.rejects(
    client.use((remote) => listed(remote), {}, limits),
    failsWith('stall_timeout'),
  );
});

test('a listing that is confirmed without a use of its data connection is no empty folder', async (t) => {
  const unused = '250 done';
  const opened: Script[string] = (_argument, { say }) => {
    say('150 go');
    say('226 done');
  };
  const limits = { stallTimeoutMs: 2_000 };
  for (const answer of [unused, opened]) {
    for (const [script, feat] of [
      [{ LIST: answer }, []],
      [{ MLSD: answer }, ['MLST type*;size*;modify*;']],
    ] as const) {
      const [server, client] = await setUp(t, script, feat);
      server.files.set('/a.txt', Buffer.from('four'));
      await assert.rejects(
        client.use((remote) => listed(remote), {}, limits),
        failsWith(answer === unused ? 'protocol_error' : 'stall_timeout'),
      );
    }
  }
});

test('an empty folder whose data connection ends, with 226 at once or after 150', async (t) => {
  for (const replies of [['226 nothing'], ['150 go', '226 done']]) {
    const [, client] = await setUp(t, {
      LIST: async (_argument, { say, data }) => {
        const socket = await data();
        for (const reply of replies) say(reply);
        socket.end();
      },
    });
    const { files } = await client.use((remote) => listed(remote));
    assert.deepEqual(files, []);
  }
});

test('a data connection of a download that stays open after the last reply', async (t) => {
  const content = Buffer.alloc(200_000, 'x');
  let sent = content.length;
  const [server, client] = await setUp(t, {
    RETR: async (_argument, { say, data }) => {
      say('150 go');
      (await data()).write(content.subarray(0, sent));
      say('226 done');
    },
  });
  server.files.set('/a.bin', content);
  const download = (): Promise<Buffer> =>
    client.use(
      async (remote) => buffer(streamOf(await remote.read('/a.bin' as RemotePath))),
      {},
      { stallTimeoutMs: 2_000 },
    );
  assert.ok((await download()).equals(content));
  sent -= 1;
  await assert.rejects(download(), failsWith('stall_timeout'));
});

test('PWD that is refused, or answers without quotes', async (t) => {
  for (const [reply, home] of [
    ['502 unknown', '/'],
    ['257 /in is the current directory', '/in'],
    ['257 "/in" is the current directory', '/in'],
    ['257 in is the current directory', '/'],
  ] as const) {
    const [server, client] = await setUp(t, { PWD: reply });
    server.files.set('/in/a.txt', Buffer.from('four'));
    await client.use(async (remote) => {
      assert.equal(await remote.home(), home, reply);
      assert.deepEqual(
        (await listed(remote)).files.map(({ name }) => name),
        ['a.txt'],
      );
    });
  }
});

test('a login that wants an account as well', async (t) => {
  for (const verb of ['USER', 'PASS']) {
    const [, client] = await setUp(t, { [verb]: '332 Need account for login.' });
    const refused = (error: unknown): boolean => failsWith('login_refused')(error) && /ACCT/.test(String(error));
    await assert.rejects(client.open(), refused);
    const echoed = { [verb]: '332 Need account for login.', ACCT: '530 No account "acme", nor secret' };
    const [, other] = await setUp(t, echoed);
    await assert.rejects(other.open({ acct: 'acme', password: 'secret' }), (error: unknown) => {
      assert.ok(failsWith('login_refused')(error));
      return (error as GatewayError).remote?.text === 'No account "***", nor ***';
    });
    const [server, third] = await setUp(t, { [verb]: '332 Need account for login.', ACCT: '230 Welcome' });
    (await third.open({ acct: 'acme 7' })).close();
    assert.ok(server.commands.includes('ACCT acme 7'), server.commands.join());
  }
  const [server, client] = await setUp(t, {});
  (await client.open({ acct: 'acme' })).close();
  assert.ok(!server.commands.some((command) => command.startsWith('ACCT')), 'sent only if it is asked for');
});

test('summer and winter time: a list and exists agree for files of both', async (t) => {
  const two = (value: number): string => String(value).padStart(2, '0');
  const berlin = (time: Date): Date => {
    const zone = new Intl.DateTimeFormat('en', { timeZone: 'Europe/Berlin', timeZoneName: 'longOffset' });
    const name = zone.formatToParts(time).find(({ type }) => type === 'timeZoneName')?.value ?? '';
    return new Date(time.getTime() + Number(/GMT\+(\d\d)/.exec(name)?.[1] ?? 0) * 3_600_000);
  };
  const times = new Map<string, Date>();
  // Two changes of the clocks are among them.
  const minute = Math.floor(Date.now() / 60_000) * 60_000;
  for (let days = 1; days < 365; days += 3) times.set(`/in/${days}.txt`, new Date(minute - days * 86_400_000));
  const shownAs = (path: string, time: Date): string => {
    const local = berlin(time);
    const date = `${two(local.getUTCMonth() + 1)}-${two(local.getUTCDate())}-${local.getUTCFullYear()}`;
    return `${date}  ${two(local.getUTCHours())}:${two(local.getUTCMinutes())}  4 ${path.slice(4)}\r\n`;
  };
  const [server, client] = await setUp(t, {
    LIST: sending(() => [...times].map(([path, time]) => shownAs(path, time)).join('')),
    MDTM: (path, { say }) => {
      const time = times.get(path);
      say(time === undefined ? '550 no' : `213 ${time.toISOString().replace(/[-:T]|\.\d+Z/g, '')}`);
    },
  });
  for (const path of times.keys()) server.files.set(path, Buffer.from('four'));
  await client.use(async (remote) => {
    for (const round of [1, 2]) {
      server.commands.length = 0;
      const { files } = await listed(remote);
      assert.equal(files.length, times.size);
      for (const { path, modifiedAt } of files) assert.deepEqual(modifiedAt, times.get(path), `${round} ${path}`);
      const asked = server.commands.filter((command) => command.startsWith('MDTM')).length;
      assert.ok(round === 1 ? asked < 40 : asked === 0, `${asked} questions in round ${round}`);
    }
  });
});

test('times in the zone of the connection: nothing is asked for, and each change of the clocks counts', async (t) => {
  const cases: readonly (readonly [string, string])[] = [
    ['01-15-24  10:15AM', '2024-01-15T09:15:00.000Z'],
    ['07-15-24  10:15AM', '2024-07-15T08:15:00.000Z'],
    ['03-31-24  01:59AM', '2024-03-31T00:59:00.000Z'],
    // Skipped: the clocks went from 2 to 3.
    ['03-31-24  02:30AM', '2024-03-31T01:00:00.000Z'],
    ['03-31-24  03:00AM', '2024-03-31T01:00:00.000Z'],
    // Twice: the clocks went from 3 to 2.
    ['10-27-24  02:30AM', '2024-10-27T00:30:00.000Z'],
    ['10-27-24  03:00AM', '2024-10-27T02:00:00.000Z'],
  ];
  const lines = cases.map(([time], at) => `${time}  4 ${at}.txt\r\n`);
  const exact = '-rw-r--r-- 1 u g 4 2024-07-15 10:15:30.000000000 +0000 exact.txt\r\n';
  const [server, client] = await setUp(t, { LIST: sending(() => lines.join('') + exact) });
  const { files } = await client.use((remote) => listed(remote), { timeZone: 'Europe/Berlin' });
  assert.deepEqual(
    files.map(({ modifiedAt }) => modifiedAt.toISOString()),
    [...cases.map(([, utc]) => utc), '2024-07-15T10:15:30.000Z'],
  );
  assert.ok(!server.commands.some((command) => command.startsWith('MDTM')), server.commands.join());
});

test('a fixed format: MLSD is not used, and lines in another format are left out', async (t) => {
  const lines = '11-20-24  10:15AM  1234 keep.csv\r\n-rw-r--r-- 1 u g 3 Nov 20 10:15 other.csv\r\n';
  const [server, client] = await setUp(t, { LIST: sending(() => lines), MDTM: '502 no' }, MACHINE);
  const { files, leftOut } = await client.use((remote) => listed(remote), { listing: 'dos' });
  assert.deepEqual(
    files.map(({ name, size }) => [name, size]),
    [['keep.csv', 1234]],
  );
  assert.equal(leftOut.length, 1);
  assert.ok(!server.commands.some((command) => command.startsWith('ML')), server.commands.join());
  const [, other] = await setUp(t, { LIST: sending(() => `${lines.split('\r\n')[1]}\r\n`) });
  await assert.rejects(
    other.use((remote) => listed(remote), { listing: 'eplf' }),
    (error: unknown) =>
      error instanceof GatewayError && error.code === 'protocol_error' && /listing "eplf"/.test(error.message),
  );
});

test('older versions are not listed, and the size of a file in blocks is asked for', async (t) => {
  const line = (name: string): string => `${name}      3/4      20-NOV-2024 10:15:30  [USER]  (RWED,RWED,RE,)\r\n`;
  const text = `Directory DKA0:[IN]\r\n\r\n${line('A.TXT;2')}${line('A.TXT;1')}\r\nTotal of 2 files, 6/8 blocks.\r\n`;
  const [server, client] = await setUp(t, { LIST: sending(() => text), MDTM: '502 no' });
  server.files.set('/in/A.TXT', Buffer.from('four'));
  const { files, leftOut } = await client.use((remote) => listed(remote));
  assert.deepEqual(
    files.map(({ name, size }) => [name, size]),
    [['A.TXT', 4]],
  );
  assert.deepEqual(leftOut, []);
});

test('a server that takes no path with slashes is named as such', async (t) => {
  const [, client] = await setUp(t, { PWD: '257 "DKA0:[USER]" is current', CWD: '550 invalid directory' });
  await assert.rejects(
    client.use((remote) => listed(remote, '/')),
    (error: unknown) =>
      error instanceof GatewayError && error.code === 'remote_failure' && error.message.includes('DKA0:[USER]'),
  );
});

const NAMES = ['a.txt', 'keep.csv', 'z z.bin'];
const WITHOUT_BLANKS = NAMES.map((name) => name.replace(' ', '_'));
const SETS = 'Volume Unit    Referred Ext Used Recfm Lrecl BlkSz Dsorg Dsname\r\n';

interface Form {
  readonly verb: 'LIST' | 'MLSD';
  readonly heading?: string;
  readonly names?: readonly string[];
  readonly line: (name: string) => string;
}

const GOOD: Readonly<Record<string, Form>> = {
  Unix: { verb: 'LIST', line: (name) => `-rw-r--r--    1 1000     users         1234 Nov 20 10:15 ${name}` },
  DOS: { verb: 'LIST', line: (name) => `11-20-24  10:15AM                 1234 ${name}` },
  NetWare: { verb: 'LIST', line: (name) => `- [RWCEAFMS] owner        1234       Oct 20 15:27    ${name}` },
  'IBM i': { verb: 'LIST', line: (name) => `USR            1234 31/12/25 14:30:00 *STMF      ${name}` },
  EPLF: { verb: 'LIST', line: (name) => `+i12.34,m1700000000,r,s1234,\t${name}` },
  OpenVMS: {
    verb: 'LIST',
    heading: 'Directory DKA0:[USER.IN]\r\n',
    names: WITHOUT_BLANKS,
    line: (name) => `${name};1           3/4         20-NOV-2024 10:15:30  [GROUP,USER]  (RWED,RWED,RE,)`,
  },
  'z/OS': {
    verb: 'LIST',
    heading: SETS,
    names: WITHOUT_BLANKS,
    line: (name) => `WRK001 3390   2024/03/19  1   15  FB     132 27920  PS  ${name}`,
  },
  MLSD: { verb: 'MLSD', line: (name) => `type=file;size=1234;modify=20240102030405; ${name}` },
};

for (const [form, { verb, heading = '', names = NAMES, line }] of Object.entries(GOOD)) {
  test(`a listing of ${form} with any mutated line: the right entries, an error, or a counted omission`, async (t) => {
    let sent = '';
    const [server, client] = await setUp(
      t,
      { [verb]: sending(() => sent), MDTM: '502 no', MLST: '550 No such file or directory' },
      verb === 'MLSD' ? MACHINE : [],
    );
    // Where a line shows no size, it is asked for.
    for (const name of names) server.files.set(`/in/${name}`, Buffer.alloc(1234));
    const session = await client.open();
    let remote = await client.remoteOn(session);
    const printable = fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code));
    await fc.assert(
      fc.asyncProperty(
        fc.nat(2),
        fc.nat(200),
        fc.constantFrom('replace', 'insert', 'remove', 'cut'),
        printable,
        async (at, place, kind, character) => {
          const lines = names.map(line);
          const good = lines[at] ?? '';
          const where = place % good.length;
          const rest =
            kind === 'cut'
              ? ''
              : (kind === 'remove' ? '' : character) + good.slice(kind === 'insert' ? where : where + 1);
          lines[at] = good.slice(0, where) + rest;
          sent = heading + lines.map((one) => `${one}\r\n`).join('');
          const isDropped = /^\s*$|[ ;] ?\.{1,2}$|type=[cp]dir/i.test(lines[at] ?? '');
          try {
            const { files, leftOut } = await listed(remote);
            assert.equal(files.length + leftOut.length, isDropped ? files.length + leftOut.length : 3, sent);
            for (const [index, name] of names.entries()) {
              if (index !== at)
                assert.ok(
                  files.some((file) => file.name === name && file.size === 1234),
                  `${name}: ${sent}`,
                );
            }
          } catch (error) {
            if (!(error instanceof GatewayError)) throw error;
            remote = await client.remoteOn(await client.open());
          }
        },
      ),
      { numRuns: 150 },
    );
    session.close();
  });
}
