/** The command-line clients that a user would run to copy a folder from one server to another. */
import { runCommand } from '../lab/process.js';
import type { Target } from '../lab/target.js';
import { awsEnvironment } from './command-line.js';
import { rcloneEnvironment, rcloneRemote } from './rclone.js';

export interface FolderPlace {
  readonly target: Target;
  readonly folder: string;
}

export interface FolderClient {
  readonly name: string;
  run(from: FolderPlace, to: FolderPlace): Promise<unknown>;
}

export const RCLONE_COPY = 'rclone copy';
export const RCLONE_SYNC = 'rclone sync';

export function rclone(name: typeof RCLONE_COPY | typeof RCLONE_SYNC, atOnce: number): FolderClient {
  const [command, verb = ''] = name.split(' ');
  return {
    name,
    run: async (from, to) => {
      const env = {
        ...(await rcloneEnvironment(from.target, 'from')),
        ...(await rcloneEnvironment(to.target, 'to')),
      };
      const places = [rcloneRemote(from.target, from.folder, 'from'), rcloneRemote(to.target, to.folder, 'to')];
      const options = ['--transfers', String(atOnce), '--checkers', String(atOnce), ...timesOf(from.target, to.target)];
      await runCommand(command ?? '', [verb, ...options, ...places], { env });
    },
  };
}

/** As in the gateway: a store's objects are as old as their upload, and need no request each. */
function timesOf(from: Target, to: Target): string[] {
  if (to.protocol === 's3') return ['--use-server-modtime', '--update'];
  return from.protocol === 's3' ? ['--use-server-modtime'] : [];
}

/** Between a store and this machine's disk: it knows no other servers. */
export const awsSync: FolderClient = {
  name: 'aws s3 sync (disk)',
  run: async (from, to) => {
    const store = [from.target, to.target].find(({ protocol }) => protocol === 's3');
    if (store?.protocol !== 's3') throw new Error('aws s3 sync needs a store');
    const places = [from, to].map(({ target, folder }) =>
      target.protocol === 's3' ? `s3://${target.bucket}/${folder}` : `${target.folder}/${folder}`,
    );
    const options = ['--endpoint-url', store.endpoint, 's3', 'sync', '--only-show-errors'];
    await runCommand('aws', [...options, ...places], { env: awsEnvironment(store) });
  },
};
