/** What an account registered, decrypted, as the protocols need it. Secrets live here: never log one of these objects. */
import type { PoolLimits } from '../pools/session.js';
import type { ConnectionOf, FileEntryOf, SettingsOf } from './definition.js';
import type { ConnectionType, DefinitionOf } from './types.js';

export type { ConnectionType, PoolLimits };

interface ConnectionBase {
  readonly id: string;
  readonly accountId: string;
  /** Of the account: whether its hosts may be private; absent = as network.connections.allowPrivate says. */
  readonly allowPrivate?: boolean | undefined;
  readonly name: string;
  readonly isActive: boolean;
  /** Written by the operator, in the configuration. */
  readonly isConfigured?: boolean;
}

type Of<T extends ConnectionType> = ConnectionBase & ConnectionOf<DefinitionOf<T>>;

export type SftpConnection = Of<'sftp'>;
export type FtpConnection = Of<'ftp'>;
export type S3Connection = Of<'s3'>;
export type Connection = { [T in ConnectionType]: Of<T> }[ConnectionType];

/** As gateway.yaml has it. */
export type ConnectionEntry = { [T in ConnectionType]: FileEntryOf<DefinitionOf<T>> }[ConnectionType];

/** The public part, as a row holds it. */
export type Settings = { [T in ConnectionType]: SettingsOf<DefinitionOf<T>> }[ConnectionType];
type NamesOf<U> = U extends unknown ? keyof U : never;
export type SecretName = NamesOf<DefinitionOf<ConnectionType>['secrets']>;
export type SecretValues = Readonly<Partial<Record<SecretName, string>>>;
