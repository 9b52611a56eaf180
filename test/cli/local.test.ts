/** Commands that need no gateway, or start one: profiles, completion, usage, `ftg serve`. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { createProgram } from '../../src/cli/program.js';
import { progressText } from '../../src/cli/progress-text.js';
import { PATIENCE_MS } from '../support/eventually.js';
import { KEY } from '../support/gateway.js';
import { freePort } from '../support/ports.js';
import { ended, FTG, Terminal } from './support.js';

let terminal: Terminal;
before(() => void (terminal = new Terminal()));
after(() => terminal.close());

const add = (name: string, url: string): Promise<string> =>
  terminal.ok(['profiles', 'add', name, '--url', url, '--key-file', '-'], { input: `${KEY}\n` });

test('profiles are kept by name in a file that only its owner can read', async () => {
  await add('home', 'https://files.example.com/');
  const nobody = `http://127.0.0.1:${await freePort()}`;
  await add('work', nobody);
  const path = join(terminal.home, '.config/ftg/profiles.json');
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.equal(statSync(join(terminal.home, '.config/ftg')).mode & 0o777, 0o700);
  const listed = await terminal.ok(['profiles']);
  assert.match(listed, /^NAME +URL +WITH\nhome \* +https:\/\/files\.example\.com +key\nwork +/);
  assert.ok(!listed.includes(KEY));
  await terminal.ok(['profiles', 'use', 'work']);
  await terminal.fails(7, /ECONNREFUSED/, ['ls', 'x:']);
  await terminal.fails(2, /no profile "none"/, ['--profile', 'none', 'ls', 'x:']);
  await terminal.fails(2, /no profile "away"/, ['ls', 'x:'], { FTG_PROFILE: 'away' });
  await terminal.fails(3, /no profile "none"/, ['profiles', 'use', 'none']);
  await terminal.fails(2, /no address of a gateway/, ['profiles', 'add', 'x', '--url', 'files', '--key-file', '-']);
  const bad = await terminal.run(['profiles', 'add', 'x', '--url', 'http://a', '--key-file', '-'], { input: 'sesame' });
  assert.deepEqual([bad.code, bad.stderr], [2, 'ftg: an API key begins with ftg_\n']);
  chmodSync(path, 0o644);
  await terminal.fails(2, /chmod 600/, ['ls', 'x:']);
  chmodSync(path, 0o600);
  await terminal.ok(['profiles', 'rm', 'work']);
  assert.deepEqual(Object.keys((JSON.parse(readFileSync(path, 'utf8')) as { profiles: object }).profiles), ['home']);
  const folder = join(terminal.home, 'xdg');
  await terminal.fails(2, /no profile "default"/, ['ls', 'x:'], { XDG_CONFIG_HOME: folder });
});

test('a secret is asked for without showing what is typed, and Ctrl-C ends it', async () => {
  const start = (name: string) => {
    const command = `"${process.execPath}" "${FTG}" profiles add ${name} --url http://a`;
    const env = { PATH: process.env['PATH'] ?? '', HOME: terminal.home, TERM: 'xterm' };
    const child = spawn('script', ['-qec', command, '/dev/null'], { cwd: terminal.home, env });
    // The terminal echoes typed text until the asking program switches that off.
    const asked = once(child.stdout, 'data').then(([text]) => assert.match(String(text), /API key: /));
    return { child, asked, gone: ended(child) };
  };
  const typed = start('typed');
  await typed.asked;
  typed.child.stdin.write(`${KEY}\r`);
  const { code, stdout } = await typed.gone;
  assert.equal(code, 0, stdout);
  assert.ok(!stdout.includes(KEY));
  assert.ok(readFileSync(join(terminal.home, '.config/ftg/profiles.json'), 'utf8').includes(KEY));
  const left = start('left');
  await left.asked;
  left.child.stdin.write('\u0003');
  assert.equal((await left.gone).code, 130);
  assert.ok(!(await terminal.ok(['profiles'])).includes('left'));
  await terminal.ok(['profiles', 'rm', 'typed']);
});

test('a broken profile file is reported, not overwritten', async () => {
  const other = new Terminal();
  await other.ok(['profiles', 'add', 'a', '--url', 'http://a', '--key-file', '-'], { input: KEY });
  const path = join(other.home, '.config/ftg/profiles.json');
  writeFileSync(path, '{"profiles":');
  await other.fails(2, /not a profile file/, ['profiles', 'rm', 'a']);
  assert.equal(readFileSync(path, 'utf8'), '{"profiles":');
  other.close();
});

test('the key of one gateway is not sent to another', async () => {
  const other = `http://127.0.0.1:${await freePort()}`;
  await terminal.fails(2, /set FTG_KEY too/, ['ls', 'x:'], { FTG_URL: other, FTG_PROFILE: 'home' });
  await terminal.fails(7, /ECONNREFUSED/, ['ls', 'x:'], { FTG_URL: other, FTG_KEY: KEY });
});

test('wrong usage is 2, help and version are 0', async () => {
  await terminal.fails(2, /unknown command 'frobnicate'/, ['frobnicate']);
  await terminal.fails(2, /unknown option '--odd'/, ['ls', '--odd', 'x:']);
  await terminal.fails(2, /missing required argument 'place'/, ['ls']);
  await terminal.fails(2, /too many arguments/, ['logout', 'now']);
  assert.match(await terminal.ok(['--version']), /^\d+\.\d+\.\d+\n$/);
  assert.match(await terminal.ok(['watch', 'add', '--help']), /--webhook <url>/);
  const { stderr } = await terminal.fails(2, /./, ['--json', 'ls', 'nowhere:', '--profile', 'none']);
  assert.match(String((JSON.parse(stderr) as Record<string, unknown>)['error']), /no profile "none"/);
});

test('every command is on its page, and on no other', async () => {
  const { signal } = new AbortController();
  const program = await createProgram({ words: [], signal, version: '0', handOver: () => undefined });
  const names = program.commands.flatMap((group) => {
    const own = group.name();
    if (own.startsWith('__')) return [];
    return group.commands.length === 0 ? [own] : group.commands.map((one) => `${own} ${one.name()}`);
  });
  assert.ok(names.length > 50);
  const page = readFileSync(new URL('../../../docs/integrate/cli.md', import.meta.url), 'utf8');
  const documented = [...page.matchAll(/^\| `ftg ([a-z-]+(?: [a-z\d-]+)?)/gm)].map(([, name = '']) => name);
  const missing = names.filter((name) => !documented.some((one) => one === name || one === name.split(' ')[0]));
  assert.deepEqual(missing, []);
  const groups = program.commands.map((group) => group.name());
  assert.deepEqual(
    documented.filter((name) => !names.includes(name) && !groups.includes(name.split(' ')[0] ?? '')),
    [],
  );
});

test('progress shows how much, how fast and how long', () => {
  const [mib, gib] = [1024 ** 2, 1024 ** 3];
  assert.equal(
    progressText('a.bin', 512 * mib, 2 * gib, 4_000),
    ' 25 % [######..................] 512 MiB of 2 GiB  128 MiB/s  0:12 left  a.bin',
  );
  assert.equal(progressText('a\u001b[2J', 10, undefined, 1_000), 'a\\u001b[2J  10 B  10 B/s');
});

test('ftg serve is the gateway, with its own signals and exit codes', async () => {
  const config = join(terminal.home, 'gateway.yaml');
  const port = await freePort();
  writeFileSync(
    config,
    JSON.stringify({ server: { port, retireSeconds: 3_600 }, dataDir: join(terminal.home, 'data'), accounts: [] }),
  );
  const child = terminal.start(['serve', '--config', 'gateway.yaml'], { LOG_LEVEL: 'info' });
  const gone = ended(child);
  assert.ok(child.stdout !== null && child.stderr !== null);
  const seen: string[] = [];
  for (const stream of [child.stdout, child.stderr]) createInterface(stream).on('line', (line) => seen.push(line));
  for (const until = Date.now() + PATIENCE_MS; Date.now() < until;) {
    const answer = await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => undefined);
    if (answer?.ok === true) break;
    assert.equal(child.exitCode, null, seen.join('\n'));
    await once(child.stdout, 'data', { signal: AbortSignal.timeout(500) }).catch(() => undefined);
  }
  assert.equal((await fetch(`http://127.0.0.1:${port}/healthz`)).status, 200, seen.join('\n'));
  // No load balancer polls /readyz here, so the stop need not wait for one.
  child.kill('SIGTERM');
  assert.equal((await gone).code, 0);
  assert.ok(existsSync(join(terminal.home, 'data')));
  writeFileSync(config, '{"server":{"port":"odd"}}');
  await terminal.fails(78, /server\.port/, ['serve', '--config', 'gateway.yaml']);
});
