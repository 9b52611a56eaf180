/** Paths of clients that may need a session to be completed. */
import { refusal } from '../base/errors.js';
import type { Connection } from '../connections/connection.js';
import { definitionOf } from '../contract/connection/types.js';
import { asText, encodingOn, refuseInexpressible } from '../remotes/encoded-names.js';
import { parseRemotePath, ROOT, withRawName, type RemotePath } from '../remotes/path.js';
import type { Remote } from '../remotes/remote.js';

/** A client's path: checked now as far as possible, and complete once the login folder is known. */
export interface PathReference {
  (remote: Remote): Promise<RemotePath>;
  /** Present if the path is known without a session. */
  readonly known?: RemotePath;
}

/**
 * Checks a client's path at once and resolves it later: a relative path starts at the connection's default path, which
 * may be the login folder that only an open session knows. An absent path is the default path itself. `rawName`: the
 * bytes of its last name, base64, if they are no text. @throws GatewayError bad_path
 */
export function referTo(
  connection: Connection,
  text: string | undefined,
  field: string,
  rawName?: string,
  rawField = 'rawName',
): PathReference {
  if (rawName !== undefined && !definitionOf(connection).can.rawNames) {
    const why = `${rawField} is for SFTP and FTP servers: the key of an S3 object is always UTF-8`;
    throw refusal('bad_path', why);
  }
  const encoding = encodingOn(connection);
  const named = (path: RemotePath): RemotePath => {
    const exact = rawName === undefined ? path : asText(encoding, withRawName(path, rawName, rawField));
    refuseInexpressible(encoding, exact, field);
    return exact;
  };
  if (text !== undefined && text.startsWith('/')) return fixedPath(named(parseRemotePath(text, ROOT, field)));
  if (connection.defaultPath !== undefined) {
    const base = parseRemotePath(connection.defaultPath, ROOT, 'defaultPath');
    return fixedPath(named(text === undefined ? base : parseRemotePath(text, base, field)));
  }
  if (text === undefined) return (remote) => remote.home();
  // Only a "..", or a raw name, can still be wrong once the folder is known; everything else is refused now.
  const below = parseRemotePath(text.replaceAll('..', '__'), ROOT, field);
  if (rawName === undefined) refuseInexpressible(encoding, below, field);
  return async (remote) => named(parseRemotePath(text, await remote.home(), field));
}

/** A reference to a path that is known. */
export function fixedPath(known: RemotePath): PathReference {
  return Object.assign(() => Promise.resolve(known), { known });
}
