/** connections, me and the history (interface 4.13, 4.14, 4.16). */
import { GatewayError } from '../base/errors.js';
import { json } from '../http/answer.js';
import type { HttpAnswer, RequestContext } from '../http/types.js';
import type { TransferFilter, TransferStatus } from '../storage/storage.js';
import type { ApiServices } from './services.js';

export async function listConnections({ storage }: ApiServices, { caller }: RequestContext): Promise<HttpAnswer> {
  const all = await storage.connections.list(caller.accountId);
  const visible = caller.connections.length === 0 ? all : all.filter(({ id }) => caller.connections.includes(id));
  return json(200, { connections: visible.map(({ id, name, type, isActive }) => ({ id, name, type, isActive })) });
}

interface TransfersQuery {
  readonly connection_id?: string;
  readonly status?: TransferStatus;
  readonly type?: string;
  readonly since?: string;
  readonly limit: number;
  readonly offset: number;
}

export async function listTransfers({ storage }: ApiServices, { caller, query }: RequestContext): Promise<HttpAnswer> {
  const { connection_id: connectionId, status, type, since, limit, offset } = query as unknown as TransfersQuery;
  const filter: TransferFilter = {
    limit,
    offset,
    ...(connectionId === undefined ? {} : { connectionId }),
    ...(caller.connections.length === 0 ? {} : { connectionIds: caller.connections }),
    ...(status === undefined ? {} : { status }),
    ...(type === undefined ? {} : { type }),
    ...(since === undefined ? {} : { since: parseSince(since) }),
  };
  const { transfers, total } = await storage.history.list(caller.accountId, filter);
  return json(200, {
    transfers: transfers.map((item) => ({ ...item, createdAt: item.createdAt.toISOString() })),
    total,
    limit,
    offset,
  });
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
  throw new GatewayError('bad_request', 'since must be an ISO 8601 date-time or Unix seconds', { step: 'request' });
}

const LAST_TIME = Date.UTC(9999, 0, 1);

/** No item is older than 1970 or younger than the year 9999, and ids and dates of the database have no more room. */
function withinIds(date: Date): Date {
  return new Date(Math.min(Math.max(0, date.getTime()), LAST_TIME));
}
