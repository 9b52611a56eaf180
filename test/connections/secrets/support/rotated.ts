/** Logins of a real OpenSSH server whose secrets are in files, and change. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { startSshd } from '../../../servers/sshd.js';
import { makeUnixUser } from '../../../servers/unix-user.js';

export interface RotatedLogin {
  readonly port: number;
  readonly username: string;
  /** A folder that the login can write to. */
  readonly folder: string;
  /** The name of the secret, and the file that contains it. */
  readonly name: 'privateKey' | 'password';
  readonly file: string;
  /** Changes the secret: first in the file, then on the server. */
  rotate(): void;
  /** Changes it only on the server. */
  change(): void;
  stop(): Promise<void>;
}

/** A half file is never seen. */
function replace(file: string, content: string | Buffer): void {
  writeFileSync(`${file}.next`, content);
  renameSync(`${file}.next`, file);
}

export async function rotatedKey(): Promise<RotatedLogin> {
  const server = await startSshd(['MaxStartups 200']);
  const home = path.dirname(server.clientKeyFile);
  const file = path.join(home, 'secret');
  const next = path.join(home, 'next_key');
  replace(file, readFileSync(server.clientKeyFile));
  const make = (): void => {
    for (const former of [next, `${next}.pub`]) rmSync(former, { force: true });
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', next]);
  };
  const change = (): void => replace(path.join(home, 'authorized_keys'), readFileSync(`${next}.pub`));
  return {
    port: server.port,
    username: server.username,
    folder: server.files,
    name: 'privateKey',
    file,
    rotate: () => {
      make();
      replace(file, readFileSync(next));
      change();
    },
    change: () => {
      make();
      change();
    },
    stop: () => server.stop(),
  };
}

export async function rotatedPassword(): Promise<RotatedLogin> {
  const user = makeUnixUser();
  const server = await startSshd(['PasswordAuthentication yes', 'MaxStartups 200']);
  const file = path.join(path.dirname(server.clientKeyFile), 'secret');
  replace(file, `${user.password}\n`);
  const change = (password: string): void => void execFileSync('chpasswd', { input: `${user.username}:${password}\n` });
  const make = (): string => randomBytes(12).toString('base64url');
  return {
    port: server.port,
    username: user.username,
    folder: user.home,
    name: 'password',
    file,
    rotate: () => {
      const password = make();
      replace(file, `${password}\n`);
      change(password);
    },
    change: () => change(make()),
    stop: async () => {
      await server.stop();
      user.remove();
    },
  };
}
