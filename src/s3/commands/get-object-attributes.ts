import type { HttpAnswer } from '../../http/types.js';
import { bucketOf, type Call, type Command, xmlAnswer } from '../call.js';
import { S3Error } from '../errors.js';
import { etagOf } from '../etag.js';
import { measureObject } from '../look.js';
import { timeFields } from '../times.js';

export const getObjectAttributes: Command = { name: 'GetObjectAttributes', scope: 'read', run };

/** All that S3 knows. Checksums are not stored, and every object is one part: then S3 also leaves two of them out. */
const ATTRIBUTES = ['ETag', 'Checksum', 'ObjectParts', 'StorageClass', 'ObjectSize'];

async function run(call: Call): Promise<HttpAnswer> {
  const asked = attributesIn(call.headers);
  const { info, size } = await measureObject(call, await bucketOf(call), call.key);
  const answer = xmlAnswer('GetObjectAttributesResponse', [
    ['ETag', asked.includes('ETag') ? etagOf(info) : undefined],
    ['StorageClass', asked.includes('StorageClass') ? 'STANDARD' : undefined],
    ['ObjectSize', asked.includes('ObjectSize') ? size : undefined],
  ]);
  const { 'Last-Modified': modified } = timeFields(info);
  return modified === undefined ? answer : { ...answer, headers: { ...answer.headers, 'Last-Modified': modified } };
}

/** @throws S3Error InvalidRequest, InvalidArgument */
function attributesIn(headers: Call['headers']): readonly string[] {
  const names = (headers.get('x-amz-object-attributes') ?? '').split(',').map((name) => name.trim());
  const asked = names.filter((name) => name !== '');
  const text = `x-amz-object-attributes must name one or more of ${ATTRIBUTES.join(', ')}`;
  if (asked.length === 0) throw new S3Error('InvalidRequest', text);
  if (!asked.every((name) => ATTRIBUTES.includes(name))) throw new S3Error('InvalidArgument', text);
  return asked;
}
