import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type {
  Commit,
  FileInfo,
  Remote,
  RemoteContext,
  RemoteWriter,
  WriteOptions,
} from '../../../src/remotes/remote.js';
import type { AwsEnvironment } from '../../../src/base/aws-environment.js';
import { defaultSettings } from '../../../src/contract/connection/definition.js';
import { s3 } from '../../../src/contract/connection/s3.js';
import type { S3Connection } from '../../../src/connections/connection.js';
import type { PoolLimits } from '../../../src/contract/connection/fields.js';
import { createDialer } from '../../../src/remotes/dial/dial.js';
import type { MoreSessions, SpareLease } from '../../../src/remotes/more-sessions.js';
import { parseRemotePath, ROOT, type RemotePath } from '../../../src/remotes/path.js';
import type { ProtocolDeps, Tuning } from '../../../src/remotes/protocol.js';
import { createS3 } from '../../../src/remotes/s3/protocol.js';
import type { S3Lease } from '../../../src/remotes/s3/client/session.js';
import type { Session } from '../../../src/pools/session.js';
import { streamOf } from '../../../src/remotes/whole.js';
import { NOTHING_SET } from './harness.js';
import { entriesOf } from '../../support/seam.js';

export const LIMITS: PoolLimits = {
  maxSessions: 8,
  maxChannelsPerSession: 1,
  idleTimeoutMs: 60_000,
  maxWaiting: 16,
  acquireTimeoutMs: 60_000,
  connectTimeoutMs: 60_000,
  stallTimeoutMs: 60_000,
};

export const PART = 5 * 1024 * 1024;

/** What a rig recorded: durable notes, names for later removal, debug facts. */
export interface Notes {
  readonly folders: string[];
  readonly multiparts: Map<string, string>;
  /** Uploads that could not be aborted at once. */
  readonly abortLater: string[];
  readonly removeLater: string[];
  /** Why files could not be looked up after they were stored. */
  readonly unverified: string[];
  readonly log: { message: string; facts: Record<string, unknown> | undefined }[];
  /** Whose keys were issued, in words. */
  readonly identities: string[];
}

export interface RigOptions {
  readonly limits?: Partial<PoolLimits>;
  readonly tuning?: Partial<Tuning>;
  readonly env?: AwsEnvironment;
}

/** Remotes on one connection, like those of operations, on their own dialer (and so on their own sockets). */
export class S3Rig {
  readonly notes: Notes = {
    folders: [],
    multiparts: new Map(),
    abortLater: [],
    removeLater: [],
    unverified: [],
    log: [],
    identities: [],
  };
  readonly limits: PoolLimits;
  readonly deps: ProtocolDeps;
  readonly protocol: ReturnType<typeof createS3>;
  readonly #sessions: Session<S3Lease>[] = [];

  constructor(
    readonly connection: S3Connection,
    { limits, tuning, env = {} }: RigOptions = {},
  ) {
    this.limits = { ...LIMITS, ...limits };
    this.deps = {
      dialer: createDialer(
        {
          localAddress: '',
          connections: { allowPrivate: true, deny: [] },
          urlFetch: { allow: [] },
          webhooks: { allow: [] },
        },
        () => [],
      ),
      trust: { checkHostKey: async () => undefined },
      env,
      observer: { identified: (identity) => void this.notes.identities.push(identity) },
      tuning: { sftpInFlight: 1, s3PartBytes: PART, s3PartsInFlight: 2, connectionsPerFile: 1, ...tuning },
      log: (message, facts) => void this.notes.log.push({ message, facts }),
      warn: (message, facts) => void this.notes.log.push({ message, facts }),
    };
    this.protocol = createS3(this.deps);
  }

