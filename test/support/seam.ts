/** Remotes like those of operations, through createRemotes(...).use(...), and what they record. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Connection } from '../../src/connections/connection.js';
import { defaultSettings } from '../../src/contract/connection/definition.js';
import type { PoolLimits } from '../../src/contract/connection/fields.js';
import { CONNECTION_TYPES } from '../../src/contract/connection/types.js';
import { createDialer } from '../../src/remotes/dial/dial.js';
import { parseRemotePath, ROOT, type RemotePath } from '../../src/remotes/path.js';
import { createRemotes, type Remotes, type UseOptions } from '../../src/remotes/registry.js';
import type { Leftovers } from '../../src/remotes/leftovers.js';
import type { ByteRange, Commit, FileInfo, Remote, RemoteWriter, WriteOptions } from '../../src/remotes/remote.js';
import { streamOf } from '../../src/remotes/whole.js';

export type RemotesOptions = Parameters<typeof createRemotes>[0];

export const PART_BYTES = 5 * 1024 * 1024;

const LIMITS: PoolLimits = {
  maxSessions: 4,
  maxChannelsPerSession: 4,
  idleTimeoutMs: 60_000,
  maxWaiting: 256,
  acquireTimeoutMs: 120_000,
  connectTimeoutMs: 60_000,
  stallTimeoutMs: 60_000,
};

/** What the Remotes of a test recorded for after a crash, and what they logged. */
export interface Notes {
  readonly folders: RemotePath[];
  readonly multiparts: Map<string, RemotePath>;
  readonly removeLater: RemotePath[];
  readonly abortLater: string[];
  readonly log: { readonly message: string; readonly facts: Record<string, unknown> | undefined }[];
}

export interface Seam {
  readonly remotes: Remotes;
  readonly notes: Notes;
  use<R>(work: (remote: Remote) => Promise<R>, changes?: SeamUse): Promise<R>;
  close(): void;
}

export interface SeamUse extends Partial<UseOptions> {
  readonly connection?: Connection;
  /** Also in another session, if the first one turns out dead. */
  readonly mayRepeat?: boolean;
}

export function openSeam(connection: Connection, changes: Partial<RemotesOptions> = {}): Seam {
  const notes: Notes = { folders: [], multiparts: new Map(), removeLater: [], abortLater: [], log: [] };
  let names = 0;
  const leftovers: Leftovers = {
    temporaryName: (name) => `.ftg-test-${++names}.${name}`.slice(0, 200),
    expect: async (folder) => void notes.folders.push(folder),
    expectMultipart: async (path, uploadId) => {
      notes.multiparts.set(uploadId, path);
      return {
        done: () => void notes.multiparts.delete(uploadId),
        abortLater: () => void notes.abortLater.push(uploadId),
      };
    },
    expectAside: async (aside) => ({ done: () => undefined, settleLater: () => void notes.removeLater.push(aside) }),
    removeLater: (path) => void notes.removeLater.push(path),
  };
  const network = { urlFetch: { allow: [] }, webhooks: { allow: [] } };
  const remotes = createRemotes({
    dialer: createDialer({ localAddress: '', connections: { allowPrivate: true, deny: [] }, ...network }, () => []),
    trust: { checkHostKey: async () => undefined },
    tuning: { sftpInFlight: 64, s3PartBytes: PART_BYTES, s3PartsInFlight: 2, connectionsPerFile: 1 },
    limits: { default: LIMITS, hosts: {} },
    log: (message, facts) => void notes.log.push({ message, facts }),
    warn: (message, facts) => void notes.log.push({ message, facts }),
    ...changes,
  });
  return {
    remotes,
    notes,
    use: async (work, { connection: other = connection, mayRepeat = false, ...use } = {}) => {
      // An assertion of the test must reach its reader unchanged.
      let thrown: unknown;
      try {
        return await remotes.use(
          other,
          { signal: new AbortController().signal, leftovers: () => leftovers, ...use },
          async (remote, attempt) => {
            if (!mayRepeat) attempt.committed();
            try {
              return await work(remote);
            } catch (error) {
              thrown = error;
              throw error;
            }
          },
        );
      } catch (error) {
        throw thrown ?? error;
      }
    },
    close: () => remotes.close(),
  };
}

