import { GatewayError } from '../../errors.js';
import { baseName, ROOT, type RemotePath } from '../path.js';
import type { FileInfo } from '../remote.js';
import type { Bucket } from './bucket.js';
import { entryPath } from './keys.js';

const EPOCH = new Date(0);

/** A folder's FileInfo; the store keeps a time only where a marker object stands for it. */
export function folderInfo(path: RemotePath, modifiedAt = EPOCH): FileInfo {
  return { name: baseName(path), path, size: 0, isDirectory: true, modifiedAt };
}

/**
 * One level below `folder`, page after page, without the folder's own marker. Keys that no client could address are left
 * out and counted in the log. not_found where neither a key below nor a marker exists, not_a_folder where a file stands.
 */
export async function* listFolder(
  bucket: Bucket,
  folder: RemotePath,
  options: { log(message: string, facts: Record<string, unknown>): void },
): AsyncGenerator<FileInfo, void, undefined> {
  const prefix = bucket.folderKey(folder);
  let isThere = folder === ROOT;
  let skipped = 0;
  for await (const page of bucket.pages({ prefix, oneLevel: true, what: folder })) {
    isThere ||= page.objects.length + page.prefixes.length + page.unreadable.length > 0;
    skipped += page.unreadable.length;
    for (const key of page.prefixes) {
      const path = entryPath(folder, key.slice(prefix.length, -1));
      if (path === undefined) skipped += 1;
      else yield folderInfo(path);
    }
    for (const { key, size, modifiedAt, etag } of page.objects) {
      if (key === prefix) continue;
      const path = entryPath(folder, key.slice(prefix.length));
      if (path === undefined) skipped += 1;
      else yield fileInfo(path, { size, modifiedAt, etag });
    }
  }
  if (skipped > 0) options.log('s3 keys that are no path were left out of a listing', { folder, skipped });
  if (isThere) return;
  if ((await bucket.head(bucket.fileKey(folder), folder)) !== undefined) {
    throw new GatewayError('not_a_folder', `${folder} is a file, not a folder`, { step: 'open' });
  }
  throw new GatewayError('not_found', `${folder} does not exist`, { step: 'open' });
}

export function fileInfo(
  path: RemotePath,
  facts: { readonly size: number; readonly modifiedAt: Date; readonly etag?: string | undefined },
): FileInfo {
  const { size, modifiedAt, etag } = facts;
  // Made in one piece: a listing has a thousand of them a page, and spreading an object takes longer than all else here.
  const name = baseName(path);
  if (etag === undefined) return { name, path, size, isDirectory: false, modifiedAt };
  return { name, path, size, isDirectory: false, modifiedAt, etag };
}
