/** The history with its filters, page by page or as an export. */
import { Readable } from 'node:stream';
import { type Caller, connectionsFor, mayUse } from '../../base/caller.js';
import { refusal, unknown } from '../../base/errors.js';
import { Type } from 'typebox';
import { count, described, listOf, object, oneOf, text, withDefault } from '../../contract/schema.js';
import { exampleOf, type Reader, shownFields, viewOf } from '../../contract/thing.js';
import { managedTransferFilters, queryOf, transferListFilters } from '../../contract/filters.js';
import { askedPage, limit } from '../../contract/paging.js';
import { isUuid } from '../../base/uuid.js';
import {
  EXPORT_FORMATS,
  listedTransferFields,
  type ManagedTransfer,
  managedTransferFields,
  transferExample,
  transferFields,
  type TransferType,
  type Unverified,
} from '../../contract/transfer.js';
import type { Receipt } from '../../contract/receipt.js';
import { type Storage, type StoredTransfer, TRANSFER_ORDERS, type TransferSearch } from '../../storage/storage.js';
import { NO_PAGE } from '../../http/answer.js';
import { endpoints } from '../endpoint.js';
import { CLOSED, cursor, page, periodOf } from '../fields.js';
import { ID, TRANSFER_ID } from '../../contract/examples.js';
import { badField, type Services } from '../services.js';

const endpoint = endpoints(
  { key: 'Account', owner: 'Transfers' },
  { id: text('Identifier of a transfer.', { minLength: 1, examples: [TRANSFER_ID] }) },
);
export const historyEndpoints = endpoint.all;

/** The fields of a transfer in lists. */
const listed = {
  key: {
    schema: object('TransferItem', shownFields(listedTransferFields, 'key')),
    example: exampleOf(listedTransferFields, transferExample, 'key'),
  },
  owner: {
    schema: object('ManagedTransfer', shownFields(managedTransferFields, 'owner')),
    example: exampleOf(managedTransferFields, transferExample, 'owner'),
  },
};
export const managedTransfer = listed.owner;

/** The 32 bytes of a value that the filter `digest` has checked. */
export const digestInFilter = (filter: string): Buffer => Buffer.from(filter.slice('sha-256:'.length), 'hex');

const order = withDefault(
  oneOf(
    TRANSFER_ORDERS,
    '`largest` begins with files of 1 MiB and more, `longest` with operations of a second and more; the others follow, newest first.',
    { examples: ['newest'] },
  ),
  'newest',
);

endpoint('GET /api/transfers', {
  access: 'any',
  isEssential: true,
  operationId: 'listTransfers',
  summary: 'List transfers',
  description: 'The history of file operations, newest first. Ids are ordered by time.',
  query: Type.Object(queryOf(transferListFilters)),
  answer: {
    description: 'One page of the history.',
    schema: object('TransfersAnswer', {
      transfers: listOf(listed.key.schema, 'Newest first.'),
      total: count('How many transfers match.'),
      ...askedPage,
    }),
    example: { transfers: [listed.key.example], total: 1, limit: 20, offset: 0 },
  },
  owner: {
    operationId: 'listManagedTransfers',
    description:
      'Newest first, where `order` says nothing else. `nextCursor` continues where the page ended, also when the page is short or empty; null is the end.',
    query: Type.Object(
      { ...queryOf(managedTransferFilters), order, limit: limit(200, 50, 20), cursor: cursor(ID) },
      CLOSED,
    ),
    answer: {
      schema: page('ManagedTransfersAnswer', { transfers: listOf(listed.owner.schema, 'In the order asked for.') }),
      example: { transfers: [listed.owner.example], nextCursor: transferExample.id },
    },
  },
}).handle(async ({ caller, query }, { storage }, reader) => {
  if (reader === 'owner') {
    const { limit, cursor, order = 'newest', ...filter } = query;
    const { transfers } = storage.management;
    const search = searchOf(filter);
    if (cursor !== undefined && !transfers.isCursor(order, cursor)) {
      throw badField('cursor', 'must be a nextCursor of the page before, in the same order');
    }
    return transfers.page(caller.accountId, search, limit, cursor, order);
  }
  const { connection_id: connectionId, status, type, digest, link_id: linkId, since, limit, offset } = query;
  if (linkId !== undefined && !isUuid(linkId)) throw refusal('bad_request', 'link_id must be the id of a link');
  const { transfers, total } = await storage.history.list(caller.accountId, {
    limit,
    offset,
    connectionId,
    status,
    type,
    linkId,
    connectionIds: connectionsFor(caller),
    digest: digest === undefined ? undefined : digestInFilter(digest),
    since: periodOf({ since }).since,
  });
  return { transfers, total, limit, offset };
});

