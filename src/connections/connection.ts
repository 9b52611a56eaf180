/** A decrypted connection in the form for protocols. Contains secrets: never log one of these objects. */
import type { ConnectionOf, Definition, NullableNames, StoredSettings } from '../contract/connection/definition.js';
import type { SecretReference } from '../contract/connection/reference.js';
import type { ConnectionType, DefinitionOf } from '../contract/connection/types.js';
import type { Secret } from '../contract/thing.js';
import type { AnnouncedKey } from './host-keys.js';

/** What may have secrets that are read from elsewhere: a connection, or the gateway's own proxy. */
export interface Referring {
  /** Where secrets of it are read, by name, in place of a value that is stored. */
  readonly references?: References;
  /** The connection to the jump host that `via` names; absent = none, or none that may be used. */
  readonly jump?: SftpConnection | undefined;
}

interface ConnectionBase extends Referring {
  readonly id: string;
  readonly accountId: string;
  /**
   * The account's setting: whether its hosts may be private; absent = the value of network.connections.allowPrivate.
   */
  readonly allowPrivate?: boolean | undefined;
  readonly name: string;
  readonly isActive: boolean;
  /** Defined by the operator in the configuration. */
  readonly isConfigured?: boolean;
  /** Some of its secrets are the operator's, even if the configuration has lost it since. */
  readonly hasConfiguredSecrets?: boolean;
}

interface HostKeys {
  /** Trusted host keys. */
  readonly hostKeys: readonly string[];
  /** Announced keys; some may be trusted, the others wait or are rejected. */
  readonly announcedKeys?: readonly AnnouncedKey[];
}

type Of<T extends ConnectionType> = Flat<
  ConnectionBase &
    ConnectionOf<DefinitionOf<T>> &
    (DefinitionOf<T>['can'] extends { readonly hostKeys: true } ? HostKeys : unknown)
>;
type Flat<T> = { readonly [N in keyof T]: T[N] };

export type SftpConnection = Of<'sftp'>;
export type FtpConnection = Of<'ftp'>;
export type S3Connection = Of<'s3'>;
export type Connection = { [T in ConnectionType]: Of<T> }[ConnectionType];

/** In the form of gateway.yaml. */
export type ConnectionEntry = { [T in ConnectionType]: EntryOf<DefinitionOf<T>> }[ConnectionType];

type EntryOf<D extends Definition, S = StoredSettings<D>> = Flat<
  { readonly type: D['type']; readonly id?: string; readonly name: string; readonly isActive: boolean } & {
    readonly [N in Exclude<keyof S, NullableNames<S>>]: S[N];
  } & { readonly [N in NullableNames<S>]?: Exclude<S[N], null> } & {
    readonly [N in keyof D['secrets'] as D['secrets'][N] extends Secret<true> ? N : never]: string | SecretReference;
  } & { readonly [N in keyof D['secrets']]?: string | SecretReference } & {
    readonly [file: `${string}File`]: string;
  } & (D['can'] extends {
      readonly hostKeys: true;
    }
      ? { readonly hostKey?: string | readonly string[] }
      : unknown)
>;

/** The public part, as stored in a row. */
export type Settings = { [T in ConnectionType]: StoredSettings<DefinitionOf<T>> }[ConnectionType];
type NamesOf<U> = U extends unknown ? keyof U : never;
export type SecretName = NamesOf<DefinitionOf<ConnectionType>['secrets']>;
export type SecretValues = Readonly<Partial<Record<SecretName, string>>>;
/** Where secrets are read, by their names. */
export type References = SecretValues;
