/** What the commands of multipart uploads share. */
import { isUuid } from '../../base/uuid.js';
import type { Connection } from '../../connections/connection.js';
import type { UploadRequest } from '../../uploads/file.js';
import { MOST_PARTS } from '../../uploads/part-list.js';
import { bucketOf, type Call, s3OperationOf } from '../call.js';
import { S3Error } from '../errors.js';

/** The request for an upload of this call's key. */
export function uploadOf(call: Call, connection: Connection): UploadRequest {
  const { type: _type, ...request } = s3OperationOf(call, connection, 'upload', call.key);
  return { ...request, type: 'upload', requestId: call.requestId };
}

interface NamedUpload {
  readonly request: UploadRequest;
  readonly id: string;
}

/** The upload that the query names, if it is one of the key. @throws S3Error NoSuchUpload */
export async function openUpload(call: Call): Promise<NamedUpload> {
  const named = await namedUpload(call);
  await call.services.multipart.requireFor(named.request, named.id);
  return named;
}

/** The same without a question to the database: the caller checks the key. @throws S3Error NoSuchUpload */
export async function namedUpload(call: Call): Promise<NamedUpload> {
  const connection = await bucketOf(call);
  const id = call.request.query.get('uploadId') ?? '';
  if (!isUuid(id)) throw new S3Error('NoSuchUpload', 'there is no such upload', 'unknown_upload');
  return { request: uploadOf(call, connection), id };
}

/** @throws S3Error InvalidArgument */
export function partNumberOf({ request }: Call): number {
  const text = request.query.get('partNumber') ?? '';
  const number = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (number >= 1 && number <= MOST_PARTS) return number;
  throw new S3Error('InvalidArgument', `partNumber must be a number from 1 to ${MOST_PARTS}`);
}

const MOST_LISTED = 1_000;

/** @throws S3Error InvalidArgument */
export function limitIn(query: URLSearchParams, name: string): number {
  const text = query.get(name) ?? '';
  if (text === '') return MOST_LISTED;
  if (!/^\d{1,10}$/.test(text)) throw new S3Error('InvalidArgument', `${name} must be a whole number`);
  return Math.min(Number(text), MOST_LISTED);
}
