/** One request of an S3 client, as its command sees it, and what commands have in common. */
import { mayUse } from '../base/caller.js';
import type { Span } from '../base/span.js';
import type { Connection } from '../connections/connection.js';
import type { Scope } from '../contract/scopes.js';
import type { TransferType } from '../contract/transfer.js';
import type { Caller, HttpAnswer, HttpRequest } from '../http/types.js';
import type { OperationRequest, Operations } from '../operations/operation.js';
import type { KeptKeys } from '../operations/tree/kept-keys.js';
import type { Storage } from '../storage/storage.js';
import type { MultipartUploads } from '../uploads/multipart.js';
import type { S3Body } from './body/body.js';
import { S3Error } from './errors.js';
import { xml, type XmlContent } from './xml.js';

export interface S3Services {
  readonly storage: Pick<Storage, 'connections'>;
  readonly operations: Operations;
  readonly lists: Pick<KeptKeys, 'page' | 'close'>;
  readonly multipart: MultipartUploads;
  readonly limits: { readonly uploadBytes: number };
  readonly region: string;
}

export interface Call {
  readonly services: S3Services;
  readonly request: HttpRequest;
  readonly requestId: string;
  readonly caller: Caller;
  readonly span: Span;
  /** As the client named it; "" for the service. */
  readonly bucket: string;
  readonly key: string;
  /** The fields of the request, with those that a presigned URL has in its query. */
  readonly headers: ReadonlyMap<string, string>;
  /** Opens the body as its signature describes it. */
  readonly body: () => Promise<S3Body>;
  /** For work that may take minutes, with the body already read: sends the response head early if needed. */
  readonly inTime: (work: Promise<HttpAnswer>) => Promise<HttpAnswer>;
}

/** One operation of the S3 API. */
export interface Command {
  /** As the S3 API names it; those that only read a setting share one. */
  readonly name: string;
  /** What its key must be allowed. */
  readonly scope: Scope | 'any';
  /** Checksums in the head of its request are those of the object, not of the body. */
  readonly hasObjectChecksum?: true;
  run(call: Call): Promise<HttpAnswer>;
}

/** The connection of a bucket. One answer for all that the caller may not use. @throws S3Error NoSuchBucket */
export async function bucketOf({ services, caller, bucket }: Call, name = bucket): Promise<Connection> {
  // The database takes no control characters.
  const connection = /\p{Cc}/u.test(name) ? undefined : await services.storage.connections.find(caller.accountId, name);
  if (connection !== undefined && mayUse(caller, [connection.id]) && connection.isActive) return connection;
  throw new S3Error('NoSuchBucket', 'there is no such bucket', 'unknown_connection');
}

export function s3OperationOf(
  { caller, request, requestId, span }: Call,
  connection: Connection,
  type: TransferType,
  key: string,
): OperationRequest {
  const path = `/${key}`;
  const filename = path.replace(/\/$/, '').slice(path.lastIndexOf('/') + 1);
  const { memory } = request.claims;
  return { caller, connection, type, path, filename, requestId, signal: request.ending, client: request, memory, span };
}

export function xmlAnswer(root: string, content: XmlContent, status = 200): HttpAnswer {
  return { status, headers: XML, body: xml(root, content) };
}

export const XML = { 'Content-Type': 'application/xml' } as const;
