/** A transfer as the management API shows it. */
import { type Static, Type } from 'typebox';
import { count, countOrNull, dateTime, group, object, oneOf, text, textOrNull } from '../../../base/schema.js';
import { TRANSFER_STATUSES, TRANSFER_TYPES } from '../../../storage/storage.js';
import { id, TIME } from '../fields.js';

/** As the history shows it, and while it runs. */
export const transferFields = {
  id: id(),
  connectionId: text('Id of a connection.'),
  type: oneOf(TRANSFER_TYPES, 'Kind of transfer.'),
  direction: oneOf(['outbound', 'inbound'], '`outbound` changes the remote server, `inbound` reads from it.'),
  filename: text('Name of the file, without a folder.'),
  path: text('Path on the remote server.'),
  fileSize: count('Bytes.'),
  status: oneOf(TRANSFER_STATUSES, 'State.'),
  errorMessage: textOrNull('What went wrong.'),
  durationMs: count('Milliseconds from the start of the operation to its end.'),
  createdAt: dateTime('When it began.'),
  errorCode: textOrNull('The code of the error, as `X-Error-Code` carries it.'),
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
  id: '0199c2f4-6f5e-7c1a-9a51-0d2f64b1c7e2',
  connectionId: 'warehouse',
  type: 'upload',
  direction: 'outbound',
  filename: 'report.pdf',
  path: '/upload/report.pdf',
  fileSize: 48213,
  status: 'success',
  errorMessage: null,
  errorCode: null,
  durationMs: 84,
  createdAt: TIME,
} as const;
