/** Answers made from values: JSON, errors, the header fields of files, ranges and conditions (RFC 9110). */
import contentDisposition from 'content-disposition';
import mime from 'mime-types';
import parseRange from 'range-parser';
import { type ErrorCode, GatewayError } from '../base/errors.js';
import { uuidv7 } from '../base/uuid.js';
import type { HttpAnswer } from './types.js';

export function json(status: number, value: unknown, headers: Record<string, string> = {}): HttpAnswer {
  return { status, headers: { 'Content-Type': 'application/json', ...headers }, body: JSON.stringify(value) };
}

/** A second is right for most causes of a 503. */
const DEFAULT_RETRY_AFTER_MS = 1_000;
const PASSING_STATUSES = [423, 429, 503];
/** Repeating the request could do the work twice. */
const UNREPEATED: readonly ErrorCode[] = ['outcome_unrecorded'];

/** The one error shape; `skippable` routes add `skipped` if a file exists. */
export function answerOfError(error: GatewayError, skippable = false): HttpAnswer {
  const { status, code, clientText, retryAfterMs, limit, fileSize, sessionEnd } = error;
  const headers: Record<string, string> = { 'X-Error-Code': code };
  if (fileSize !== undefined) headers['Content-Range'] = `bytes */${fileSize}`;
  if (status === 401) headers['WWW-Authenticate'] = 'Bearer';
  if (sessionEnd !== undefined) headers['X-Session-End'] = sessionEnd;
  const isPassing = PASSING_STATUSES.includes(status) && !UNREPEATED.includes(code);
  const wait = retryAfterMs ?? (isPassing ? DEFAULT_RETRY_AFTER_MS : undefined);
  const seconds = wait === undefined ? undefined : String(Math.max(1, Math.ceil(wait / 1_000)));
  if (seconds !== undefined) headers['Retry-After'] = seconds;
  if (limit !== undefined) {
    headers['RateLimit-Policy'] = `"${limit.name}";q=${limit.quota};w=${limit.windowSeconds}`;
    headers['RateLimit'] = `"${limit.name}";r=0;t=${seconds ?? limit.windowSeconds}`;
  }
  const skipped = skippable && code === 'already_exists' ? { skipped: true } : {};
  return json(status, { error: clientText, ...skipped }, headers);
}

/** An error from outside of the router, in the same form. */
export function unrouted(error: GatewayError, requestId: string = uuidv7()): HttpAnswer {
  const answer = answerOfError(error);
  return { ...answer, headers: { 'Cache-Control': 'no-store', ...answer.headers, 'X-Request-Id': requestId } };
}

/** `filename*` carries any name exactly; the plain `filename` beside it is ASCII, for old clients (RFC 6266, 4.3). */
export function attachment(filename: string): string {
  const fallback = filename.replace(/[^\u0020-\u007e]/gu, '?');
  return contentDisposition(filename, { type: 'attachment', fallback });
}

/** Identifies the version of a file (RFC 9110, 8.8). */
export interface Validators {
  /** Absent if none is reliable. */
  readonly entityTag: string | undefined;
  /** Absent if unknown. */
  readonly lastModified: Date | undefined;
  /** Any later change will show in `lastModified`. */
  readonly isSettled: boolean;
}

/** Header fields of a file that is downloaded. */
export function fileHeaders(filename: string, { entityTag, lastModified }: Validators): Record<string, string> {
  return {
    'Content-Type': mime.contentType(filename.slice(filename.lastIndexOf('.') + 1)) || 'application/octet-stream',
    'Content-Disposition': attachment(filename),
    ...(lastModified === undefined ? {} : { 'Last-Modified': lastModified.toUTCString() }),
    ...(entityTag === undefined ? {} : { ETag: entityTag }),
    'Accept-Ranges': 'bytes',
    ...NO_PAGE,
  };
}

/** A browser uses the given type; a page that it opens runs no script and has no origin. */
export const NO_PAGE = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; sandbox",
} as const;

type Headers = ReadonlyMap<string, string>;

/** First and last byte, both inclusive (RFC 9110, 14.1.2). */
interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** RFC 9110, 14.1.2. The parser would read `0x10` as 0, and send another part than requested. */
const RANGES = /^bytes=\s*(?:\d*-\d*\s*(?:,\s*|$))+$/i;

const ONE_RANGE = /^bytes=(\d*)-(\d*)$/i;