  async open(
    signal: AbortSignal = new AbortController().signal,
    connection: S3Connection = this.connection,
    more?: MoreSessions<S3Lease>,
  ): Promise<Remote> {
    const session = await this.protocol.openSession(connection, this.limits, signal);
    this.#sessions.push(session);
    const lease = await session.lease(signal);
    return this.protocol.openRemote(lease, connection, this.limits, this.#context(signal), more);
  }

  /** Sessions for one operation beyond its own. */
  spares(most: number): Spares {
    return new Spares(most, () =>
      this.protocol.openSession(this.connection, this.limits, new AbortController().signal),
    );
  }

  close(): void {
    for (const session of this.#sessions) session.close();
  }

  #context(signal: AbortSignal): RemoteContext {
    const { notes } = this;
    let count = 0;
    return {
      signal,
      unverified: (why) => void notes.unverified.push(why),
      leftovers: {
        temporaryName: (name) => `.ftg-test-${(count += 1)}.${name}`,
        expect: async (folder) => void notes.folders.push(folder),
        expectMultipart: async (path, uploadId) => {
          notes.multiparts.set(uploadId, path);
          return {
            done: () => void notes.multiparts.delete(uploadId),
            abortLater: () => void notes.abortLater.push(uploadId),
          };
        },
        expectAside: () => Promise.reject(new Error('S3 replaces objects in one step')),
        removeLater: (path) => void notes.removeLater.push(path),
      },
    };
  }
}

export class Spares implements MoreSessions<S3Lease> {
  readonly #open: () => Promise<Session<S3Lease>>;
  taken = 0;
  readonly fates: ('keep' | 'discard')[] = [];

  constructor(
    readonly most: number,
    open: () => Promise<Session<S3Lease>>,
  ) {
    this.#open = open;
  }

  async take(): Promise<SpareLease<S3Lease>> {
    this.taken += 1;
    const session = await this.#open();
    const item = await session.lease(new AbortController().signal);
    return {
      item,
      onRecall: () => undefined,
      release: (fate) => {
        session.release(item, fate);
        session.close();
        this.fates.push(fate);
      },
    };
  }
}

export function connectionTo(server: {
  endpoint: string;
  region?: string;
  accessKeyId?: string;
  secretAccessKey?: string;
  bucket: string;
  prefix?: string;
  uploader?: S3Connection['uploader'];
}): S3Connection {
  return {
    ...defaultSettings(s3),
    id: 'c',
    accountId: 'a',
    name: 'c',
    isActive: true,
    ...NOTHING_SET,
    type: 's3',
    accessKeyId: 'key',
    secretAccessKey: 'secret',
    sessionToken: undefined,
    storageClass: undefined,
    role: undefined,
    encryptionKey: undefined,
    tlsCa: undefined,
    ...server,
  };
}

export function at(path: string): RemotePath {
  return parseRemotePath(path, ROOT, 'path');
}

/** Bytes that differ at every position, so that a swapped or doubled part changes the digest. */
export function patterned(size: number, seed = 7): Buffer {
  const bytes = Buffer.allocUnsafe(size);
  let state = seed;
  for (let i = 0; i < size; i += 1) {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    bytes[i] = state >> 16;
  }
  return bytes;
}

/** `bytes` in chunks of odd length, which never end at a part's border. */
export function chunked(bytes: Buffer, chunkBytes = 60_013): Readable {
  return Readable.from(
    (function* () {
      for (let i = 0; i < bytes.length; i += chunkBytes) yield bytes.subarray(i, i + chunkBytes);
    })(),
  );
}

export async function store(
  remote: Remote,
  path: string,
  bytes: Buffer,
  options: WriteOptions = { size: bytes.length },
  commit: Partial<Commit> = {},
): Promise<FileInfo> {
  const writer = await remote.write(at(path), options);
  return finish(writer, bytes, commit);
}

/** Pumps, commits, and aborts on failure: what every caller of the seam does. */
export async function finish(writer: RemoteWriter, bytes: Buffer, commit: Partial<Commit> = {}): Promise<FileInfo> {
  try {
    await pipeline(chunked(bytes), writer);
    return await writer.commit({ size: bytes.length, ...commit });
  } catch (error) {
    await writer.abort(error as Error);
    throw error;
  }
}

export async function fetchAll(remote: Remote, path: string, select?: Parameters<Remote['read']>[1]): Promise<Buffer> {
  const body = streamOf(await remote.read(at(path), select));
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

export async function namesIn(remote: Remote, folder: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { name, isDirectory } of entriesOf(remote.list(at(folder))))
    names.push(isDirectory ? `${name}/` : name);
  return names.sort();
}

export function failsWith(code: string, text?: RegExp): (error: unknown) => boolean {
  return (error) => {
    const { code: got, message } = error as { code?: string; message?: string };
    if (got !== code || (text !== undefined && !text.test(message ?? ''))) {
      throw new Error(`expected ${code} ${text ?? ''}, got ${got}: ${message}`, { cause: error });
    }
    return true;
  };
}
