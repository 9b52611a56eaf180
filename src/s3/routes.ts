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
import { RESPONSE_PARAMETERS } from './response-fields.js';
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
 * Parameters that ask for another operation of the S3 API, in lower case. A request with one must not be taken for the
 * plain operation: `PUT /b/k?acl` would replace the object.
 */
const OPERATIONS = new Set([
  ...['abac', 'accelerate', 'acl', 'analytics', 'annotation', 'annotationname', 'attributes', 'cors', 'delete'],
  ...['encryption', 'intelligent-tiering', 'inventory', 'legal-hold', 'lifecycle', 'list-type', 'location', 'logging'],
  ...['max-directory-buckets', 'metadataannotationtable', 'metadataconfiguration', 'metadatainventorytable'],
  ...['metadatajournaltable', 'metadatatable', 'metrics', 'notification', 'object-lock', 'ownershipcontrols'],
  ...['partnumber', 'policy', 'policystatus', 'publicaccessblock', 'renameobject', 'replication', 'requestpayment'],
  ...['restore', 'retention', 'select', 'select-type', 'session', 'tagging', 'torrent', 'uploadid', 'uploads'],
  ...['versionid', 'versioning', 'versions', 'website'],
]);

/** Parameters of reads that may be empty, and then mean nothing. */
const OPTIONS = new Set([
  ...['bucket-region', 'continuation-token', 'delimiter', 'encoding-type', 'fetch-owner', 'key-marker', 'marker'],
  ...['max-buckets', 'max-keys', 'max-parts', 'max-uploads', 'part-number-marker', 'prefix', 'start-after'],
  ...['upload-id-marker', ...RESPONSE_PARAMETERS],
]);

/** @throws S3Error NotImplemented, MethodNotAllowed */
export function commandOf(
  { method, query, headers }: Pick<HttpRequest, 'method' | 'query' | 'headers'>,
  target: S3Target,
): Command {
  const level: Level = target.bucket === '' ? 'service' : target.key === '' ? 'bucket' : 'key';
  const rows = TABLE[`${method} ${level}`] ?? [];
  const asked = Array.from(query, ([name, value]) => (isMeant(method, name, value) ? name : '')).filter(Boolean);
  const row = rows.find(
    ({ query: needed = [], header }) =>
      (header === undefined || headers.has(header)) &&
      needed.every((parameter) => isGiven(query, parameter)) &&
      asked.every((name) => needed.some((parameter) => parameter.split('=')[0] === name)),
  );
  const named = query.get('x-id') ?? row?.command.name;
  if (row !== undefined && named === row.command.name) return row.command;
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

/**
 * Whether the parameter makes it another operation. S3 and its likes get new ones, such as `?renameObject` and `?append`:
 * a change must know all its parameters, and a read those without a value.
 */
function isMeant(method: string, name: string, value: string): boolean {
  if (/^x-/i.test(name)) return false;
  return isChange(method) || OPERATIONS.has(name.toLowerCase()) || (value === '' && !OPTIONS.has(name));
}

function isGiven(query: URLSearchParams, parameter: string): boolean {
  const [name = '', value] = parameter.split('=');
  return value === undefined ? query.has(name) : query.get(name) === value;
}
