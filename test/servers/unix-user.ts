import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, chmodSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface UnixUser {
  readonly username: string;
  readonly password: string;
  readonly home: string;
  remove(): void;
}

/** A user of this machine with a password, for servers that use the system's own files. Needs root. */
export function makeUnixUser(): UnixUser {
  const username = `ftg${randomBytes(4).toString('hex')}`;
  const password = randomBytes(12).toString('base64url');
  const home = mkdtempSync(join(tmpdir(), 'ftg-home-'));
  chmodSync(home, 0o755);
  execFileSync('useradd', ['--no-create-home', '--home-dir', home, '--shell', '/bin/sh', username], {
    stdio: 'ignore',
  });
  execFileSync('chpasswd', { input: `${username}:${password}\n` });
  execFileSync('chown', ['-R', username, home]);
  return {
    username,
    password,
    home,
    remove: () => {
      execFileSync('userdel', ['--force', username], { stdio: 'ignore' });
      rmSync(home, { recursive: true, force: true });
    },
  };
}
