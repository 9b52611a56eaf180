/** Buckets and keys: a bucket is a connection, a key is a path below its root. */
import { hasCode } from '../base/errors.js';
import type { Connection } from '../connections/connection.js';
import { type PathReference, referTo } from '../operations/path-reference.js';
import { S3Error } from './errors.js';

const MOST_KEY_BYTES = 1024;

/** A key ends with a slash if it is a folder. */
export const isFolderKey = (key: string): boolean => key.endsWith('/');

/**
 * The path of a key. A file server has no names like `a//b` or `a/../b`: such a key would be another file's as well.
 * @throws S3Error KeyTooLongError, InvalidArgument
 */
export function referToKey(connection: Connection, key: string): PathReference {
  requireKey(key);
  try {
    return referTo(connection, `/${isFolderKey(key) ? key.slice(0, -1) : key}`, 'key');
  } catch (error) {
    if (hasCode(error, 'bad_path')) throw new S3Error('InvalidArgument', error.message, 'bad_path');
    throw error;
  }
}

/** @throws S3Error KeyTooLongError, InvalidArgument */
function requireKey(key: string): void {
  if (Buffer.byteLength(key) > MOST_KEY_BYTES) {
    throw new S3Error('KeyTooLongError', `a key has at most ${MOST_KEY_BYTES} bytes`, 'bad_path');
  }
  const names = (isFolderKey(key) ? key.slice(0, -1) : key).split('/');
  if (names.some((name) => name === '' || name === '.' || name === '..')) {
    const text = 'a key is a path: it must not begin with "/", and hold no "//" and no name "." or ".."';
    throw new S3Error('InvalidArgument', text, 'bad_path');
  }
}
