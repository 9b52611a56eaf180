/** `ftg transfers`: the history and the running transfers. */
import { pipeline } from 'node:stream/promises';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { managedTransferFilters, transferListFilters } from '../../contract/filters.js';
import { type Arguments, type Session, shows } from '../command.js';
import { givenFieldsOf } from '../field-options.js';
import type { Schemas } from '../gateway.js';
import { bytesText, fields, listed, placeText } from '../output.js';

/** Uses the file API, so that any key may list them. */
export const listTransfers = shows(
  ({ gateway, signal }, _, options: object) =>
    gateway.files.transfers(givenFieldsOf(transferListFilters, options), { signal }),
  ({ transfers }) =>
    listed(
      transfers,
      {
        ID: 'id',
        BEGAN: 'createdAt',
        TYPE: 'type',
        STATUS: 'status',
        SIZE: ({ fileSize }) => bytesText(fileSize),
        PATH: placeText,
        ERROR: 'errorMessage',
      },
      'no transfers',
    ),
);

export const showTransfer = shows(
  ({ gateway }, [id = '']) => gateway.manage.get<Schemas['TransferDetail']>(`transfers/${encodeURIComponent(id)}`),
  fields,
);

export const listLive = shows(
  ({ gateway }) => gateway.manage.get<Schemas['LiveTransfersAnswer']>('transfers/live'),
  ({ transfers }) =>
    listed(
      transfers,
      {
        ID: 'id',
        TYPE: 'type',
        STEP: ({ live }) => live?.step,
        DONE: ({ live }) => bytesText(live?.bytes ?? 0),
        OF: ({ live }) => (typeof live?.totalBytes === 'number' ? bytesText(live.totalBytes) : null),
        SPEED: ({ live }) => `${bytesText(live?.bytesPerSecond ?? 0)}/s`,
        PATH: ({ connectionId, path }) => `${connectionId}:${path}`,
      },
      'nothing runs',
    ),
);

export const cancelTransfer = shows(
  ({ gateway }, [id = '']) => gateway.manage.post(`transfers/${encodeURIComponent(id)}/cancel`),
  (_, id) => `${id} is being ended`,
);

/** Uses the file API, so that any key that may write can repeat one. */
export const repeatTransfer = shows(
  ({ gateway, signal }, [id = '']) => gateway.files.repeatTransfer(id, { signal }),
  ({ transfer }) => `done: transfer ${transfer.id}`,
);

/** Streams to standard output. */
export async function exportTransfers(
  { gateway, signal }: Session,
  _: Arguments,
  { format, ...options }: { readonly format: string },
): Promise<void> {
  const filters = { format, ...givenFieldsOf(managedTransferFilters, options) };
  const response = await gateway.manage.stream('transfers/export', filters);
  if (response.body === null) return;
  await pipeline(Readable.fromWeb(response.body as ReadableStream<Uint8Array>), process.stdout, { signal, end: false });
}
