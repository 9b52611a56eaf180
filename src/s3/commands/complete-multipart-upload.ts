import type { Connection } from '../../connections/connection.js';
import type { HttpAnswer } from '../../http/types.js';
import type { FileInfo } from '../../remotes/remote.js';
import { type Call, type Command, xmlAnswer } from '../call.js';
import { S3Error } from '../errors.js';
import { etagOf } from '../etag.js';
import { lookAt } from '../look.js';
import { malformed, readXmlList, textIn } from '../xml-body.js';
import { openUpload } from './multipart-upload.js';
import { asMismatch, isExclusive } from './put-object.js';

export const completeMultipartUpload: Command = { name: 'CompleteMultipartUpload', scope: 'write', run };

const MOST_PARTS = 10_000;

async function run(call: Call): Promise<HttpAnswer> {
  const { services, bucket, key } = call;
  const { request, id } = await openUpload(call);
  const exclusive = isExclusive(call.request.headers);
  const { items } = await readXmlList(call, 'CompleteMultipartUpload', 'Part').catch((error: unknown) => {
    throw asMismatch(error);
  });
  const parts = items.map((part) => ({
    number: numberIn(textIn(part, 'PartNumber')),
    etag: tagIn(textIn(part, 'ETag')),
  }));
  if (parts.length === 0 || parts.length > MOST_PARTS) throw malformed();
  const complete = async (): Promise<HttpAnswer> => {
    const { info, isRepeated } = await services.multipart.complete(request, id, parts, { exclusive });
    const etag = etagOf(isRepeated ? await asStored(call, request.connection, info) : info);
    return xmlAnswer('CompleteMultipartUploadResult', [
      ['Location', call.request.path],
      ['Bucket', bucket],
      ['Key', key],
      ['ETag', `"${etag}"`],
    ]);
  };
  return call.inTime(complete());
}

/** A repetition gets the entity tag of the first answer: only the server knows it, unless the object has gone. */
async function asStored(call: Call, connection: Connection, made: FileInfo): Promise<FileInfo> {
  const found = await lookAt(call, connection, call.key).catch(() => made);
  return found.size === made.size ? found : made;
}

function numberIn(text = ''): number {
  const number = /^\s*\d{1,5}\s*$/.test(text) ? Number(text) : 0;
  if (number >= 1 && number <= MOST_PARTS) return number;
  throw new S3Error('InvalidPart', 'PartNumber must be a number from 1 to 10000');
}

/** Clients send the tag with quotes, or without. */
function tagIn(text: string | undefined): string {
  if (text === undefined) throw malformed();
  return text.trim().replace(/^"|"$/g, '');
}
