/** A transfer as the management API shows it. */
import { type Static, Type } from 'typebox';
import { count, countOrNull, dateTime, group, object, oneOf, text, textOrNull } from '../../contract/schema.js';
import { CONNECTION_ID, ERROR_CODE } from '../../contract/words.js';
import { DIGEST_GAPS } from '../../operations/content-hash.js';
import { UNVERIFIED, type Unverified } from '../../remotes/remote.js';
import { TRANSFER_STATUSES, TRANSFER_TYPES } from '../../storage/storage.js';
import { answeredPath, durationMs, FILE_NAME, TIME, TRANSFER_ID } from '../fields.js';

export const transferItem = object('TransferItem', {
  id: text('Identifier.'),
  connectionId: text(CONNECTION_ID),
  type: oneOf(TRANSFER_TYPES, 'Kind of transfer.'),
  direction: oneOf(['outbound', 'inbound'], '`outbound` changes the remote server, `inbound` reads from it.'),
  filename: text(FILE_NAME),
  path: answeredPath(),
  fileSize: count('Bytes.'),
  status: oneOf(TRANSFER_STATUSES, 'State of the transfer.'),
  errorMessage: textOrNull('What went wrong, of a failed transfer.'),
  durationMs: durationMs(),
  createdAt: dateTime('When it began.'),
});

export const transferDetails = object('TransferDetails', {
  ...transferItem.properties,
  errorCode: textOrNull('The code of the error, as `X-Error-Code` carried it.'),
  requestId: textOrNull('Of the request that asked for it; of a job its identifier.'),
  jobId: textOrNull('The job that it is of.'),
  linkId: textOrNull('The link that it came by, without a key of its own.'),
  digest: textOrNull(
    'SHA-256 of the file as its bytes passed, where somebody asked: `sha-256:` and hexadecimal digits.',
  ),
  noDigest: Type.Unsafe<(typeof DIGEST_GAPS)[number] | null>({
    type: ['string', 'null'],
    enum: [...DIGEST_GAPS, null],
    description:
      'Why there is no digest although somebody asked: the store made the copy, or the server the move, by itself; an earlier try, whose node died, had made it; an append, which knows its own part alone; a range; a resumable upload whose first bytes came before anybody asked, or of which the state was lost; or no bytes were sent.',
  }),
  digestReadBytes: countOrNull(
    'How many of the bytes of the digest were read back from the server, as they had passed a node that died before it kept what it knew of them; the others were taken as they passed. Null without a digest.',
  ),
  verified: Type.Union([Type.Boolean(), Type.Null()], {
    description:
      'Whether what was stored was compared with what was sent. False: the server has acknowledged the file, and it could not be looked at; it counts as stored. Null: nothing was stored, or nothing is to be compared.',
  }),
  verifiedReason: Type.Unsafe<Unverified | null>({
    type: ['string', 'null'],
    enum: [...UNVERIFIED, null],
    description:
      'Why `verified` is false: the file was gone when it was looked for, as in a drop folder (`taken_away`), or the login may not look at it (`may_not_look`). Else null.',
  }),
  stages: Type.Union([Type.Record(Type.String(), Type.Number()), Type.Null()], {
    description: 'Milliseconds of each stage up to the record of it, as in `Server-Timing`; null while it runs.',
  }),
});

/** As the history shows it, and while it runs. */
export const transferFields = {
  ...transferItem.properties,
  jobId: transferDetails.properties.jobId,
  linkId: transferDetails.properties.linkId,
  errorCode: textOrNull(ERROR_CODE),
  live: Type.Optional(
    group(
      {
        bytes: count('Bytes moved so far.'),
        totalBytes: countOrNull('Bytes in all; null where nobody knows.'),
        bytesPerSecond: count('Of the last seconds.'),
        step: text('What it does now.'),
        startedAt: dateTime('When it began.'),
      },
      'How far it is; there while it runs.',
    ),
  ),
};
export const managedTransfer = object('ManagedTransfer', transferFields);
export type ManagedTransferView = Static<typeof managedTransfer>;

export const sample = {
  id: TRANSFER_ID,
  connectionId: 'warehouse',
  type: 'upload',
  direction: 'outbound',
  filename: 'report.pdf',
  path: '/upload/report.pdf',
  fileSize: 48213,
  status: 'success',
  errorMessage: null,
  jobId: null,
  linkId: null,
  errorCode: null,
  durationMs: 84,
  createdAt: TIME,
} as const;
