import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { copyFile, readFile } from 'node:fs/promises';
import net from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/ports.js';

export interface TestSshd {
  readonly port: number;
  /** A folder for the test's files; the server's paths are the machine's own. */
  readonly files: string;
  readonly username: string;
  /** The file of the unencrypted ed25519 key that may log in. */
  readonly clientKeyFile: string;
  readonly hostKeyFile: string;
  log(): Promise<string>;
  /** Restarts it on its port with only these host keys; open logins stay open. */
  restart(hostKeyFiles: readonly string[]): Promise<void>;
  stop(): Promise<void>;
}

/** Only for a server that does not start. */
const START_MS = 60_000;
/** sshd must be started with its full path; this is Debian's. */
const SSHD = '/usr/sbin/sshd';
export const SFTP_SERVER = '/usr/lib/openssh/sftp-server';

/**
 * Starts a separate OpenSSH server on loopback with key login for the current user, and `extra` configuration lines.
 */
export async function startSshd(extra: readonly string[] = [], subsystem = SFTP_SERVER): Promise<TestSshd> {
  const home = mkdtempSync(join(tmpdir(), 'ftg-sshd-'));
  const files = join(home, 'files');
  mkdirSync(files);
  mkdirSync('/run/sshd', { recursive: true });
  const clientKeyFile = join(home, 'client_key');
  const hostKeyFile = join(home, 'host_key');
  for (const file of [clientKeyFile, hostKeyFile]) {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file]);
  }
  await copyFile(`${clientKeyFile}.pub`, join(home, 'authorized_keys'));
  const port = await freePort();
  const config = join(home, 'sshd_config');
  const logFile = join(home, 'log');
  const configure = (hostKeyFiles: readonly string[]): void =>
    writeFileSync(
      config,
      [
        `Port ${port}`,
        'ListenAddress 127.0.0.1',
        ...hostKeyFiles.map((file) => `HostKey ${file}`),
        `AuthorizedKeysFile ${join(home, 'authorized_keys')}`,
        `PidFile ${join(home, 'pid')}`,
        `Subsystem sftp ${subsystem}`,
        'StrictModes no',
        'UsePAM no',
        'LogLevel VERBOSE',
        // A bash below sshd reads the user's .bashrc, unless it is below another shell: what that prints does not
        // belong to the command.
        'SetEnv SHLVL=1',
        ...extra,
        ...(extra.some((line) => line.startsWith('PermitRootLogin')) ? [] : ['PermitRootLogin yes']),
        ...(extra.some((line) => line.startsWith('PasswordAuthentication')) ? [] : ['PasswordAuthentication no']),
      ].join('\n'),
    );
  chmodSync(home, 0o755);
  const start = async (hostKeyFiles: readonly string[]): Promise<ChildProcess> => {
    configure(hostKeyFiles);
    const started = spawn(SSHD, ['-D', '-E', logFile, '-f', config], { stdio: 'ignore' });
    await Promise.race([
      listening(port),
      once(started, 'exit').then(async () => {
        throw new Error(`sshd did not start: ${await readFile(logFile, 'utf8').catch(() => '')}`);
      }),
    ]);
    return started;
  };
  const end = async (): Promise<void> => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, 'exit');
    server.kill('SIGTERM');
    await ended;
  };
  let server = await start([hostKeyFile]);
  return {
    port,
    files,
    username: userInfo().username,
    clientKeyFile,
    hostKeyFile,
    log: () => readFile(logFile, 'utf8'),
    restart: async (hostKeyFiles) => {
      await end();
      server = await start(hostKeyFiles);
    },
    stop: async () => {
      await end();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** Resolves once the port accepts connections. */
export async function listening(port: number): Promise<void> {
  await eventually(
    async () => {
      const socket = net.connect(port, '127.0.0.1');
      const isUp = await new Promise<boolean>((done) => {
        socket.once('connect', () => done(true));
        socket.once('error', () => done(false));
      });
      socket.destroy();
      return isUp;
    },
    `something listens on port ${port}`,
    START_MS,
  );
}
