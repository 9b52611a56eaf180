/** Completion in the shells themselves: commands, options, choices, connections and remote paths of any name. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { inBash, splitLine } from '../../src/cli/completion/shell-words.js';
import { openAccount, type TestAccount } from '../support/account.js';
import { eventually } from '../support/eventually.js';
import { KEY } from '../support/gateway.js';
import { freePort } from '../support/ports.js';
import { completed, INTERACTIVE } from './shells.js';
import { FTG, Terminal } from './support.js';

const FILES = ['plain.csv', 'my file (1).txt', 'a:b.txt', "ü'*.txt", 'sub folder/deep.csv'];

// The sandbox is served by this process, which must not block while a program lists it.
const run = promisify(execFile);

let gateway: TestAccount;
let terminal: Terminal;
let env: Readonly<Record<string, string>>;

before(async () => {
  gateway = await openAccount({ sandbox: true });
  terminal = new Terminal({ FTG_URL: gateway.url, FTG_KEY: gateway.keyOf(KEY) });
  const program = join(terminal.home, 'ftg');
  writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${FTG}" "$@"\n`);
  chmodSync(program, 0o755);
  mkdirSync(join(terminal.home, 'in/sub folder'), { recursive: true });
  for (const file of [...FILES, 'evil\u202e.txt']) writeFileSync(join(terminal.home, 'in', file), 'x');
  await terminal.ok(['put', '-r', 'in', 'sandbox:/']);
  const path = `${terminal.home}:${process.env['PATH'] ?? ''}`;
  env = { PATH: path, HOME: terminal.home, FTG_URL: gateway.url, FTG_KEY: gateway.keyOf(KEY) };
});

after(async () => {
  terminal.close();
  await gateway.stop();
});

/** The typed text, and the expected completion. */
const WORDS: readonly (readonly [typed: string, becomes: string])[] = [
  ['ftg tra', 'ftg transfers'],
  ['ftg put --no-o', 'ftg put --no-overwrite'],
  ['ftg tail transfers --status f', 'ftg tail transfers --status failed'],
  ['ftg connections create --tls-verify t', 'ftg connections create --tls-verify true'],
  ['ftg keys create x --connection sa', 'ftg keys create x --connection sandbox'],
];
const PLACES: readonly (readonly [typed: string, becomes: string])[] = [
  ['ftg ls sand', 'ftg ls sandbox:'],
  ['ftg cat sandbox:/in/my', String.raw`ftg cat sandbox:/in/my\ file\ \(1\).txt`],
  ['ftg cat "sandbox:/in/my f', 'ftg cat "sandbox:/in/my file (1).txt"'],
  ['ftg cp sandbox:/in/plain.csv sandbox:/in/sub', String.raw`ftg cp sandbox:/in/plain.csv sandbox:/in/sub\ folder/`],
  [String.raw`ftg get sandbox:/in/sub\ folder/d`, String.raw`ftg get sandbox:/in/sub\ folder/deep.csv`],
  ['ftg cat sandbox:/in/ü', String.raw`ftg cat sandbox:/in/ü\'\*.txt`],
];
const CASES = {
  // In bash, a colon separates words.
  bash: [...WORDS, ...PLACES, ['ftg cat sandbox:/in/a', String.raw`ftg cat sandbox:/in/a\:b.txt`]],
  zsh: [WORDS[0]!, ...PLACES, ['ftg cat sandbox:/in/a', 'ftg cat sandbox:/in/a:b.txt']],
} as const;

// If a busy machine delays the gateway's answer too long, there are no names, and the next Tab asks again.
for (const shell of ['bash', 'zsh'] as const) {
  test(`${shell} completes`, async () => {
    const typed = CASES[shell].map(([line]) => line);
    let lines: readonly string[] = [];
    await eventually(async () => {
      lines = await completed(INTERACTIVE[shell], typed, { cwd: terminal.home, env });
      return lines.every((line, at) => line !== typed[at]);
    }, 'names of the gateway');
    assert.deepEqual(
      lines,
      CASES[shell].map(([, line]) => line),
    );
  });
}

