/**
 * The command-line clients that a user would run: each moves one file and ends. They log in every time, as they would
 * for the user.
 */
import { runCommand } from '../lab/process.js';
import { pathOn, type Target } from '../lab/target.js';
import { rcloneEnvironment, rcloneRemote } from './rclone.js';

export interface FileClient {
  readonly name: string;
  upload(file: string, name: string): Promise<unknown>;
  download(name: string, file: string): Promise<unknown>;
}

/** A user's options to move files directly to or from `target`. */
export async function directClients(target: Target): Promise<FileClient[]> {
  const clients = target.protocol === 'sftp' ? [openSsh(target)] : [curl(target)];
  if (target.protocol === 'sftp' && (await curlKnowsSftp())) clients.push(curl(target));
  if (target.protocol === 's3' && (await hasAwsCli())) clients.push(awsCli(target));
  return [...clients, await rcloneCopy(target)];
}

function openSsh(target: Extract<Target, { protocol: 'sftp' }>): FileClient {
  const { host, port, username, keyFile } = target;
  const options = ['-q', '-b', '-', '-P', String(port), '-i', keyFile, '-o', 'StrictHostKeyChecking=no'];
  const args = [...options, '-o', 'UserKnownHostsFile=/dev/null', `${username}@${host}`];
  return {
    name: 'OpenSSH sftp',
    upload: (file, name) => runCommand('sftp', args, { input: `put ${file} ${pathOn(target, name)}\n` }),
    download: (name, file) => runCommand('sftp', args, { input: `get ${pathOn(target, name)} ${file}\n` }),
  };
}

function curl(target: Target): FileClient {
  const options = ['-sS', '--fail', ...curlLogin(target)];
  return {
    name: `curl ${target.protocol}`,
    upload: (file, name) => runCommand('curl', [...options, '-T', file, curlUrl(target, name)]),
    download: (name, file) => runCommand('curl', [...options, '-o', file, curlUrl(target, name)]),
  };
}

export function curlLogin(target: Target): string[] {
  switch (target.protocol) {
    case 'sftp':
      return ['-k', '--key', target.keyFile, '--pubkey', `${target.keyFile}.pub`, '-u', `${target.username}:`];
    case 'ftp':
      return ['-u', `${target.username}:${target.password}`];
    case 's3':
      return ['--aws-sigv4', `aws:amz:${target.region}:s3`, '-u', `${target.accessKeyId}:${target.secretAccessKey}`];
  }
}

export function curlUrl(target: Target, name: string): string {
  return target.protocol === 's3'
    ? `${target.endpoint}/${target.bucket}/${name}`
    : `${target.protocol}://${target.host}:${target.port}${pathOn(target, name)}`;
}

export function awsEnvironment(target: Extract<Target, { protocol: 's3' }>): Record<string, string> {
  return {
    AWS_ACCESS_KEY_ID: target.accessKeyId,
    AWS_SECRET_ACCESS_KEY: target.secretAccessKey,
    AWS_DEFAULT_REGION: target.region,
    AWS_EC2_METADATA_DISABLED: 'true',
  };
}

function awsCli(target: Extract<Target, { protocol: 's3' }>): FileClient {
  const env = awsEnvironment(target);
  const copy = (from: string, to: string): Promise<string> =>
    runCommand('aws', ['--endpoint-url', target.endpoint, 's3', 'cp', '--only-show-errors', from, to], { env });
  const at = (name: string): string => `s3://${target.bucket}/${name}`;
  return {
    name: 'AWS CLI',
    upload: (file, name) => copy(file, at(name)),
    download: (name, file) => copy(at(name), file),
  };
}

async function rcloneCopy(target: Target): Promise<FileClient> {
  const env = await rcloneEnvironment(target);
  const at = (name: string): string => rcloneRemote(target, name);
  // vsftpd answers 426 to the ends of its ranges, which rclone treats as a failure.
  const ranges = target.protocol === 'ftp' ? ['--multi-thread-streams', '1'] : [];
  const copy = (from: string, to: string): Promise<string> =>
    runCommand('rclone', ['copyto', '--ignore-times', ...ranges, from, to], { env });
  return {
    name: 'rclone copyto',
    upload: (file, name) => copy(file, at(name)),
    download: (name, file) => copy(at(name), file),
  };
}

async function curlKnowsSftp(): Promise<boolean> {
  return /^Protocols:.* sftp\b/m.test(await runCommand('curl', ['--version']));
}

/** A client without a package here; the report says if it is missing. */
export async function hasAwsCli(): Promise<boolean> {
  return runCommand('aws', ['--version']).then(
    () => true,
    () => false,
  );
}
