/** The manual page of the package: it lists these commands, and man, groff and mandoc accept it. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { test } from 'node:test';
import { EXITS } from '../../src/contract/exit-codes.js';
import { manPage } from '../../src/cli/man/page.js';
import { createProgram } from '../../src/cli/program.js';
import { ROOT } from '../docs/snippets.js';

const FILE = join(ROOT, 'dist/man/ftg.1');
const { signal } = new AbortController();
const program = await createProgram({ words: ['connections'], signal, version: '0', handOver: () => undefined });
const rendered = execFileSync('man', [FILE], {
  env: { ...process.env, MANWIDTH: '1000', MAN_KEEP_FORMATTING: '', PAGER: 'cat', LC_ALL: 'C.UTF-8' },
  encoding: 'utf8',
});

test('the shipped page is generated from the commands, and the package names it', () => {
  type Package = { readonly version: string; readonly man: string; readonly files: readonly string[] };
  const { version, man, files } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Package;
  assert.equal(readFileSync(FILE, 'utf8'), manPage(program, version));
  assert.equal(join(ROOT, man), FILE);
  assert.ok(files.some((name) => man.startsWith(`${name}/`)));
});

test('groff and mandoc find nothing wrong with it', () => {
  const groff = execFileSync('groff', ['-man', '-Tutf8', '-ww', '-z', FILE], { stdio: ['ignore', 'pipe', 'pipe'] });
  assert.equal(groff.toString(), '');
  const { stdout } = spawnSync('mandoc', ['-Tlint', '-Wwarning', FILE], { encoding: 'utf8' });
  // The same commands make the same page on any day.
  assert.deepEqual(
    stdout.split('\n').filter((line) => line !== '' && !line.includes('missing date')),
    [],
  );
});

test('each command, option and exit code is on it as it is typed', () => {
  const all = (command: Command): readonly Command[] =>
    command.commands.length === 0 ? [command] : command.commands.flatMap(all);
  const commands = program.commands.flatMap(all).filter((one) => !/^(__|help)/.test(one.name()));
  assert.ok(commands.length > 70);
  for (const command of commands) {
    const path: string[] = [];
    for (let one: Command | null = command; one !== null; one = one.parent) path.unshift(one.name());
    assert.ok(rendered.includes(`   ${path.join(' ')} `), path.join(' '));
    for (const { flags } of command.options) assert.ok(rendered.includes(`       ${flags}`), flags);
  }
  for (const { code, meaning } of Object.values(EXITS))
    assert.ok(rendered.includes(`${String(code).padEnd(7)}${meaning}`), meaning);
});
