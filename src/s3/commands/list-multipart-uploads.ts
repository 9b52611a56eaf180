import { isUuid, LAST_ID } from '../../base/uuid.js';
import type { HttpAnswer } from '../../http/types.js';
import { bucketOf, type Call, type Command, xmlAnswer } from '../call.js';
import { S3Error } from '../errors.js';
import { encodedKey, wantsEncoded } from '../list.js';
import { askedElements } from '../multipart-checksum.js';
import type { XmlElement } from '../xml.js';
import { limitIn } from './multipart-upload.js';

export const listMultipartUploads: Command = { name: 'ListMultipartUploads', scope: 'write', run };

async function run(call: Call): Promise<HttpAnswer> {
  const { services, caller, bucket, request } = call;
  const { query } = request;
  const connection = await bucketOf(call);
  if ((query.get('delimiter') ?? '') !== '') throw new S3Error('NotImplemented', 'delimiter is not implemented here');
  const limit = limitIn(query, 'max-uploads');
  const prefix = textIn(query, 'prefix');
  const keyMarker = textIn(query, 'key-marker');
  const idMarker = query.get('upload-id-marker') ?? '';
  if (idMarker !== '' && !isUuid(idMarker))
    throw new S3Error('InvalidArgument', 'upload-id-marker must be that of an answer');
  const after = keyMarker === '' ? {} : { after: { path: `/${keyMarker}`, id: idMarker === '' ? LAST_ID : idMarker } };
  // One more shows whether others follow.
  const page = { prefix: `/${prefix}`, ...after, limit: limit + 1 };
  const found = await services.multipart.list(caller, connection, page);
  const uploads = found.slice(0, limit);
  const isTruncated = found.length > limit && limit > 0;
  const last = isTruncated ? uploads.at(-1) : undefined;
  const isEncoded = wantsEncoded(query);
  const name = (key: string): string => (isEncoded ? encodedKey(key) : key);
  return xmlAnswer('ListMultipartUploadsResult', [
    ['Bucket', bucket],
    ['KeyMarker', name(keyMarker)],
    ['UploadIdMarker', idMarker],
    ['NextKeyMarker', last && name(keyOf(last.path))],
    ['NextUploadIdMarker', last?.id],
    ['Prefix', name(prefix)],
    ['MaxUploads', limit],
    ['EncodingType', isEncoded ? 'url' : undefined],
    ['IsTruncated', isTruncated],
    ...uploads.map(({ id, path, createdAt, checksum }): XmlElement => [
      'Upload',
      [
        ['Key', name(keyOf(path))],
        ['UploadId', id],
        ['StorageClass', 'STANDARD'],
        ['Initiated', createdAt.toISOString()],
        ...askedElements({ checksum }),
      ],
    ]),
  ]);
}

/** @throws S3Error InvalidArgument for a NUL, which the database does not take */
function textIn(query: URLSearchParams, name: string): string {
  const text = query.get(name) ?? '';
  if (text.includes('\0')) throw new S3Error('InvalidArgument', `${name} must hold no NUL`);
  return text;
}

const keyOf = (path: string): string => path.slice(1);
