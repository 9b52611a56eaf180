/** Helpers that the requests of an upload share. */
import { hasCode, refusal, type GatewayError } from '../base/errors.js';
import type { OperationRequest, Operations } from '../operations/operation.js';
import type { ExpectedDigest } from '../operations/pump.js';
import { cannotResume } from '../remotes/obstacles.js';
import { parseRemotePath, type RemotePath, ROOT } from '../remotes/path.js';
import type { PiecedFile, Pieces, Remote } from '../remotes/remote.js';
import type { Upload } from '../contract/upload.js';
import type { MultipartParts, UploadLimits, Uploads } from '../storage/storage.js';
import type { PieceHash } from './piece-hash.js';

export interface UploadServiceOptions {
  readonly store: Uploads;
  readonly parts: MultipartParts;
  readonly operations: Operations;
  readonly limits: UploadLimits;
  /** For one upload; 0 = no limit. */
  readonly maxBytes: number;
}

/** The request of an operation, without the part that an upload adds. */
export interface UploadRequest extends Omit<OperationRequest, 'job'> {
  readonly terms?: UploadTerms;
}

/** What the link of an upload asks, in addition to the limits of the gateway. */
interface UploadTerms {
  /** 0 = no limit. */
  readonly maxBytes: number;
  readonly digest: ExpectedDigest | undefined;
  /** Called before the file is published; throws if it no longer may. */
  readonly permit: () => Promise<void>;
}

/** The most bytes of an upload; 0 = no limit. Those of a link are never more than those of the gateway. */
export const mostBytes = ({ maxBytes }: Pick<UploadServiceOptions, 'maxBytes'>, { terms }: UploadRequest): number =>
  terms?.maxBytes ?? maxBytes;

export const uploadJobPart = (
  uploadId: string,
  isRecorded: (error: GatewayError) => boolean,
): OperationRequest['job'] => ({
  reference: { uploadId },
  passesOver: (error) => !isRecorded(error),
  worked: () => undefined,
});

/** The upload in the form that the remote of its connection takes. */
export function fileOf(
  store: Uploads,
  { id, path, hidden, storeId, length }: Upload,
  writer: string,
  hash?: Pick<PieceHash, 'saved'>,
): PiecedFile {
  return {
    path: parseRemotePath(path, ROOT, 'path'),
    hidden: parseRemotePath(hidden, ROOT, 'path'),
    storeId,
    length: length ?? undefined,
    journal: {
      parts: () => store.parts(id),
      tails: () => store.tails(id),
      add: (parts) => store.addParts(id, writer, parts, hash?.saved ?? null),
      keep: (tail) => store.keepTail(id, writer, tail, hash?.saved ?? null),
    },
  };
}

/** @throws GatewayError resume_unsupported */
export function piecesOf(remote: Remote): Pieces {
  if (remote.pieces === undefined) throw cannotResume('its protocol cannot continue a file');
  return remote.pieces;
}

export function tooLarge(bytes: number | undefined): GatewayError {
  return refusal('too_large', `the upload would be larger than ${bytes ?? 0} bytes`);
}

/** Removes a hidden file, which may be gone already. */
export async function removeFile(remote: Remote, path: RemotePath): Promise<void> {
  await remote.remove(path, { isLeftover: true }).catch((error: unknown) => {
    if (!hasCode(error, 'not_found')) throw error;
  });
}
