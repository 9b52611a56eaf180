/** The history of an account. */
import { Type } from 'typebox';
import type { Caller } from '../../base/caller.js';
import { refusal } from '../../base/errors.js';
import { count, described, listOf, object, text, withDefault } from '../../contract/schema.js';
import { exampleOf, shownFields, viewOf } from '../../contract/thing.js';
import { transferFilters } from '../../contract/file-request.js';
import { isUuid } from '../../base/uuid.js';
import {
  transferExample,
  transferFields,
  transferItemFields,
  type TransferType,
  type Unverified,
} from '../../contract/transfer.js';
import type { Storage, StoredTransfer, TransferFilter } from '../../storage/storage.js';
import { endpoint } from '../endpoint.js';
import { TRANSFER_ID } from '../fields.js';
import type { Services } from '../services.js';

/** The 32 bytes of what `digestFilter` let through. */
export const digestOf = (filter: string): Buffer => Buffer.from(filter.slice('sha-256:'.length), 'hex');

const transferItem = object('TransferItem', shownFields(transferItemFields, 'key'));

export const listTransfers = endpoint({
  method: 'GET',
  path: '/api/transfers',
  access: 'any',
  isEssential: true,
  operationId: 'listTransfers',
  tag: 'Account',
  summary: 'List transfers',
  description: 'The history of file operations, newest first. Ids are ordered by time.',
  query: Type.Object({
    ...transferFilters,
    limit: withDefault(Type.Integer({ minimum: 1, maximum: 100, description: 'Items a page.', examples: [20] }), 20),
    offset: withDefault(
      Type.Integer({ minimum: 0, maximum: 1_000_000_000, description: 'Items to pass over.', examples: [0] }),
      0,
    ),
  }),
  answer: {
    description: 'One page of the history.',
    schema: object('TransfersAnswer', {
      transfers: listOf(transferItem, 'Newest first.'),
      total: count('How many transfers match.'),
      limit: count('Items a page.'),
      offset: count('Items to pass over.'),
    }),
    example: {
      transfers: [exampleOf(transferItemFields, transferExample, 'key')],
      total: 1,
      limit: 20,
      offset: 0,
    },
  },
}).handle(async ({ caller, query }, { storage }: Services) => {
  const { connection_id: connectionId, status, type, digest, link_id: linkId, since, limit, offset } = query;
  if (linkId !== undefined && !isUuid(linkId)) throw refusal('bad_request', 'link_id must be the id of a link');
  const filter: TransferFilter = {
    ...{ limit, offset, connectionId, status, type, linkId },
    connectionIds: caller.connections.length === 0 ? undefined : caller.connections,
    digest: digest === undefined ? undefined : digestOf(digest),
    since: since === undefined ? undefined : parseSince(since),
  };
  const { transfers, total } = await storage.history.list(caller.accountId, filter);
  return { transfers, total, limit, offset };
});

const transferDetails = object('TransferDetails', shownFields(transferFields, 'key'));

export const getTransfer = endpoint({
  method: 'GET',
  path: '/api/transfers/:id',
  access: 'any',
  isEssential: true,
  operationId: 'getTransfer',
  tag: 'Account',
  summary: 'Look at a transfer',
  description: 'One item of the history of the connections that this API key may use.',
  params: { id: text('Identifier of a transfer.', { minLength: 1, examples: [TRANSFER_ID] }) },
  answer: {
    description: 'The item.',
    schema: object('TransferAnswer', {
      transfer: described(transferDetails, 'The item.'),
    }),
    example: { transfer: exampleOf(transferFields, transferExample, 'key') },
  },
  errors: ['unknown_item'],
}).handle(async ({ caller, params }, { storage }: Services) => {
  const found = await transferOf(storage, caller, params.id);
  return { transfer: viewOf(transferFields, { ...found, ...verificationOf(found) }, 'key') };
});

/** Whether what was stored was compared with what was sent. */
export function verificationOf({ status, type, unverified }: StoredTransfer): {
  readonly verified: boolean | null;
  readonly verifiedReason: Unverified | null;
} {
  const isStored = status === 'success' && STORES.has(type);
  return { verified: unverified === null ? isStored || null : false, verifiedReason: unverified };
}

/** Their files are compared by their size at least. */
const STORES: ReadonlySet<TransferType> = new Set(['upload', 'write', 'append', 'copy']);

/** One that the key may see. @throws GatewayError unknown_item */
export async function transferOf(
  { history }: Pick<Storage, 'history'>,
  { accountId, connections }: Caller,
  id: string,
): Promise<StoredTransfer> {
  const found = isUuid(id) ? await history.find(accountId, id) : undefined;
  const isTheirs = found !== undefined && (connections.length === 0 || connections.includes(found.connectionId));
  if (!isTheirs) throw refusal('unknown_item', `there is no transfer ${id.slice(0, 64)}`);
  return found;
}

const ISO_8601 = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?$/;

/** ISO 8601 (UTC where no zone is given) or Unix seconds. @throws GatewayError bad_request */
export function parseSince(text: string): Date {
  if (/^\d{1,11}(\.\d{1,6})?$/.test(text)) return withinIds(new Date(Number(text) * 1000));
  // The "+" of a zone arrives as a space where a client did not percent-encode it.
  const iso = text.replace(/ (?=\d{2}:?\d{2}$)/, '+');
  const hasZone = /(Z|[+-]\d{2}:?\d{2})$/.test(iso) || !iso.includes('T');
  const date = ISO_8601.test(iso) ? new Date(hasZone ? iso : `${iso}Z`) : new Date(NaN);
  // Date takes the 30th of February for the 2nd of March.
  const [year, month, day] = iso.slice(0, 10).split('-').map(Number) as [number, number, number];
  const isOnCalendar = day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
  if (!Number.isNaN(date.getTime()) && isOnCalendar) return withinIds(date);
  throw refusal('bad_request', 'since must be an ISO 8601 date-time or Unix seconds');
}

const LAST_TIME = Date.UTC(9999, 0, 1);

/** No item is older than 1970 or younger than the year 9999, and ids and dates of the database have no more room. */
function withinIds(date: Date): Date {
  return new Date(Math.min(Math.max(0, date.getTime()), LAST_TIME));
}
