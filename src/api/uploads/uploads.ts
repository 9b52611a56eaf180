/** Resumable uploads, in the protocol of tus clients. */
import { hasCode, refusal, unknown } from '../../base/errors.js';
import { text } from '../../contract/schema.js';
import { connectionParameter } from '../../contract/file-request.js';
import type { Connection } from '../../connections/connection.js';
import { reprDigest } from '../../http/repr-digest.js';
import { createChecker } from '../../base/schema-check.js';
import type { HttpAnswer, HttpRequest } from '../../http/types.js';
import { checkTemplate, requireName } from '../../operations/names.js';
import { referTo } from '../../operations/path-reference.js';
import type { Upload } from '../../contract/upload.js';
import type { UploadRequest } from '../../uploads/file.js';
import type { Piece } from '../../uploads/piece-work.js';
import type { UploadOrder } from '../../uploads/service.js';
import type { HeldUpload } from '../../uploads/writers.js';
import { endpoint } from '../endpoint.js';
import { BINARY, timeOf } from '../fields.js';
import { formFields, type UploadFields } from '../files/upload-source.js';
import { connectionIn, operationFor, type Services, type OperationContext } from '../services.js';
import {
  abilities,
  bytesOf,
  checksumOf,
  lengthOf,
  metadataOf,
  refuseConcatenation,
  requirePiece,
  requireVersion,
  TUS_HEADERS,
} from './tus.js';

const TAG = 'Resumable uploads';
const UPLOADS = '/api/uploads/:connectionId';
const UPLOAD = '/api/uploads/:connectionId/:uploadId';
const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const parameters = {
  ...connectionParameter,
  uploadId: text('Id of the upload, from the Location of its beginning.', {
    examples: ['0199c2f4-6f5e-7c1a-9a51-0d2f64b1d001'],
  }),
};

const pieces = { 'application/offset+octet-stream': { schema: BINARY, examples: { bytes: { value: '(bytes)' } } } };

const common = { isRemote: true, alwaysHeaders: TUS_HEADERS } as const;
const REFUSALS = [
  ...(['unsupported_version', 'unknown_upload', 'upload_locked', 'quota_exceeded', 'resume_unsupported'] as const),
  ...(['already_exists', 'is_a_folder', 'not_found', 'no_space', 'size_mismatch', 'share_exceeded'] as const),
];
const WRITING = [...REFUSALS, 'offset_mismatch', 'checksum_mismatch'] as const;

const FAR = {
  description: 'How far it is, in header fields.',
  headers: [
    ...['Tus-Resumable', 'Tus-Version', 'Upload-Offset', 'Upload-Length?', 'Upload-Defer-Length?'],
    ...['Upload-Metadata?', 'Upload-Expires', 'X-Transfer-Id?', 'Repr-Digest?'],
  ],
};
const STANDS = {
  description: 'All of these bytes stand.',
  headers: ['Tus-Resumable', 'Tus-Version', 'Upload-Offset', 'Upload-Expires', 'X-Transfer-Id?', 'Repr-Digest?'],
};

export const describeUploads = endpoint({
  method: 'OPTIONS',
  path: UPLOADS,
  access: 'public',
  operationId: 'describeUploads',
  tag: TAG,
  summary: 'What resumable uploads can',
  description: 'The versions, extensions and limits of tus that the gateway has, for every connection.',
  params: connectionParameter,
  alwaysHeaders: TUS_HEADERS,
  answers: {
    204: {
      description: 'In header fields.',
      headers: ['Tus-Resumable', 'Tus-Version', 'Tus-Extension', 'Tus-Checksum-Algorithm', 'Tus-Max-Size?'],
    },
  },
}).handle(async (_input, { uploads }: Services) => ({ status: 204, headers: abilities(uploads.maxBytes) }));

