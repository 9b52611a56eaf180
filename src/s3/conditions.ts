/** Conditions of a request (RFC 9110, 13): If-Match, If-None-Match, If-Modified-Since, If-Unmodified-Since. */
import { isNotModified, type Validators } from '../http/answer.js';
import type { FileInfo } from '../remotes/remote.js';
import { S3Error } from './errors.js';
import { etagOf } from './etag.js';

type Headers = ReadonlyMap<string, string>;

const FIELDS = ['if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since'] as const;

/** The same conditions on the source of a copy. */
export const COPY_PREFIX = 'x-amz-copy-source-';

export const isConditional = (headers: Headers, prefix = ''): boolean =>
  FIELDS.some((field) => headers.has(prefix + field));

export function objectValidatorsOf(info: FileInfo): Validators {
  const lastModified = info.modifiedAt.getTime() === 0 ? undefined : info.modifiedAt;
  return { entityTag: `"${etagOf(info)}"`, lastModified, isSettled: true };
}

/** Whether the client has this version. @throws S3Error PreconditionFailed */
export function isUnchanged(headers: Headers, info: FileInfo, prefix = ''): boolean {
  const own = new Map(
    FIELDS.flatMap((field) => {
      const value = headers.get(prefix + field);
      return value === undefined ? [] : [[field, value] as const];
    }),
  );
  const match = own.get('if-match');
  const since = Date.parse(own.get('if-unmodified-since') ?? '');
  const isOther = match !== undefined && !matches(match, etagOf(info));
  const isLater = match === undefined && Math.floor(info.modifiedAt.getTime() / 1_000) * 1_000 > since;
  if (isOther || isLater) throw preconditionFailed();
  return isNotModified(quoted(own), objectValidatorsOf(info));
}

function matches(field: string, etag: string): boolean {
  return field.split(',').some((one) => ['*', etag].includes(one.trim().replace(/^"|"$/g, '')));
}

/** S3 also takes a tag without quotes. */
function quoted(headers: Headers): Headers {
  const tag = headers.get('if-none-match');
  if (tag === undefined || tag.includes('"') || tag.trim() === '*') return headers;
  return new Map([...headers, ['if-none-match', `"${tag.trim()}"`]]);
}

export const preconditionFailed = (): S3Error =>
  new S3Error('PreconditionFailed', 'a condition of the request is not met', 'already_exists');
