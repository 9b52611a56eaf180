import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { readFile, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../support/ports.js';
import { listening } from './sshd.js';

export interface RcloneServer {
  readonly port: number;
  readonly username: string;
  readonly password: string;
  /** The folder that it serves. */
  readonly folder: string;
  stop(): Promise<void>;
}

/**
 * `rclone serve sftp` over a folder of this machine. It empties every file that is opened for writing, has no
 * posix-rename, and with `cache` it first keeps written files in its own folder.
 */
export async function startRclone(cache: 'off' | 'writes' = 'off'): Promise<RcloneServer> {
  const home = mkdtempSync(join(tmpdir(), 'ftg-rclone-'));
  const folder = join(home, 'files');
  mkdirSync(folder);
  const port = await freePort();
  const login = { username: 'tester', password: 'a password' };
  const log = await open(join(home, 'log'), 'w');
  const server = spawn(
    'rclone',
    [
      ...['serve', 'sftp', folder, '--addr', `127.0.0.1:${port}`, '--user', login.username, '--pass', login.password],
      ...['--config', join(home, 'config'), '--cache-dir', join(home, 'cache'), '--vfs-cache-mode', cache],
      // Files that tests put there directly are visible at once.
      ...['--dir-cache-time', '0s'],
    ],
    { stdio: ['ignore', log.fd, log.fd], env: { ...process.env, HOME: home } },
  );
  const ended = once(server, 'exit');
  await log.close();
  await Promise.race([
    listening(port),
    ended.then(async () => {
      throw new Error(`rclone did not start: ${await readFile(join(home, 'log'), 'utf8')}`);
    }),
  ]);
  return {
    port,
    ...login,
    folder,
    stop: async () => {
      server.kill('SIGTERM');
      await ended;
      rmSync(home, { recursive: true, force: true });
    },
  };
}
