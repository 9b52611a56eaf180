/** The history as a file. */
import { Readable } from 'node:stream';
import { Type } from 'typebox';
import { oneOf, withDefault } from '../../../base/schema.js';
import type { ManagedTransfer } from '../../../storage/storage.js';
import { CLOSED } from '../fields.js';
import { filters, searchOf } from './history.js';
import { sample } from './transfer.js';
import { ownerEndpoints } from '../services.js';

const endpoint = ownerEndpoints('Transfers');

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

export const exportTransfers = endpoint('GET /manage/transfers/export', {
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
      headers: ['Content-Disposition'],
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
    },
    body: { stream: Readable.from(lines(), { objectMode: false }), length: undefined },
  };
});

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
