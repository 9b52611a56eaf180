/** Files on the command line: through a real gateway, on real OpenSSH and FTP servers. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { startVsftpd, type FtpServer } from '../servers/ftp.js';
import { startSshd, type TestSshd } from '../servers/sshd.js';
import { openAccount, type TestAccount } from '../support/account.js';
import { KEY, memoryOf } from '../support/gateway.js';
import { freePort } from '../support/ports.js';
import { startProxy } from '../support/proxy.js';
import { ended, FTG, stillChanging, Terminal } from './support.js';
import { eventually } from '../support/eventually.js';
import { startTogether } from '../support/together.js';

// Not blocking: this process serves some of the remote servers.
const run = promisify(execFile);

const MIB = 1024 * 1024;

let gateway: TestAccount;
let shell: TestSshd;
let ftp: FtpServer;
let terminal: Terminal;

before(async () => {
  [shell, ftp] = await startTogether([startSshd(), startVsftpd()]);
  const privateKey = readFileSync(shell.clientKeyFile, 'utf8');
  const { username, port, files } = shell;
  gateway = await openAccount({
    connections: [
      { id: 'box', name: 'Box', type: 'sftp', host: '127.0.0.1', port, username, privateKey, defaultPath: files },
      {
        id: 'old',
        name: 'Old',
        type: 'ftp',
        host: '127.0.0.1',
        port: ftp.port,
        username: ftp.username,
        password: ftp.password,
        tls: 'none',
        defaultPath: '/',
      },
      {
        id: 'gone',
        name: 'Gone',
        type: 'ftp',
        host: '127.0.0.1',
        port: await freePort(),
        username: 'u',
        password: 'p',
      },
    ],
    apiKeys: [
      { name: 'all', key: KEY },
      { name: 'reader', key: `${KEY}-reader`, scopes: ['read'] },
    ],
  });
  terminal = new Terminal({ FTG_URL: gateway.url, FTG_KEY: gateway.keyOf(KEY) });
});

after(async () => {
  terminal.close();
  await gateway.stop();
  await Promise.all([shell.stop(), ftp.stop()]);
});

const here = (name: string): string => join(terminal.home, name);
const there = (name: string): string => join(shell.files, name);

test('an interrupted put of a large file continues when it is run again', async () => {
  const content = randomBytes(96 * 1024 * 1024);
  writeFileSync(here('large.bin'), content);
  const proxy = await startProxy(gateway.port);
  const env = { FTG_URL: `http://127.0.0.1:${proxy.port}` };
  const child = terminal.start(['put', 'large.bin', 'box:resumed/'], env);
  child.stdin?.end();
  proxy.after('up', 40 * 1024 * 1024, () => void child.kill('SIGKILL'));
  const first = await ended(child);
  assert.notEqual(first.code, 0, first.stderr);
  const kept = join(terminal.home, '.config/ftg/uploads');
  assert.equal(readdirSync(kept).length, 1);
  assert.ok(!existsSync(there('resumed/large.bin')));
  const before = proxy.upBytes;
  const { stdout } = await terminal.run(['--json', 'put', 'large.bin', 'box:resumed/'], { env });
  const transfer = JSON.parse(stdout) as Record<string, unknown>;
  assert.deepEqual(Object.keys(transfer).sort(), ['connection', 'durationMs', 'filename', 'id', 'path', 'size']);
  assert.equal(transfer['size'], content.length);
  assert.ok(proxy.upBytes - before < 80 * 1024 * 1024, `${proxy.upBytes - before} bytes were sent again`);
  assert.ok(readFileSync(there('resumed/large.bin')).equals(content));
  assert.deepEqual(readdirSync(kept), []);
  await proxy.stop();
});

test('an interrupted get of a large file continues when it is run again, and starts again if the file is another one', async () => {
  const size = 96 * MIB;
  const old = new Date(Date.now() - 2 * 86_400_000);
  const proxy = await startProxy(gateway.port);
  const env = { FTG_URL: `http://127.0.0.1:${proxy.port}` };
  const kept = join(terminal.home, '.config/ftg/downloads');
  const put = (content: Buffer, time: Date): void => {
    writeFileSync(there('old.bin'), content);
    utimesSync(there('old.bin'), time, time);
  };
  const interrupted = async (signal: NodeJS.Signals): Promise<void> => {
    const child = terminal.start(['get', 'box:old.bin', 'back/'], env);
    child.stdin?.end();
    proxy.after('down', 60 * MIB, () => void child.kill(signal));
    assert.notEqual((await ended(child)).code, 0);
    assert.equal(readdirSync(kept).length, 1);
    assert.match(readdirSync(here('back')).join(), /^\.old\.bin\.[0-9a-f]+\.part$/);
  };
  mkdirSync(here('back'));
  for (const signal of ['SIGKILL', 'SIGINT'] as const) {
    const content = randomBytes(size);
    put(content, old);
    await interrupted(signal);
    const before = proxy.downBytes;
    await terminal.run(['get', 'box:old.bin', 'back/'], { env });
    assert.ok(readFileSync(here('back/old.bin')).equals(content));
    assert.deepEqual([readdirSync(here('back')), readdirSync(kept)], [['old.bin'], []]);
    assert.ok(proxy.downBytes - before < 70 * MIB, `${proxy.downBytes - before} bytes came again`);
    rmSync(here('back/old.bin'));
  }
  await interrupted('SIGKILL');
  const other = randomBytes(size);
  put(other, new Date(old.getTime() + 60_000));
  await terminal.run(['get', 'box:old.bin', 'back/'], { env });
  assert.ok(readFileSync(here('back/old.bin')).equals(other));
  assert.deepEqual([readdirSync(here('back')), readdirSync(kept)], [['old.bin'], []]);
  await proxy.stop();
});

test('get continues where the line breaks, and starts again if the file may be another one', async () => {
  const proxy = await startProxy(gateway.port);
  const env = { FTG_URL: `http://127.0.0.1:${proxy.port}` };
  const content = randomBytes(24 * MIB);
  const old = new Date(Date.now() - 2 * 86_400_000);
  mkdirSync(here('broken'));
  for (const [name, most] of [
    ['settled.bin', 30],
    ['young.bin', 40],
  ] as const) {
    writeFileSync(there(name), content);
    if (name === 'settled.bin') utimesSync(there(name), old, old);
    const before = proxy.downBytes;
    proxy.after('down', 12 * MIB, () => proxy.fail('reset'));
    const { code, stderr } = await terminal.run(['get', `box:${name}`, 'broken/'], { env });
    assert.equal(code, 0, stderr);
    assert.ok(readFileSync(here(`broken/${name}`)).equals(content));
    assert.ok(proxy.downBytes - before < most * MIB, `${name}: ${proxy.downBytes - before} bytes`);
  }
  mkdirSync(there('tree'));
  writeFileSync(there('tree/settled.bin'), content);
  utimesSync(there('tree/settled.bin'), old, old);
  proxy.after('down', 12 * MIB, () => proxy.fail('reset'));
  const { code, stderr } = await terminal.run(['get', '-r', 'box:tree', 'broken/'], { env });
  assert.equal(code, 0, stderr);
  assert.ok(readFileSync(here('broken/tree/settled.bin')).equals(content));
  await proxy.stop();
});

test('put sends files and standard input to a folder, a name or the default folder', async () => {
  writeFileSync(here('a.txt'), 'a');
  writeFileSync(here('b.txt'), 'b');
  const text = await terminal.ok(['put', 'a.txt', 'b.txt', 'box:']);
  assert.match(text, /a\.txt {2}1 B in \d+ ms\n.*b\.txt/);
  await terminal.ok(['put', 'a.txt', 'box:new/']);
  await terminal.ok(['put', '-', 'box:new/from-stdin.txt'], { input: 'piped' });
  assert.equal(readFileSync(there('a.txt'), 'utf8'), 'a');
  assert.equal(readFileSync(there('new/from-stdin.txt'), 'utf8'), 'piped');
  const transfer = await terminal.json('put', 'b.txt', 'box:new/renamed.txt');
  assert.deepEqual(Object.keys(transfer).sort(), ['connection', 'durationMs', 'filename', 'id', 'path', 'size']);
  assert.equal(transfer['path'], there('new/renamed.txt'));
  await terminal.ok(['put', 'b.txt', 'box:', '--template', '{year}-{filename}']);
  assert.ok(existsSync(there(`${new Date().getUTCFullYear()}-b.txt`)));
});

test('put explains failures, with their exit codes', async () => {
  await terminal.fails(2, /name a file/, ['put', 'a.txt']);
  await terminal.fails(2, /end it with \//, ['put', 'a.txt', 'b.txt', 'box:one']);
  await terminal.fails(2, /has no name/, ['put', '-', 'box:']);
  await terminal.fails(2, /is a folder/, ['put', '.', 'box:']);
  await terminal.fails(2, /not a place on a connection/, ['put', 'a.txt', 'box']);
  const missing = await terminal.fails(3, /nothing\.txt/, ['put', 'nothing.txt', 'box:']);
  assert.equal(missing.stderr, 'ftg: nothing.txt: no such file or directory\n');
  await terminal.fails(3, /no connection nobody/, ['put', 'a.txt', 'nobody:']);
  await terminal.fails(4, /scope "write"/, ['put', 'a.txt', 'box:'], { FTG_KEY: gateway.keyOf(`${KEY}-reader`) });
  await terminal.fails(5, /exists, and --no-overwrite keeps it/, ['put', '--no-overwrite', 'a.txt', 'box:']);
  const { stderr } = await terminal.fails(5, /./, ['--json', 'put', '--no-overwrite', 'a.txt', 'box:']);
  const { code, status, skipped } = JSON.parse(stderr) as Record<string, unknown>;
  assert.deepEqual([code, status, skipped], ['already_exists', 409, true]);
});

test('get writes a complete file or none, and to standard output', async () => {
  const content = Buffer.from(Array.from({ length: 300_000 }, (_, at) => at % 251));
  writeFileSync(there('data.bin'), content);
  await terminal.ok(['get', 'box:data.bin']);
  assert.ok(readFileSync(here('data.bin')).equals(content));
  mkdirSync(here('in'));
  const answer = await terminal.json('get', 'box:data.bin', 'in/');
  assert.deepEqual([answer['size'], answer['file']], [content.length, 'in/data.bin']);
  assert.ok((await terminal.run(['get', 'box:data.bin', '-'])).bytes.equals(content));
  await terminal.fails(5, /exists/, ['get', '--no-overwrite', 'box:data.bin', 'in']);
  await terminal.ok(['get', '--no-overwrite', 'box:data.bin', 'in/other.bin']);
  await terminal.fails(3, /does not exist/, ['get', 'box:nothing.bin', 'in']);
  const { stderr } = await terminal.fails(3, /nowhere/, ['get', 'box:data.bin', 'nowhere/x']);
  assert.equal(stderr, 'ftg: nowhere/x: no such file or directory\n');
  await terminal.fails(2, /names a folder, not a file/, ['get', 'box:']);
  assert.deepEqual(readdirSync(here('in')).sort(), ['data.bin', 'other.bin']);
});

test('get writes files whose names are as long as file systems allow', async () => {
  for (const name of [`${'n'.repeat(233)}.txt`, 'n'.repeat(255), 'ä'.repeat(127)]) {
    writeFileSync(there(name), 'long');
    await terminal.ok(['get', `box:${name}`]);
    assert.equal(readFileSync(here(name), 'utf8'), 'long');
    rmSync(here(name));
    rmSync(there(name));
  }
});

test('ls shows a folder, and names cannot control the terminal', async () => {
  mkdirSync(there('odd'));
  writeFileSync(there('odd/\u202etxt.exe'), 'x');
  mkdirSync(there('odd/sub'));
  const text = await terminal.ok(['ls', 'box:odd']);
  assert.match(text, /^SIZE +CHANGED +NAME\n- +\S+ +sub\/\n1 B +\S+ +\\u202etxt\.exe\n$/);
  const { files } = await terminal.json<{ files: { name: string }[] }>('ls', 'box:odd');
  assert.deepEqual(
    files.map(({ name }) => name),
    ['sub', '\u202etxt.exe'],
  );
  assert.match(await terminal.ok(['ls', 'box']), /odd\//);
  await terminal.fails(3, /does not exist/, ['ls', 'box:nothing']);
});

test('cp, mv, rm and mkdir, within and between connections', async () => {
  await terminal.ok(['mkdir', 'box:w/one', 'box:w/two/']);
  assert.equal((await terminal.json('mkdir', 'box:w/one'))['created'], false);
  writeFileSync(there('w/f'), 'content');
  await terminal.ok(['cp', 'box:w/f', 'box:w/one/']);
  assert.match(await terminal.ok(['cp', 'box:w/f', 'old:/copied/g']), /^old:\/copied\/g {2}7 B in/);
  assert.equal(readFileSync(join(ftp.folder, 'copied/g'), 'utf8'), 'content');
  await terminal.fails(5, /exists/, ['cp', '--no-overwrite', 'box:w/f', 'old:/copied/g']);
  await terminal.ok(['mv', 'box:w/f', 'box:w/two/']);
  assert.equal(readFileSync(there('w/two/f'), 'utf8'), 'content');
  await terminal.fails(5, /exists/, ['mv', 'box:w/two/f', 'box:w/one/f']);
  await terminal.ok(['mv', '--overwrite', 'box:w/two/f', 'box:w/one/f']);
  await terminal.fails(2, /--detach needs -r/, ['mv', '--detach', '--overwrite', 'box:w/one/f', 'box:w/g']);
  assert.match(await terminal.ok(['mv', 'box:w/one/f', 'old:/moved/']), /^move succeeded: 1 files/);
  assert.equal(readFileSync(join(ftp.folder, 'moved/f'), 'utf8'), 'content');
  assert.ok(!existsSync(there('w/one/f')));
  await terminal.fails(5, /old:\/copied is a folder: use -r/, ['mv', 'old:/copied', 'box:w/x']);
  await terminal.ok(['mv', 'old:/moved/f', 'box:w/one/']);
  await terminal.ok(['rm', 'box:w/one/f', 'old:/copied/g']);
  assert.ok(!existsSync(join(ftp.folder, 'copied/g')));
  await terminal.fails(3, /does not exist/, ['rm', 'box:w/one/f']);
  await terminal.ok(['rm', '--force', 'box:w/one/f']);
});

test('exec ends with the code of the command, and with 255 if there is none', async () => {
  const result = await terminal.run(['exec', 'box', '--', 'echo out; echo err >&2; exit 7']);
  assert.deepEqual([result.code, result.stdout, result.stderr], [7, 'out\n', 'err\n']);
  assert.equal(await terminal.ok(['exec', 'box', '--', 'printf', '%s', 'x']), 'x');
  assert.equal((await terminal.json('exec', 'box', 'true'))['exitCode'], 0);
  await terminal.fails(255, /exec needs an sftp connection/, ['exec', 'old', 'true']);
  await terminal.fails(255, /no connection nobody/, ['exec', 'nobody', 'true']);
  await terminal.fails(255, /ran over|command/, ['exec', '--timeout', '0.2', 'box', 'sleep', '5']);
  await terminal.fails(2, /from 0\.001 to 60/, ['exec', '--timeout', '61', 'box', 'true']);
});

test('streams are not buffered: 256 MiB through standard input and output', async () => {
  const [bytes, pieces] = [1024 * 1024, 256];
  const piece = Buffer.alloc(bytes, 'file transfer ');
  const child = terminal.start(['put', '-', 'box:large.bin']);
  const putEnded = ended(child);
  assert.ok(child.stdin !== null && child.pid !== undefined);
  for (let sent = 0; sent < pieces; sent++) if (!child.stdin.write(piece)) await once(child.stdin, 'drain');
  const { peak } = memoryOf(child.pid);
  child.stdin.end();
  assert.equal((await putEnded).code, 0);
  assert.ok(peak < 220e6, `${Math.round(peak / 1e6)} MB`);
  const getter = terminal.start(['get', 'box:large.bin', '-']);
  assert.ok(getter.stdout !== null && getter.pid !== undefined);
  const hash = createHash('sha256');
  let [received, most] = [0, 0];
  for await (const chunk of getter.stdout as AsyncIterable<Buffer>) {
    received += chunk.length;
    hash.update(chunk);
    if (received > bytes * (pieces - 8) && most === 0) most = memoryOf(getter.pid).peak;
  }
  assert.equal(received, bytes * pieces);
  assert.equal(
    hash.digest('hex'),
    createHash('sha256')
      .update(readFileSync(there('large.bin')))
      .digest('hex'),
  );
  assert.ok(most < 220e6, `${Math.round(most / 1e6)} MB`);
});

test('Ctrl-C ends a transfer with 130 and leaves nothing, here or there', async () => {
  writeFileSync(there('endless.bin'), '');
  truncateSync(there('endless.bin'), 50 * 1024 ** 3);
  stillChanging(there('endless.bin'));
  mkdirSync(here('cut'));
  const getter = terminal.start(['get', 'box:endless.bin', 'cut/']);
  const gone = ended(getter);
  await eventually(() => {
    const [part] = readdirSync(here('cut'));
    return part !== undefined && statSync(here(`cut/${part}`)).size > 0;
  }, 'the download is under way');
  assert.match(readdirSync(here('cut'))[0] ?? '', /^\.endless\.bin\.[0-9a-f]+\.part$/);
  getter.kill('SIGINT');
  assert.equal((await gone).code, 130);
  assert.deepEqual(readdirSync(here('cut')), []);

  mkdirSync(there('cut'));
  const putter = terminal.start(['put', '-', 'box:cut/half.bin']);
  const left = ended(putter);
  putter.stdin?.write(Buffer.alloc(300_000));
  await eventually(() => readdirSync(there('cut')).length > 0, 'the upload is under way');
  putter.kill('SIGTERM');
  assert.equal((await left).code, 143);
  await eventually(() => readdirSync(there('cut')).length === 0, 'the gateway has cleaned up');
});

test('a reader that leaves early causes no error message', async () => {
  const { stdout } = await run(
    'bash',
    [
      '-c',
      `"${process.execPath}" "${FTG}" get box:endless.bin - 2>err | head -c 10 | wc -c; echo "\${PIPESTATUS[0]}"; cat err`,
    ],
    {
      cwd: terminal.home,
      env: { ...process.env, FTG_URL: gateway.url, FTG_KEY: gateway.keyOf(KEY) },
    },
  );
  assert.deepEqual(stdout.trim().split('\n').map(Number), [10, 141]);
});

test('progress is drawn only on a terminal', async () => {
  const put = `"${process.execPath}" "${FTG}" put data.bin box:progress.bin`;
  const env = { ...process.env, FTG_URL: gateway.url, FTG_KEY: gateway.keyOf(KEY), TERM: 'xterm', COLUMNS: '120' };
  const draw = async (command: string): Promise<string> =>
    (await run('script', ['-qec', command, '/dev/null'], { cwd: terminal.home, env })).stdout;
  assert.match(await draw(`stty cols 120; ${put}`), /100 % \[#{24}\] 293 KiB of 293 KiB {2}\S+ \S+\/s .*progress\.bin/);
  assert.doesNotMatch(await draw(`stty cols 120; ${put} --no-progress`), /%/);
  assert.equal((await terminal.run(['put', 'data.bin', 'box:progress.bin'])).stderr, '');
});

test('no answer, a bad key and a failing server have different exit codes', async () => {
  const nobody = `http://127.0.0.1:${await freePort()}`;
  await terminal.fails(7, /no whole answer.*ECONNREFUSED/, ['ls', 'box:'], { FTG_URL: nobody });
  await terminal.fails(4, /valid API key/, ['ls', 'box:'], { FTG_KEY: 'ftg_nobody-knows-this-key-at-all' });
  await terminal.fails(6, /127\.0\.0\.1/, ['ls', 'gone:']);
});