function searchOf({ since, until, digest, ...rest }: Filter): TransferSearch {
  if (rest.keyId !== undefined && !isUuid(rest.keyId)) throw badField('keyId', 'must be the id of an API key');
  if (rest.linkId !== undefined && !isUuid(rest.linkId)) throw badField('linkId', 'must be the id of a link');
  return {
    ...rest,
    ...(digest === undefined ? {} : { digest: digestInFilter(digest) }),
    ...periodOf({ since, until }),
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
    {
      ...queryOf(managedTransferFilters),
      format: withDefault(oneOf(EXPORT_FORMATS, 'The format of the file.', { examples: ['csv'] }), EXPORT_FORMATS[0]),
    },
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
          examples: { line: { value: `${JSON.stringify(managedTransfer.example)}\n` } },
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
      // One chunk per page: the writer sends chunks one by one.
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

endpoint('GET /api/transfers/:id', {
  access: 'any',
  isEssential: true,
  operationId: 'getTransfer',
  summary: 'Look at a transfer',
  description: 'One item of the history of the connections that this API key may use.',
  answer: {
    description: 'The item.',
    schema: object('TransferAnswer', {
      transfer: described(object('TransferDetails', shownFields(transferFields, 'key')), 'The item.'),
    }),
    example: { transfer: exampleOf(transferFields, transferExample, 'key') },
  },
  errors: ['unknown_item'],
  owner: {
    operationId: 'showTransfer',
    summary: 'Show a transfer',
    description:
      'With its digest, its receipt, its request and the key that asked; `key` is null from the dashboard and for work of the gateway itself.',
    answer: {
      schema: object('TransferDetail', shownFields(transferFields, 'owner')),
      example: exampleOf(transferFields, transferExample, 'owner'),
    },
  },
}).handle(async ({ caller, params: { id } }, services, reader) => {
  if (reader === 'owner') return ownersTransfer(services, caller, id);
  return { transfer: transferView(await transferOf(services.storage, caller, id), reader) };
});

function transferView(found: StoredTransfer, reader: Reader, receipt: ReceiptReference | null = null) {
  return viewOf(transferFields, { ...found, ...verificationOf(found), receipt }, reader);
}

/** A transfer with its progress, even if it runs on another node. */
async function ownersTransfer({ storage, board }: Services, { accountId }: Caller, id: string) {
  if (!isUuid(id)) throw unknown('transfer', id);
  const [stored, running, receipt] = await Promise.all([
    storage.history.find(accountId, id),
    board.list(accountId),
    storage.receipts.find(accountId, id),
  ]);
  const live = running.find((one) => one.id === id);
  const known = stored && transferView(stored, 'owner', receipt === undefined ? null : receiptOf(receipt));
  if (live !== undefined && (stored === undefined || stored.status === 'pending')) {
    return { ...NOT_YET, ...known, ...live };
  }
  if (known === undefined) throw unknown('transfer', id);
  return known;
}

/** A transfer that the key may see. @throws GatewayError unknown_item */
export async function transferOf(
  { history }: Pick<Storage, 'history'>,
  caller: Caller,
  id: string,
): Promise<StoredTransfer> {
  const found = isUuid(id) ? await history.find(caller.accountId, id) : undefined;
  if (found !== undefined && mayUse(caller, [found.connectionId])) return found;
  throw unknown('transfer', id);
}

/** Whether the stored file was compared with what was sent. */
function verificationOf({ status, type, unverified }: StoredTransfer): {
  readonly verified: boolean | null;
  readonly verifiedReason: Unverified | null;
} {
  const isStored = status === 'success' && STORES.has(type);
  return { verified: unverified === null ? isStored || null : false, verifiedReason: unverified };
}

/** Types whose files are compared at least by size. */
const STORES: ReadonlySet<TransferType> = new Set(['upload', 'write', 'append', 'copy']);

/** Values that a transfer gets with its row. */
const NOT_YET = {
  requestId: null,
  key: null,
  digest: null,
  noDigest: null,
  digestReadBytes: null,
  verified: null,
  verifiedReason: null,
  stages: null,
  receipt: null,
};

type ReceiptReference = Pick<Receipt, 'sequence'> & { readonly keyId: string };

function receiptOf({ sequence, receipt }: Receipt): ReceiptReference {
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
  // A spreadsheet would run such a file name as a formula.
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
