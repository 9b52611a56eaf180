import { createHash } from 'node:crypto';
import type { FileInfo } from '../remotes/remote.js';

const HAS_PARTS = /-\d+$/;
const HEX_DIGITS = 32;
const FOLDER_TAG = `${createHash('md5').digest('hex')}-1`;

/** What an entity tag is made of. */
type Facts = Pick<FileInfo, 'etag' | 'size' | 'modifiedAt'> & Partial<Pick<FileInfo, 'isDirectory'>>;

/**
 * The entity tag of an object, without quotes. It ends in `-1`, or as the store's own does in `-N`, so that no client
 * takes it for an MD5. A server without entity tags gets one from the size and the time of the file, to the second,
 * which a look at the file shows, and a listing that has seconds. All folders have one: none has content.
 */
export function etagOf({ etag, size, modifiedAt, isDirectory = false }: Facts): string {
  if (isDirectory) return FOLDER_TAG;
  if (etag !== undefined) return HAS_PARTS.test(etag) ? etag : `${etag}-1`;
  const facts = `${size} ${Math.floor(modifiedAt.getTime() / 1000)}`;
  return `${createHash('sha256').update(facts).digest('hex').slice(0, HEX_DIGITS)}-1`;
}
