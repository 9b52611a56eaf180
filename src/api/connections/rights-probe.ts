import { type ModeKind, modeBits, modeText } from '../../base/file-mode.js';
import { GatewayError } from '../../base/errors.js';
import type { Connection } from '../../connections/connection.js';
import type { RemotePath } from '../../remotes/path.js';
import type { Remote } from '../../remotes/remote.js';

/** The rights that the connection sets for new files and folders, if any. */
const wanted = (connection: Connection): Partial<Record<ModeKind, string>> => {
  if (connection.type !== 'sftp') return {};
  const { fileMode: file, folderMode: folder } = connection;
  return { ...(file === undefined ? {} : { file }), ...(folder === undefined ? {} : { folder }) };
};

export const hasRights = (connection: Connection): boolean => Object.keys(wanted(connection)).length > 0;

/**
 * Looks at the rights of a file that was just made, and of a folder that is made for this: some servers accept rights
 * and keep others. Returns what was found, in words. @throws GatewayError remote_failure
 */
export async function probeRights(
  remote: Remote,
  connection: Connection,
  made: { readonly file: RemotePath; readonly folder: RemotePath },
): Promise<string> {
  const { file, folder } = wanted(connection);
  const found: string[] = [];
  if (file !== undefined) found.push(compared('file', file, await remote.rightsOf?.(made.file)));
  if (folder !== undefined) {
    await remote.makeFolder(made.folder);
    try {
      found.push(compared('folder', folder, await remote.rightsOf?.(made.folder)));
    } finally {
      await remote.removeFolder(made.folder);
    }
  }
  return found.join(', ');
}

function compared(kind: ModeKind, said: string, actual: string | undefined): string {
  const expected = modeText(modeBits(said));
  if (actual === undefined) return `${kind}s: the server shows no rights`;
  if (actual === expected) return `${kind}s ${actual}`;
  throw new GatewayError(
    'remote_failure',
    `a new ${kind} has the rights ${actual} on the server, not ${expected} (${kind}Mode): the server accepts them and keeps others`,
    { step: 'verify' },
  );
}
