/** `ftg init`: the gateway starts with the files that it writes; existing files are not lost. */
import assert from 'node:assert/strict';
import { on } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, test } from 'node:test';
import { parseEnv } from 'node:util';
import { parse } from 'yaml';
import { typeAtTerminal } from '../docs/terminal.js';
import { freePort } from '../support/ports.js';
import { PATIENCE_MS } from '../support/eventually.js';
import { ended, FTG, Terminal } from './support.js';

let terminal: Terminal;
beforeEach(() => void (terminal = new Terminal()));
afterEach(() => terminal.close());

const here = (name: string): string => join(terminal.home, name);
const text = (name: string): string => readFileSync(here(name), 'utf8');
const EMAIL = ['--email', 'ops@example.com'];

interface Tree {
  readonly server: { readonly host: string; readonly port: number };
  readonly sandbox: boolean;
  readonly accounts: readonly {
    readonly email: string;
    readonly password: string;
    readonly connections: readonly Readonly<Record<string, unknown>>[];
  }[];
}
const tree = (): Tree => parse(text('gateway.yaml')) as Tree;

test('the gateway starts with the written files, and its key works', async () => {
  const port = await freePort();
  writeFileSync(here('secret'), 'pass word\n');
  await terminal.ok([
    ...['init', ...EMAIL, '--listen', `127.0.0.1:${port}`, '--sandbox', '--data-dir', here('data')],
    ...['--type', 'ftp', '--id', 'legacy', '--host', 'ftp.example.com', '--username', 'gw'],
    ...['--password-file', 'secret', '--tls', 'explicit', '--pool-max-sessions', '2'],
  ]);
  assert.equal(statSync(here('gateway.env')).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(terminal.home).sort(), ['gateway.env', 'gateway.yaml', 'secret']);
  const env = parseEnv(text('gateway.env'));
  const names = ['GATEWAY_MASTER_KEY', 'LEGACY_PASSWORD', 'MAIN_API_KEY', 'OWNER_PASSWORD'];
  assert.deepEqual(Object.keys(env).sort(), names);
  assert.equal(env['LEGACY_PASSWORD'], 'pass word');
  for (const value of Object.values(env)) assert.ok(!text('gateway.yaml').includes(value ?? ''), 'a secret is in it');
  assert.match(text('gateway.yaml'), /host: ftp\.example\.com # Host name or address/);
  assert.match(text('gateway.yaml'), new RegExp(`port: ${port} # 0 = any free port`));

  const child = terminal.start(['serve', '--config', 'gateway.yaml', '--env-file', 'gateway.env'], {
    LOG_LEVEL: 'info',
  });
  const gone = ended(child);
  assert.ok(child.stdout !== null);
  const log = createInterface(child.stdout);
  // Keeps the lines that come together, which `once` would lose.
  const lines = on(log, 'line', { signal: AbortSignal.timeout(PATIENCE_MS) }) as AsyncIterable<[string]>;
  for await (const [line] of lines) if (line.includes(String(port))) break;
  const access = { FTG_URL: `http://127.0.0.1:${port}`, FTG_KEY: env['MAIN_API_KEY'] ?? '' };
  const { stdout, stderr } = await terminal.run(['connections'], { env: access });
  assert.match(stdout, /^legacy +legacy +ftp +active$/m, stderr);
  assert.match(stdout, /^sandbox /m);
  child.kill('SIGINT');
  assert.equal((await gone).code, 0);
});

test('a second run replaces nothing without the option, and never the secrets', async () => {
  await terminal.ok(['init', ...EMAIL]);
  const [yaml, env] = [text('gateway.yaml'), text('gateway.env')];
  await terminal.fails(5, /gateway\.yaml exists\n +--force replaces it/, ['init', ...EMAIL]);
  assert.deepEqual([text('gateway.yaml'), text('gateway.env')], [yaml, env]);
  await terminal.ok(['init', '--force', '--email', 'other@example.com']);
  assert.equal(tree().accounts[0]?.email, 'other@example.com');
  assert.deepEqual(parseEnv(text('gateway.env')), parseEnv(env));
  // A password that the user gives replaces the stored one.
  writeFileSync(here('password'), 'another-password-of-the-owner\n');
  await terminal.ok(['init', '--force', ...EMAIL, '--owner-password-file', 'password']);
  const given = { OWNER_PASSWORD: 'another-password-of-the-owner' };
  assert.deepEqual(parseEnv(text('gateway.env')), { ...parseEnv(env), ...given });
  const made = await terminal.json('init', 'sub.yml', '--no-env-file', ...EMAIL);
  assert.deepEqual(made, {
    config: 'sub.yml',
    envFile: null,
    start: 'ftg serve --config sub.yml',
    variables: ['GATEWAY_MASTER_KEY', 'OWNER_PASSWORD', 'MAIN_API_KEY'],
  });
  assert.ok(!existsSync(here('sub.env')));
});

test('input that the gateway would refuse is reported by option, and nothing is written', async () => {
  const wrong: readonly (readonly [said: RegExp, words: readonly string[]])[] = [
    [/^ftg: --email: the e-mail/, ['-y']],
    [/^ftg: --email: found "ops"/, ['--email', 'ops']],
    [/^ftg: --listen: found 99999/, [...EMAIL, '--listen', ':99999']],
    [/^ftg: --public-url: found/, [...EMAIL, '--public-url', 'files']],
    [/^ftg: --tls-key: .*\n?/, [...EMAIL, '--tls-cert', 'none.pem']],
    [/^ftg: --host: found missing/, [...EMAIL, '--type', 'sftp', '--username', 'u']],
    [
      /^ftg: --private-key-file: found .*does not exist/,
      [...[...EMAIL, '--type', 'sftp', '--host', 'h', '--username', 'u', '--private-key-file', 'none.pem']],
    ],
    [/^ftg: --host needs --type/, [...EMAIL, '--host', 'h']],
    [/^ftg: --bucket is not for .* of type ftp/, [...EMAIL, '--type', 'ftp', '--host', 'h', '--bucket', 'b']],
    [/^ftg: --id: found/, [...EMAIL, '--type', 'sftp', '--id', 'A B', '--host', 'h', '--username', 'u']],
  ];
  for (const [said, words] of wrong) await terminal.fails(2, said, ['init', ...words]);
  assert.deepEqual(readdirSync(terminal.home), []);
});

test('on a terminal it asks, and asks again after invalid input', async () => {
  const typed: Readonly<Record<string, string>> = {
    'Address and port to listen on [127.0.0.1:8080]': '',
    'URL that clients use, if it is another one': 'https://files.example.com',
    'Folder for data [./data]': '',
    'URL of a PostgreSQL database, empty for the embedded one': '',
    // Before the shorter one, which it contains.
    'allowed: an e-mail address\r\nE-mail of the owner': 'ops@example.com',
    'E-mail of the owner': 'nobody',
    'Password of the dashboard, empty to make one': 'correct horse',
    'Add a sandbox server to try it? (y/n)': 'y',
    'First connection: sftp, ftp, s3 or none': 's3',
    'Id of the connection, such as warehouse': 'lake',
    'Endpoint, or nothing: URL of the store; empty = AWS.': 'https://s3.example.com',
    'Region [us-east-1]': '',
    Bucket: 'b1',
    'Prefix, or nothing: The prefix of every key; the root of the connection.': '',
    'Access key id': 'AKIA',
    'Secret access key': 'sesame',
    'Session token, empty for none': '',
  };
  const env = { PATH: process.env['PATH'] ?? '', HOME: terminal.home };
  const command = `"${process.execPath}" "${FTG}" init`;
  const screen = await typeAtTerminal(command, { cwd: terminal.home, env, answers: typed });
  assert.ok(!screen.includes('sesame') && !screen.includes('correct horse'));
  const { accounts, sandbox } = tree();
  assert.equal(sandbox, true);
  const [connection] = accounts[0]?.connections ?? [];
  assert.deepEqual(connection, {
    id: 'lake',
    name: 'lake',
    type: 's3',
    endpoint: 'https://s3.example.com',
    bucket: 'b1',
    accessKeyId: 'AKIA',
    secretAccessKey: '${LAKE_SECRET_ACCESS_KEY}',
  });
  const secrets = parseEnv(text('gateway.env'));
  assert.deepEqual([secrets['OWNER_PASSWORD'], secrets['LAKE_SECRET_ACCESS_KEY']], ['correct horse', 'sesame']);
  const before = text('gateway.yaml');
  const again = typeAtTerminal(command, {
    cwd: terminal.home,
    env,
    answers: { 'gateway.yaml exists. Replace it? (y/n)': 'n' },
  });
  await assert.rejects(again, /ended with 5/);
  assert.equal(text('gateway.yaml'), before);
});
