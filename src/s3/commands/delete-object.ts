import { hasCode } from '../../base/errors.js';
import type { Connection } from '../../connections/connection.js';
import type { HttpAnswer } from '../../http/types.js';
import { deleteFile, deleteFolder } from '../../operations/change.js';
import { bucketOf, type Call, type Command, s3OperationOf } from '../call.js';
import { isFolderKey, referToKey } from '../key.js';

export const deleteObject: Command = { name: 'DeleteObject', scope: 'write', run };

async function run(call: Call): Promise<HttpAnswer> {
  await deleteKey(call, await bucketOf(call), call.key);
  return { status: 204 };
}

/** A key without an object is no error, as in S3; so is a folder that is not empty: other keys keep it. */
export async function deleteKey(call: Call, connection: Connection, key: string): Promise<void> {
  const reference = referToKey(connection, key);
  const remove = isFolderKey(key) ? deleteFolder : deleteFile;
  try {
    await call.services.operations.run(s3OperationOf(call, connection, 'delete', key), (operation) =>
      remove(operation, reference),
    );
  } catch (error) {
    if (hasCode(error, 'not_found', 'is_a_folder', 'not_a_folder', 'not_empty')) return;
    throw error;
  }
}
