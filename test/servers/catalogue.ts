/** The real servers that both suites run on, each with access to its own disk and its deviations. */
import {
  CreateBucketCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { randomBytes, randomUUID } from 'node:crypto';
import { chownSync, createReadStream, mkdtempSync, statSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { startProftpd, startProftpdSftp, startPureFtpd, startVsftpd, type FtpServer } from './ftp.js';
import { startRclone } from './rclone.js';
import { SFTP_SERVER, startSshd } from './sshd.js';
import { startSandbox } from '../../src/sandbox/server.js';
import { startOddFtp } from './odd-ftp.js';
import { ODD_SFTP_SERVER } from './odd-sftp.js';
import { startOddStore } from './odd-store.js';
import { type RadosgwServer, shareRadosgw } from './radosgw.js';
import { shareSwift } from './swift.js';
import { makeUnixUser } from './unix-user.js';

/** The files on the server, read without the gateway and the protocol. Paths begin at the connection's root. */
export interface Disk {
  read(file: string): Promise<Buffer>;
  /** For files that are too large for memory. */
  stream(file: string): Promise<Readable>;
  write(file: string, content: Buffer | string): Promise<void>;
  /** The file's time, or the one in its metadata in rclone's form. */
  modifiedAt(file: string): Promise<Date>;
  /** Changes when the file has been written again; on S3 only if that was in another second. */
  version(file: string): Promise<string>;
  /** Every file below `folder`, even hidden ones, sorted; on S3 also each open multipart upload as `key?upload`. */
  files(folder: string): Promise<string[]>;
  /** Only if the server has symbolic links. */
  link?(target: string, file: string): Promise<void>;
  /** Only if access can be denied to the server's own user. */
  readonly chmod?: (file: string, mode: number) => Promise<void>;
}

/** How a server differs from the others, each with the reason; the suite checks that it still does. */
export interface Deviations {
  /** The server decides between two writers of one new name too late; the gateway's own locks replace it. */
  readonly exclusiveIsRaced?: string;
  /** Writers in place check before; the operations do. */
  readonly inPlaceIsNeverExclusive?: string;
  /** A path below a file is a failure, not an absent file. */
  readonly failsBelowAFile?: string;
  readonly hidesLinks?: string;
  /** Broken links are listed only once nothing else is left, and they block the removal. */
  readonly hidesBrokenLinks?: string;
  /** An open file is read to its end, even if its name is changed meanwhile. */
  readonly readsWhatItOpened?: string;
  /** The size given to `write` is binding, not only the one given to `commit`. */
  readonly announcedSizeBinds?: string;
  /** The server itself ends the session, or reports a failure, when a file is cut while it is sent. */
  readonly tellsOfACutFile?: string;
  /** What becomes of the time of a written file, if it is not simply the file's. */
  readonly keepsTimes?: 'metadata' | 'no';
  readonly noAppend?: string;
  /** No commands, although the protocol could have them. */
  readonly noShell?: string;
  /** Names that it refuses and other servers accept. */
  readonly refusesName?: (name: string) => boolean;
  readonly refusesFolder?: (name: string) => boolean;
}

export interface TestServer {
  readonly name: string;
  /** As in the configuration file, without id and name. */
  readonly connection: Readonly<Record<string, unknown>> & { readonly type: 'sftp' | 'ftp' | 's3' };
  readonly disk: Disk;
  /** The folder, as a path below the connection's root, that tests may fill; absent: that root. */
  readonly base?: string;
  readonly deviations: Deviations;
  stop(): Promise<void>;
}

export interface ServerEntry {
  readonly name: string;
  /** Where the gateway keeps its own data: the embedded PostgreSQL, or (server) one from the system's packages. */
  readonly database?: 'server';
  /** Tested only at the seam: over HTTP it would show nothing that similar servers do not. */
  readonly isSeamOnly?: boolean;
  start(): Promise<TestServer>;
}

class LocalDisk implements Disk {
  readonly root: string;
  readonly chmod?: (file: string, mode: number) => Promise<void>;

  constructor(root: string) {
    this.root = root;

    // Root cannot be denied access.
    if (root !== '' && statSync(root).uid !== 0) this.chmod = (file, mode) => chmod(root + file, mode);
  }

  read(file: string): Promise<Buffer> {
    return readFile(this.root + file);
  }

  async stream(file: string): Promise<Readable> {
    return createReadStream(this.root + file);
  }

  async modifiedAt(file: string): Promise<Date> {
    return (await stat(this.root + file)).mtime;
  }

  async version(file: string): Promise<string> {
    const { ino, ctimeMs } = await stat(this.root + file);
    return `${ino} ${ctimeMs}`;
  }

  async write(file: string, content: Buffer | string): Promise<void> {
    const { uid, gid } = statSync(this.root || '/');
    let folder = this.root || '/';
    for (const part of path.dirname(file).split('/').filter(Boolean)) {
      folder = path.join(folder, part);
      if ((await mkdir(folder, { recursive: true })) !== undefined) chownSync(folder, uid, gid);
    }
    await writeFile(this.root + file, content);
    chownSync(this.root + file, uid, gid);
  }

  async link(target: string, file: string): Promise<void> {
    await symlink(target, this.root + file);
  }

  async files(folder: string): Promise<string[]> {
    const entries = await readdir(this.root + folder, { recursive: true, withFileTypes: true }).catch(() => []);
    return entries
      .filter((entry) => !entry.isDirectory())
      .map((entry) => path.join(entry.parentPath, entry.name).slice(this.root.length))
      .sort();
  }
}

async function sshServer({
  login = 'key',
  extra = [],
  subsystem,
  wholeMachine = false,
}: {
  readonly login?: 'key' | 'password';
  readonly extra?: readonly string[];
  readonly subsystem?: string;
  readonly wholeMachine?: boolean;
} = {}): Promise<Omit<TestServer, 'name'>> {
  const user = login === 'password' ? makeUnixUser() : undefined;
  const server = await startSshd([...(user === undefined ? [] : ['PasswordAuthentication yes']), ...extra], subsystem);
  const root = user?.home ?? server.files;
  const credentials =
    user === undefined
      ? { username: server.username, privateKeyFile: server.clientKeyFile }
      : { username: user.username, password: user.password };
  const rootPath = wholeMachine ? '/' : root;
  return {
    connection: { type: 'sftp', host: '127.0.0.1', port: server.port, rootPath, defaultPath: '/', ...credentials },
    disk: new LocalDisk(wholeMachine ? '' : root),
    ...(wholeMachine ? { base: root } : {}),
    deviations: extra.some((line) => line.startsWith('ForceCommand'))
      ? { noShell: 'its configuration runs the file server in place of every command' }
      : {},
    stop: async () => {
      await server.stop();
      user?.remove();
    },
  };
}

async function sftpServer(
  starting: Promise<{ port: number; username: string; password: string; folder: string; stop(): Promise<void> }>,
  deviations: Deviations,
): Promise<Omit<TestServer, 'name'>> {
  const server = await starting;
  const { port, username, password, folder } = server;
  return {
    connection: { type: 'sftp', host: '127.0.0.1', port, username, password, defaultPath: '/' },
    disk: new LocalDisk(folder),
    deviations: { noShell: 'it serves files alone', ...deviations },
    stop: () => server.stop(),
  };
}

async function sandbox(): Promise<{
  port: number;
  username: string;
  password: string;
  folder: string;
  stop(): Promise<void>;
}> {
  const home = mkdtempSync(path.join(tmpdir(), 'ftg-sandbox-'));
  const folder = path.join(home, 'files');
  const login = { username: 'guest', password: randomBytes(8).toString('hex') };
  const place = { folder, host: '127.0.0.1', port: 0, hostKeyFile: path.join(home, 'key') };
  const server = await startSandbox({ ...place, ...login });
  const stop = async (): Promise<void> => {
    await server.close();
    await rm(home, { recursive: true });
  };
  return { port: server.port, ...login, folder, stop };
}

const FTP_IS_RACED = 'RNTO replaces what has come meanwhile, or does not promise that it does not';

async function oddFtp(): Promise<FtpServer> {
  const server = await startVsftpd();
  const odd = await startOddFtp(server);
  const stop = async (): Promise<void> => {
    await odd.stop();
    await server.stop();
  };
  return { ...server, port: odd.port, stop };
}

async function ftpServer(starting: Promise<FtpServer>, deviations: Deviations = {}): Promise<Omit<TestServer, 'name'>> {
  const server = await starting;
  const { port, username, password, tls, ca, folder } = server;
  const caFile = path.join(path.dirname(folder), 'authority.pem');
  if (ca !== undefined) await writeFile(caFile, ca);
  return {
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
    deviations: {
      exclusiveIsRaced: FTP_IS_RACED,
      inPlaceIsNeverExclusive: 'STOR replaces what exists',
      tellsOfACutFile: 'it sends from the mapped file, or compares what it has sent',
      ...deviations,
    },
    stop: () => server.stop(),
  };
}

class BucketDisk implements Disk {
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #prefix: string;

  constructor(client: S3Client, bucket: string, prefix: string) {
    this.#client = client;
    this.#bucket = bucket;
    this.#prefix = prefix;
  }

  async read(file: string): Promise<Buffer> {
    return buffer(await this.stream(file));
  }

  async stream(file: string): Promise<Readable> {
    const { Body } = await this.#client.send(new GetObjectCommand({ Bucket: this.#bucket, Key: this.#key(file) }));
    return Body as Readable;
  }

  async modifiedAt(file: string): Promise<Date> {
    const { Metadata } = await this.#client.send(new HeadObjectCommand({ Bucket: this.#bucket, Key: this.#key(file) }));
    return new Date(Number(Metadata?.['mtime'] ?? 0) * 1000);
  }

  async version(file: string): Promise<string> {
    const { LastModified } = await this.#client.send(
      new HeadObjectCommand({ Bucket: this.#bucket, Key: this.#key(file) }),
    );
    return String(LastModified?.getTime());
  }

  async write(file: string, content: Buffer | string): Promise<void> {
    await this.#client.send(
      new PutObjectCommand({ Bucket: this.#bucket, Key: this.#key(file), Body: Buffer.from(content) }),
    );
  }

  async files(folder: string): Promise<string[]> {
    const found: string[] = [];
    let token: string | undefined;
    do {
      const page = await this.#client.send(
        new ListObjectsV2Command({
          Bucket: this.#bucket,
          Prefix: `${this.#key(folder).replace(/\/$/, '')}/`.replace(/^\//, ''),
          ContinuationToken: token,
        }),
      );
      for (const { Key = '' } of page.Contents ?? []) if (!Key.endsWith('/')) found.push(this.#path(Key));
      token = page.NextContinuationToken;
    } while (token !== undefined);
    const open = await this.#client.send(new ListMultipartUploadsCommand({ Bucket: this.#bucket }));
    for (const { Key = '' } of open.Uploads ?? []) {
      if (this.#path(Key).startsWith(folder)) found.push(`${this.#path(Key)}?upload`);
    }
    return found.sort();
  }

  #key(file: string): string {
    return this.#prefix + file.slice(1);
  }

  #path(key: string): string {
    return `/${key.slice(this.#prefix.length)}`;
  }
}

async function swift(uploader: 'streamed' | 'sdk', isOdd = false): Promise<Omit<TestServer, 'name'>> {
  const server = await shareSwift();
  const odd = isOdd ? await startOddStore(server) : undefined;
  const stop = async (): Promise<void> => {
    await odd?.stop();
    await server.stop();
  };
  return bucketOn({ ...server, stop }, odd?.endpoint, uploader, {
    exclusiveIsRaced: 'Swift answers 501 to If-None-Match',
  });
}

async function radosgw(): Promise<Omit<TestServer, 'name'>> {
  return bucketOn(await shareRadosgw(), undefined, 'streamed', {
    exclusiveIsRaced: 'it ignores If-None-Match at the end of an upload in parts',
  });
}

/** `through`: the endpoint of connections, if it is another one. */
async function bucketOn(
  server: RadosgwServer,
  through: string | undefined,
  uploader: 'streamed' | 'sdk',
  deviations: Deviations,
): Promise<Omit<TestServer, 'name'>> {
  const bucket = `files-${randomUUID()}`;
  const { endpoint, region, accessKeyId, secretAccessKey } = server;
  const client = new S3Client({
    endpoint,
    region,
    forcePathStyle: true,
    credentials: { accessKeyId, secretAccessKey },
    requestChecksumCalculation: 'WHEN_REQUIRED',
  });
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  return {
    connection: {
      type: 's3',
      endpoint: through ?? endpoint,
      region,
      bucket,
      prefix: 'base/',
      accessKeyId,
      secretAccessKey,
      uploader,
    },
    disk: new BucketDisk(client, bucket, 'base/'),
    deviations: {
      readsWhatItOpened: 'a changed object is another object',
      announcedSizeBinds: 'it is the length of the request that is sent first',
      noAppend: 'an object does not grow',
      keepsTimes: 'metadata',
      ...deviations,
    },
    stop: async () => {
      client.destroy();
      await server.stop();
    },
  };
}

const PURE_FTPD_DEVIATIONS: Deviations = {
  // Backslashes are refused; blanks at the end become underscores.
  refusesName: (name) => name.includes('\\') || name.endsWith(' '),
  refusesFolder: (name) => name.endsWith(' '),
};
const PROFTPD_DEVIATIONS: Deviations = {
  hidesBrokenLinks: 'MLSD leaves them out; LIST does not',
  // MKD accepts no pattern.
  refusesFolder: (name) => name.includes('*'),
};
const PROFTPD_SFTP_DEVIATIONS: Deviations = {
  exclusiveIsRaced: 'its rename replaces what is there',
  failsBelowAFile: 'it reports only that something failed',
};
const RCLONE_DEVIATIONS: Deviations = {
  noAppend: 'it empties every file that is opened for writing',
  exclusiveIsRaced: 'its rename replaces what is there',
  inPlaceIsNeverExclusive: 'it opens what exists, also if the flags forbid it',
  hidesLinks: 'it lists files and folders alone',
};

function entry(
  name: string,
  start: () => Promise<Omit<TestServer, 'name'>>,
  more: Pick<ServerEntry, 'database' | 'isSeamOnly'> = {},
): ServerEntry {
  return { name, start: async () => ({ name, ...(await start()) }), ...more };
}
const SEAM_ONLY = { isSeamOnly: true } as const;

/** By the test file: all servers of one kind in one file would take too long. */
export const OPENSSH: readonly ServerEntry[] = [
  entry('OpenSSH, password', () => sshServer({ login: 'password' })),
  entry('OpenSSH, key', () => sshServer(), { database: 'server' }),
  entry('OpenSSH, the whole machine', () => sshServer({ wholeMachine: true }), SEAM_ONLY),
  entry('OpenSSH without attributes in listings and FSTAT', () => sshServer({ subsystem: ODD_SFTP_SERVER }), SEAM_ONLY),
  entry('OpenSSH without posix-rename', () => sshServer({ subsystem: `${SFTP_SERVER} -P posix-rename` }), SEAM_ONLY),
];
export const LIMITED_OPENSSH: readonly ServerEntry[] = [
  entry('OpenSSH, one session a connection', () => sshServer({ extra: ['MaxSessions 1'] })),
  entry('OpenSSH, SFTP only', () => sshServer({ extra: ['ForceCommand internal-sftp'] })),
];
export const OTHER_SFTP: readonly ServerEntry[] = [
  entry('proftpd, SFTP', () => sftpServer(startProftpdSftp(), PROFTPD_SFTP_DEVIATIONS)),
  entry('rclone', () => sftpServer(startRclone(), RCLONE_DEVIATIONS)),
  entry('the sandbox', () => sftpServer(sandbox(), {}), SEAM_ONLY),
];
export const SFTP_SERVERS: readonly ServerEntry[] = [...OPENSSH, ...LIMITED_OPENSSH, ...OTHER_SFTP];

export const VSFTPD: readonly ServerEntry[] = [
  entry('vsftpd', () => ftpServer(startVsftpd())),
  entry('vsftpd, explicit TLS, session reuse', () => ftpServer(startVsftpd({ tls: 'explicit' }))),
  entry('vsftpd, implicit TLS, session reuse', () => ftpServer(startVsftpd({ tls: 'implicit' })), SEAM_ONLY),
  entry('vsftpd with odd listings and without PWD', () => ftpServer(oddFtp()), SEAM_ONLY),
];
/** They write parts of files in another way than all others. */
export const LIMITED_VSFTPD: readonly ServerEntry[] = [
  entry('vsftpd that goes on in no file', () =>
    ftpServer(startVsftpd({ extra: ['cmds_denied=REST,APPE'] }), { noAppend: 'it refuses APPE and REST' }),
  ),
  entry('vsftpd that only appends', () => ftpServer(startVsftpd({ extra: ['cmds_denied=REST'] }))),
];
export const PURE_FTPD: readonly ServerEntry[] = [
  entry('pure-ftpd', () => ftpServer(startPureFtpd(), PURE_FTPD_DEVIATIONS)),
  entry('pure-ftpd, explicit TLS', () => ftpServer(startPureFtpd({ tls: 'explicit' }), PURE_FTPD_DEVIATIONS)),
];
export const PROFTPD: readonly ServerEntry[] = [
  entry('proftpd', () => ftpServer(startProftpd(), PROFTPD_DEVIATIONS)),
  entry('proftpd, implicit TLS', () => ftpServer(startProftpd({ tls: 'implicit' }), PROFTPD_DEVIATIONS)),
  entry('proftpd, explicit TLS', () => ftpServer(startProftpd({ tls: 'explicit' }), PROFTPD_DEVIATIONS), SEAM_ONLY),
];
export const FTP_SERVERS: readonly ServerEntry[] = [...VSFTPD, ...PURE_FTPD, ...PROFTPD];

export const S3_SERVERS: readonly ServerEntry[] = [
  entry('Swift', () => swift('streamed')),
  entry('Swift, uploader of AWS', () => swift('sdk')),
  entry('Swift with Object Lock and without lengths', () => swift('streamed', true), SEAM_ONLY),
  entry('Swift with Object Lock, uploader of AWS', () => swift('sdk', true), SEAM_ONLY),
];
export const RADOSGW: readonly ServerEntry[] = [entry('Ceph', () => radosgw())];
