/** PgBouncer from the system's packages before a throw-away PostgreSQL, on its own loopback port. */
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort } from '../support/ports.js';
import { eventually } from '../support/eventually.js';

export interface PgBouncer {
  /** Like the server's own, but through the pooler. */
  readonly url: string;
  stop(): Promise<void>;
}

export async function startPgBouncer(
  serverUrl: string,
  {
    mode,
    settings = [],
  }: { readonly mode: 'session' | 'transaction' | 'statement'; readonly settings?: readonly string[] },
): Promise<PgBouncer> {
  const server = new URL(serverUrl);
  const folder = mkdtempSync(path.join(tmpdir(), 'ftg-pgbouncer-'));
  const port = await freePort();
  const file = path.join(folder, 'pgbouncer.ini');
  writeFileSync(
    file,
    [
      '[databases]',
      `* = host=127.0.0.1 port=${server.port} user=${server.username} password=${server.password}`,
      '[pgbouncer]',
      `pool_mode = ${mode}`,
      ...['listen_addr = 127.0.0.1', `listen_port = ${port}`, 'unix_socket_dir =', 'auth_type = any'],
      ...settings,
    ].join('\n'),
  );
  // It does not run as root.
  const isRoot = process.getuid?.() === 0;
  const idOf = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  const ids = isRoot ? { uid: idOf('-u'), gid: idOf('-g') } : undefined;
  chmodSync(folder, 0o700);
  if (ids !== undefined) for (const place of [folder, file]) chownSync(place, ids.uid, ids.gid);
  const child = spawn('/usr/sbin/pgbouncer', [file], { ...ids, cwd: '/', stdio: ['ignore', 'ignore', 'pipe'] });
  let words = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (words = (words + text).slice(-4000)));
  const exited = once(child, 'exit');
  const url = new URL(serverUrl);
  url.port = String(port);
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`PgBouncer did not start: ${words}`);
    const socket = connect(port, '127.0.0.1');
    return once(socket, 'connect')
      .then(
        () => true,
        () => false,
      )
      .finally(() => socket.destroy());
  }, 'PgBouncer listens');
  return {
    url: url.href,
    stop: async () => {
      child.kill('SIGTERM');
      await exited;
      rmSync(folder, { recursive: true });
    },
  };
}
