import type { HttpAnswer } from '../../http/types.js';
import { type Call, type Command, xmlAnswer } from '../call.js';
import { S3Error } from '../errors.js';
import { etagOf } from '../etag.js';
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
  const { info } = await services.multipart.complete(request, id, parts, { exclusive });
  return xmlAnswer('CompleteMultipartUploadResult', [
    ['Location', `${call.request.path}`],
    ['Bucket', bucket],
    ['Key', key],
    ['ETag', `"${etagOf(info)}"`],
  ]);
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
