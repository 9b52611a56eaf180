/** A folder of a server, mounted by sshfs with its defaults. */
import { mkdtemp, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from './process.js';
import type { SftpTarget } from './target.js';

export interface Mount {
  readonly folder: string;
  unmount(): Promise<void>;
}

export async function mount(target: SftpTarget, scratch: string): Promise<Mount> {
  const { host, port, username, keyFile } = target;
  const folder = await mkdtemp(join(scratch, 'mount-'));
  const options = [`IdentityFile=${keyFile}`, 'StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null'];
  const place = `${username}@${host}:${target.folder}`;
  await runCommand('sshfs', ['-p', String(port), ...options.flatMap((option) => ['-o', option]), place, folder]);
  return {
    folder,
    unmount: async () => {
      await runCommand('fusermount3', ['-u', folder]);
      await rmdir(folder);
    },
  };
}
