/** What the address of a request names. */
import { S3Error } from './errors.js';

export interface S3Target {
  /** "" for the service. */
  readonly bucket: string;
  /** "" for the bucket. */
  readonly key: string;
}

/** `path`: as sent, after the prefix of the front. @throws S3Error InvalidURI */
export function s3TargetOf(path: string): S3Target {
  const slash = path.indexOf('/', 1);
  const bucket = slash < 0 ? path.slice(1) : path.slice(1, slash);
  const key = slash < 0 ? '' : path.slice(slash + 1);
  // Not the service: a bucket that was left out must not list all others.
  if (bucket === '' && key !== '') throw new S3Error('InvalidURI', 'the address names a key without a bucket');
  return { bucket: decoded(bucket), key: decoded(key) };
}

/** @throws S3Error InvalidURI */
export function decoded(text: string): string {
  try {
    return text.includes('%') ? decodeURIComponent(text) : text;
  } catch {
    throw new S3Error('InvalidURI', 'the address holds a percent-encoding that is not UTF-8');
  }
}
