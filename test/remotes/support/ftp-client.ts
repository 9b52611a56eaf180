/** What a test needs to use a Remote on a server: sessions, leases, recorded leftovers and logs. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { FtpConnection } from '../../../src/connections/connection.js';
import type { PoolLimits } from '../../../src/contract/connection/fields.js';
import { createDialer } from '../../../src/remotes/dial/dial.js';
import { createFtp } from '../../../src/remotes/ftp/protocol.js';
import type { FtpLease } from '../../../src/remotes/ftp/session/session.js';
import { parseRemotePath, ROOT, type RemotePath } from '../../../src/remotes/path.js';
import type { Protocol, ProtocolDeps } from '../../../src/remotes/protocol.js';
import type { FileInfo, Remote, WriteOptions } from '../../../src/remotes/remote.js';
import type { Session } from '../../../src/pools/session.js';
import { streamOf } from '../../../src/remotes/whole.js';
import { ftpConnection } from './harness.js';

export const LIMITS: PoolLimits = {
  maxSessions: 4,
  maxChannelsPerSession: 1,
  idleTimeoutMs: 60_000,
  maxWaiting: 10,
  acquireTimeoutMs: 60_000,
  connectTimeoutMs: 60_000,
  stallTimeoutMs: 60_000,
};

export interface Target {
  readonly port: number;
  readonly username: string;
  readonly password: string;
  readonly tls: FtpConnection['tls'];
  readonly ca: string | undefined;
}

export interface Client {
  readonly protocol: Protocol<FtpConnection, FtpLease>;
  readonly deps: ProtocolDeps;
  readonly logged: string[];
  readonly removedLater: RemotePath[];
  readonly expected: RemotePath[];
  connection(overrides?: Partial<FtpConnection>): FtpConnection;
  open(
    overrides?: Partial<FtpConnection>,
    limits?: Partial<PoolLimits>,
    signal?: AbortSignal,
  ): Promise<Session<FtpLease>>;
  /** One operation on its own session. */
  use<R>(
    work: (remote: Remote, session: Session<FtpLease>) => Promise<R>,
    overrides?: Partial<FtpConnection>,
    limits?: Partial<PoolLimits>,
    signal?: AbortSignal,
  ): Promise<R>;
  remoteOn(
    session: Session<FtpLease>,
    overrides?: Partial<FtpConnection>,
    limits?: Partial<PoolLimits>,
    signal?: AbortSignal,
  ): Promise<Remote>;
}

const NEVER = new AbortController().signal;

export function clientFor(target: Target): Client {
  const logged: string[] = [];
  const removedLater: RemotePath[] = [];
  const expected: RemotePath[] = [];
  const deps: ProtocolDeps = {
    dialer: createDialer(
      {
        localAddress: '',
        connections: { allowPrivate: true, deny: [] },
        urlFetch: { allow: [] },
        webhooks: { allow: [] },
      },
      () => [],
    ),
    trust: { checkHostKey: () => Promise.resolve() },
    tuning: { sftpInFlight: 1, s3PartBytes: 1, s3PartsInFlight: 1, connectionsPerFile: 1 },
    log: (message, facts) => void logged.push(`${message} ${JSON.stringify(facts ?? {})}`),
    warn: (message, facts) => void logged.push(`${message} ${JSON.stringify(facts)}`),
  };
  const protocol = createFtp(deps);
  let names = 0;
  const leftovers = {
    temporaryName: (name: string): string => `.ftg-test-${++names}.${name}`.slice(0, 200),
    expect: (folder: RemotePath): Promise<void> => Promise.resolve(void expected.push(folder)),
    expectMultipart: () => Promise.reject(new Error('FTP has no multipart uploads')),
    expectAside: async (aside: RemotePath) => ({
      done: (): void => undefined,
      settleLater: (): void => void removedLater.push(aside),
    }),
    removeLater: (path: RemotePath): void => void removedLater.push(path),
  };
  const client: Client = {
    protocol,
    deps,
    logged,
    removedLater,
    expected,
    connection: (overrides) => ftpConnection(target, overrides),
    open: (overrides, limits, signal = NEVER) =>
      protocol.openSession(client.connection(overrides), { ...LIMITS, ...limits }, signal),
    remoteOn: async (session, overrides, limits, signal = NEVER) =>
      protocol.openRemote(
        await session.lease(signal),
        client.connection(overrides),
        { ...LIMITS, ...limits },
        {
          signal,
          leftovers,
        },
      ),
    use: async (work, overrides, limits, signal = NEVER) => {
      const session = await client.open(overrides, limits);
      try {
        return await work(await client.remoteOn(session, overrides, limits, signal), session);
      } finally {
        session.close();
      }
    },
  };
  return client;
}

export const at = (path: string): RemotePath => parseRemotePath(path, ROOT, 'path');

export async function put(
  remote: Remote,
  path: string,
  content: Buffer | string | Readable,
  options: WriteOptions & { exclusive?: boolean } = {},
): Promise<FileInfo> {
  const source = content instanceof Readable ? content : Readable.from([Buffer.from(content)]);
  const writer = await remote.write(at(path), options);
  let bytes = 0;
  try {
    source.on('data', (chunk: Buffer) => (bytes += chunk.length));
    source.pause();
    await pipeline(source, writer);
    return await writer.commit({ size: bytes, exclusive: options.exclusive ?? false });
  } catch (error) {
    await writer.abort(error as Error);
    throw error;
  }
}

export async function get(remote: Remote, path: string, range?: { start: number; end: number }): Promise<Buffer> {
  const body = streamOf(await remote.read(at(path), range === undefined ? undefined : () => range));
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

export async function list(remote: Remote, folder: string): Promise<FileInfo[]> {
  const found: FileInfo[] = [];
  for await (const batch of remote.list(at(folder))) found.push(...batch);
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}