export const beginUpload = endpoint({
  method: 'POST',
  path: UPLOADS,
  access: 'write',
  operationId: 'beginUpload',
  tag: TAG,
  summary: 'Begin a resumable upload',
  description:
    'Begins an upload that may be interrupted and gone on with (tus 1.0.0), on any node. Its bytes stand under a hidden name until all have come; then the file appears as with any upload. ' +
    '`Upload-Metadata` takes `filename`, `path`, `overwrite`, `filename_template` and `mtime`. The first bytes may come along as the body. An empty file is stored at once.',
  params: connectionParameter,
  headers: [
    ...['Tus-Resumable', 'Upload-Length', 'Upload-Defer-Length', 'Upload-Metadata', 'Upload-Checksum'],
    'Want-Repr-Digest',
  ],
  streams: pieces,
  ...common,
  skippable: true,
  answers: {
    201: {
      description: 'It has begun.',
      headers: [
        ...['Tus-Resumable', 'Tus-Version', 'Location', 'Upload-Offset', 'Upload-Expires', 'X-Transfer-Id?'],
        'Repr-Digest?',
      ],
    },
  },
  errors: [...REFUSALS, 'checksum_mismatch'],
}).handle(async (input, services: Services) => {
  const { request, noteFields } = input;
  requireVersion(request);
  refuseConcatenation(request);
  const connection = await connectionIn(input, services);
  const given = metadataOf(request);
  noteFields(given, formFields);
  const fields = checkMetadata(given);
  const order = orderOf(request, connection, fields);
  if (request.hasBody) requirePiece(request);
  const piece = pieceOf(request, 0);
  const operation = operationFor(input, connection, 'upload', fields.path ?? '', order.filename);
  const held = await services.uploads.create(operation, order);
  const upload = await firstPiece(services, operation, held, piece);
  const Location = `/api/uploads/${encodeURIComponent(connection.id)}/${upload.id}`;
  return { status: 201, headers: { ...stateHeaders(upload), Location } };
});

export const lookAtUpload = endpoint({
  method: 'HEAD',
  path: UPLOAD,
  access: 'write',
  operationId: 'lookAtUpload',
  tag: TAG,
  summary: 'How far an upload is',
  description:
    'Tells how many bytes stand. A request of the same key that still writes ends by this; where its node has died, the remote server is asked. An upload that has all of its bytes, and no file yet, becomes one.',
  params: parameters,
  headers: ['Tus-Resumable'],
  ...common,
  answers: { 200: FAR },
  errors: REFUSALS,
}).handle(showUpload);

export const goOnWithUpload = endpoint({
  method: 'PATCH',
  path: UPLOAD,
  access: 'write',
  operationId: 'goOnWithUpload',
  tag: TAG,
  summary: 'Go on with an upload',
  description:
    'Adds bytes behind those that stand. What came of them counts also when the line is cut. With the last ones the file appears, and the answer has the id of its transfer.',
  params: parameters,
  headers: ['Tus-Resumable', 'Upload-Offset', 'Upload-Length', 'Upload-Checksum'],
  streams: pieces,
  ...common,
  skippable: true,
  answers: { 204: STANDS },
  errors: WRITING,
}).handle(goOn);

export const endUpload = endpoint({
  method: 'DELETE',
  path: UPLOAD,
  access: 'write',
  operationId: 'endUpload',
  tag: TAG,
  summary: 'Give an upload up',
  description: 'Removes what is stored of it. The file that a finished one has become stays.',
  params: parameters,
  headers: ['Tus-Resumable'],
  ...common,
  answers: { 204: { description: 'Nothing is left of it.', headers: ['Tus-Resumable', 'Tus-Version'] } },
  errors: ['unsupported_version', 'unknown_upload', 'upload_locked'],
}).handle(end);

/** For clients that can send neither PATCH nor DELETE. */
export const tunnelUpload = endpoint({
  method: 'POST',
  path: UPLOAD,
  access: 'write',
  operationId: 'tunnelUpload',
  tag: TAG,
  summary: 'Any of these by POST',
  description:
    '`X-HTTP-Method-Override` says which of HEAD, PATCH and DELETE is meant, for clients that can send but POST.',
  params: parameters,
  headers: ['Tus-Resumable', 'X-HTTP-Method-Override', 'Upload-Offset', 'Upload-Length', 'Upload-Checksum'],
  streams: pieces,
  ...common,
  skippable: true,
  answers: { 200: FAR, 204: STANDS },
  errors: WRITING,
}).handle(async (input, services: Services) => {
  const method = input.request.headers.get('x-http-method-override')?.toUpperCase();
  const work = method === undefined ? undefined : MEANT[method];
  if (work === undefined) throw refusal('bad_request', 'X-HTTP-Method-Override must be HEAD, PATCH or DELETE');
  return work(input, services);
});