/** A range of a file whose size is not known yet: from `start` on, to `end` or the end of the file, or its last bytes. */
type LikelyRange = { readonly start: number; readonly end?: number } | { readonly last: number };

interface RangeChooser<File> {
  (file: File): ByteRange | undefined;
  /** What it chooses in a file that is long enough, and that the client does not have. */
  readonly likely: LikelyRange | undefined;
}

/** Chooses the range that a request asks for, if any, once the file is found. `tagOf`: its entity tag. */
export function rangeChooser<File extends { readonly size: number }>(
  headers: Headers,
  tagOf: (file: File) => string | undefined,
): RangeChooser<File> | undefined {
  if (!headers.has('range')) return undefined;
  const choose = (file: File): ByteRange | undefined => selectRange(headers, file.size, tagOf(file));
  const mayHaveIt = headers.has('if-none-match') || headers.has('if-modified-since');
  return Object.assign(choose, { likely: mayHaveIt ? undefined : likelyRange(headers) });
}

function likelyRange(headers: Headers): LikelyRange | undefined {
  const [, from, to] = ONE_RANGE.exec(headers.get('range') ?? '') ?? [];
  const [start, end] = [Number(from), Number(to)];
  if (!Number.isSafeInteger(start) || !Number.isSafeInteger(end)) return undefined;
  if (from === '') return end === 0 ? undefined : { last: end };
  if (to === '') return { start };
  return end < start ? undefined : { start, end };
}

/**
 * The one range that a Range field requests; undefined = send everything (no field, a malformed one, another unit,
 * several ranges, or an If-Range that no longer matches). @throws GatewayError bad_range outside the file
 */
function selectRange(headers: Headers, size: number, entityTag: string | undefined): ByteRange | undefined {
  const field = headers.get('range');
  if (field === undefined || !rangeStillHolds(headers.get('if-range'), entityTag)) return undefined;
  if (!RANGES.test(field) || isBackwards(field)) return undefined;
  if (isSuffixOfAll(field, size)) return { start: 0, end: size - 1 };
  const ranges = parseRange(size, field);
  if (ranges === -2) return undefined;
  if (ranges === -1) {
    throw new GatewayError('bad_range', `Range ${field.slice(0, 100)} lies outside the file of ${size} bytes`, {
      step: 'request',
      fileSize: size,
    });
  }
  const [range] = ranges;
  if (ranges.type !== 'bytes' || ranges.length !== 1 || range === undefined) return undefined;
  return { start: range.start, end: range.end };
}

/**
 * One that ends before it begins makes the whole field invalid (RFC 9110, 14.1.1). A number is tried only from its first
 * digit: otherwise a field of many digits takes quadratic time.
 */
const isBackwards = (field: string): boolean =>
  [...field.matchAll(/(?<!\d)(\d+)-(\d+)/g)].some(([, start, end]) => Number(end) < Number(start));

/** A suffix range longer than the file means the whole file (RFC 9110, 14.1.2). The parser would reject it. */
function isSuffixOfAll(field: string, size: number): boolean {
  const [, length] = /^bytes=\s*-(\d+)\s*$/i.exec(field) ?? [];
  return length !== undefined && size > 0 && Number(length) > size;
}

/**
 * Two versions must never be spliced: only a strong tag is accepted (RFC 9110, 13.1.5). A date never is: the client may
 * have got it in the very second in which the file changed again.
 */
function rangeStillHolds(ifRange: string | undefined, entityTag: string | undefined): boolean {
  return ifRange === undefined || (ifRange.startsWith('"') && ifRange === entityTag);
}

/** If-None-Match (weak comparison) takes precedence over If-Modified-Since (RFC 9110, 13.2.2). */
export function isNotModified(headers: Headers, { entityTag, lastModified, isSettled }: Validators): boolean {
  const tags = headers.get('if-none-match');
  if (tags?.trim() === '*') return true;
  if (tags !== undefined) {
    return entityTag !== undefined && tags.split(',').some((tag) => opaque(tag.trim()) === opaque(entityTag));
  }
  const since = Date.parse(headers.get('if-modified-since') ?? '');
  return !Number.isNaN(since) && lastModified !== undefined && isSettled && wholeSeconds(lastModified) <= since;
}

function opaque(entityTag: string): string {
  return entityTag.replace(/^W\//, '');
}

function wholeSeconds(date: Date): number {
  return Math.floor(date.getTime() / 1_000) * 1_000;
}
