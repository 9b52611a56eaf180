/** A connection as rows (public settings, secrets apart) and back. */
import { readFile } from 'node:fs/promises';
import type { ConnectionConfig } from '../../config/config.js';
import type {
  Connection,
  FtpConnection,
  PoolLimits,
  S3Connection,
  SftpConnection,
} from '../../connections/connection.js';
import { StartupError } from '../startup-error.js';

export const SECRET_NAMES = ['password', 'privateKey', 'passphrase', 'secretAccessKey', 'sessionToken'] as const;
export type SecretName = (typeof SECRET_NAMES)[number];
export type SecretValues = Readonly<Partial<Record<SecretName, string>>>;

interface CommonSettings {
  readonly defaultPath: string | null;
  readonly rootPath: string;
  readonly atomicUploads: boolean;
  readonly pool: Partial<PoolLimits>;
}
type ServerSettings = Pick<SftpConnection, 'host' | 'port' | 'username'>;
type SftpSettings = CommonSettings & ServerSettings & Pick<SftpConnection, 'algorithms'>;
type FtpSettings = CommonSettings &
  ServerSettings &
  Pick<FtpConnection, 'tls' | 'tlsVerify'> & { tlsCa: string | null };
type S3Settings = CommonSettings &
  Pick<S3Connection, 'region' | 'bucket' | 'accessKeyId' | 'forcePathStyle' | 'uploader' | 'prefix' | 'tlsVerify'> & {
    readonly endpoint: string | null;
    readonly tlsCa: string | null;
  };
export type Settings = SftpSettings | FtpSettings | S3Settings;

/** What `connections` holds of one. */
export interface ConnectionRow {
  readonly id: string;
  readonly account_id: string;
  readonly name: string;
  readonly type: Connection['type'];
  readonly is_active: boolean;
  readonly settings: Settings;
  readonly host_keys: readonly string[];
  readonly configured: boolean;
  /** Of the account; null = as the configuration says for all. */
  readonly allow_private: boolean | null;
}

/** Splits a configured connection; reads the key and certificate files it names. StartupError when one is unreadable. */
export async function splitConfig(config: ConnectionConfig): Promise<{ settings: Settings; secrets: SecretValues }> {
  const common: CommonSettings = {
    defaultPath: config.defaultPath ?? null,
    rootPath: config.type === 's3' ? '/' : config.rootPath,
    atomicUploads: config.atomicUploads,
    pool: config.pool,
  };
  switch (config.type) {
    case 'sftp': {
      const { host, port, username, algorithms, password, passphrase } = config;
      const privateKey = config.privateKey ?? (await readNamedFile(config, 'privateKeyFile', config.privateKeyFile));
      return {
        settings: { ...common, host, port, username, algorithms },
        secrets: present({ password, privateKey, passphrase }),
      };
    }
    case 'ftp': {
      const { host, port, username, tls, tlsVerify, password } = config;
      const tlsCa = await readCertificate(config, config.tlsCaFile);
      return { settings: { ...common, host, port, username, tls, tlsVerify, tlsCa }, secrets: present({ password }) };
    }
    case 's3': {
      const { region, bucket, accessKeyId, forcePathStyle, uploader, tlsVerify, secretAccessKey, sessionToken } =
        config;
      const tlsCa = await readCertificate(config, config.tlsCaFile);
      const endpoint = config.endpoint === undefined || config.endpoint === '' ? null : config.endpoint;
      const prefix = folderPrefix(config.prefix);
      return {
        settings: {
          ...common,
          endpoint,
          region,
          bucket,
          accessKeyId,
          forcePathStyle,
          uploader,
          prefix,
          tlsVerify,
          tlsCa,
        },
        secrets: present({ secretAccessKey, sessionToken }),
      };
    }
  }
}

/** Puts row and opened secrets together again. */
export function joinConnection(row: ConnectionRow, secrets: SecretValues): Connection {
  const common = {
    id: row.id,
    accountId: row.account_id,
    name: row.name,
    isActive: row.is_active,
    defaultPath: row.settings.defaultPath ?? undefined,
    rootPath: row.settings.rootPath,
    atomicUploads: row.settings.atomicUploads,
    pool: row.settings.pool,
    isConfigured: row.configured,
    allowPrivate: row.allow_private ?? undefined,
  };
  switch (row.type) {
    case 'sftp': {
      const { host, port, username, algorithms } = row.settings as SftpSettings;
      const { password, privateKey, passphrase } = secrets;
      const hostKeys = row.host_keys;
      return { ...common, type: 'sftp', host, port, username, algorithms, password, privateKey, passphrase, hostKeys };
    }
    case 'ftp': {
      const { host, port, username, tls, tlsVerify, tlsCa } = row.settings as FtpSettings;
      const { password } = secrets;
      return { ...common, type: 'ftp', host, port, username, password, tls, tlsVerify, tlsCa: tlsCa ?? undefined };
    }
    case 's3': {
      const { endpoint, tlsCa, region, bucket, accessKeyId, forcePathStyle, prefix, tlsVerify } =
        row.settings as S3Settings;
      // Rows of version 1.0 have none.
      const { uploader = 'streamed' } = row.settings as Partial<S3Settings>;
      return {
        ...common,
        type: 's3',
        endpoint: endpoint ?? undefined,
        region,
        bucket,
        accessKeyId,
        secretAccessKey: secrets.secretAccessKey ?? '',
        sessionToken: secrets.sessionToken,
        forcePathStyle,
        uploader,
        prefix,
        tlsCa: tlsCa ?? undefined,
        tlsVerify,
      };
    }
  }
}

/** Host and port that learned host keys belong to; "" where there are none to learn. */
export function endpointOf(settings: Settings): string {
  return 'host' in settings ? `${settings.host.toLowerCase()}:${settings.port}` : '';
}

function present(values: Readonly<Partial<Record<SecretName, string | undefined>>>): SecretValues {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined && value !== ''));
}

/** "" or a key prefix ending in "/", without a leading one. */
function folderPrefix(prefix: string): string {
  const trimmed = prefix.replace(/^\/+/, '');
  return trimmed === '' || trimmed.endsWith('/') ? trimmed : `${trimmed}/`;
}

async function readCertificate(config: ConnectionConfig, fileOrText: string): Promise<string | null> {
  if (fileOrText.includes('-----BEGIN')) return fileOrText;
  return (await readNamedFile(config, 'tlsCaFile', fileOrText)) ?? null;
}

async function readNamedFile(
  config: ConnectionConfig,
  field: string,
  file: string | undefined,
): Promise<string | undefined> {
  if (file === undefined || file === '') return undefined;
  try {
    return await readFile(file, 'utf8');
  } catch {
    throw new StartupError(`connection "${config.name}": ${field} ${file} cannot be read`);
  }
}
