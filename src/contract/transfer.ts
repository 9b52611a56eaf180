/** A transfer: one operation on files, as recorded in the history. */
import { ID, TIME, TRANSFER_ID } from './examples.js';
import { Type } from 'typebox';
import { shownKey } from './api-key.js';
import { receiptFields } from './receipt.js';
import { count, countOrNull, dateTime, group, oneOf, orNull, text, textOrNull, type TSchemaOf } from './schema.js';
import { derived, type ExampleOf, hidden, kept, type RowOf } from './thing.js';
import { CONNECTION_ID, DURATION_MS, ERROR_CODE, FILE_NAME, ROOT_PATH } from './words.js';

export const TRANSFER_TYPES = [
  'upload',
  'download',
  'read',
  'write',
  'append',
  'delete',
  'move',
  'mkdir',
  'list',
  'exists',
  'copy',
  'exec',
  'poll',
] as const;
/** Operations that only look. They are frequent, so their items are kept and counted apart. */
export const LOOKUPS = ['list', 'exists', 'poll'] as const satisfies readonly (typeof TRANSFER_TYPES)[number][];
type Lookup = (typeof LOOKUPS)[number];
export const isLookup = (type: (typeof TRANSFER_TYPES)[number]): type is Lookup =>
  LOOKUPS.some((lookup) => lookup === type);
/** Operations that move or change something: those whose success can be an event. */
export const WORKING_TYPES = TRANSFER_TYPES.filter((type) => !isLookup(type)) as readonly Exclude<
  (typeof TRANSFER_TYPES)[number],
  Lookup
>[];
export const ENDED_STATUSES = ['success', 'failed'] as const;
export const TRANSFER_STATUSES = [...ENDED_STATUSES, 'pending'] as const;
/** The first one is the default. */
export const EXPORT_FORMATS = ['csv', 'ndjson'] as const;
export const DIRECTIONS = ['outbound', 'inbound'] as const;
export type TransferType = (typeof TRANSFER_TYPES)[number];
export type TransferStatus = (typeof TRANSFER_STATUSES)[number];
export type Direction = (typeof DIRECTIONS)[number];

/** Why a file has no digest although one was wanted. */
const DIGEST_GAPS = [
  ...(['server_side_copy', 'server_side_move', 'append', 'range', 'pieces', 'not_sent'] as const),
  'earlier_try',
] as const;
export type DigestGap = (typeof DIGEST_GAPS)[number];

/**
 * Why a file could not be verified after its server had acknowledged it: it was already gone, or the login may not read
 * it.
 */
const UNVERIFIED = ['taken_away', 'may_not_look'] as const;
export type Unverified = (typeof UNVERIFIED)[number];

const oneOfOrNull = <const T extends string>(words: readonly T[], description: string): TSchemaOf<T | null> =>
  Type.Unsafe({ type: ['string', 'null'], enum: [...words, null], description });

/** The fields in lists for programs. */
const transferItemFields = {
  id: kept(text('Identifier.')),
  connectionId: kept(text(CONNECTION_ID)),
  type: kept(oneOf(TRANSFER_TYPES, 'Kind of transfer.')),
  direction: kept(oneOf(DIRECTIONS, '`outbound` changes the remote server, `inbound` reads from it.')),
  filename: kept(text(FILE_NAME)),
  path: kept(text(ROOT_PATH)),
  fileSize: kept(count('Bytes.')),
  status: kept(oneOf(TRANSFER_STATUSES, 'State of the transfer.')),
  errorMessage: kept(textOrNull('What went wrong, of a failed transfer.')),
  durationMs: kept(count(DURATION_MS)),
  createdAt: kept(dateTime('When it began.')),
};

const cause = {
  errorCode: kept(textOrNull(ERROR_CODE)),
  jobId: kept(textOrNull('The job that it is of.')),
};
/** Whether `POST /api/transfers/{id}/again` takes it. */
const repeatable = derived(
  Type.Boolean({
    description:
      'Whether `POST /api/transfers/{id}/again` can repeat it: it failed, its request was kept, and no repetition of it runs or has succeeded. The bytes of uploads and writes are never kept.',
  }),
);
const requestId = kept(textOrNull('The identifier of its request; for the file of a job, that of the job.'));
const linkId = kept(textOrNull('The link that it came by, without a key of its own.'));

/** The fields in lists for keys. */
export const listedTransferFields = { ...transferItemFields, repeatable };

/** Fields of the event of a failed transfer. */
export const failedTransferFields = { ...transferItemFields, ...cause, requestId };

