/** A transfer as the management API shows it. */
import { type Static, Type } from 'typebox';
import { count, countOrNull, dateTime, group, object, text, textOrNull } from '../../../contract/schema.js';
import { ERROR_CODE } from '../../../contract/words.js';
import { transferDetails, transferItem } from '../../account/transfers.js';
import { TRANSFER_ID } from '../../fields.js';
import { TIME } from '../fields.js';

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
