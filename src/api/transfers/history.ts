/** The history with its filters, page by page or exported as a whole. */
import { Readable } from 'node:stream';
import { unknown } from '../../base/errors.js';
import { Type } from 'typebox';
import { listOf, object, oneOf, text, withDefault } from '../../contract/schema.js';
import { exampleOf, shownFields, viewOf } from '../../contract/thing.js';
import { digestFilter } from '../../contract/file-request.js';
import { isUuid } from '../../base/uuid.js';
import {
  DIRECTIONS,
  type ManagedTransfer,
  TRANSFER_STATUSES,
  transferExample,
  transferFields,
} from '../../contract/transfer.js';
import type { Receipt } from '../../contract/receipt.js';
import { TRANSFER_ORDERS, type TransferSearch } from '../../storage/storage.js';
import { NO_PAGE } from '../../http/answer.js';
import { digestOf, parseSince, verificationOf } from '../account/transfers.js';
import { CLOSED, cursor, ID, LATER, limit, page, TIME } from '../fields.js';
import { badField, itemId } from '../services.js';
import { managedTransfer, sample } from './transfer.js';
import { endpoints } from '../endpoint.js';

const endpoint = endpoints('Transfers');
export const historyEndpoints = endpoint.all;

const time = (description: string, example: string) =>
  Type.Optional(text(description, { minLength: 1, maxLength: 64, examples: [example] }));
/** Which transfers are wanted, of the query. */
const filters = {
  connectionId: Type.Optional(text('Id of a connection.', { minLength: 1, maxLength: 128, examples: ['warehouse'] })),
  status: Type.Optional(oneOf(TRANSFER_STATUSES, 'State.', { examples: ['success'] })),
  type: Type.Optional(
    text('Kind of transfer.', { minLength: 1, maxLength: 32, pattern: '^[a-z]+$', examples: ['upload'] }),
  ),
  direction: Type.Optional(
    oneOf(DIRECTIONS, '`outbound` changes the remote server, `inbound` reads from it.', {
      examples: ['outbound'],
    }),
  ),
  since: time('Only newer ones: an ISO 8601 date-time, or Unix seconds.', TIME),
  until: time('Only older ones: an ISO 8601 date-time, or Unix seconds.', LATER),
  search: Type.Optional(
    text('Part of the path or the name, in any case.', { minLength: 1, maxLength: 255, examples: ['report'] }),
  ),
  digest: digestFilter,
  keyId: Type.Optional(text('Id of the API key that asked.', { minLength: 1, maxLength: 64, examples: [ID] })),
  errorCode: Type.Optional(
    text('Code of the error, as `X-Error-Code` carries it.', {
      ...{ minLength: 1, maxLength: 64, pattern: '^[a-z_]+$', examples: ['login_refused'] },
    }),
  ),
  requestId: Type.Optional(
    text('`X-Request-Id` of the request.', { minLength: 1, maxLength: 255, examples: ['order-4711'] }),
  ),
  minBytes: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Only those of at least so many bytes.', examples: [1048576] }),
  ),
  lookups: Type.Optional(
    Type.Boolean({
      description: 'false = without lists, look-ups and polls, unless `type` is one of them.',
      examples: [false],
    }),
  ),
};
const order = withDefault(
  oneOf(
    TRANSFER_ORDERS,
    '`largest` begins with files of 1 MiB and more, `longest` with operations of a second and more; the others follow, newest first.',
    { examples: ['newest'] },
  ),
  'newest',
);

endpoint('GET /manage/transfers', {
  operationId: 'listManagedTransfers',
  summary: 'List transfers',
  description:
    'Newest first, where `order` says nothing else. `nextCursor` continues where the page ended, also when the page is short or empty; null is the end.',
  query: Type.Object({ ...filters, order, limit: limit(200, 50, 20), cursor: cursor(ID) }, CLOSED),
  answer: {
    schema: page('ManagedTransfersAnswer', {
      transfers: listOf(managedTransfer, 'In the order asked for.'),
    }),
    example: { transfers: [sample], nextCursor: transferExample.id },
  },
}).handle(async ({ caller, query: { limit, cursor, order, ...filter } }, { storage }) => {
  const { transfers } = storage.management;
  const search = searchOf(filter);
  if (cursor !== undefined && !transfers.isCursor(order, cursor)) {
    throw badField('cursor', 'must be a nextCursor of the page before, in the same order');
  }
  return transfers.page(caller.accountId, search, limit, cursor, order);
});

function searchOf({ since, until, digest, ...rest }: Filter): TransferSearch {
  if (rest.keyId !== undefined && !isUuid(rest.keyId)) throw badField('keyId', 'must be the id of an API key');
  return {
    ...rest,
    ...(digest === undefined ? {} : { digest: digestOf(digest) }),
    ...(since === undefined ? {} : { since: parseSince(since) }),
    ...(until === undefined ? {} : { until: parseSince(until) }),
  };
}

