import { Readable } from 'node:stream';
import type { HttpAnswer } from '../../http/types.js';
import { openDownload } from '../../operations/get.js';
import type { ByteRange, FileInfo } from '../../remotes/remote.js';
import { type Call, type Command, operationOf, xmlAnswer } from '../call.js';
import { COPY_PREFIX, isConditional, isUnchanged, preconditionFailed } from '../conditions.js';
import { copySourceOf } from '../copy-source.js';
import { S3Error } from '../errors.js';
import { referToKey } from '../key.js';
import { openUpload, partNumberOf } from './multipart-upload.js';

export const uploadPartCopy: Command = { name: 'UploadPartCopy', scope: 'write', run };

/** The part comes from another object: it is a download whose bytes go into the upload. */
async function run(call: Call): Promise<HttpAnswer> {
  const {
    services,
    request: { headers },
  } = call;
  const number = partNumberOf(call);
  const { request, id } = await openUpload(call);
  const { connection, key } = await copySourceOf(call);
  const select = (info: FileInfo): ByteRange | undefined => {
    if (isConditional(headers, COPY_PREFIX) && isUnchanged(headers, info, COPY_PREFIX)) throw preconditionFailed();
    return rangeIn(headers.get('x-amz-copy-source-range'), info.size);
  };
  const download = operationOf(call, connection, 'download', key);
  const file = await openDownload(services.operations, download, referToKey(connection, key), { select });
  const { whole, body = Readable.from([whole ?? Buffer.alloc(0)], { objectMode: false }), length } = file;
  try {
    const size = whole?.length ?? length;
    if (size === undefined) throw new S3Error('InvalidRequest', 'the server does not report the size of the source');
    const part = await services.multipart.writePart(request, id, { number, size, body, digest: undefined });
    return xmlAnswer('CopyPartResult', [
      ['LastModified', part.storedAt.toISOString()],
      ['ETag', `"${part.etag}"`],
    ]);
  } finally {
    body.destroy();
  }
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
