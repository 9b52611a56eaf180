/** The types of connections. A new type gets a line here and in the registry of protocols. */
import { ftp } from './ftp.js';
import { s3 } from './s3.js';
import { sftp } from './sftp.js';
import type { Definition } from './definition.js';

const DEFINITIONS = { sftp, ftp, s3 };

export type ConnectionType = keyof typeof DEFINITIONS;
export type DefinitionOf<T extends ConnectionType> = (typeof DEFINITIONS)[T];

export const CONNECTION_TYPES: readonly Definition[] = Object.values(DEFINITIONS);

export function definitionOf({ type }: { readonly type: ConnectionType }): Definition {
  return DEFINITIONS[type];
}
