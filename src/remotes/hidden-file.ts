/** An empty file under a hidden name, which exists while something is tested on it. */
import { toGatewayError } from '../base/errors.js';
import { joinPath, type RemotePath } from './path.js';
import type { Leftovers } from './leftovers.js';
import type { Remote } from './remote.js';
import { endWith } from './whole.js';

/** Makes a hidden file in an existing folder; resolves with its path. Errors: those of write() and commit(). */
export async function makeHiddenFile(
  remote: Remote,
  folder: RemotePath,
  label: string,
  leftovers: Leftovers,
): Promise<RemotePath> {
  const path = joinPath(folder, leftovers.temporaryName(label));
  await leftovers.expect(folder);
  const writer = await remote.write(path, { size: 0, isHidden: true });
  try {
    await endWith(writer, Buffer.alloc(0));
    await writer.commit({ size: 0 });
  } catch (error) {
    await writer.abort(toGatewayError(error));
    throw error;
  }
  return path;
}

/** Never rejects: if the file cannot be removed now, it is removed later. */
export async function removeHiddenFile(remote: Remote, path: RemotePath, leftovers: Leftovers): Promise<void> {
  await remote.remove(path).catch(() => leftovers.removeLater(path));
}