const MEANT: Readonly<Record<string, (input: UploadInput, services: Services) => Promise<HttpAnswer>>> = {
  HEAD: showUpload,
  PATCH: goOn,
  DELETE: end,
};

interface UploadInput extends OperationContext {
  readonly params: { readonly connectionId: string; readonly uploadId: string };
}

async function showUpload(input: UploadInput, services: Services): Promise<HttpAnswer> {
  const { operation, id } = await uploadIn(input, services);
  const upload = await services.uploads.state(operation, id);
  const { length, metadata } = upload;
  const headers = {
    ...stateHeaders(upload),
    ...(length === null ? { 'Upload-Defer-Length': '1' } : { 'Upload-Length': String(length) }),
    ...(metadata === '' ? {} : { 'Upload-Metadata': metadata }),
  };
  return { status: 200, headers };
}

async function goOn(input: UploadInput, services: Services): Promise<HttpAnswer> {
  const { request } = input;
  const { operation, id } = await uploadIn(input, services);
  requirePiece(request);
  const offset = bytesOf(request, 'Upload-Offset');
  if (offset === undefined) throw refusal('bad_request', 'Upload-Offset is missing');
  const upload = await services.uploads.write(operation, id, pieceOf(request, offset));
  return { status: 204, headers: stateHeaders(upload) };
}

async function end(input: UploadInput, services: Services): Promise<HttpAnswer> {
  const { operation, id } = await uploadIn(input, services);
  await services.uploads.remove(operation, id);
  return { status: 204 };
}

async function uploadIn(
  input: UploadInput,
  services: Services,
): Promise<{ readonly operation: UploadRequest; readonly id: string }> {
  requireVersion(input.request);
  const connection = await connectionIn(input, services);
  const { uploadId: id } = input.params;
  if (!ID.test(id)) throw unknown('upload', id);
  return { operation: operationFor(input, connection, 'upload', ''), id };
}

const checkMetadata = createChecker(formFields, 'Upload-Metadata', { coerce: true });

/** @throws GatewayError bad_request, bad_path */
function orderOf(request: HttpRequest, connection: Connection, fields: UploadFields): UploadOrder {
  const { path, filename, filename_template: template, overwrite = true, mtime } = fields;
  const length = lengthOf(request);
  if (template !== undefined) checkTemplate(template);
  return {
    folder: referTo(connection, path, 'path'),
    filename: requireName(filename),
    template,
    overwrite,
    length,
    modifiedAt: timeOf(mtime),
    metadata: request.headers.get('upload-metadata') ?? '',
  };
}

/** @throws GatewayError bad_request */
function pieceOf(request: HttpRequest, offset: number): Piece {
  return {
    offset,
    length: bytesOf(request, 'Upload-Length'),
    body: request.hasBody ? request.bodyInPieces() : undefined,
    size: request.contentLength,
    digest: checksumOf(request),
  };
}

/**
 * The piece that came with the creation. If it breaks off, the client still gets the upload, with the bytes that have
 * arrived. An empty upload, or one whose piece has a wrong checksum or is too large, is removed.
 */
async function firstPiece(
  { uploads, storage }: Services,
  operation: UploadRequest,
  held: HeldUpload,
  piece: Piece,
): Promise<Upload> {
  const { upload } = held;
  if (piece.body === undefined && upload.length !== 0) {
    await held.release(true);
    return upload;
  }
  try {
    return await uploads.go(operation, held, piece);
  } catch (error) {
    const { id, accountId, connectionId } = upload;
    const isWanted = upload.length !== 0 && !hasCode(error, 'checksum_mismatch', 'too_large');
    const current = await storage.uploads.find({ id, accountId, connectionId });
    if (current === undefined) throw error;
    if (isWanted) return current;
    await uploads.remove(operation, id).catch(() => undefined);
    throw error;
  }
}

function stateHeaders({ storedBytes, expiresAt, transferId, digest }: Upload): Record<string, string> {
  return {
    'Upload-Offset': String(storedBytes),
    'Upload-Expires': expiresAt.toUTCString(),
    ...(transferId === null ? {} : { 'X-Transfer-Id': transferId }),
    ...reprDigest(digest ?? undefined),
  };
}
