/** The real servers that the conformance suite runs over, each with a look at its own disk. */
import {
  CreateBucketCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { chownSync, statSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { startProftpd, startProftpdSftp, startPureFtpd, startVsftpd, type FtpServer } from './ftp.js';
import { startRclone } from './rclone.js';
import { startSshd } from './sshd.js';
import { startSwift } from './swift.js';
import { makeUnixUser } from './unix-user.js';

/** What stands on the server, seen past the gateway and past the protocol. Paths begin at the connection's root. */
export interface Disk {
  read(file: string): Promise<Buffer>;
  write(file: string, content: Buffer | string): Promise<void>;
  /** Every file below `folder`, hidden ones too, sorted; on S3 also each open multipart upload as `key?upload`. */
  files(folder: string): Promise<string[]>;
}

export interface TestServer {
  readonly name: string;
  /** As in the configuration file, without id and name. */
  readonly connection: Readonly<Record<string, unknown>> & { readonly type: 'sftp' | 'ftp' | 's3' };
  readonly disk: Disk;
  /** Names that this server itself does not take as they are. */
  readonly refusesName?: (name: string) => boolean;
  /** Why exec cannot work here although the protocol could. */
  readonly noShell?: boolean;
  stop(): Promise<void>;
}

export interface ServerEntry {
  readonly name: string;
  /** Where the gateway keeps its own data: the embedded PostgreSQL, or (server) one of the system's packages. */
  readonly database?: 'server';
  start(): Promise<TestServer>;
}

class LocalDisk implements Disk {
  constructor(private readonly root: string) {}

  read(file: string): Promise<Buffer> {
    return readFile(this.root + file);
  }

  async write(file: string, content: Buffer | string): Promise<void> {
    const { uid, gid } = statSync(this.root);
    let folder = this.root;
    for (const part of path.dirname(file).split('/').filter(Boolean)) {
      folder = path.join(folder, part);
      await mkdir(folder, { recursive: true });
      chownSync(folder, uid, gid);
    }
    await writeFile(this.root + file, content);
    chownSync(this.root + file, uid, gid);
  }

  async files(folder: string): Promise<string[]> {
    const entries = await readdir(this.root + folder, { recursive: true, withFileTypes: true }).catch(() => []);
    return entries
      .filter((entry) => !entry.isDirectory())
      .map((entry) => path.join(entry.parentPath, entry.name).slice(this.root.length))
      .sort();
  }
}

async function sshServer(
  name: string,
  options: { readonly login: 'key' | 'password'; readonly extra?: readonly string[] },
): Promise<TestServer> {
  const user = options.login === 'password' ? makeUnixUser() : undefined;
  const server = await startSshd([
    ...(user === undefined ? [] : ['PasswordAuthentication yes']),
    ...(options.extra ?? []),
  ]);
  const root = user?.home ?? server.files;
  const login =
    user === undefined
      ? { username: server.username, privateKeyFile: server.clientKeyFile }
      : { username: user.username, password: user.password };
  const only = options.extra?.some((line) => line.startsWith('ForceCommand')) ?? false;
  const test: TestServer = {
    name,
    connection: { type: 'sftp', host: '127.0.0.1', port: server.port, rootPath: root, defaultPath: '/', ...login },
    disk: new LocalDisk(root),
    noShell: only,
    stop: async () => {
      await server.stop();
      user?.remove();
    },
  };
  return test;
}

async function proftpdSftp(): Promise<TestServer> {
  const { port, username, password, folder, stop } = await startProftpdSftp();
  return {
    name: 'proftpd, SFTP',
    connection: { type: 'sftp', host: '127.0.0.1', port, username, password, defaultPath: '/' },
    disk: new LocalDisk(folder),
    noShell: true,
    stop,
  };
}

async function rclone(): Promise<TestServer> {
  const server = await startRclone();
  const { port, username, password, folder } = server;
  return {
    name: 'rclone',
    connection: { type: 'sftp', host: '127.0.0.1', port, username, password, defaultPath: '/' },
    disk: new LocalDisk(folder),
    noShell: true,
    stop: () => server.stop(),
  };
}

async function ftpServer(starting: Promise<FtpServer>, refusesName?: (name: string) => boolean): Promise<TestServer> {
  const server = await starting;
  const { name, port, username, password, tls, ca, folder } = server;
  const caFile = path.join(path.dirname(folder), 'authority.pem');
  if (ca !== undefined) await writeFile(caFile, ca);
  return {
    name,
    connection: {
      type: 'ftp',
      host: '127.0.0.1',
      port,
      username,
      password,
      tls,
      defaultPath: '/',
      ...(ca === undefined ? {} : { tlsCaFile: caFile }),
    },
    disk: new LocalDisk(folder),
    ...(refusesName === undefined ? {} : { refusesName }),
    stop: () => server.stop(),
  };
}

class BucketDisk implements Disk {
  constructor(
    private readonly client: S3Client,
    private readonly bucket: string,
    private readonly prefix: string,
  ) {}

  async read(file: string): Promise<Buffer> {
    const { Body } = await this.client.send(new GetObjectCommand({ Bucket: this.bucket, Key: this.key(file) }));
    return Buffer.from((await Body?.transformToByteArray()) ?? []);
  }

  async write(file: string, content: Buffer | string): Promise<void> {
    await this.client.send(
      new PutObjectCommand({ Bucket: this.bucket, Key: this.key(file), Body: Buffer.from(content) }),
    );
  }

  async files(folder: string): Promise<string[]> {
    const found: string[] = [];
    let token: string | undefined;
    do {
      const page = await this.client.send(
        new ListObjectsV2Command({
          Bucket: this.bucket,
          Prefix: `${this.key(folder).replace(/\/$/, '')}/`.replace(/^\//, ''),
          ContinuationToken: token,
        }),
      );
      for (const { Key = '' } of page.Contents ?? []) if (!Key.endsWith('/')) found.push(this.path(Key));
      token = page.NextContinuationToken;
    } while (token !== undefined);
    const open = await this.client.send(new ListMultipartUploadsCommand({ Bucket: this.bucket }));
    for (const { Key = '' } of open.Uploads ?? []) {
      if (this.path(Key).startsWith(folder)) found.push(`${this.path(Key)}?upload`);
    }
    return found.sort();
  }

  private key(file: string): string {
    return this.prefix + file.slice(1);
  }

  private path(key: string): string {
    return `/${key.slice(this.prefix.length)}`;
  }
}

async function swift(uploader: 'streamed' | 'sdk'): Promise<TestServer> {
  const server = await startSwift();
  const { endpoint, region, accessKeyId, secretAccessKey } = server;
  const client = new S3Client({
    endpoint,
    region,
    forcePathStyle: true,
    credentials: { accessKeyId, secretAccessKey },
    requestChecksumCalculation: 'WHEN_REQUIRED',
  });
  await client.send(new CreateBucketCommand({ Bucket: 'files' }));
  return {
    name: `Swift, ${uploader}`,
    connection: {
      type: 's3',
      endpoint,
      region,
      bucket: 'files',
      prefix: 'base/',
      accessKeyId,
      secretAccessKey,
      uploader,
    },
    disk: new BucketDisk(client, 'files', 'base/'),
    stop: async () => {
      client.destroy();
      await server.stop();
    },
  };
}

const backslash = (name: string): boolean => name.includes('\\');

/** By the file that tests them: all of one kind in one file would take too long. */
export const OPENSSH: readonly ServerEntry[] = [
  { name: 'OpenSSH, password', start: () => sshServer('OpenSSH, password', { login: 'password' }) },
  {
    name: 'OpenSSH, key',
    database: 'server',
    start: () => sshServer('OpenSSH, key', { login: 'key' }),
  },
];
export const LIMITED_OPENSSH: readonly ServerEntry[] = [
  {
    name: 'OpenSSH, one session a connection',
    start: () => sshServer('OpenSSH, one session', { login: 'key', extra: ['MaxSessions 1'] }),
  },
  {
    name: 'OpenSSH, SFTP only',
    start: () => sshServer('OpenSSH, SFTP only', { login: 'key', extra: ['ForceCommand internal-sftp'] }),
  },
];
export const OTHER_SFTP: readonly ServerEntry[] = [
  { name: 'proftpd, SFTP', start: proftpdSftp },
  { name: 'rclone', start: rclone },
];
export const SFTP_SERVERS: readonly ServerEntry[] = [...OPENSSH, ...LIMITED_OPENSSH, ...OTHER_SFTP];

export const VSFTPD: readonly ServerEntry[] = [
  { name: 'vsftpd', start: () => ftpServer(startVsftpd()) },
  { name: 'vsftpd, explicit TLS, session reuse', start: () => ftpServer(startVsftpd({ tls: 'explicit' })) },
];
export const PURE_FTPD: readonly ServerEntry[] = [
  { name: 'pure-ftpd', start: () => ftpServer(startPureFtpd(), backslash) },
  { name: 'pure-ftpd, explicit TLS', start: () => ftpServer(startPureFtpd({ tls: 'explicit' }), backslash) },
];
export const PROFTPD: readonly ServerEntry[] = [
  { name: 'proftpd', start: () => ftpServer(startProftpd()) },
  { name: 'proftpd, implicit TLS', start: () => ftpServer(startProftpd({ tls: 'implicit' })) },
];
export const FTP_SERVERS: readonly ServerEntry[] = [...VSFTPD, ...PURE_FTPD, ...PROFTPD];

export const S3_SERVERS: readonly ServerEntry[] = [
  { name: 'Swift', start: () => swift('streamed') },
  { name: 'Swift, uploader of AWS', start: () => swift('sdk') },
];
