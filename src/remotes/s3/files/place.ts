/**
 * S3 stores a file at the path of a folder, and below a file: keys are only names to it. The gateway checks before the
 * file is visible. What others do between the check and the write is a race that S3 cannot prevent. A name that others
 * have given to both a file and a folder stays both; a login that may not look writes without the check.
 */
import { hasCode, refusal } from '../../../base/errors.js';
import { isAFolder, notAFolder } from '../../obstacles.js';
import { parentOf, ROOT, type RemotePath } from '../../path.js';
import type { Bucket } from './bucket.js';

/** Paths may have hundreds of parts. */
const LOOKUPS_AT_ONCE = 8;

/** Pages of a folder that are read for the files of a job; in a longer folder each file checks its own place. */
const MOST_PAGES = 2;

/**
 * The length of a key in UTF-8 (Amazon S3, "Naming Amazon S3 objects"). Without it each level of a longer path would be
 * checked first.
 */
const MAX_KEY_BYTES = 1024;

/** bad_path, is_a_folder, not_a_folder */
export async function requireFilePlace(bucket: Bucket, path: RemotePath): Promise<void> {
  bucket.calls.context.places?.enter(path);
  await Promise.all([refuseFolderAt(bucket, path), refuseFileAbove(bucket, path)]);
}

/** bad_path, not_a_folder */
export async function refuseFileAbove(bucket: Bucket, path: RemotePath): Promise<void> {
  if (Buffer.byteLength(bucket.fileKey(path)) > MAX_KEY_BYTES) {
    throw refusal('bad_path', 'the path is longer than the store takes');
  }
  const { places } = bucket.calls.context;
  const findAbove = (): Promise<RemotePath | undefined> => ifAllowed(fileAbove(bucket, path));
  const file = await (places === undefined ? findAbove() : places.ask(`above ${parentOf(path)}`, findAbove));
  if (file !== undefined) throw notAFolder(file);
}

async function refuseFolderAt(bucket: Bucket, path: RemotePath): Promise<void> {
  if (await isKnownFree(bucket, path)) return;
  if ((await ifAllowed(bucket.hasNoneBelow(bucket.folderKey(path), path))) !== false) return;
  if ((await ifAllowed(bucket.head(bucket.fileKey(path), path))) === undefined) throw isAFolder(path);
}

/** Whether the job of this file knows that no folder exists here. */
async function isKnownFree(bucket: Bucket, path: RemotePath): Promise<boolean> {
  const { places } = bucket.calls.context;
  if (places === undefined || places.hasEntered(path)) return false;
  const parent = parentOf(path);
  const folders = await places.ask(`folders ${parent}`, () => foldersIn(bucket, parent));
  return folders?.has(bucket.folderKey(path)) === false;
}

/** Undefined if there are too many, or some have unreadable names. */
async function foldersIn(bucket: Bucket, parent: RemotePath): Promise<ReadonlySet<string> | undefined> {
  const found = new Set<string>();
  let pages = 0;
  try {
    for await (const { prefixes, unreadable } of bucket.pages({
      prefix: bucket.folderKey(parent),
      oneLevel: true,
      what: parent,
    })) {
      pages += 1;
      if (pages > MOST_PAGES || unreadable.length > 0) return undefined;
      for (const prefix of prefixes) found.add(prefix);
    }
  } catch (error) {
    if (!hasCode(error, 'permission_denied')) throw error;
  }
  return found;
}

/** The nearest file that has the name of a folder of `path`. */
async function fileAbove(bucket: Bucket, path: RemotePath): Promise<RemotePath | undefined> {
  const folders: RemotePath[] = [];
  for (let folder = parentOf(path); folder !== ROOT; folder = parentOf(folder)) folders.push(folder);
  for (let at = 0; at < folders.length; at += LOOKUPS_AT_ONCE) {
    const some = folders.slice(at, at + LOOKUPS_AT_ONCE);
    const found = await Promise.all(some.map((folder) => isFile(bucket, folder)));
    const file = some.find((_, index) => found[index]);
    if (file === undefined) continue;
    return (await bucket.firstBelow(bucket.folderKey(file), file)) === undefined ? file : undefined;
  }
  return undefined;
}

function isFile(bucket: Bucket, path: RemotePath): Promise<boolean> {
  const { places } = bucket.calls.context;
  const look = async (): Promise<boolean> => (await bucket.head(bucket.fileKey(path), path)) !== undefined;
  return places === undefined ? look() : places.ask(`file ${path}`, look);
}

/** Undefined if the login may not look. */
export async function ifAllowed<T>(lookup: Promise<T | undefined>): Promise<T | undefined> {
  try {
    return await lookup;
  } catch (error) {
    if (hasCode(error, 'permission_denied')) return undefined;
    throw error;
  }
}
