/** Scripted servers that report another size than a file has. No real one can be made to do so for any size. */
import { OPEN, REPLY, REQUEST, uint64 } from '../../src/remotes/sftp/wire/wire.js';
import { S3Stub, type Answer } from './scripted-s3.js';
import { MTIME, startScripted, type Script } from './scripted-ftp.js';
import { startOddServer, type OddRequest, type OddServer } from './scripted-sftp.js';

export interface Misreporting {
  /** As in the configuration file, without id and name. */
  readonly connection: Readonly<Record<string, unknown>> & { readonly type: 'sftp' | 'ftp' | 's3' };
  /** Content by path. */
  readonly files: ReadonlyMap<string, Buffer>;
  put(file: string, content: Buffer, reportedSize: number): void;
  stop(): Promise<void>;
}

const FOLDER_MODE = 0o040755;
const FILE_MODE = 0o100644;
const SECONDS = 1_770_000_000;
const OPEN_FOLDER = 'open folder ';

/** What an SFTP server omits in addition. */
export type SftpGap = 'FSTAT' | 'every size' | 'attributes of READDIR' | 'every type';

export interface MisreportingSftp extends Misreporting {
  /** Types of the requests that arrived, in order. */
  readonly requests: readonly number[];
  /** Most requests that were under way at once. */
  readonly mostUnderWay: () => number;
}

export async function startMisreportingSftp(...gaps: SftpGap[]): Promise<MisreportingSftp> {
  let mostUnderWay = 0;
  const sizes = new Map<string, number>();
  const isFolder = (path: string): boolean => [...server.files.keys()].some((file) => file.startsWith(`${path}/`));
  const attributes = (path: string): (number | Buffer)[] => {
    const isFile = server.files.has(path);
    const hasSize = isFile && !gaps.includes('every size');
    const mode = gaps.includes('every type') ? 0o644 : isFile ? FILE_MODE : FOLDER_MODE;
    const size = hasSize ? uint64(sizes.get(path) ?? server.files.get(path)?.length ?? 0) : [];
    return [hasSize ? 0xd : 0xc, ...size, mode, SECONDS, SECONDS];
  };
  const readFolder = (handle: string): (number | Buffer)[] | undefined => {
    if (!unread.delete(handle)) return undefined;
    const folder = handle.slice(OPEN_FOLDER.length).replace(/ \d+$/, '');
    const below = folder === '/' ? '/' : `${folder}/`;
    const names = new Set(
      [...server.files.keys()].filter((file) => file.startsWith(below)).map((file) => file.slice(below.length)),
    );
    const entries = [...new Set([...names].map((name) => name.split('/')[0] ?? ''))];
    return [
      entries.length,
      ...entries.flatMap((name) => {
        const shown = gaps.includes('attributes of READDIR') ? [0] : attributes(`${below}${name}`);
        return [Buffer.from(name), Buffer.from(name), ...shown];
      }),
    ];
  };
  const unread = new Set<string>();
  let opened = 0;
  const odd = ({ type, fields, reply, status, underWay }: OddRequest): boolean => {
    mostUnderWay = Math.max(mostUnderWay, underWay);
    if (type === REQUEST.FSTAT && gaps.includes('FSTAT')) return (status(8, 'Unsupported'), true);
    if (type === REQUEST.STAT || type === REQUEST.LSTAT || type === REQUEST.FSTAT) {
      const path = fields.string().toString();
      const isThere = path === '/' || server.files.has(path) || isFolder(path);
      return (isThere ? reply(REPLY.ATTRS, attributes(path)) : status(2, 'No such file'), true);
    }
    if (type === REQUEST.OPENDIR) {
      const path = fields.string().toString();
      if (path !== '/' && !isFolder(path)) return (status(2, 'No such file'), true);
      const handle = `${OPEN_FOLDER}${path} ${(opened += 1)}`;
      unread.add(handle);
      return (reply(REPLY.HANDLE, [Buffer.from(handle)]), true);
    }
    if (type === REQUEST.READDIR) {
      const names = readFolder(fields.string().toString());
      return (names === undefined ? status(1) : reply(REPLY.NAME, names), true);
    }
    if (type === REQUEST.OPEN) {
      const path = fields.string().toString();
      const flags = fields.uint32();
      if (isFolder(path)) return (status(4, 'Failure'), true);
      if (!server.files.has(path) && (flags & OPEN.CREATE) === 0) return (status(2, 'No such file'), true);
      if (!server.files.has(path) || (flags & OPEN.TRUNCATE) !== 0) server.files.set(path, Buffer.alloc(0));
      return (reply(REPLY.HANDLE, [Buffer.from(path)]), true);
    }
    if (type === REQUEST.RMDIR) return (status(0), true);
    return false;
  };
  const server: OddServer = await startOddServer({ odd });
  const { port, username, files } = server;
  return {
    connection: { type: 'sftp', host: '127.0.0.1', port, username, password: 'x' },
    files,
    requests: server.requests,
    mostUnderWay: () => mostUnderWay,
    put: (file, content, reportedSize) => {
      files.set(file, content);
      sizes.delete(file);
      if (reportedSize !== content.length) sizes.set(file, reportedSize);
    },
    stop: () => server.stop(),
  };
}

