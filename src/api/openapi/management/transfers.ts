/** The history and what runs now. */
import * as schemas from '../../manage/answer-schemas.js';
import { transfer as sample } from '../operations/samples.js';
import type { Description } from '../types.js';
import { answers, ID, TIME } from './answer.js';

const transfer = {
  id: sample.id,
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
};
const running = {
  ...transfer,
  status: 'pending',
  live: { bytes: 16384, totalBytes: 48213, bytesPerSecond: 8192, step: 'transfer', startedAt: TIME },
};

export const transferOperations: Readonly<Record<string, Description>> = {
  'GET /manage/transfers': {
    operationId: 'listManagedTransfers',
    tag: 'Transfers',
    summary: 'List transfers',
    description:
      'Newest first. `nextCursor` continues where the page ended, also when the page is short or empty; null is the end.',
    success: answers(schemas.managedTransfersAnswer, { transfers: [transfer], nextCursor: transfer.id }),
  },
  'GET /manage/transfers/live': {
    operationId: 'listLiveTransfers',
    tag: 'Transfers',
    summary: 'List running transfers',
    description: 'Those that run now, on all nodes.',
    success: answers(schemas.liveTransfersAnswer, { transfers: [running] }),
  },
  'GET /manage/transfers/export': {
    operationId: 'exportTransfers',
    tag: 'Transfers',
    summary: 'Export the history',
    description: 'All that matches, streamed, newest first.',
    success: {
      200: {
        description: 'The file.',
        headers: ['Content-Disposition'],
        content: {
          'text/csv': {
            schema: { type: 'string' },
            examples: { head: { summary: 'Its beginning', value: 'id,createdAt,connectionId,type\r\n' } },
          },
          'application/x-ndjson': {
            schema: { type: 'string' },
            examples: { line: { value: `${JSON.stringify(transfer)}\n` } },
          },
        },
      },
    },
  },
  'GET /manage/transfers/:id': {
    operationId: 'showTransfer',
    tag: 'Transfers',
    summary: 'Show a transfer',
    description:
      'Its request and the key that asked; `key` is null from the dashboard and for work of the gateway itself.',
    success: answers(schemas.transferDetail, { ...transfer, requestId: 'order-4711', key: { id: ID, name: 'ci' } }),
    errors: ['unknown_item'],
  },
  'POST /manage/transfers/:id/cancel': {
    operationId: 'cancelTransfer',
    tag: 'Transfers',
    summary: 'Cancel a transfer',
    description: 'It ends within a second or two as failed, with `errorCode` `cancelled`.',
    success: answers(schemas.successAnswer, { success: true }, { status: 202, description: 'It is told to end.' }),
    errors: ['unknown_item', 'not_running'],
  },
  'GET /manage/events': {
    operationId: 'watchTransfers',
    tag: 'Transfers',
    summary: 'Watch running transfers',
    description:
      'Server-sent events: `transfers` with all that run, at once and then at most once a second; `finished` with one that has ended.',
    success: {
      200: {
        description: 'The stream, without an end.',
        headers: ['X-Accel-Buffering'],
        content: {
          'text/event-stream': {
            schema: { type: 'string' },
            examples: { event: { value: 'event: transfers\ndata: {"transfers":[]}\n\n' } },
          },
        },
      },
    },
  },
};
