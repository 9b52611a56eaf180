/** The facts of one object, without its content. */
import { hasCode } from '../base/errors.js';
import type { Connection } from '../connections/connection.js';
import { findFile } from '../operations/change.js';
import { openDownload } from '../operations/get.js';
import type { FileInfo } from '../remotes/remote.js';
import { type Call, s3OperationOf } from './call.js';
import { S3Error } from './errors.js';
import { isFolderKey, referToKey } from './key.js';

/** With the exact time of a file, as the answer to a HEAD. @throws S3Error NoSuchKey */
export async function lookAt(call: Call, connection: Connection, key: string): Promise<FileInfo> {
  const { info } = await measureObject(call, connection, key);
  return info;
}

interface MeasuredObject {
  readonly info: FileInfo;
  /** Undefined if the file has more bytes than its server reports. */
  readonly size: number | undefined;
}

/** The same with its size. @throws S3Error NoSuchKey */
export async function measureObject(call: Call, connection: Connection, key: string): Promise<MeasuredObject> {
  const { operations } = call.services;
  const reference = referToKey(connection, key);
  const request = s3OperationOf(call, connection, 'exists', key);
  if (!isFolderKey(key)) {
    const file = await openDownload(operations, request, reference, { factsOnly: true }).catch(asNoSuchKey);
    return { info: file.info, size: file.length };
  }
  const { result } = await operations.run(request, (operation) => findFile(operation, reference));
  if (result?.isDirectory === true) return { info: result, size: 0 };
  throw noSuchKey();
}

/** The key of a folder ends with a slash: without it there is no such object. */
export function asNoSuchKey(error: unknown): never {
  throw hasCode(error, 'is_a_folder') ? noSuchKey() : error;
}

const noSuchKey = (): S3Error => new S3Error('NoSuchKey', 'there is no such object', 'not_found');
