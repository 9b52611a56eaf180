/** A resumable or multipart upload. Clients see only the values for which tus has header fields. */
import { hidden, type RowOf } from './thing.js';

/**
 * How parts that arrive concurrently are stored: at their offsets, in order, in separate files, or as parts of an
 * object store.
 */
export type PartLayout = 'offsets' | 'turns' | 'apart' | 'store';

export const uploadFields = {
  id: hidden<string>(),
  accountId: hidden<string>(),
  connectionId: hidden<string>(),
  keyId: hidden<string | null>(),
  /** The link that it comes by: only its users know the upload. */
  linkId: hidden<string | null>(),
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
  /** Algorithm and type of the checksum that it was begun for, as in `crc32 COMPOSITE`; null: none. */
  checksum: hidden<string | null>(),
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
  /** How the parts of a multipart upload are stored; null: a resumable upload. */
  layout: hidden<PartLayout | null>(),
  /** The distance between the offsets of its parts, once it is known. */
  partBytes: hidden<number | null>(),
  writer: hidden<string | null>(),
  /** The entity tag of the parts that its writer joins; null: it does something else. */
  completing: hidden<string | null>(),
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

/** A part of a multipart upload that is stored completely. */
export const multipartPartFields = {
  number: hidden<number>(),
  size: hidden<number>(),
  /** The one that its client knows: another one for each stored version. */
  etag: hidden<string>(),
  /** The hidden file that holds it; null: that of the upload. */
  place: hidden<string | null>(),
  /** Its offset in that file. */
  start: hidden<number>(),
  /** The SHA-256 of what was sent, where the file is read back. */
  digest: hidden<Buffer | null>(),
  storeEtag: hidden<string | null>(),
  storeChecksum: hidden<string | null>(),
  /** Algorithm and value of what it was sent with, as in `crc32 y/Q5Jg==`; null: it was sent without one. */
  checksum: hidden<string | null>(),
  storedAt: hidden<Date>(),
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
export type MultipartPart = RowOf<typeof multipartPartFields>;
type SetLater =
  | 'partBytes'
  | 'storeId'
  | 'storedBytes'
  | 'isExact'
  | 'isUnproven'
  | 'state'
  | 'transferId'
  | 'digest'
  | 'writer'
  | 'completing'
  | 'expiresAt';
export type NewUpload = Omit<Upload, SetLater>;