type Asked = 'since' | 'until' | 'digest';
type Filter = Omit<TransferSearch, Asked> & Partial<Readonly<Record<Asked, string>>>;

const EXPORT_PAGE = 1000;
const CSV_COLUMNS = [
  'id',
  'createdAt',
  'connectionId',
  'type',
  'direction',
  'filename',
  'path',
  'fileSize',
  'status',
  'errorCode',
  'errorMessage',
  'durationMs',
] as const satisfies readonly (keyof ManagedTransfer)[];

endpoint('GET /manage/transfers/export', {
  isEssential: false,
  operationId: 'exportTransfers',
  summary: 'Export the history',
  description: 'All that matches, streamed, newest first.',
  query: Type.Object(
    { ...filters, format: withDefault(oneOf(['csv', 'ndjson'], 'Of the file.', { examples: ['csv'] }), 'csv') },
    CLOSED,
  ),
  answers: {
    200: {
      description: 'The file.',
      headers: ['Content-Disposition', 'X-Content-Type-Options', 'Content-Security-Policy'],
      content: {
        'text/csv': {
          schema: { type: 'string' },
          examples: { head: { summary: 'Its beginning', value: 'id,createdAt,connectionId,type\r\n' } },
        },
        'application/x-ndjson': {
          schema: { type: 'string' },
          examples: { line: { value: `${JSON.stringify(sample)}\n` } },
        },
      },
    },
  },
}).handle(async ({ caller, query: { format, ...filter } }, { storage }) => {
  const search = searchOf(filter);
  const { transfers } = storage.management;
  async function* lines(): AsyncGenerator<string> {
    if (format === 'csv') yield `${CSV_COLUMNS.join(',')}\r\n`;
    let cursor: string | undefined;
    do {
      const page = await transfers.page(caller.accountId, search, EXPORT_PAGE, cursor);
      // One chunk for a page: the writer passes chunks on one by one.
      if (page.transfers.length > 0) yield page.transfers.map(format === 'csv' ? csvLine : ndjsonLine).join('');
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
  }
  const day = new Date().toISOString().slice(0, 10);
  return {
    status: 200,
    headers: {
      'Content-Type': format === 'csv' ? 'text/csv; charset=utf-8; header=present' : 'application/x-ndjson',
      'Content-Disposition': `attachment; filename="transfers-${day}.${format}"`,
      ...NO_PAGE,
    },
    body: { stream: Readable.from(lines(), { objectMode: false }), length: undefined },
  };
});

endpoint('GET /manage/transfers/:id', {
  operationId: 'showTransfer',
  summary: 'Show a transfer',
  description:
    'With its digest, its receipt, its request and the key that asked; `key` is null from the dashboard and for work of the gateway itself.',
  answer: {
    schema: object('TransferDetail', shownFields(transferFields, 'owner')),
    example: exampleOf(transferFields, transferExample, 'owner'),
  },
  errors: ['unknown_item'],
}).handle(async (input, { storage, board }) => {
  const id = itemId(input, 'transfer');
  const { accountId } = input.caller;
  const [stored, running, receipt] = await Promise.all([
    storage.history.find(accountId, id),
    board.list(accountId),
    storage.receipts.find(accountId, id),
  ]);
  const live = running.find((one) => one.id === id);
  const signed = receipt === undefined ? null : receiptOf(receipt);
  const known = stored && viewOf(transferFields, { ...stored, ...verificationOf(stored), receipt: signed }, 'owner');
  if (live !== undefined && (stored === undefined || stored.status === 'pending')) {
    return { ...NOT_YET, ...known, ...live };
  }
  if (known === undefined) throw unknown('transfer', id);
  return known;
});

/** Values that a transfer gets with its row. */
const NOT_YET = {
  ...{ requestId: null, key: null, digest: null, noDigest: null, digestReadBytes: null },
  ...{ verified: null, verifiedReason: null, stages: null, receipt: null },
};

function receiptOf({ sequence, receipt }: Receipt): { readonly sequence: number; readonly keyId: string } {
  const [header = ''] = receipt.split('.');
  const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { readonly kid: string };
  return { sequence, keyId: kid };
}

function ndjsonLine(transfer: ManagedTransfer): string {
  return `${JSON.stringify(transfer)}\n`;
}

/** RFC 4180. */
function csvLine(transfer: ManagedTransfer): string {
  const cells = CSV_COLUMNS.map((name) => {
    const value = transfer[name];
    return csvCell(value instanceof Date ? value.toISOString() : String(value ?? ''));
  });
  return `${cells.join(',')}\r\n`;
}

function csvCell(text: string): string {
  // A spreadsheet would take such a file name for a formula and run it.
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
