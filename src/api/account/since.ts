import { GatewayError } from '../../base/errors.js';

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
