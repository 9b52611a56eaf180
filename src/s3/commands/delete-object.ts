import { hasCode } from '../../base/errors.js';
import type { Connection } from '../../connections/connection.js';
import type { HttpAnswer } from '../../http/types.js';
import { deleteFile } from '../../operations/change.js';
import type { Operation } from '../../operations/operation.js';
import { baseName } from '../../remotes/path.js';
import { bucketOf, type Call, type Command, operationOf } from '../call.js';
import { isFolderKey, referToKey } from '../key.js';

export const deleteObject: Command = { name: 'DeleteObject', scope: 'write', run };

async function run(call: Call): Promise<HttpAnswer> {
  await deleteKey(call, await bucketOf(call), call.key);
  return { status: 204 };
}

/** A key without an object is no error, as in S3; so is a folder that is not empty: other keys keep it. */
export async function deleteKey(call: Call, connection: Connection, key: string): Promise<void> {
  const reference = referToKey(connection, key);
  const removeFolder = (operation: Operation): Promise<void> =>
    operation.use(async (remote, attempt) => {
      const path = await reference(remote);
      operation.locate(path, baseName(path));
      attempt.committed();
      operation.mark('transfer');
      await remote.removeFolder(path);
    });
  const work = isFolderKey(key)
    ? removeFolder
    : async (operation: Operation) => void (await deleteFile(operation, reference));
  try {
    await call.services.operations.run(operationOf(call, connection, 'delete', key), work);
  } catch (error) {
    if (hasCode(error, 'not_found', 'is_a_folder', 'not_a_folder', 'not_empty')) return;
    throw error;
  }
}
