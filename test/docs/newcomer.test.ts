/** A newcomer follows the quick start as it is written: start, first upload, first own server, first webhook; timed. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { SFTP_SERVERS, type TestServer } from '../servers/catalogue.js';
import { makeTempFolder } from '../storage/databases.js';
import { freePort } from '../support/ports.js';
import { ROOT, snippetsOf } from './snippets.js';
import { typeAtTerminal } from './terminal.js';
import { eventually } from '../support/eventually.js';

const PAGE = 'docs/start/quick-start.md';
/** The developer has run `npm ci`. */
const INSTALLED = 'npm() { if [ "$1" != ci ]; then exec npm "$@"; fi; }\n';

const run = promisify(execFile);
let server: TestServer;
/** A copy of a clone after `npm ci`. */
let clone: string;
const started: Started[] = [];

before(async () => {
  server = await SFTP_SERVERS[0]!.start();
  clone = await makeTempFolder();
  for (const name of ['package.json', 'node_modules', 'dist', 'src', 'config']) {
    symlinkSync(path.join(ROOT, name), path.join(clone, name));
  }
  mkdirSync(path.join(clone, 'home'));
  writeFileSync(path.join(clone, 'report.pdf'), 'PDF');
  writeFileSync(path.join(clone, 'password.txt'), String(server.connection['password']));
});

after(async () => {
  for (const program of started) await program.stop();
  await server.stop();
  await rm(clone, { recursive: true, force: true });
});

interface Started {
  /** Its whole standard output so far. */
  output(): string;
  /** Kills the process that the line has started, and waits for its end. */
  stop(): Promise<void>;
}

/** Starts a line that keeps running: `exec` before its last command makes the child that process. */
function start(code: string, env: NodeJS.ProcessEnv): Started {
  const child = spawn('bash', ['-euo', 'pipefail', '-c', code], {
    cwd: clone,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  const ended = once(child, 'close');
  const program: Started = {
    output: () => output,
    stop: async () => {
      // Under npm and its shell; the gateway logs its own process id.
      const pid = Number(/"pid":(\d+)/.exec(output)?.[1] ?? child.pid);
      if (child.exitCode === null && child.signalCode === null) process.kill(pid, 'SIGTERM');
      await ended;
    },
  };
  started.push(program);
  return program;
}

test(
  'from the first start to the first webhook, by the commands of the quick start',
  { timeout: 900_000 },
  async (t) => {
    const snippets = snippetsOf(PAGE);
    assert.equal(snippets.length, 6, 'the walk below has a step for each');
    const inShort = snippetsOf('README.md').map(({ code }) => code);
    assert.deepEqual(
      inShort,
      snippets.slice(0, 2).map(({ code }) => code),
    );
    const port = await freePort();
    const hookPort = await freePort();
    const { host, port: sftpPort, username } = server.connection;
    const [install = '', upload = '', own = '', configured = '', receiver = '', watch = ''] = snippets.map(({ code }) =>
      code
        .replaceAll('http://127.0.0.1:8080', `http://127.0.0.1:${port}`)
        .replaceAll('9000', String(hookPort))
        .replace(
          '--host sftp.example.com --username gw',
          `--host ${String(host)} --port ${String(sftpPort)} --username ${String(username)}`,
        ),
    );
    const env: NodeJS.ProcessEnv = {
      PATH: process.env['PATH'],
      HOME: path.join(clone, 'home'),
      PORT: String(port),
      npm_config_update_notifier: 'false',
    };
    let before = performance.now();
    const step = (name: string): void => {
      const now = performance.now();
      t.diagnostic(`${name}: ${((now - before) / 1000).toFixed(1)} s`);
      before = now;
    };
    const ready = async (program: Started): Promise<void> => {
      await eventually(() => program.output().includes('"msg":"listening"'), 'the gateway listens');
      await eventually(
        async () => (await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => undefined))?.status === 200,
        'the gateway is ready',
      );
    };

    const first = start(INSTALLED + install, env);
    await ready(first);
    await eventually(() => first.output().includes('/api/transfers'), 'the last line of the banner');
    const key = /API key {6}(\S+)/.exec(first.output())?.[1] ?? assert.fail(first.output());
    const password = /, password (\S+)/.exec(first.output())?.[1] ?? assert.fail(first.output());
    step('npm start → ready');

    await run('bash', ['-euo', 'pipefail', '-c', upload], { cwd: clone, env: { ...env, KEY: key } });
    assert.equal(readFileSync(path.join(clone, 'data/sandbox/report.pdf'), 'utf8'), 'PDF');
    step('first upload');

    // The reader has one terminal for each line, here they run one after the other: the first line defines `ftg`.
    const [ftg = '', ...lines] = own.trim().split('\n');
    const type = (code: string): Promise<string> =>
      typeAtTerminal(`${ftg}\n${code}`, { cwd: clone, env, answers: { Password: password } });
    await type(lines.slice(0, 2).join('\n'));
    step('log in, first own connection');
    await type(lines.slice(2).join('\n'));
    assert.equal((await server.disk.read('/inbox/report.pdf')).toString(), 'PDF');
    step('its test, first upload to it');

    await first.stop();
    const second = start(INSTALLED + configured, env);
    await ready(second);
    step('again, with a configuration');

    const hook = start(`exec ${receiver}`, env);
    await type(watch);
    await eventually(() => hook.output().includes('watched_folder.files_detected'), 'the webhook');
    assert.match(hook.output(), /"name":"report\.pdf"/);
    step('first webhook (5 s of them: the file has to rest)');
  },
);
