import type { HttpAnswer } from '../../http/types.js';
import { refuseForeignCoding } from '../body/body.js';
import { bucketOf, type Call, type Command, xmlAnswer } from '../call.js';
import { S3Error } from '../errors.js';
import { isFolderKey, referToKey } from '../key.js';
import { askedChecksum, checksumFields, keptChecksum } from '../multipart-checksum.js';
import { timeIn } from '../times.js';
import { uploadOf } from './multipart-upload.js';

export const createMultipartUpload: Command = { name: 'CreateMultipartUpload', scope: 'write', run };

async function run(call: Call): Promise<HttpAnswer> {
  const { services, headers, bucket, key } = call;
  const connection = await bucketOf(call);
  if (isFolderKey(key))
    throw new S3Error('InvalidRequest', 'a key that ends with "/" is a folder, which has no content');
  refuseForeignCoding(headers, false);
  const checksum = askedChecksum(headers);
  const order = {
    file: referToKey(connection, key),
    modifiedAt: timeIn(headers),
    checksum: checksum && keptChecksum(checksum),
  };
  const { id } = await services.multipart.create(uploadOf(call, connection), order);
  const answer = xmlAnswer('InitiateMultipartUploadResult', [
    ['Bucket', bucket],
    ['Key', key],
    ['UploadId', id],
  ]);
  return { ...answer, headers: { ...answer.headers, ...(checksum && checksumFields(checksum)) } };
}
