/** The history as its owner reads it, and what runs now. */
import { Readable } from 'node:stream';
import { parseSince } from '../account.js';
import { GatewayError } from '../../base/errors.js';
import { json } from '../../http/answer.js';
import type { HttpAnswer, RequestContext } from '../../http/types.js';
import type { ManagedTransfer, TransferSearch } from '../../storage/tables/transfer-pages.js';
import { actorOf, cursorOf, itemId, type ManageServices, unknownItem } from './services.js';

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

export async function listTransfers({ storage }: ManageServices, context: RequestContext): Promise<HttpAnswer> {
  const { limit } = context.query as { readonly limit: number };
  const search = searchOf(context);
  const page = await storage.management.transfers.page(
    context.caller.accountId,
    search,
    limit,
    cursorOf(context.query),
  );
  return json(200, page);
}

export async function listLiveTransfers({ board }: ManageServices, { caller }: RequestContext): Promise<HttpAnswer> {
  return json(200, { transfers: await board.list(caller.accountId) });
}

export async function showTransfer({ storage, board }: ManageServices, context: RequestContext): Promise<HttpAnswer> {
  const id = itemId(context, 'transfer');
  const { accountId } = context.caller;
  const [stored, running] = await Promise.all([
    storage.management.transfers.find(accountId, id),
    board.list(accountId),
  ]);
  const live = running.find((one) => one.id === id);
  if (stored === undefined && live === undefined) throw unknownItem('transfer', id);
  if (stored?.status !== 'pending' && stored !== undefined) return json(200, stored);
  return json(200, { requestId: null, key: null, ...stored, ...live });
}

export async function cancelTransfer({ storage, board }: ManageServices, context: RequestContext): Promise<HttpAnswer> {
  const id = itemId(context, 'transfer');
  const { accountId } = context.caller;
  const { audit, transfers } = storage.management;
  if (!(await board.cancel(accountId, id))) {
    if ((await transfers.find(accountId, id)) === undefined) throw unknownItem('transfer', id);
    throw new GatewayError('not_running', `transfer ${id} does not run, or has only just begun`, { step: 'request' });
  }
  const target = { kind: 'transfer', id, name: '' };
  await audit.add(actorOf(context), { action: 'transfer.cancel', target });
  return json(202, { success: true });
}

export async function exportTransfers({ storage }: ManageServices, context: RequestContext): Promise<HttpAnswer> {
  const { format } = context.query as { readonly format: 'csv' | 'ndjson' };
  const search = searchOf(context);
  const { transfers } = storage.management;
  async function* lines(): AsyncGenerator<string> {
    if (format === 'csv') yield `${CSV_COLUMNS.join(',')}\r\n`;
    let cursor: string | undefined;
    do {
      const page = await transfers.page(context.caller.accountId, search, EXPORT_PAGE, cursor);
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
}

/** Server-sent events (HTML Standard, 9.2). */
export async function watchTransfers({ board, owners }: ManageServices, context: RequestContext): Promise<HttpAnswer> {
  const { caller, request, stillOpens } = context;
  // A look keeps no session alive.
  const stillAllowed = (): Promise<boolean> =>
    caller.session === undefined ? stillOpens() : owners.stillLives(request);
  return {
    status: 200,
    // No proxy in between may gather events.
    headers: { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' },
    body: { stream: board.watch(caller.accountId, stillAllowed), length: undefined },
  };
}

function searchOf({ query }: RequestContext): TransferSearch {
  const { since, until, ...rest } = query as Omit<TransferSearch, 'since' | 'until'> & {
    readonly since?: string;
    readonly until?: string;
  };
  return {
    ...rest,
    ...(since === undefined ? {} : { since: parseSince(since) }),
    ...(until === undefined ? {} : { until: parseSince(until) }),
  };
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
