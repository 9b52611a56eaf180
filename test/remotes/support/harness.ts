import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { FtpConnection, SftpConnection } from '../../../src/connections/connection.js';
import type { PoolLimits } from '../../../src/contract/connection/fields.js';
import { defaultSettings } from '../../../src/contract/connection/definition.js';
import { ftp } from '../../../src/contract/connection/ftp.js';
import { sftp } from '../../../src/contract/connection/sftp.js';
import { createDialer } from '../../../src/remotes/dial/dial.js';
import type { MoreSessions } from '../../../src/remotes/more-sessions.js';
import { parseRemotePath, ROOT, type RemotePath } from '../../../src/remotes/path.js';
import type { ProtocolDeps } from '../../../src/remotes/protocol.js';
import type { Leftovers } from '../../../src/remotes/leftovers.js';
import type { FileInfo, Remote } from '../../../src/remotes/remote.js';
import { createSftp } from '../../../src/remotes/sftp/protocol.js';
import type { SftpLease, SftpSession } from '../../../src/remotes/sftp/session/session.js';
import { streamOf } from '../../../src/remotes/whole.js';

export const LIMITS: PoolLimits = {
  maxSessions: 8,
  maxChannelsPerSession: 8,
  idleTimeoutMs: 60_000,
  maxWaiting: 256,
  acquireTimeoutMs: 60_000,
  connectTimeoutMs: 60_000,
  stallTimeoutMs: 60_000,
};

const OPEN_NETWORK = {
  localAddress: '',
  connections: { allowPrivate: true, deny: [] },
  urlFetch: { allow: [] },
  webhooks: { allow: [] },
};

/** Everything that a protocol needs, with a trust that accepts every host key and records it. */
export function testDeps(
  changes: Partial<ProtocolDeps> = {},
): ProtocolDeps & { readonly fingerprints: string[]; readonly messages: string[] } {
  const fingerprints: string[] = [];
  const messages: string[] = [];
  return {
    dialer: createDialer(OPEN_NETWORK, () => []),
    trust: {
      checkHostKey: async (_connection, fingerprint) => void fingerprints.push(fingerprint),
    },
    tuning: { sftpInFlight: 64, s3PartBytes: 8 << 20, s3PartsInFlight: 4, connectionsPerFile: 4 },
    log: (message) => void messages.push(message),
    warn: (message) => void messages.push(message),
    ...changes,
    fingerprints,
    messages,
  };
}

/** The settings of all types that are not set. */
export const NOTHING_SET = {
  defaultPath: undefined,
  proxy: undefined,
  proxyPassword: undefined,
  via: undefined,
  bytesPerSecond: undefined,
  hours: undefined,
} as const;

export function sftpConnection(
  server: { readonly port: number; readonly username: string; readonly clientKeyFile?: string },
  changes: Partial<SftpConnection> = {},
): SftpConnection {
  return {
    ...defaultSettings(sftp),
    type: 'sftp',
    id: 'c1',
    accountId: 'a1',
    name: 'Test',
    isActive: true,
    ...NOTHING_SET,
    host: '127.0.0.1',
    port: server.port,
    username: server.username,
    password: undefined,
    privateKey: server.clientKeyFile === undefined ? undefined : readFileSync(server.clientKeyFile, 'utf8'),
    passphrase: undefined,
    certificate: undefined,
    fileMode: undefined,
    folderMode: undefined,
    hostKeys: [],
    ...changes,
  };
}

export function ftpConnection(
  server: Pick<FtpConnection, 'port' | 'username' | 'password' | 'tls'> & { readonly ca: string | undefined },
  changes: Partial<FtpConnection> = {},
): FtpConnection {
  return {
    ...defaultSettings(ftp),
    type: 'ftp',
    id: 'f1',
    accountId: 'a1',
    name: 'FTP',
    isActive: true,
    ...NOTHING_SET,
    host: '127.0.0.1',
    port: server.port,
    username: server.username,
    password: server.password,
    acct: undefined,
    tls: server.tls,
    tlsCa: server.ca,
    timeZone: undefined,
    ...changes,
  };
}