test('fish completes', async () => {
  const offered = async (line: string): Promise<readonly string[]> => {
    const program = 'source (ftg completion fish | psub); complete -C $argv[1]';
    const { stdout: names } = await run('fish', ['-c', program, line], { cwd: terminal.home, env });
    return names.split('\n').filter((name) => name !== '');
  };
  const offers = async (line: string, expected: readonly string[]): Promise<void> => {
    let names: readonly string[] = [];
    await eventually(async () => (names = await offered(line)).length > 0, line);
    assert.deepEqual(names, expected);
  };
  await offers('ftg tra', ['transfers']);
  await offers('ftg ls sand', ['sandbox:']);
  await offers(
    'ftg cat sandbox:/in/',
    [...FILES.slice(0, 4), 'sub folder/'].map((name) => `sandbox:/in/${name}`).sort(),
  );
  await offers(String.raw`ftg cat sandbox:/in/my\ f`, ['sandbox:/in/my file (1).txt']);
  await offers('ftg cat "sandbox:/in/sub f', ['sandbox:/in/sub folder/']);
});

test('names are cached for a moment, readable only by their user, and failures are silent', async () => {
  const cache = join(terminal.home, '.cache/ftg/completion');
  const ask = (words: readonly string[], more = {}) =>
    terminal.run(['__complete', 'zsh', '--', ...words], { env: { ...more } });
  assert.ok(existsSync(cache));
  assert.equal(statSync(cache).mode & 0o777, 0o700);
  for (const name of readdirSync(cache)) assert.equal(statSync(join(cache, name)).mode & 0o777, 0o600);
  rmSync(cache, { recursive: true });
  let names = '';
  await eventually(async () => (names = (await ask(['ls', 'sandbox:/in/p'])).stdout) !== '', 'names of the gateway');
  assert.equal(names, 'sandbox:/in/plain.csv\n');
  await terminal.ok(['put', '-', 'sandbox:/in/place'], { input: 'x' });
  assert.ok(!(await ask(['ls', 'sandbox:/in/p'])).stdout.includes('place'), 'it was asked for again at once');
  const nobody = `http://127.0.0.1:${await freePort()}`;
  for (const more of [
    { FTG_URL: nobody },
    { FTG_KEY: 'ftg_nobody-knows-this-key-at-all' },
    { FTG_URL: '', FTG_KEY: '' },
  ]) {
    const { code, stdout, stderr } = await ask(['ls', 'sandbox:/in/'], more);
    assert.deepEqual([code, stdout, stderr], [0, '', '']);
  }
  assert.equal((await ask(['ls', 'sandbox:/nothing/'])).stdout, '');
  await terminal.fails(2, /Allowed choices/, ['completion', 'tcsh']);
});

test('a line is parsed as a shell parses it', () => {
  assert.deepEqual(splitLine(String.raw`ftg cat 'a b'\ c "d \" e`), {
    words: ['ftg', 'cat', 'a b c', 'd " e'],
    raw: String.raw`"d \" e`,
    quote: '"',
  });
  assert.deepEqual(splitLine('ftg  ls ').words, ['ftg', 'ls', '']);
  const last = splitLine('ftg ls box:in/a');
  assert.deepEqual(inBash(['box:in/a b', 'box:in/a$(x)'], last, 'in/a'), [
    String.raw`in/a\ b`,
    String.raw`in/a\$\(x\)`,
  ]);
  assert.deepEqual(inBash(['box:'], splitLine('ftg ls b'), 'b'), ['box:']);
  // File names of a server must not run as commands within open quotes either.
  const name = 'box:a$(x)`x`"\'\\';
  assert.deepEqual(inBash([name], splitLine('ftg ls "box:a'), 'a'), [String.raw`a\$(x)\`x\`\"'\\`]);
  assert.deepEqual(inBash([name], splitLine("ftg ls 'box:a"), 'a'), ["a$(x)`x`\"'\\''\\"]);
});
