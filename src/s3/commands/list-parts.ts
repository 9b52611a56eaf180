import type { HttpAnswer } from '../../http/types.js';
import { type Call, type Command, xmlAnswer } from '../call.js';
import { S3Error } from '../errors.js';
import { askedElements, partSumElements } from '../multipart-checksum.js';
import type { XmlElement } from '../xml.js';
import { limitIn, openUpload } from './multipart-upload.js';

export const listParts: Command = { name: 'ListParts', scope: 'write', run };

async function run(call: Call): Promise<HttpAnswer> {
  const { services, caller, bucket, key, request } = call;
  const { request: asked, id } = await openUpload(call);
  const limit = limitIn(request.query, 'max-parts');
  const marker = request.query.get('part-number-marker') ?? '';
  if (!/^\d{0,5}$/.test(marker))
    throw new S3Error('InvalidArgument', 'part-number-marker must be the number of a part');
  // One more shows whether others follow.
  const page = { after: Number(marker), limit: limit + 1 };
  const { upload, parts: found } = await services.multipart.parts(asked, id, page);
  const parts = found.slice(0, limit);
  const isTruncated = found.length > limit && limit > 0;
  const owner: XmlElement[] = [
    ['ID', caller.accountId],
    ['DisplayName', caller.accountId],
  ];
  return xmlAnswer('ListPartsResult', [
    ['Bucket', bucket],
    ['Key', key],
    ['UploadId', id],
    ['Initiator', owner],
    ['Owner', owner],
    ['StorageClass', 'STANDARD'],
    ...askedElements(upload),
    ['PartNumberMarker', Number(marker)],
    ['NextPartNumberMarker', isTruncated ? parts.at(-1)?.number : undefined],
    ['MaxParts', limit],
    ['IsTruncated', isTruncated],
    ...parts.map((part): XmlElement => [
      'Part',
      [
        ['PartNumber', part.number],
        ['LastModified', part.storedAt.toISOString()],
        ['ETag', `"${part.etag}"`],
        ['Size', part.size],
        ...(upload.checksum === null ? [] : partSumElements(part)),
      ],
    ]),
  ]);
}
