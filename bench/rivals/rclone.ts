import { runCommand } from '../lab/process.js';
import type { Target } from '../lab/target.js';

/** The definition of an rclone remote of that name, as environment variables (rclone.org/docs, "Config file"). */
export async function rcloneEnvironment(target: Target, remote = 'bench'): Promise<Record<string, string>> {
  const settings = await settingsFor(target);
  const named = Object.entries({ type: target.protocol, ...settings });
  return {
    RCLONE_CONFIG: '/dev/null',
    // If set for other purposes, it prevents rclone from starting.
    AWS_CA_BUNDLE: '',
    ...Object.fromEntries(named.map(([name, value]) => [`RCLONE_CONFIG_${remote}_${name}`.toUpperCase(), value])),
  };
}

/** The remote and the path of a file, or of the folder with all of them. */
export function rcloneRemote(target: Target, name: string, remote = 'bench'): string {
  const folder = target.protocol === 's3' ? target.bucket : target.protocol === 'sftp' ? target.folder : '';
  return `${remote}:${folder}${folder !== '' && name !== '' ? '/' : ''}${name}`;
}

async function settingsFor(target: Target): Promise<Record<string, string>> {
  switch (target.protocol) {
    case 'sftp': {
      const { host, port, username, keyFile } = target;
      return { host, port: String(port), user: username, key_file: keyFile, shell_type: 'none' };
    }
    case 'ftp': {
      const { host, port, username, password } = target;
      return {
        host,
        port: String(port),
        user: username,
        pass: (await runCommand('rclone', ['obscure', password])).trim(),
      };
    }
    case 's3': {
      const { endpoint, region, accessKeyId, secretAccessKey } = target;
      const login = { access_key_id: accessKeyId, secret_access_key: secretAccessKey };
      return { provider: 'Other', endpoint, region, ...login, no_check_bucket: 'true' };
    }
  }
}

export async function hasRclone(): Promise<boolean> {
  return runCommand('rclone', ['version']).then(
    () => true,
    () => false,
  );
}
