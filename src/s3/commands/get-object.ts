import mime from 'mime-types';
import { NO_PAGE, rangeChooser } from '../../http/answer.js';
import type { HttpAnswer } from '../../http/types.js';
import { type Download, openDownload } from '../../operations/get.js';
import type { FileInfo, SelectRange } from '../../remotes/remote.js';
import { bucketOf, type Call, type Command, s3OperationOf } from '../call.js';
import { isConditional, isUnchanged, objectValidatorsOf } from '../conditions.js';
import { S3Error } from '../errors.js';
import { etagOf } from '../etag.js';
import { isFolderKey, referToKey } from '../key.js';
import { asNoSuchKey, lookAt } from '../look.js';
import { chosenFields } from '../response-fields.js';
import { timeFields } from '../times.js';
import { partNumberOf } from './multipart-upload.js';

export const getObject: Command = { name: 'GetObject', scope: 'read', run: (call) => answerObject(call, false) };
export const headObject: Command = { name: 'HeadObject', scope: 'read', run: (call) => answerObject(call, true) };

type Fields = Readonly<Record<string, string>>;

async function answerObject(call: Call, isHead: boolean): Promise<HttpAnswer> {
  const { services, headers, key } = call;
  const chosen = chosenFields(call.request.query);
  const connection = await bucketOf(call);
  const isPart = call.request.query.has('partNumber');
  if (isPart) requireOnlyPart(call);
  if (isFolderKey(key)) return answerFolder(call, await lookAt(call, connection, key), chosen);
  const operation = s3OperationOf(call, connection, isHead ? 'exists' : 'download', key);
  let unchanged = false;
  const file = await openDownload(services.operations, operation, referToKey(connection, key), {
    select: isPart ? wholeOf(headers) : rangeChooser(headers, (info: FileInfo) => `"${etagOf(info)}"`),
    factsOnly: isHead,
    skipBody: isConditional(headers) ? (info) => (unchanged = isUnchanged(headers, info)) : undefined,
  }).catch(asNoSuchKey);
  const fields = fieldsOf(call, file.info, chosen);
  return unchanged ? { status: 304, headers: fields } : answerFile(file, fields);
}

/** Every object is one part here: clients that download by parts ask for the first, and learn that it is all. */
function requireOnlyPart(call: Call): void {
  if (call.headers.has('range')) throw new S3Error('InvalidRequest', 'Range and partNumber exclude each other');
  if (partNumberOf(call) > 1) throw new S3Error('InvalidPartNumber', 'the object has one part', 'bad_range');
}

/** All bytes as a range, which an empty object does not have. */
const wholeOf = (headers: Call['headers']): SelectRange =>
  Object.assign(({ size }: FileInfo) => (size === 0 ? undefined : { start: 0, end: size - 1 }), {
    likely: isConditional(headers) ? undefined : { start: 0 },
  });

function answerFile({ info, range, body, whole, length }: Download, headers: Fields): HttpAnswer {
  const partial: Fields =
    range === undefined ? {} : { 'Content-Range': `bytes ${range.start}-${range.end}/${info.size}` };
  const head = { status: range === undefined ? 200 : 206, headers: { ...headers, ...partial } };
  const bytes = whole ?? (body && { stream: body, length });
  return bytes === undefined ? { ...head, headLength: length ?? 'unknown' } : { ...head, body: bytes };
}

/** A folder is an object without content, as clients of S3 make them. */
function answerFolder(call: Call, info: FileInfo, chosen: Fields): HttpAnswer {
  const headers = { ...fieldsOf(call, info, chosen), 'Content-Type': 'application/x-directory' };
  if (isUnchanged(call.headers, info)) return { status: 304, headers };
  return call.request.method === 'HEAD' ? { status: 200, headers, headLength: 0 } : { status: 200, headers, body: '' };
}

function fieldsOf({ key }: Call, info: FileInfo, chosen: Fields): Fields {
  const { entityTag = '' } = objectValidatorsOf(info);
  return {
    'Content-Type': mime.lookup(key) || 'application/octet-stream',
    'Accept-Ranges': 'bytes',
    ETag: entityTag,
    ...timeFields(info),
    ...NO_PAGE,
    ...chosen,
  };
}
