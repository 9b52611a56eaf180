/** The commands of docs/integrate/cli.md work as written, on a live gateway. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { Command } from 'commander';
import { readSources } from '../../src/docs/sources.js';
import { JOB_OPTION_NAMES, ORDER_TYPES } from '../../src/contract/job-options.js';
import { EXIT } from '../../src/cli/exit-codes.js';
import { withJobOptions } from '../../src/cli/job-options.js';
import { snippetsOf } from '../docs/snippets.js';
import { typeAtTerminal } from '../docs/terminal.js';
import { openAccount, type TestAccount } from '../support/account.js';
import { KEY } from '../support/gateway.js';
import { PATIENCE_MS } from '../support/eventually.js';
import { FTG, Terminal } from './support.js';

const ADMIN_KEY = 'ftg_docs-admin-key-0123456789-abcd';
const PASSWORD = 'correct horse battery staple';
const EMAIL = 'test@example.com';
const PAGE = 'docs/integrate/cli.md';
const run = promisify(execFile);
const page = readSources().find(({ file }) => file === PAGE)?.text ?? assert.fail('no page');

let gateway: TestAccount;
let terminal: Terminal;

before(async () => {
  gateway = await openAccount({
    sandbox: true,
    email: EMAIL,
    password: PASSWORD,
    apiKeys: [{ name: 'admin', key: ADMIN_KEY, scopes: ['read', 'write', 'watch', 'admin'] }],
  });
  terminal = new Terminal();
  const program = join(terminal.home, 'ftg');
  writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${FTG}" "$@"\n`);
  chmodSync(program, 0o755);
});

after(async () => {
  terminal.close();
  await gateway.stop();
});

test('the snippets run, one after another', async () => {
  const snippets = snippetsOf(PAGE);
  assert.ok(snippets.length >= 5);
  const env = {
    PATH: `${terminal.home}:${process.env['PATH'] ?? ''}`,
    HOME: terminal.home,
    GATEWAY: gateway.url,
    KEY: gateway.keyOf(KEY),
    ADMIN_KEY: gateway.keyOf(ADMIN_KEY),
  };
  const options = { cwd: terminal.home, env, timeout: PATIENCE_MS };
  const answers = { 'API key': gateway.keyOf(KEY), 'E-mail': EMAIL, Password: PASSWORD };
  for (const { line, language, words, code } of snippets) {
    assert.equal(language, 'sh');
    const typed = code.replaceAll('https://files.example.com', gateway.url);
    const running = words.includes('terminal')
      ? typeAtTerminal(typed, { ...options, answers })
      : run('bash', ['-euo', 'pipefail', '-c', typed], options);
    await running.catch((error: Error & { stdout?: string; stderr?: string }) => {
      assert.fail(`${PAGE}:${line}: ${error.message}\n${error.stdout ?? ''}\n${error.stderr ?? ''}`);
    });
  }
  assert.equal(readFileSync(join(terminal.home, 'copy.csv'), 'utf8'), 'one,two\n');
});

test('the table of exit codes is that of the program', () => {
  const documented = [...page.matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code));
  assert.deepEqual(documented, Object.values(EXIT));
});

test('each option of a job has a row on the page', () => {
  const rows = [...page.matchAll(/^\| (`--.*?) \| .* \| .* \|$/gm)].map(([, words = '']) => words).join();
  const { options } = withJobOptions(new Command(), ORDER_TYPES);
  assert.equal(options.length, JOB_OPTION_NAMES.length);
  for (const { long } of options) assert.ok(rows.includes(`\`${long ?? ''}\``), `no row for ${long ?? ''}`);
});
