/**
 * Fields that several endpoints have, each with the description for its place.
 */
import { DURATION_MS, ROOT_PATH } from '../contract/words.js';
import { Type, type TInteger, type TProperties, type TSchemaOptions, type TString } from 'typebox';
import { NAME } from '../contract/patterns.js';
import { refusal } from '../base/errors.js';
import { isWritableTime } from '../remotes/times.js';
import type { Period } from '../storage/storage.js';
import { count, dateTime, object, success, text, textOrNull, type TSchemaOf } from '../contract/schema.js';

/* Requests */

/** RFC 3339. */
const DATE_TIME = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})$/;

/** undefined if the text is not a date-time. */
export function dateTimeOf(text: string): Date | undefined {
  // The "+" of a zone arrives as a space if a client did not percent-encode it.
  const iso = text.replace(/ (?=\d{2}:\d{2}$)/, '+');
  const time = new Date(DATE_TIME.test(iso) ? iso : NaN);
  // Date reads the 30th of February as the 2nd of March.
  const [year = 0, month = 0, day = 0] = iso.slice(0, 10).split('-').map(Number);
  const isOnCalendar = day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
  return isOnCalendar && !Number.isNaN(time.getTime()) ? time : undefined;
}

/** @throws GatewayError bad_request */
export function timeOf(mtime: string | undefined): Date | undefined {
  if (mtime === undefined) return undefined;
  const time = dateTimeOf(mtime);
  if (time !== undefined && isWritableTime(time)) return time;
  const range = 'after 1970-01-01T00:00:00Z and before 2106-02-07T06:28:16Z';
  throw refusal('bad_request', `mtime must be a date-time such as 2026-01-31T12:00:00Z, ${range}`);
}

const ISO_8601 = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?$/;

/** ISO 8601 (UTC if it has no zone) or Unix seconds. @throws GatewayError bad_request */
function parseTime(name: keyof Period, text: string): Date {
  if (/^\d{1,11}(\.\d{1,6})?$/.test(text)) return withinIds(new Date(Number(text) * 1000));
  // The "+" of a zone arrives as a space if a client did not percent-encode it.
  const iso = text.replace(/ (?=\d{2}:?\d{2}$)/, '+');
  const hasZone = /(Z|[+-]\d{2}:?\d{2})$/.test(iso) || !iso.includes('T');
  const date = ISO_8601.test(iso) ? new Date(hasZone ? iso : `${iso}Z`) : new Date(NaN);
  // Date reads the 30th of February as the 2nd of March.
  const [year, month, day] = iso.slice(0, 10).split('-').map(Number) as [number, number, number];
  const isOnCalendar = day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
  if (!Number.isNaN(date.getTime()) && isOnCalendar) return withinIds(date);
  throw refusal('bad_request', `${name} must be an ISO 8601 date-time or Unix seconds`);
}

/** @throws GatewayError bad_request */
export function periodOf({
  since,
  until,
}: Partial<Record<keyof Period, string>>): Record<keyof Period, Date | undefined> {
  return {
    since: since === undefined ? undefined : parseTime('since', since),
    until: until === undefined ? undefined : parseTime('until', until),
  };
}

const LAST_TIME = Date.UTC(9999, 0, 1);

/** No item is older than 1970 or newer than the year 9999, and the database's ids and dates have no larger range. */
function withinIds(date: Date): Date {
  return new Date(Math.min(Math.max(0, date.getTime()), LAST_TIME));
}

/** Raw bytes. Generators recognize them by `format`, to which JSON Schema 2020-12 gives no meaning. */
export const BINARY = { type: 'string', format: 'binary', contentMediaType: 'application/octet-stream' } as const;

/** Unknown fields are refused. */
export const CLOSED = { additionalProperties: false } as const;

export const newName = (): TString => text('Shown to people.', { minLength: 1, maxLength: 200, pattern: NAME });

/* Paged lists */

export const cursor = (
  example: string,
  options: TSchemaOptions = { minLength: 1, maxLength: 64 },
  words = '`nextCursor` of the page before.',
) => Type.Optional(text(words, { ...options, examples: [example] }));

/** The answer: the list, and the start of the next page. */
export const page = <T extends TProperties>(name: string, list: T, end = 'null = there is none.') =>
  object(name, { ...list, nextCursor: textOrNull(`Where the next page begins; ${end}`) });

/** A full page may have one after it. */
export function nextCursor<T>(found: readonly T[], limit: number, cursorOf: (last: T) => string): string | null {
  const last = found.length === limit ? found.at(-1) : undefined;
  return last === undefined ? null : cursorOf(last);
}

/* Answers */

export const id = (): TString => text('Identifier.');

/** Values that differ from case to case. */
export const facts = (description?: string): TSchemaOf<unknown> =>
  Type.Unsafe({ type: 'object', additionalProperties: true, ...(description === undefined ? {} : { description }) });

/** In an answer to a request with `mtime`; the server may not store times. */
export const keptTimeField = () =>
  Type.Optional(
    dateTime(
      'Where `mtime` was asked for: what the file is dated now, which is another time where the server keeps none.',
    ),
  );

export const answeredPath = (): TString => text(ROOT_PATH);
export const durationMs = (): TInteger => count(DURATION_MS);

export const successAnswer = object('SuccessAnswer', { success: success() });
export const errorAnswer = object('ErrorAnswer', {
  error: text('What went wrong, at which step, field or path, and what would be right.'),
});
/** For an endpoint that may leave a file unchanged (upload, copy). */
export const skippedAnswer = object('SkippedAnswer', {
  ...errorAnswer.properties,
  skipped: Type.Optional(Type.Literal(true, { description: 'The file exists and was left as it is.' })),
});

export const TRANSFER = 'The transfer, as the history holds it.';
