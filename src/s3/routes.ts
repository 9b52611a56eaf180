/** Which command a request is for: by its method, whether it names a key, its query and its headers. Made once. */
import type { HttpRequest } from '../http/types.js';
import type { Command } from './call.js';
import { abortMultipartUpload } from './commands/abort-multipart-upload.js';
import { completeMultipartUpload } from './commands/complete-multipart-upload.js';
import { copyObject } from './commands/copy-object.js';
import { createMultipartUpload } from './commands/create-multipart-upload.js';
import { deleteObject } from './commands/delete-object.js';
import { deleteObjects } from './commands/delete-objects.js';
import { getObject, headObject } from './commands/get-object.js';
import { getObjectAttributes } from './commands/get-object-attributes.js';
import { getBucketLocation, headBucket, listBuckets } from './commands/list-buckets.js';
import { listMultipartUploads } from './commands/list-multipart-uploads.js';
import { listObjects, listObjectsV2 } from './commands/list-objects.js';
import { listParts } from './commands/list-parts.js';
import { putObject } from './commands/put-object.js';
import { bucketSettings, objectSettings } from './commands/settings.js';
import { uploadPart } from './commands/upload-part.js';
import { uploadPartCopy } from './commands/upload-part-copy.js';
import { S3Error } from './errors.js';
import type { S3Target } from './target.js';

interface Row {
  readonly command: Command;
  /** Parameters that the query must have; `name=value` or `name`. */
  readonly query?: readonly string[];
  readonly header?: string;
}

type Level = 'service' | 'bucket' | 'key';

/** For each method and level the first row that fits counts: those with a query come first. */
const TABLE: Readonly<Record<string, readonly Row[]>> = {
  'GET service': [{ command: listBuckets }],
  'GET bucket': [
    { command: getBucketLocation, query: ['location'] },
    { command: listObjectsV2, query: ['list-type=2'] },
    { command: listMultipartUploads, query: ['uploads'] },
    ...bucketSettings,
    { command: listObjects },
  ],
  'HEAD bucket': [{ command: headBucket }],
  'POST bucket': [{ command: deleteObjects, query: ['delete'] }],
  'GET key': [
    { command: listParts, query: ['uploadId'] },
    { command: getObjectAttributes, query: ['attributes'] },
    ...objectSettings,
    { command: getObject, query: ['partNumber'] },
    { command: getObject },
  ],
  'HEAD key': [{ command: headObject, query: ['partNumber'] }, { command: headObject }],
  'PUT key': [
    { command: uploadPartCopy, query: ['uploadId', 'partNumber'], header: 'x-amz-copy-source' },
    { command: uploadPart, query: ['uploadId', 'partNumber'] },
    { command: copyObject, header: 'x-amz-copy-source' },
    { command: putObject },
  ],
  'POST key': [
    { command: createMultipartUpload, query: ['uploads'] },
    { command: completeMultipartUpload, query: ['uploadId'] },
  ],
  'DELETE key': [{ command: abortMultipartUpload, query: ['uploadId'] }, { command: deleteObject }],
};

/**
 * Parameters that ask for another operation of the S3 API. A request with one must not be taken for the plain
 * operation: `PUT /b/k?acl` would replace the object.
 */
const OPERATIONS = [
  ...['accelerate', 'acl', 'analytics', 'attributes', 'cors', 'delete', 'encryption', 'intelligent-tiering'],
  ...['inventory', 'legal-hold', 'lifecycle', 'list-type', 'location', 'logging', 'metadataTable', 'metrics'],
  ...['notification', 'object-lock', 'ownershipControls', 'partNumber', 'policy', 'policyStatus'],
  ...['publicAccessBlock', 'replication', 'requestPayment', 'restore', 'retention', 'select', 'session', 'tagging'],
  ...['torrent', 'uploadId', 'uploads', 'versionId', 'versioning', 'versions', 'website'],
];

/** @throws S3Error NotImplemented, MethodNotAllowed */
export function commandOf(
  { method, query, headers }: Pick<HttpRequest, 'method' | 'query' | 'headers'>,
  target: S3Target,
): Command {
  const level: Level = target.bucket === '' ? 'service' : target.key === '' ? 'bucket' : 'key';
  const rows = TABLE[`${method} ${level}`] ?? [];
  const asked = isChange(method) ? [...query.keys()].filter(isMeant) : OPERATIONS.filter((name) => query.has(name));
  const row = rows.find(
    ({ query: needed = [], header }) =>
      (header === undefined || headers.has(header)) &&
      needed.every((parameter) => isGiven(query, parameter)) &&
      asked.every((name) => needed.some((parameter) => parameter.split('=')[0] === name)),
  );
  if (row !== undefined) return row.command;
  if (rows.length === 0 && asked.length === 0 && !isChange(method)) {
    throw new S3Error('MethodNotAllowed', `${method.slice(0, 20)} is not allowed here`, 'method_not_allowed');
  }
  const what =
    asked.length === 0
      ? `${method.slice(0, 20)} of a ${level}`
      : `${method.slice(0, 20)} with ${asked.join(', ').slice(0, 200)}`;
  throw new S3Error('NotImplemented', `${what} is not implemented`, 'unsupported_operation');
}

const isChange = (method: string): boolean => method === 'PUT' || method === 'DELETE' || method === 'POST';

/** A change must know all parameters: S3 and its likes get new ones, such as `?renameObject` and `?append`. */
const isMeant = (name: string): boolean => !/^x-/i.test(name);

function isGiven(query: URLSearchParams, parameter: string): boolean {
  const [name = '', value] = parameter.split('=');
  return value === undefined ? query.has(name) : query.get(name) === value;
}