/** A connection as in the configuration file, with the fields that the gateway fills in. */
export function connectionOf(settings: Readonly<Record<string, unknown>> & { readonly type: string }): Connection {
  const { privateKeyFile, tlsCaFile, ...given } = settings;
  const textOf = (file: unknown): string | undefined =>
    typeof file === 'string' ? readFileSync(file, 'utf8') : undefined;
  const filledIn: Record<string, object> = {
    sftp: { privateKey: textOf(privateKeyFile), hostKeys: [] },
    ftp: { tlsCa: textOf(tlsCaFile) },
    s3: { tlsCa: textOf(tlsCaFile) },
  };
  const definition = CONNECTION_TYPES.find(({ type }) => type === settings.type);
  return {
    id: 'c1',
    accountId: 'a1',
    name: 'Test',
    isActive: true,
    ...(definition === undefined ? {} : defaultSettings(definition)),
    ...filledIn[settings.type],
    ...given,
  } as unknown as Connection;
}

/** The same server, with the clients' "/" at this folder of it. */
export function below(connection: Connection, folder: string): Connection {
  return connection.type === 's3'
    ? { ...connection, prefix: `${connection.prefix}${folder.slice(1)}/` }
    : { ...connection, rootPath: `${connection.rootPath}${folder}`.replace('//', '/') };
}

/** The same server through another port of this machine. */
export function through(connection: Connection, port: number): Connection {
  return connection.type === 's3'
    ? { ...connection, endpoint: `http://127.0.0.1:${port}` }
    : { ...connection, host: '127.0.0.1', port };
}

export function portOf(connection: Connection): number {
  return connection.type === 's3' ? Number(new URL(connection.endpoint ?? assert.fail()).port) : connection.port;
}

export const at = (path: string): RemotePath => parseRemotePath(path, ROOT, 'path');

/** In chunks whose ends never meet a border of packets or parts. */
export function chunked(bytes: Buffer | string, chunkBytes = 60_013): Readable {
  const whole = Buffer.from(bytes as Buffer);
  return Readable.from(
    (function* () {
      for (let start = 0; start < whole.length; start += chunkBytes) yield whole.subarray(start, start + chunkBytes);
    })(),
  );
}

/** Pumps, commits, and aborts on failure, as every caller of the seam does. */
export async function fill(
  writer: RemoteWriter,
  content: Buffer | string,
  commit: Partial<Commit> = {},
): Promise<FileInfo> {
  try {
    await pipeline(chunked(content), writer);
    return await writer.commit({ size: Buffer.byteLength(content), ...commit });
  } catch (error) {
    await writer.abort(error as Error);
    throw error;
  }
}

export async function put(
  remote: Remote,
  path: string,
  content: Buffer | string,
  options: WriteOptions = { size: Buffer.byteLength(content) },
  commit: Partial<Commit> = {},
): Promise<FileInfo> {
  return fill(await remote.write(at(path), options), content, commit);
}

export async function get(remote: Remote, path: string, range?: ByteRange): Promise<Buffer> {
  const body = streamOf(await remote.read(at(path), range === undefined ? undefined : () => range));
  return Buffer.concat((await body.toArray()) as Buffer[]);
}

/** The entries of a listing one by one. */
export async function* entriesOf(listing: ReturnType<Remote['list']>): AsyncGenerator<FileInfo, void> {
  for await (const batch of listing) yield* batch;
}

/** Sorted by name. */
export async function list(remote: Remote, folder: string): Promise<FileInfo[]> {
  const found: FileInfo[] = [];
  for await (const info of entriesOf(remote.list(at(folder)))) found.push(info);
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

export async function namesIn(remote: Remote, folder: string): Promise<string[]> {
  return (await list(remote, folder)).map(({ name, isDirectory }) => (isDirectory ? `${name}/` : name));
}
