import type { EndSignal } from '../base/ending.js';
import type { Connection } from '../connections/connection.js';
import type { RemotePath } from '../remotes/path.js';
import { requireActive, requireOpen } from '../connections/require.js';
import type { Operations } from './operation.js';
import { referTo } from './path-reference.js';

/** A path that a client names. */
export interface ClientPlace {
  readonly connection: Connection;
  /** undefined: the connection's default path. */
  readonly path: string | undefined;
  /** The bytes of its last names, base64, if they are not UTF-8. */
  readonly rawName?: string | undefined;
}

/**
 * Completes a client's path for storing, so that later changes of the connection's default path do not matter. @throws
 * GatewayError bad_path, connection_inactive, and those of the remote if only it knows the login folder
 */
export async function knownPath(
  operations: Operations,
  { connection, path, rawName }: ClientPlace,
  field: string,
  signal: EndSignal,
  rawField?: string,
): Promise<RemotePath> {
  requireActive(connection);
  const reference = referTo(connection, path, field, rawName, rawField);
  if (reference.known !== undefined) return reference.known;
  requireOpen(connection);
  const use = { signal, leftovers: (one: Connection) => operations.leftoversOf(one) };
  return operations.remotes.use(connection, use, (remote) => reference(remote));
}
