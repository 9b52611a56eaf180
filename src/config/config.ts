/** The checked configuration, as every part of the program receives it: frozen, defaults filled in, secrets in place. */
import type { Admitted } from '../base/allowed.js';
import type { configSchema } from './schema.js';

/** What the file admits, after defaults are filled in. */
export type FileConfig = Admitted<ReturnType<typeof configSchema>>;

export type Config = FileConfig & {
  /** GATEWAY_MASTER_KEY: 32 bytes as base64 or hex; "" = a key file made in dataDir. */
  readonly masterKey: string;
};

export type LogLevel = Config['log']['level'];
export type AccountConfig = Config['accounts'][number];
export type ApiKeyConfig = AccountConfig['apiKeys'][number];
export type ConnectionConfig = AccountConfig['connections'][number];