export async function startMisreportingFtp(by: 'SIZE' | 'MLST'): Promise<Misreporting> {
  const sizes = new Map<string, number>();
  const script: Script = {
    SIZE: (path, { say, usual }) => {
      const size = sizes.get(path);
      return size === undefined || !server.files.has(path) ? usual() : say(`213 ${size}`);
    },
    MLST: (path, { say, usual }) => {
      const size = sizes.get(path);
      const facts = `type=file;size=${size};modify=${MTIME}; ${path}`;
      return by === 'SIZE' || size === undefined ? usual() : say(`250-Facts\r\n ${facts}\r\n250 End`);
    },
  };
  const server = await startScripted(script, by === 'MLST' ? ['MLST type*;size*;modify*;'] : []);
  const { port, files, folders } = server;
  return {
    connection: { type: 'ftp', host: '127.0.0.1', port, username: 'u', password: 'p' },
    files,
    put: (file, content, reportedSize) => {
      folders.add(file.slice(0, file.lastIndexOf('/')) || '/');
      files.set(file, content);
      sizes.set(file, reportedSize);
    },
    stop: () => server.stop(),
  };
}

/** HEAD returns another length than GET. */
export async function startMisreportingS3(): Promise<Misreporting> {
  const sizes = new Map<string, number>();
  const stub = await S3Stub.start();
  stub.late = ({ method, key, headers }): Answer | undefined => {
    const [content, size] = [stub.objects.get(key), sizes.get(key)];
    if (content === undefined || size === undefined) return undefined;
    const facts = { etag: '"e"', 'last-modified': new Date(SECONDS * 1_000).toUTCString() };
    if (method === 'HEAD') return { headers: { ...facts, 'content-length': String(size) } };
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? [];
    if (method !== 'GET' || first === undefined)
      return method === 'GET' ? { headers: facts, body: content } : undefined;
    const body = content.subarray(Number(first), Number(last) + 1);
    const range = `bytes ${first}-${Number(first) + body.length - 1}/${content.length}`;
    return { status: 206, headers: { ...facts, 'content-range': range }, body };
  };
  return {
    connection: {
      type: 's3',
      endpoint: stub.endpoint,
      bucket: 'b',
      region: 'us-east-1',
      accessKeyId: 'a',
      secretAccessKey: 's',
      forcePathStyle: true,
    },
    files: stub.objects,
    put: (file, content, reportedSize) => {
      stub.objects.set(file.slice(1), content);
      sizes.set(file.slice(1), reportedSize);
    },
    stop: () => stub.stop(),
  };
}
