import type { Connection } from '../../connections/connection.js';
import type { HttpAnswer } from '../../http/types.js';
import { setFileTime } from '../../operations/change.js';
import { copyFile, requirePlanForCopies } from '../../operations/copy.js';
import type { FileInfo } from '../../remotes/remote.js';
import { isSameTime, shownTime } from '../../remotes/times.js';
import { refuseForeignCoding } from '../body/body.js';
import { bucketOf, type Call, type Command, s3OperationOf, xmlAnswer } from '../call.js';
import { COPY_PREFIX, isConditional, isUnchanged, preconditionFailed } from '../conditions.js';
import { copySourceOf } from '../copy-source.js';
import { S3Error } from '../errors.js';
import { etagOf } from '../etag.js';
import { isFolderKey, referToKey } from '../key.js';
import { lookAt } from '../look.js';
import { timeIn } from '../times.js';
import { isExclusive } from './put-object.js';

export const copyObject: Command = { name: 'CopyObject', scope: 'write', run: (call) => call.inTime(copy(call)) };

async function copy(call: Call): Promise<HttpAnswer> {
  const { services, caller, headers, key } = call;
  const target = await bucketOf(call);
  const source = await copySourceOf(call);
  requirePlanForCopies(services.operations, caller);
  const isSame = source.connection.id === target.id && source.key === key;
  // A mounted bucket changes the mode of a folder by a copy onto itself.
  if (!isSame && (isFolderKey(key) || isFolderKey(source.key))) {
    throw new S3Error('NotImplemented', 'a folder cannot be copied');
  }
  const directive = headers.get('x-amz-metadata-directive')?.toUpperCase() ?? 'COPY';
  if (directive !== 'COPY' && directive !== 'REPLACE') {
    throw new S3Error('InvalidArgument', 'x-amz-metadata-directive must be COPY or REPLACE');
  }
  const isReplacing = directive === 'REPLACE';
  if (isReplacing) refuseForeignCoding(headers, false);
  const overwrite = !isExclusive(headers);
  if (isSame && !isReplacing) {
    throw new S3Error('InvalidRequest', 'an object can be copied onto itself only to replace its metadata');
  }
  // Nothing of the metadata is stored but the time.
  const modifiedAt = isReplacing ? timeIn(headers) : undefined;
  if (isSame || isConditional(headers, COPY_PREFIX)) {
    const found = await lookAt(call, source.connection, source.key);
    if (isUnchanged(headers, found, COPY_PREFIX)) throw preconditionFailed();
    if (isSame && !overwrite) throw preconditionFailed();
    if (isSame) return answer(await withTime(call, target, found, modifiedAt));
  }
  const order = {
    source: source.connection,
    target,
    from: referToKey(source.connection, source.key),
    to: referToKey(target, key),
    template: undefined,
    overwrite,
    modifiedAt,
  };
  const { result } = await services.operations.run(s3OperationOf(call, target, 'copy', key), (operation) =>
    copyFile(services.operations, operation, order),
  );
  return answer(result);
}

/** A copy onto itself can only change the time; a folder keeps its own. */
async function withTime(
  call: Call,
  connection: Connection,
  found: FileInfo,
  modifiedAt: Date | undefined,
): Promise<FileInfo> {
  const { services, key } = call;
  if (modifiedAt === undefined || found.isDirectory || isSameTime(shownTime(found), modifiedAt)) return found;
  const { result } = await services.operations.run(s3OperationOf(call, connection, 'copy', key), (operation) =>
    setFileTime(operation, referToKey(connection, key), modifiedAt),
  );
  return result;
}

function answer(info: Pick<FileInfo, 'size' | 'modifiedAt' | 'etag'>): HttpAnswer {
  return xmlAnswer('CopyObjectResult', [
    ['LastModified', info.modifiedAt.toISOString()],
    ['ETag', `"${etagOf(info)}"`],
  ]);
}
