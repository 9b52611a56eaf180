/** Resumable uploads, in the protocol of tus clients. */
import { unknown } from '../../base/errors.js';
import { createChecker } from '../../base/schema-check.js';
import { isUuid } from '../../base/uuid.js';
import type { Connection } from '../../connections/connection.js';
import { connectionParameter } from '../../contract/file-request.js';
import type { HttpRequest } from '../../http/types.js';
import { checkTemplate, requireName } from '../../operations/names.js';
import { referTo } from '../../operations/path-reference.js';
import type { UploadOrder } from '../../uploads/service.js';
import { endpoint } from '../endpoint.js';
import { timeOf } from '../fields.js';
import { uploadFormFields, type UploadFields } from '../files/upload-source.js';
import { connectionIn, operationFor, type Services, type OperationContext } from '../services.js';
import {
  ABILITIES,
  type AskedUpload,
  begin,
  BEGUN,
  common,
  end,
  FAR,
  goOn,
  meantBy,
  PIECES,
  show,
  TUNNEL,
  uploadParameter,
  WRITTEN,
} from './requests.js';
import { abilities, lengthOf, metadataOf, refuseConcatenation, requireVersion, TUS_HEADERS } from './tus.js';

const TAG = 'Resumable uploads';
const UPLOADS = '/api/uploads/:connectionId';
const UPLOAD = '/api/uploads/:connectionId/:uploadId';

const parameters = {
  ...connectionParameter,
  ...uploadParameter,
};

const REFUSALS = [
  ...(['unsupported_version', 'unknown_upload', 'upload_locked', 'quota_exceeded', 'resume_unsupported'] as const),
  ...(['already_exists', 'is_a_folder', 'not_found', 'no_space', 'size_mismatch', 'share_exceeded'] as const),
];
const WRITING = [...REFUSALS, 'offset_mismatch', 'checksum_mismatch'] as const;

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
    204: ABILITIES,
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
    'Begins an upload that can be interrupted and continued (tus 1.0.0), on any node. Its bytes are kept under a hidden name until all have arrived; then the file appears as with any upload. ' +
    '`Upload-Metadata` takes `filename`, `path`, `overwrite`, `filename_template` and `mtime`. The first bytes may come along as the body. An empty file is stored at once.',
  params: connectionParameter,
  headers: [
    ...['Tus-Resumable', 'Upload-Length', 'Upload-Defer-Length', 'Upload-Metadata', 'Upload-Checksum'],
    'Want-Repr-Digest',
  ],
  streams: PIECES,
  ...common,
  skippable: true,
  answers: { 201: BEGUN },
  errors: [...REFUSALS, 'checksum_mismatch'],
}).handle(async (input, services: Services) => {
  const { request, noteFields } = input;
  requireVersion(request);
  refuseConcatenation(request);
  const connection = await connectionIn(input, services);
  const given = metadataOf(request);
  noteFields(given, uploadFormFields);
  const fields = checkMetadata(given);
  const order = orderOf(request, connection, fields);
  const operation = operationFor(input, connection, 'upload', fields.path ?? '', order.filename);
  return begin(services, { request, operation, order, address: `/api/uploads/${encodeURIComponent(connection.id)}` });
});

export const lookAtUpload = endpoint({
  method: 'HEAD',
  path: UPLOAD,
  access: 'write',
  operationId: 'lookAtUpload',
  tag: TAG,
  summary: 'How far an upload is',
  description:
    'Reports how many bytes the gateway has. It ends a request of the same key that still writes; if the node of that request has died, the remote server is asked. An upload that has all of its bytes, but no file yet, is completed.',
  params: parameters,
  headers: ['Tus-Resumable'],
  ...common,
  answers: { 200: FAR },
  errors: REFUSALS,
}).handle(async (input, services: Services) => show(services, await uploadIn(input, services)));

export const goOnWithUpload = endpoint({
  method: 'PATCH',
  path: UPLOAD,
  access: 'write',
  operationId: 'goOnWithUpload',
  tag: TAG,
  summary: 'Continue an upload',
  description:
    'Adds bytes after those that the gateway has. Bytes that arrived count even if the line is cut. With the last ones the file appears, and the answer has the id of its transfer.',
  params: parameters,
  headers: ['Tus-Resumable', 'Upload-Offset', 'Upload-Length', 'Upload-Checksum'],
  streams: PIECES,
  ...common,
  skippable: true,
  answers: { 204: WRITTEN },
  errors: WRITING,
}).handle(async (input, services: Services) => goOn(services, await uploadIn(input, services)));

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
}).handle(async (input, services: Services) => end(services, await uploadIn(input, services)));

/** For clients that can send neither PATCH nor DELETE. */
export const tunnelUpload = endpoint({
  method: 'POST',
  path: UPLOAD,
  access: 'write',
  operationId: 'tunnelUpload',
  tag: TAG,
  params: parameters,
  ...TUNNEL,
  answers: { 200: FAR, 204: WRITTEN },
  errors: WRITING,
}).handle(async (input, services: Services) => {
  const work = meantBy(input.request, { HEAD: show, PATCH: goOn, DELETE: end });
  return work(services, await uploadIn(input, services));
});

interface UploadInput extends OperationContext {
  readonly params: { readonly connectionId: string; readonly uploadId: string };
}

async function uploadIn(input: UploadInput, services: Services): Promise<AskedUpload> {
  requireVersion(input.request);
  const connection = await connectionIn(input, services);
  const { uploadId: id } = input.params;
  if (!isUuid(id)) throw unknown('upload', id);
  return { request: input.request, operation: operationFor(input, connection, 'upload', ''), id };
}

const checkMetadata = createChecker(uploadFormFields, 'Upload-Metadata', { coerce: true });

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
