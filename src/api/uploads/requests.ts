/** What the requests of a resumable upload do, at the address of a connection or of a link. */
import { hasCode, refusal } from '../../base/errors.js';
import { text } from '../../contract/schema.js';
import type { Upload } from '../../contract/upload.js';
import { reprDigest } from '../../http/repr-digest.js';
import type { HttpAnswer, HttpRequest } from '../../http/types.js';
import { uploadAddressOf } from '../../uploads/begin.js';
import type { UploadRequest } from '../../uploads/file.js';
import type { Piece } from '../../uploads/piece-work.js';
import type { UploadOrder } from '../../uploads/service.js';
import type { HeldUpload } from '../../uploads/writers.js';
import { PIECE_TYPE } from '../../contract/tus.js';
import { BINARY } from '../fields.js';
import type { Services } from '../services.js';
import { byteField, checksumOf, requirePiece, TUS_HEADERS } from './tus.js';

export const uploadParameter = {
  uploadId: text('Id of the upload, from the Location of its beginning.', {
    examples: ['0199c2f4-6f5e-7c1a-9a51-0d2f64b1d001'],
  }),
};
export const PIECES = { [PIECE_TYPE]: { schema: BINARY, examples: { bytes: { value: '(bytes)' } } } };
export const common = { isRemote: true, alwaysHeaders: TUS_HEADERS } as const;

export const FAR = {
  description: 'How far it is, in header fields.',
  headers: [
    ...['Tus-Resumable', 'Tus-Version', 'Upload-Offset', 'Upload-Length?', 'Upload-Defer-Length?'],
    ...['Upload-Metadata?', 'Upload-Expires', 'X-Transfer-Id?', 'Repr-Digest?'],
  ],
};
export const BEGUN = {
  description: 'It has begun.',
  headers: [
    ...['Tus-Resumable', 'Tus-Version', 'Location', 'Upload-Offset', 'Upload-Expires', 'X-Transfer-Id?'],
    'Repr-Digest?',
  ],
};
export const WRITTEN = {
  description: 'The gateway has all of these bytes.',
  headers: ['Tus-Resumable', 'Tus-Version', 'Upload-Offset', 'Upload-Expires', 'X-Transfer-Id?', 'Repr-Digest?'],
};

export const ABILITIES = {
  description: 'In header fields.',
  headers: ['Tus-Resumable', 'Tus-Version', 'Tus-Extension', 'Tus-Checksum-Algorithm', 'Tus-Max-Size?'],
};

/** What is documented of a POST that means another method. */
export const TUNNEL = {
  summary: 'Any of these by POST',
  description:
    '`X-HTTP-Method-Override` says which of HEAD, PATCH and DELETE is meant, for clients that can send but POST.',
  headers: ['Tus-Resumable', 'X-HTTP-Method-Override', 'Upload-Offset', 'Upload-Length', 'Upload-Checksum'],
  streams: PIECES,
  ...common,
  skippable: true,
} as const;

/** An upload that a request names. */
export interface AskedUpload {
  readonly request: HttpRequest;
  readonly operation: UploadRequest;
  readonly id: string;
}

/** `address`: where its uploads are. */
export async function begin(
  services: Services,
  {
    request,
    operation,
    order,
    address,
  }: Omit<AskedUpload, 'id'> & { readonly order: UploadOrder; readonly address: string },
): Promise<HttpAnswer> {
  if (request.hasBody) requirePiece(request);
  const piece = pieceOf(request, 0);
  const held = await services.uploads.create(operation, order);
  const upload = await firstPiece(services, operation, held, piece);
  return { status: 201, headers: { ...stateHeaders(upload), Location: `${address}/${upload.id}` } };
}

export async function show(services: Services, { operation, id }: AskedUpload): Promise<HttpAnswer> {
  const upload = await services.uploads.state(operation, id);
  const { length, metadata } = upload;
  const headers = {
    ...stateHeaders(upload),
    ...(length === null ? { 'Upload-Defer-Length': '1' } : { 'Upload-Length': String(length) }),
    ...(metadata === '' ? {} : { 'Upload-Metadata': metadata }),
  };
  return { status: 200, headers };
}

export async function goOn(services: Services, { request, operation, id }: AskedUpload): Promise<HttpAnswer> {
  requirePiece(request);
  const offset = byteField(request, 'Upload-Offset');
  if (offset === undefined) throw refusal('bad_request', 'Upload-Offset is missing');
  const upload = await services.uploads.write(operation, id, pieceOf(request, offset));
  return { status: 204, headers: stateHeaders(upload) };
}

export async function end(services: Services, { operation, id }: AskedUpload): Promise<HttpAnswer> {
  await services.uploads.remove(operation, id);
  return { status: 204 };
}

/** The work of the method that a POST means. @throws GatewayError bad_request */
export function meantBy<Work>({ headers }: HttpRequest, works: Readonly<Record<string, Work>>): Work {
  const work = works[headers.get('x-http-method-override')?.toUpperCase() ?? ''];
  if (work === undefined) throw refusal('bad_request', 'X-HTTP-Method-Override must be HEAD, PATCH or DELETE');
  return work;
}

/** @throws GatewayError bad_request */
function pieceOf(request: HttpRequest, offset: number): Piece {
  return {
    offset,
    length: byteField(request, 'Upload-Length'),
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
    const isWanted = upload.length !== 0 && !hasCode(error, 'checksum_mismatch', 'too_large');
    const current = await storage.uploads.find(uploadAddressOf(operation, upload.id));
    if (current === undefined) throw error;
    if (isWanted) return current;
    await uploads.remove(operation, upload.id).catch(() => undefined);
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
