import type { HttpAnswer } from '../../http/types.js';
import type { ByteRange } from '../../remotes/remote.js';
import { type Call, type Command, xmlAnswer } from '../call.js';
import { COPY_PREFIX, isUnchanged, preconditionFailed } from '../conditions.js';
import { copySourceOf } from '../copy-source.js';
import { S3Error } from '../errors.js';
import { isFolderKey, referToKey } from '../key.js';
import { lookAt } from '../look.js';
import { ownSum, partSumElements } from '../multipart-checksum.js';
import { openUpload, partNumberOf } from './multipart-upload.js';

export const uploadPartCopy: Command = {
  name: 'UploadPartCopy',
  scope: 'write',
  run: (call) => call.inTime(copy(call)),
};

async function copy(call: Call): Promise<HttpAnswer> {
  const { headers } = call;
  const number = partNumberOf(call);
  const { request, id } = await openUpload(call);
  const { connection, key } = await copySourceOf(call);
  if (isFolderKey(key)) throw new S3Error('NotImplemented', 'a folder cannot be copied');
  const info = await lookAt(call, connection, key);
  if (isUnchanged(headers, info, COPY_PREFIX)) throw preconditionFailed();
  const range = rangeIn(headers.get('x-amz-copy-source-range'), info.size);
  const size = range === undefined ? info.size : range.end - range.start + 1;
  const source = { connection, file: referToKey(connection, key), range };
  const part = await call.services.multipart.writePart(request, id, { number, size, source, admit: ownSum });
  return xmlAnswer('CopyPartResult', [
    ['LastModified', part.storedAt.toISOString()],
    ['ETag', `"${part.etag}"`],
    ...partSumElements(part),
  ]);
}

/** Both ends are needed, within the object. @throws S3Error InvalidArgument, InvalidRange */
function rangeIn(field: string | undefined, size: number): ByteRange | undefined {
  if (field === undefined) return undefined;
  const [, start, end] = /^bytes=(\d{1,15})-(\d{1,15})$/.exec(field) ?? [];
  const range = { start: Number(start), end: Number(end) };
  if (!(range.start <= range.end))
    throw new S3Error('InvalidArgument', 'x-amz-copy-source-range must be bytes=FIRST-LAST');
  if (range.end < size) return range;
  throw new S3Error('InvalidArgument', `the range is outside of the ${size} bytes of the source`, 'bad_range');
}