/** Fields of the events of a transfer that has succeeded. */
export const succeededTransferFields = { ...transferItemFields, jobId: cause.jobId, requestId, linkId };

/** The fields in lists for owners. */
export const managedTransferFields = {
  ...transferItemFields,
  ...cause,
  linkId,
  repeatable,
  live: derived(
    Type.Optional(
      group(
        {
          bytes: count('Bytes moved so far.'),
          totalBytes: countOrNull('Bytes in all; null if unknown.'),
          bytesPerSecond: count('The rate of the last seconds.'),
          step: text('What it does now.'),
          startedAt: dateTime('When it began.'),
        },
        'How far it is; there while it runs.',
      ),
    ),
    { isOwners: true },
  ),
};

/** The fields that a receipt repeats. New fields must not be added here: older receipts would lack them. */
export const receiptedFields = {
  ...failedTransferFields,
  linkId,
  /** Bytes in the row. */
  digest: kept(
    textOrNull('SHA-256 of the file as its bytes passed, where somebody asked: `sha-256:` and hexadecimal digits.'),
  ),
  noDigest: kept(
    oneOfOrNull(
      DIGEST_GAPS,
      'Why there is no digest although somebody asked: the store made the copy, or the server the move, by itself; an earlier try, whose node died, had made it; an append, which knows its own part alone; a range; a resumable upload whose first bytes came before anybody asked, or of which the state was lost; or no bytes were sent.',
    ),
  ),
  digestReadBytes: kept(
    countOrNull(
      'How many of the bytes of the digest were read back from the server, as they had passed a node that died before it kept what it knew of them; the others were taken as they passed. Null without a digest.',
    ),
  ),
  /** JSON in the row. */
  stages: kept(
    Type.Union([Type.Record(Type.String(), Type.Number()), Type.Null()], {
      description: 'Milliseconds of each stage up to the record of it, as in `Server-Timing`; null while it runs.',
    }),
  ),
  keyId: hidden<string | null>(),
};

/** A single transfer. */
export const transferFields = {
  ...receiptedFields,
  live: managedTransferFields.live,
  repeatable,
  /** Why a stored file could not be checked after its server had acknowledged it. */
  unverified: hidden<Unverified | null>(),
  verified: derived(
    Type.Union([Type.Boolean(), Type.Null()], {
      description:
        'Whether what was stored was compared with what was sent. False: the server has acknowledged the file, and it could not be checked; it counts as stored. Null: nothing was stored, or nothing is to be compared.',
    }),
  ),
  verifiedReason: derived(
    oneOfOrNull(
      UNVERIFIED,
      'Why `verified` is false: the file was gone when it was looked for, as in a drop folder (`taken_away`), or the login may not look at it (`may_not_look`). Else null.',
    ),
  ),
  key: derived(shownKey('The API key that asked; null = the dashboard, or the gateway itself.'), { isOwners: true }),
  receipt: derived(
    orNull(
      group({ sequence: receiptFields.sequence.schema, keyId: receiptFields.keyId.schema }, 'Its receipt.'),
      'Its receipt, which `GET /api/transfers/{id}/receipt` has; null = it has none.',
    ),
    { isOwners: true },
  ),
};

/** The columns that are written with the row. */
export const transferColumns = {
  ...transferFields,
  accountId: hidden<string>(),
  /** As JSON: what repeats it. A transfer that has succeeded keeps none. */
  request: hidden<string | null>(),
  /** Whether it counts as an action of the month. */
  countsAction: hidden<boolean>(),
};

export type TransferItem = RowOf<typeof transferItemFields>;
export type ListedTransfer = RowOf<typeof listedTransferFields>;
export type ManagedTransfer = RowOf<typeof managedTransferFields>;
export type ReceiptedTransfer = RowOf<typeof receiptedFields>;
export type Transfer = RowOf<typeof transferFields>;

export const transferExample = {
  id: TRANSFER_ID,
  connectionId: 'warehouse',
  type: 'upload',
  direction: 'outbound',
  filename: 'report.pdf',
  path: '/upload/report.pdf',
  fileSize: 48213,
  status: 'success',
  errorMessage: null,
  durationMs: 84,
  createdAt: TIME,
  errorCode: null,
  requestId: 'order-4711',
  jobId: null,
  linkId: null,
  repeatable: false,
  digest: 'sha-256:b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9',
  noDigest: null,
  digestReadBytes: 0,
  stages: { transfer: 58.2, rename: 3.9 },
  verified: true,
  verifiedReason: null,
  key: { id: ID, name: 'ci' },
  receipt: { sequence: 42, keyId: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k' },
} as const satisfies ExampleOf<typeof transferFields>;
