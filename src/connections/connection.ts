/** What an account registered, decrypted, as the protocols need it. Secrets live here: never log one of these objects. */
import type { PoolLimits } from '../pools/session.js';

export type { PoolLimits };

interface ConnectionBase {
  readonly id: string;
  readonly accountId: string;
  /** Of the account: whether its hosts may be private; absent = as network.connections.allowPrivate says. */
  readonly allowPrivate?: boolean | undefined;
  readonly name: string;
  readonly isActive: boolean;
  /** As registered; undefined = the login folder (SFTP, FTP) or "/" (S3). */
  readonly defaultPath: string | undefined;
  /** Absolute path on the server that clients see as "/". S3: always "/" (its prefix does that work). */
  readonly rootPath: string;
  /** Write to a hidden name, then rename. */
  readonly atomicUploads: boolean;
  /** Written by the operator, in the configuration. */
  readonly isConfigured?: boolean;
  /** Overrides of pools.default and pools.hosts, as far as these let it (pool-limits.ts). */
  readonly pool: Partial<PoolLimits>;
}

export interface SftpConnection extends ConnectionBase {
  readonly type: 'sftp';
  readonly host: string;
  readonly port: number;
  readonly username: string;
  readonly password: string | undefined;
  /** OpenSSH, PEM or PPK text. */
  readonly privateKey: string | undefined;
  readonly passphrase: string | undefined;
  /** Pinned `SHA256:…` fingerprints; empty = trust on first use. */
  readonly hostKeys: readonly string[];
  /** `legacy` also offers the SHA-1 and CBC algorithms that old servers need. */
  readonly algorithms: 'default' | 'legacy';
}

export interface FtpConnection extends ConnectionBase {
  readonly type: 'ftp';
  readonly host: string;
  readonly port: number;
  readonly username: string;
  readonly password: string | undefined;
  readonly tls: 'none' | 'explicit' | 'implicit';
  /** PEM of the authority to trust beside the system's own. */
  readonly tlsCa: string | undefined;
  readonly tlsVerify: boolean;
}

export interface S3Connection extends ConnectionBase {
  readonly type: 's3';
  /** http(s) URL; undefined = AWS itself. */
  readonly endpoint: string | undefined;
  readonly region: string;
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | undefined;
  readonly forcePathStyle: boolean;
  /** `sdk`: AWS's own uploader, with parts gathered in memory, for stores that streamed parts do not suit. */
  readonly uploader: 'streamed' | 'sdk';
  /** Key prefix that clients see as "/"; without leading slash, "" or ending in "/". */
  readonly prefix: string;
  readonly tlsCa: string | undefined;
  readonly tlsVerify: boolean;
}

export type Connection = SftpConnection | FtpConnection | S3Connection;
export type ConnectionType = Connection['type'];
