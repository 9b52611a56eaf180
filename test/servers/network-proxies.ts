/** Real proxies to the network: tinyproxy (CONNECT), microsocks and dante (SOCKS5). */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../support/ports.js';
import { listening } from './sshd.js';

export interface NetworkProxy {
  readonly url: string;
  readonly username: string;
  readonly password: string;
  /** What it has written about its connections. */
  log(): string;
  stop(): Promise<void>;
}

const USERNAME = 'through';
const PASSWORD = 'pr0xy-word';

/** `rules` are further lines of its configuration. */
export async function startTinyproxy(rules: readonly string[] = []): Promise<NetworkProxy> {
  const home = mkdtempSync(join(tmpdir(), 'ftg-tinyproxy-'));
  const port = await freePort();
  const config = join(home, 'tinyproxy.conf');
  const lines = [
    `Port ${port}`,
    'Listen 127.0.0.1',
    'Timeout 600',
    'LogLevel Info',
    `BasicAuth ${USERNAME} ${PASSWORD}`,
  ];
  writeFileSync(config, `${[...lines, ...rules].join('\n')}\n`);
  const child = spawn('/usr/bin/tinyproxy', ['-d', '-c', config], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  return started(child, `http://127.0.0.1:${port}`, port, home);
}

export async function startMicrosocks(): Promise<NetworkProxy> {
  const home = mkdtempSync(join(tmpdir(), 'ftg-microsocks-'));
  const port = await freePort();
  const options = ['-i', '127.0.0.1', '-p', String(port), '-u', USERNAME, '-P', PASSWORD];
  const child = spawn('/usr/bin/microsocks', options, { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  return started(child, `socks5://127.0.0.1:${port}`, port, home);
}

/** Without a login. */
export async function startDante(): Promise<NetworkProxy> {
  const home = mkdtempSync(join(tmpdir(), 'ftg-dante-'));
  const port = await freePort();
  const config = join(home, 'danted.conf');
  const pass = 'pass { from: 0.0.0.0/0 to: 0.0.0.0/0 log: connect }';
  const lines = [
    'logoutput: stdout',
    `internal: 127.0.0.1 port = ${port}`,
    'external: lo',
    ...['clientmethod: none', 'socksmethod: none', 'user.privileged: root', 'user.unprivileged: nobody'],
    ...[`client ${pass}`, `socks ${pass}`],
  ];
  writeFileSync(config, `${lines.join('\n')}\n`);
  const child = spawn('/usr/sbin/danted', ['-f', config, '-p', join(home, 'pid')], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  return started(child, `socks5://127.0.0.1:${port}`, port, home);
}

async function started(child: ChildProcess, url: string, port: number, home: string): Promise<NetworkProxy> {
  let log = '';
  for (const output of [child.stdout, child.stderr]) output?.on('data', (bytes: Buffer) => (log += bytes.toString()));
  await listening(port);
  return {
    url,
    username: USERNAME,
    password: PASSWORD,
    log: () => log,
    stop: async () => {
      const ended = once(child, 'exit');
      // danted has processes of its own.
      if (child.pid !== undefined) process.kill(-child.pid);
      await ended;
      rmSync(home, { recursive: true, force: true });
    },
  };
}
