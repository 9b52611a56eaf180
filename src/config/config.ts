/** The checked configuration, as every part of the program receives it: frozen, defaults filled in, secrets in place. */
import type { Scope } from '../base/caller.js';
import type { PoolLimits } from '../connections/connection.js';

export interface Config {
  readonly server: {
    readonly host: string;
    readonly port: number;
    readonly tls: { readonly certFile: string; readonly keyFile: string };
    readonly publicUrl: string;
    /** Origins of browsers that may call /api; "*" = any. */
    readonly cors: { readonly origins: readonly string[] };
    readonly threads: number | 'auto';
    readonly frontEnd: 'auto' | 'uws' | 'node';
    readonly trustedProxies: readonly string[];
    readonly connectionsPerAddress: number | 'auto';
    readonly receiveBufferBytes: number;
    readonly idleTimeoutMs: number;
    readonly minBytesPerSecond: number;
    readonly retireSeconds: number;
    readonly drainSeconds: number;
  };
  readonly dataDir: string;
  /** GATEWAY_MASTER_KEY: 32 bytes as base64 or hex; "" = a key file made in dataDir. */
  readonly masterKey: string;
  readonly database: { readonly url: string; readonly poolSize: number; readonly connectTimeoutMs: number };
  readonly pools: { readonly default: PoolLimits; readonly hosts: Readonly<Record<string, Partial<PoolLimits>>> };
  readonly streams: { readonly sftpInFlight: number; readonly s3PartBytes: number; readonly s3PartsInFlight: number };
  readonly workers: { readonly threads: number; readonly inlineBelowBytes: number };
  readonly limits: {
    readonly readBytes: number;
    readonly jsonBodyBytes: number;
    readonly uploadBytes: number;
    readonly execOutputBytes: number;
    readonly requestsPerSecond: number;
    readonly plans: Readonly<Record<string, { readonly connections: number; readonly monthlyActions: number }>>;
  };
  /** Of the process, shared fairly by account. */
  readonly budgets: {
    readonly memoryBytes: number;
    readonly requests: number;
    readonly waiting: number;
    readonly sessions: number;
    readonly lookups: number;
  };
  readonly network: {
    readonly localAddress: string;
    readonly resolver: 'dns' | 'system';
    readonly nameServers: readonly string[];
    readonly connections: { readonly allowPrivate: boolean; readonly deny: readonly string[] };
    readonly urlFetch: { readonly allow: readonly string[] };
    readonly webhooks: { readonly allow: readonly string[]; readonly requireHttps: boolean };
  };
  readonly watcher: {
    readonly concurrency: number;
    readonly perHostConcurrency: number;
    readonly checkTimeoutMs: number;
    readonly settleMs: number;
    readonly skipNames: readonly string[];
  };
  readonly webhooks: {
    readonly concurrency: number;
    readonly timeoutMs: number;
    readonly retryMs: readonly number[];
    readonly filesPerEvent: number;
    readonly bytesPerEvent: number;
  };
  readonly history: { readonly retentionDays: number };
  readonly log: { readonly level: LogLevel; readonly pretty: boolean | 'auto' };
  readonly metrics: { readonly enabled: boolean; readonly perConnection: boolean; readonly token: string };
  readonly sandbox: boolean;
  readonly accounts: readonly AccountConfig[];
}

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

export interface AccountConfig {
  readonly email: string;
  readonly plan: string;
  readonly password?: string;
  /** Absent = network.connections.allowPrivate. */
  readonly allowPrivate?: boolean;
  readonly apiKeys: readonly ApiKeyConfig[];
  readonly connections: readonly ConnectionConfig[];
}

export interface ApiKeyConfig {
  readonly name: string;
  readonly key: string;
  /** Absent = all. */
  readonly scopes: readonly Scope[];
  /** Connection ids; empty = all. */
  readonly connections: readonly string[];
  /** Addresses or CIDRs; empty = all. */
  readonly allowedIps: readonly string[];
  readonly expiresAt: string | null;
}

interface ConnectionConfigBase {
  /** Slug; absent = generated and kept by (account, name). */
  readonly id?: string;
  readonly name: string;
  readonly isActive: boolean;
  readonly defaultPath?: string;
  readonly rootPath: string;
  readonly atomicUploads: boolean;
  readonly pool: Partial<PoolLimits>;
}

export interface SftpConnectionConfig extends ConnectionConfigBase {
  readonly type: 'sftp';
  readonly host: string;
  readonly port: number;
  readonly username: string;
  readonly password?: string;
  readonly privateKey?: string;
  readonly privateKeyFile?: string;
  readonly passphrase?: string;
  /** One fingerprint or a list. */
  readonly hostKey?: string | readonly string[];
  readonly algorithms: 'default' | 'legacy';
}

export interface FtpConnectionConfig extends ConnectionConfigBase {
  readonly type: 'ftp';
  readonly host: string;
  readonly port: number;
  readonly username: string;
  readonly password?: string;
  readonly tls: 'none' | 'explicit' | 'implicit';
  readonly tlsCaFile: string;
  readonly tlsVerify: boolean;
}

export interface S3ConnectionConfig extends ConnectionConfigBase {
  readonly type: 's3';
  readonly endpoint?: string;
  readonly region: string;
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly forcePathStyle: boolean;
  readonly uploader: 'streamed' | 'sdk';
  readonly prefix: string;
  readonly tlsCaFile: string;
  readonly tlsVerify: boolean;
}

export type ConnectionConfig = SftpConnectionConfig | FtpConnectionConfig | S3ConnectionConfig;
