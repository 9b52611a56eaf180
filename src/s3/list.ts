/**
 * ListObjects in both versions: from the query to what is listed, and from the page to the answer. Of the codes here,
 * bad_request is S3's InvalidArgument, and unsupported_operation its NotImplemented.
 */
import { uriEncoded } from '../base/aws-signature.js';
import { refusal } from '../base/errors.js';
import { isoTime } from '../base/iso-time.js';
import type { KeyEntry, KeysOptions, KeysPage } from '../operations/tree/list-keys.js';
import { etagOf } from './etag.js';
import { MOST_NAME_BYTES, nameOfToken, tokenOf } from './token.js';
import type { XmlElement } from './xml.js';

interface ListQuery {
  readonly version: 1 | 2;
  readonly keys: KeysOptions;
  /** `encoding-type=url`: keys are percent-encoded. */
  readonly isEncoded: boolean;
  readonly hasOwner: boolean;
  /** Where the client said that the page begins, as it is repeated in the answer. */
  readonly marker: string;
  readonly token: string | undefined;
  readonly startAfter: string | undefined;
}

export const MOST_KEYS = 1000;
const LARGEST_NUMBER = 2 ** 31 - 1;
const MOST_PREFIX_BYTES = 1024;

/** @throws GatewayError bad_request, unsupported_operation */
export function readListQuery(query: URLSearchParams): ListQuery {
  const version = versionIn(query);
  const delimiter = query.get('delimiter') ?? '';
  if (delimiter !== '' && delimiter !== '/') throw refusal('unsupported_operation', 'delimiter must be / or absent');
  const prefix = textIn(query, 'prefix', MOST_PREFIX_BYTES) ?? '';
  const marker = textIn(query, 'marker', MOST_NAME_BYTES) ?? '';
  const token = query.get('continuation-token') ?? undefined;
  const startAfter = textIn(query, 'start-after', MOST_NAME_BYTES);
  const continued = token === undefined || token === '' ? startAfter : nameOfToken(token);
  const after = version === 1 ? marker : (continued ?? '');
  const isEncoded = wantsEncoded(query);
  return {
    version,
    keys: { prefix, delimiter, after, limit: limitIn(query) },
    isEncoded,
    hasOwner: version === 1 || query.get('fetch-owner') === 'true',
    marker,
    token,
    startAfter,
  };
}

/** @throws GatewayError bad_request */
export function wantsEncoded(query: URLSearchParams): boolean {
  const encoding = query.get('encoding-type') ?? '';
  if (encoding !== '' && encoding !== 'url') throw refusal('bad_request', 'encoding-type must be url or absent');
  return encoding === 'url';
}

function versionIn(query: URLSearchParams): 1 | 2 {
  const version = query.get('list-type') ?? '';
  if (version === '') return 1;
  if (version !== '2') throw refusal('bad_request', 'list-type must be 2 or absent');
  return 2;
}

function limitIn(query: URLSearchParams): number {
  const text = query.get('max-keys') ?? '';
  if (text === '') return MOST_KEYS;
  const limit = /^\d{1,10}$/.test(text) ? Number(text) : Infinity;
  if (limit > LARGEST_NUMBER) throw refusal('bad_request', `max-keys must be a whole number up to ${LARGEST_NUMBER}`);
  return Math.min(limit, MOST_KEYS);
}

function textIn(query: URLSearchParams, name: string, mostBytes: number): string | undefined {
  const text = query.get(name) ?? undefined;
  if (text === undefined || Buffer.byteLength(text) <= mostBytes) return text;
  throw refusal('bad_request', `${name} must have at most ${mostBytes} bytes`);
}

/** What ListBucketResult holds. `owner`: the id of the account. */
export function* listResult(
  bucket: string,
  query: ListQuery,
  { entries, next }: Pick<KeysPage, 'entries' | 'next'>,
  owner: string,
): Generator<XmlElement> {
  const { version, keys, isEncoded } = query;
  const name = isEncoded ? encodedKey : (key: string): string => key;
  const named = (key: string | undefined): string | undefined => (key === undefined ? undefined : name(key));
  yield ['Name', bucket];
  yield ['Prefix', name(keys.prefix)];
  if (version === 1) {
    yield ['Marker', name(query.marker)];
    yield ['NextMarker', named(next)];
  } else {
    yield ['StartAfter', named(query.startAfter)];
    yield ['ContinuationToken', query.token];
    yield ['NextContinuationToken', next === undefined ? undefined : tokenOf(next)];
    yield ['KeyCount', entries.length];
  }
  yield ['MaxKeys', keys.limit];
  yield ['Delimiter', keys.delimiter === '' ? undefined : name(keys.delimiter)];
  yield ['EncodingType', isEncoded ? 'url' : undefined];
  yield ['IsTruncated', next !== undefined];
  for (const entry of entries) if ('key' in entry) yield ['Contents', contentsOf(entry, name, query, owner)];
  for (const entry of entries) if ('prefix' in entry) yield ['CommonPrefixes', [['Prefix', name(entry.prefix)]]];
}

function contentsOf(
  { key, info }: Extract<KeyEntry, { key: string }>,
  name: (key: string) => string,
  { hasOwner }: ListQuery,
  owner: string,
): readonly XmlElement[] {
  const ownerOf: readonly XmlElement[] = [
    ['ID', owner],
    ['DisplayName', owner],
  ];
  return [
    ['Key', name(key)],
    ['LastModified', isoTime(info.modifiedAt)],
    ['ETag', `"${etagOf(info)}"`],
    ['Size', info.size],
    ['Owner', hasOwner ? ownerOf : undefined],
    ['StorageClass', 'STANDARD'],
  ];
}

/** As S3 encodes it; a space is %20, which clients decode like its +. */
export const encodedKey = (key: string): string => uriEncoded(key.toWellFormed()).replaceAll('%2F', '/');
