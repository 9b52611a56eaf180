/** The metadata of an object: read with HEAD and GET, and written again by every request that makes an object. */
import { isPlain } from '../../../base/visible.js';
import type { HeadObjectCommandOutput } from '@aws-sdk/client-s3';
import mime from 'mime-types';

/** In the terms of the store's requests. */
export type Description = Pick<
  Partial<HeadObjectCommandOutput>,
  | 'CacheControl'
  | 'ContentDisposition'
  | 'ContentEncoding'
  | 'ContentLanguage'
  | 'ContentType'
  | 'Expires'
  | 'WebsiteRedirectLocation'
> & { readonly Metadata?: Readonly<Record<string, string>> };

const FIELDS = [
  'CacheControl',
  'ContentDisposition',
  'ContentEncoding',
  'ContentLanguage',
  'ContentType',
  'Expires',
  'WebsiteRedirectLocation',
] as const;

/**
 * The metadata of a new object. Its content type follows from the key's extension; browsers and content networks in
 * front of a bucket use it.
 */
export function describe(key: string, modifiedAt?: Date): Described & { readonly ContentType: string } {
  const type = mime.lookup(key);
  return withTime({ ContentType: type === false ? 'application/octet-stream' : type }, modifiedAt);
}

/** The metadata in an answer to HEAD or GET. */
export function descriptionOf(answer: Partial<HeadObjectCommandOutput>): Description {
  const given = FIELDS.flatMap((field) => (answer[field] === undefined ? [] : [[field, answer[field]] as const]));
  return { ...(Object.fromEntries(given) as Description), Metadata: answer.Metadata ?? {} };
}

/** Signed as text, other characters would arrive changed: then only the store itself can copy them. */
export const canBeWrittenAnew = ({ Metadata = {} }: Description): boolean => Object.values(Metadata).every(isPlain);

/** The key that rclone also uses for a file's own time: seconds since 1970, with a fraction. */
const TIME_KEY = 'mtime';

type Described = Pick<Description, 'Metadata'>;

export function withTime<D extends Description>(description: D, time: Date | undefined): D & Described {
  if (time === undefined) return description;
  return { ...description, Metadata: { ...description.Metadata, [TIME_KEY]: secondsOf(time) } };
}

export function keptTime({ Metadata = {} }: Description): Date | undefined {
  const [, seconds, fraction = ''] = /^(\d{1,11})(?:\.(\d{1,9}))?$/.exec(Metadata[TIME_KEY] ?? '') ?? [];
  if (seconds === undefined) return undefined;
  return new Date(Number(seconds) * 1000 + Number(fraction.padEnd(3, '0').slice(0, 3)));
}

function secondsOf(time: Date): string {
  return (time.getTime() / 1000).toFixed(3).replace(/\.?0+$/, '');
}
