/** The references to secrets in the configuration. */
import { type Values, withOwnSecrets } from '../contract/connection/definition.js';
import { referenceIn } from '../contract/connection/reference.js';
import { definitionOf } from '../contract/connection/types.js';
import type { ConnectionConfig, FileConfig } from './schema.js';

/** Each of them once. */
export function referencesIn({ accounts, network }: Pick<FileConfig, 'accounts' | 'network'>): readonly string[] {
  const ofConnections = accounts.flatMap(({ connections }) => connections.flatMap(referencesOf));
  return [...new Set([...ofConnections, ...[referenceIn(network.proxy.password) ?? []].flat()])];
}

function referencesOf(connection: ConnectionConfig): readonly string[] {
  const definition = definitionOf(connection);
  const entry = withOwnSecrets<Values>({ ...connection }, definition);
  return Object.keys(definition.secrets).flatMap((name) => referenceIn(entry[name]) ?? []);
}
