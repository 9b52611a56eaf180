/** The quick start for a new user: the built program in an empty folder, and the exact lines that it prints. */
import assert from 'node:assert/strict';
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, suite, test } from 'node:test';
import { promisify } from 'node:util';
import { freePort } from '../support/ports.js';
import { bareStart, timesBareStart } from '../support/start-cost.js';
import { eventually } from '../support/eventually.js';
import { held } from '../support/reliability.js';
import { MAIN } from '../support/start-args.js';

const run = promisify(execFile);
/** The limit of "at once", in starts of an empty Node.js program. */
const MAX_STARTS = 15;

interface Program {
  readonly child: ChildProcess;
  readonly out: () => string;
  readonly err: () => string;
  /** Exit code, or the signal's name. */
  readonly ended: Promise<{ readonly code: number | string; readonly ms: number }>;
}

function start(folder: string, env: Readonly<Record<string, string>>): Program {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [MAIN], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  const ended = once(child, 'close').then(([code, signal]) => ({
    code: (code ?? signal) as number | string,
    ms: performance.now() - startedAt,
  }));
  return { child, out: () => out, err: () => err, ended };
}

async function served(program: Program): Promise<string> {
  let isOver = false;
  void program.ended.then(() => (isOver = true));
  await eventually(() => isOver || /^ {2}Data .*$/m.test(program.out()), 'the banner');
  assert.ok(!isOver, program.out() + program.err());
  return program.out();
}

function lineOf(file: string, index: number): string | undefined {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n')[index]?.trim() : undefined;
}

/** Processes that name the folder in their command line, or have it as their working directory. */
function processesIn(folder: string): string[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      return words.includes(folder) || readlinkSync(`/proc/${pid}/cwd`).startsWith(folder);
    } catch {
      // The process has ended meanwhile.
      return false;
    }
  });
}

