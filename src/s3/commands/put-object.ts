import { hasCode } from '../../base/errors.js';
import type { Connection } from '../../connections/connection.js';
import type { HttpAnswer } from '../../http/types.js';
import { makeFolder } from '../../operations/change.js';
import { putFile } from '../../operations/put.js';
import type { S3Body } from '../body/body.js';
import { bucketOf, type Call, type Command, s3OperationOf } from '../call.js';
import { preconditionFailed } from '../conditions.js';
import { S3Error } from '../errors.js';
import { etagOf } from '../etag.js';
import { isFolderKey, referToKey } from '../key.js';
import { timeIn } from '../times.js';

export const putObject: Command = { name: 'PutObject', scope: 'write', run };

async function run(call: Call): Promise<HttpAnswer> {
  const { services, headers, key } = call;
  const connection = await bucketOf(call);
  const reference = referToKey(connection, key);
  const body = await call.body();
  const overwrite = !isExclusive(headers);
  if (isFolderKey(key)) return putFolder(call, connection, body, overwrite);
  const target = { file: reference, overwrite, modifiedAt: timeIn(headers) };
  const { bytes, size, digest } = body;
  const request = { connection, target, body: bytes, size, digest, maxBytes: services.limits.uploadBytes };
  const { result } = await services.operations
    .run(s3OperationOf(call, connection, 'upload', key), (operation) =>
      putFile(services.operations, operation, request),
    )
    .catch((error: unknown) => {
      throw asMismatch(error);
    });
  return { status: 200, headers: { ETag: `"${etagOf(result)}"`, ...body.checksums() } };
}

/** An object without content whose key ends with a slash is a folder. */
async function putFolder(call: Call, connection: Connection, body: S3Body, overwrite: boolean): Promise<HttpAnswer> {
  const { services, key } = call;
  if (body.size > 0) throw new S3Error('InvalidRequest', 'a key that ends with "/" is a folder, which has no content');
  const checksums = body.checksums();
  await services.operations.run(s3OperationOf(call, connection, 'mkdir', key), async (operation) => {
    const made = await makeFolder(operation, referToKey(connection, key));
    if (!overwrite && !made.created) throw preconditionFailed();
    return made;
  });
  return {
    status: 200,
    headers: { ETag: `"${etagOf({ size: 0, modifiedAt: new Date(0), isDirectory: true })}"`, ...checksums },
  };
}

/** @throws S3Error NotImplemented for another condition than "there is none" */
export function isExclusive(headers: ReadonlyMap<string, string>): boolean {
  const none = headers.get('if-none-match');
  if (none !== undefined && none.trim() !== '*') {
    throw new S3Error('NotImplemented', 'If-None-Match of a PUT must be *');
  }
  if (headers.has('if-match')) throw new S3Error('NotImplemented', 'If-Match of a PUT is not implemented');
  return none !== undefined;
}

export function asMismatch(error: unknown): unknown {
  if (error instanceof S3Error || !hasCode(error, 'digest_mismatch')) return error;
  return new S3Error('XAmzContentSHA256Mismatch', 'the body does not match x-amz-content-sha256', 'digest_mismatch');
}
