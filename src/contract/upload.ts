/** A resumable upload. Clients see only the values for which tus has header fields. */
import { hidden, type RowOf } from './thing.js';

export const uploadFields = {
  id: hidden<string>(),
  accountId: hidden<string>(),
  connectionId: hidden<string>(),
  keyId: hidden<string | null>(),
  path: hidden<string>(),
  /** The name of its bytes until the upload is complete. */
  hidden: hidden<string>(),
  /** `Upload-Metadata`, as sent. */
  metadata: hidden<string>(),
  overwrite: hidden<boolean>(),
  modifiedAt: hidden<Date | null>(),
  /** `Upload-Length`; null while it is deferred. */
  length: hidden<number | null>(),
  wantsDigest: hidden<boolean>(),
  /** Stored states of the SHA-256 of its bytes; null if none is computed. */
  hashStates: hidden<Buffer | null>(),
  storeId: hidden<string>(),
  /** `Upload-Offset`: stored bytes that the client knows of. */
  storedBytes: hidden<number>({ column: 'stands' }),
  isExact: hidden<boolean>(),
  isUnproven: hidden<boolean>(),
  state: hidden<'open' | 'publishing' | 'done'>(),
  /** `X-Transfer-Id`, once it is done. */
  transferId: hidden<string | null>(),
  /** `Repr-Digest` of the finished file. */
  digest: hidden<Buffer | null>(),
  writer: hidden<string | null>(),
  /** `Upload-Expires`. */
  expiresAt: hidden<Date>(),
};

/** A part of a multipart upload on an object store. */
export const uploadPartFields = {
  number: hidden<number>(),
  size: hidden<number>(),
  etag: hidden<string>(),
  checksum: hidden<string | null>(),
};

/** Bytes that are not part of a multipart upload yet. */
export const uploadTailFields = {
  slot: hidden<number>(),
  part: hidden<number>(),
  start: hidden<number>(),
  size: hidden<number>(),
};

export type Upload = RowOf<typeof uploadFields>;
export type UploadPart = RowOf<typeof uploadPartFields>;
export type UploadTail = RowOf<typeof uploadTailFields>;
type SetLater =
  'storeId' | 'storedBytes' | 'isExact' | 'isUnproven' | 'state' | 'transferId' | 'digest' | 'writer' | 'expiresAt';
export type NewUpload = Omit<Upload, SetLater>;