suite('the quick start', () => {
  let folder: string;
  let port: number;
  let lines: string[];
  let key: string;

  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'ftg-quick-start-'));
    // The embedded database does not run as root, and needs access to its folder.
    chmodSync(folder, 0o755);
    port = await freePort();
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const shell = async (line: string): Promise<string> => (await run('sh', ['-c', line], { cwd: folder })).stdout;

  test('prints lines that work as written, in their order', async () => {
    const program = start(folder, { PORT: String(port) });
    try {
      const banner = await served(program);
      await eventually(() => program.out().includes('/api/transfers'), 'the last line');
      lines = program
        .out()
        .split('\n')
        .filter((line) => line.trimStart().startsWith('curl '));
      key = /API key {6}(\S+)/.exec(banner)?.[1] ?? assert.fail(banner);
      assert.equal(lines.length, 4, banner);
      const [upload = '', list = '', download = '', transfers = ''] = lines;
      const uploaded = JSON.parse(await shell(upload)) as {
        success: boolean;
        transfer: { path: string; size: number };
      };
      assert.deepEqual([uploaded.success, uploaded.transfer.path, uploaded.transfer.size], [true, '/hello.txt', 5]);
      const listed = JSON.parse(await shell(list)) as { files: { name: string }[] };
      assert.deepEqual(
        listed.files.map(({ name }) => name),
        ['hello.txt'],
      );
      assert.equal(await shell(download), 'hello');
      const history = JSON.parse(await shell(transfers)) as { transfers: { type: string; status: string }[] };
      assert.deepEqual(
        history.transfers.map(({ type, status }) => `${type} ${status}`),
        ['download success', 'list success', 'upload success'],
      );
      assert.equal(readFileSync(path.join(folder, 'data/sandbox/hello.txt'), 'utf8'), 'hello');
      assert.deepEqual(readdirSync(folder), ['data'], 'nothing else is written');
    } finally {
      program.child.kill('SIGTERM');
    }
    assert.equal((await program.ended).code, 0);
    assert.equal(program.err(), '');
  });

  test('starts again on its data: the key is not shown again, and still works', async () => {
    const program = start(folder, { PORT: String(port) });
    try {
      const banner = await served(program);
      assert.doesNotMatch(banner, /ftg_|curl /);
      const [, , download = '', transfers = ''] = lines;
      assert.equal(await shell(download), 'hello');
      assert.equal((JSON.parse(await shell(transfers)) as { total: number }).total, 4);
      assert.ok(!program.out().includes(key), 'no line of the log shows the key');
    } finally {
      program.child.kill('SIGINT');
    }
    assert.equal((await program.ended).code, 0);
  });

  const ACCOUNTS =
    '[{ email: ops@example.com, plan: pro, apiKeys: [{ name: ops, key: ftg_ops-0123456789-abcdefghij }] }]';
  const configurations = [
    ['without accounts', `{ server: { port: PORT }, log: { pretty: false } }`],
    ['with accounts and the sandbox', `{ server: { port: PORT }, sandbox: true, accounts: ${ACCOUNTS} }`],
    ['with accounts alone', `{ server: { port: PORT }, accounts: ${ACCOUNTS} }`],
  ] as const;
  for (const [what, text] of configurations) {
    test(`a configuration ${what} on its data: account, key, connection and sandbox are still there`, async () => {
      const file = path.join(folder, 'gateway.yaml');
      writeFileSync(file, text.replace('PORT', String(port)));
      const program = start(folder, { GATEWAY_CONFIG: file });
      try {
        const isReady = async (): Promise<boolean> =>
          (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined))?.status === 200;
        await eventually(isReady, 'the gateway');
        const [, , download = ''] = lines;
        assert.equal(await shell(download), 'hello', 'the connection follows the port of the sandbox');
      } finally {
        program.child.kill('SIGINT');
        rmSync(file);
      }
      assert.equal((await program.ended).code, 0);
    });
  }

  test('a configuration without any account warns that no login is possible', async () => {
    const elsewhere = mkdtempSync(path.join(tmpdir(), 'ftg-no-account-'));
    chmodSync(elsewhere, 0o755);
    const file = path.join(elsewhere, 'gateway.yaml');
    writeFileSync(file, '{ server: { port: 0 }, log: { pretty: false } }');
    const program = start(elsewhere, { GATEWAY_CONFIG: file });
    try {
      await eventually(() => program.out().includes('"listening"'), 'the gateway');
      assert.match(program.out(), /there is no account, so no one can log in: name one under accounts/);
      assert.doesNotMatch(program.out(), /API key/);
    } finally {
      program.child.kill('SIGINT');
    }
    assert.equal((await program.ended).code, 0);
    rmSync(elsewhere, { recursive: true });
  });

  test('killed in its first start, again and again: the next one prints a working key and password, and no process is left', async () => {
    const elsewhere = mkdtempSync(path.join(tmpdir(), 'ftg-killed-start-'));
    chmodSync(elsewhere, 0o755);
    const data = path.join(elsewhere, 'data');
    const inData = (): string[] => (existsSync(data) ? readdirSync(data) : []);
    const moments: readonly (readonly [string, () => boolean])[] = [
      [
        'initdb writes the data folder',
        () =>
          inData().some((name) => name.includes('.new-') && existsSync(path.join(data, name, 'data', 'PG_VERSION'))),
      ],
      [
        'the database is ready for its migration',
        () => inData().some((name) => lineOf(path.join(data, name, 'postmaster.pid'), 7) === 'ready'),
      ],
      ['the account is about to be made', () => inData().includes('quick-start.json')],
    ];
    try {
      for (const [what, hasCome] of moments) {
        const program = start(elsewhere, { PORT: String(port) });
        let isOver = false;
        void program.ended.then(() => (isOver = true));
        await eventually(() => isOver || hasCome(), what);
        assert.ok(!isOver, `${what}: ${program.out()}${program.err()}`);
        program.child.kill('SIGKILL');
        // The next start follows at once, while processes of the killed one may still run.
        assert.equal((await program.ended).code, 'SIGKILL');
        assert.doesNotMatch(program.out(), /API key/, what);
      }
      const program = start(elsewhere, { PORT: String(port) });
      try {
        const banner = await served(program);
        const url = `http://127.0.0.1:${port}`;
        const shown = /API key {6}(\S+)/.exec(banner)?.[1] ?? assert.fail(banner);
        const [, email, password] = /Dashboard {4}(\S+), password (\S+)/.exec(banner) ?? assert.fail(banner);
        const listed = await fetch(`${url}/api/list/sandbox`, { headers: { Authorization: `Bearer ${shown}` } });
        assert.equal(listed.status, 200, await listed.text());
        const login = await fetch(`${url}/manage/login`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify({ email, password }),
        });
        assert.equal(login.status, 200, await login.text());
        assert.equal((await fetch(`${url}/readyz`)).status, 200);
        assert.deepEqual(
          inData().filter((name) => name.includes('.new-')),
          [],
        );
      } finally {
        program.child.kill('SIGTERM');
      }
      assert.equal((await program.ended).code, 0, program.err());
      await eventually(() => processesIn(elsewhere).length === 0, 'no process is left');
    } finally {
      rmSync(elsewhere, { recursive: true, force: true });
    }
    held({
      area: 'Faults',
      what: 'the first start of a quick start is killed (SIGKILL), and the one after it',
      done: 'while initdb makes the database, before its migration, and before the account is made; each time it is started again at once',
      held: 'the next start is ready and prints an API key and a password that work; no process and no half-made folder is left',
      tries: moments.length,
    });
  });

  test('a bad setting: 78 at once, one line, nothing created', async () => {
    const elsewhere = mkdtempSync(path.join(tmpdir(), 'ftg-bad-config-'));
    try {
      const program = start(elsewhere, { PORT: 'eighty', LOG_LEVEL: 'loud' });
      const { code } = await program.ended;
      assert.equal(code, 78);
      assert.match(program.err(), /^server\.port: "eighty"; allowed: .*\nlog\.level: "loud"; allowed: .*\n$/);
      // In starts of an empty Node.js program, measured beside it: a start that waits for anything takes longer,
      // at any load.
      const again = (env: Readonly<Record<string, string>>) =>
        start(elsewhere, { ...env, PORT: 'eighty', LOG_LEVEL: 'loud' }).ended;
      const times = await timesBareStart('wallMs', MAX_STARTS, again);
      assert.ok(times < MAX_STARTS, `${times} times a bare start of Node.js`);
      assert.deepEqual(readdirSync(elsewhere), []);
    } finally {
      rmSync(elsewhere, { recursive: true });
    }
  });

  test('the port in use: 1, one line that names the port', async () => {
    const holder = net.createServer().listen(port, '127.0.0.1');
    await once(holder, 'listening');
    try {
      const program = start(folder, { PORT: String(port) });
      const { code } = await program.ended;
      assert.equal(code, 1);
      assert.match(program.err(), new RegExp(`^cannot start: .*127\\.0\\.0\\.1:${port}.*in use.*\\n$`));
    } finally {
      holder.close();
    }
  });

  test('a database that cannot be reached: 1 after connectTimeoutMs, one line without the password', async () => {
    const closed = await freePort();
    const program = start(folder, {
      PORT: '0',
      DATABASE_URL: `postgres://gateway:planted-password@127.0.0.1:${closed}/gateway?sslmode=disable`,
    });
    const { code, ms } = await program.ended;
    assert.equal(code, 1);
    assert.match(program.err(), new RegExp(`^cannot start: .*127\\.0\\.0\\.1:${closed}.*\\n$`));
    assert.doesNotMatch(program.out() + program.err(), /planted-password/);
    // Not before its time, nor after twice that time, plus the start of the program on a busy machine.
    const { wallMs } = await bareStart();
    assert.ok(ms >= 10_000 && ms < 20_000 + 15 * wallMs, `${ms} ms; a bare start takes ${wallMs} ms`);
  });
});