export class TestLeftovers implements Leftovers {
  readonly expected: RemotePath[] = [];
  readonly later: RemotePath[] = [];
  /** Files that are aside, by their hidden names, and how their notes ended. */
  readonly aside = new Map<RemotePath, { readonly path: RemotePath; ended?: 'done' | 'later' }>();
  temporaryName(name: string): string {
    return `.ftg-test-${randomBytes(6).toString('hex')}.${name}`.slice(0, 200);
  }
  async expect(folder: RemotePath): Promise<void> {
    this.expected.push(folder);
  }
  async expectMultipart(): Promise<never> {
    throw new Error('SFTP has no multipart uploads');
  }
  async expectAside(aside: RemotePath, path: RemotePath): ReturnType<Leftovers['expectAside']> {
    const end = (ended: 'done' | 'later'): void => void this.aside.set(aside, { path, ended });
    this.aside.set(aside, { path });
    return { done: () => end('done'), settleLater: () => end('later') };
  }
  removeLater(path: RemotePath): void {
    this.later.push(path);
  }
}

export interface OpenRemote {
  readonly remote: Remote;
  readonly session: SftpSession;
  readonly lease: SftpLease;
  readonly leftovers: TestLeftovers;
  readonly abort: AbortController;
  readonly close: () => void;
}

const NEVER = new AbortController().signal;
const protocols = new WeakMap<ProtocolDeps, ReturnType<typeof createSftp>>();

/** The instance that all remotes of these deps share, as in a gateway. */
export function sftpOf(deps: ProtocolDeps): ReturnType<typeof createSftp> {
  const protocol = protocols.get(deps) ?? createSftp(deps);
  protocols.set(deps, protocol);
  return protocol;
}

/** One session, one lease, one remote. */
export async function openRemote(
  connection: SftpConnection,
  deps: ProtocolDeps = testDeps(),
  limits: PoolLimits = LIMITS,
  more?: MoreSessions<SftpLease>,
): Promise<OpenRemote> {
  const session = (await sftpOf(deps).openSession(connection, limits, NEVER)) as SftpSession;
  return onSession(session, connection, deps, limits, more);
}

/** Another remote on an existing session. */
export async function onSession(
  session: SftpSession,
  connection: SftpConnection,
  deps: ProtocolDeps,
  limits: PoolLimits = LIMITS,
  more?: MoreSessions<SftpLease>,
): Promise<OpenRemote> {
  const lease = await session.lease(NEVER);
  const abort = new AbortController();
  const leftovers = new TestLeftovers();
  const remote = sftpOf(deps).openRemote(lease, connection, limits, { signal: abort.signal, leftovers }, more);
  return { remote, session, lease, leftovers, abort, close: () => session.close() };
}

export const path = (text: string): RemotePath => parseRemotePath(text, ROOT, 'path');

/** Writes and commits. */
export async function put(
  remote: Remote,
  target: RemotePath,
  content: Buffer | string | Readable,
  size: number,
  exclusive = false,
): Promise<FileInfo> {
  const writer = await remote.write(target, { size });
  try {
    await pipeline(content instanceof Readable ? content : Readable.from([Buffer.from(content)]), writer);
    return await writer.commit({ size, exclusive });
  } catch (error) {
    await writer.abort(error as Error);
    throw error;
  }
}

export async function get(remote: Remote, source: RemotePath): Promise<Buffer> {
  return buffer(streamOf(await remote.read(source)));
}

/** `size` reproducible bytes in uneven chunks, without keeping them; `digest` once they have been read. */
export function patterned(size: number): { readonly body: Readable; readonly digest: () => string } {
  const block = createHash('sha512').update('pattern').digest();
  const chunk = Buffer.alloc(192 * 1024 + 17, block);
  const hash = createHash('sha256');
  let left = size;
  const body = new Readable({
    read() {
      if (left === 0) {
        this.push(null);
        return;
      }
      // The position is in the chunk, so that swapped chunks change the digest.
      chunk.writeUInt32BE(left >>> 0, 0);
      const piece = Buffer.from(chunk.subarray(0, Math.min(left, chunk.length)));
      left -= piece.length;
      hash.update(piece);
      this.push(piece);
    },
  });
  return { body, digest: () => hash.digest('hex') };
}
