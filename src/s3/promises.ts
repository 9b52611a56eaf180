/** Fields that promise the client something which a connection cannot keep: the request is refused, and changes nothing. */
import type { Caller, HttpRequest } from '../http/types.js';
import type { Command } from './call.js';
import { S3Error } from './errors.js';

/** The beginnings of fields that would make it another operation, or hide or lock what is stored. */
const UNKEPT = [
  'x-amz-write-offset-bytes',
  'x-amz-rename-source',
  'x-amz-object-lock-',
  'x-amz-server-side-encryption',
  'x-amz-copy-source-server-side-encryption-customer-',
  'x-amz-grant-',
  'x-amz-website-redirect-location',
];
/** What every object here is: only the keys of the account reach it. */
const OWN_ACLS = ['private', 'bucket-owner-read', 'bucket-owner-full-control'];
/** Conditions of a deletion; other commands know theirs. */
const OF_DELETE = ['if-match', 'x-amz-if-match-'];
const OF_COPY = ['x-amz-copy-source-range'];
const OWNERS = ['x-amz-expected-bucket-owner', 'x-amz-source-expected-bucket-owner'];

/** @throws S3Error NotImplemented, AccessDenied */
export function refusePromises(
  headers: HttpRequest['headers'],
  { name: command }: Pick<Command, 'name'>,
  { accountId }: Pick<Caller, 'accountId'>,
): void {
  const more = command === 'DeleteObject' ? OF_DELETE : command === 'CopyObject' ? OF_COPY : [];
  const unkept = [...UNKEPT, ...more];
  const isKept = (name: string, value: string): boolean => {
    if (name === 'x-amz-acl') return OWN_ACLS.includes(value);
    return name !== 'x-amz-tagging' && !unkept.some((beginning) => name.startsWith(beginning));
  };
  for (const [name, value] of headers) {
    if (isKept(name, value)) continue;
    throw new S3Error('NotImplemented', `the field ${name.slice(0, 60)} is not implemented`, 'unsupported_operation');
  }
  // Buckets belong to the account of the key: the owner that ListBuckets shows.
  if (OWNERS.some((name) => (headers.get(name) ?? accountId) !== accountId)) {
    throw new S3Error('AccessDenied', 'the bucket does not belong to the expected owner', 'forbidden');
  }
}
