/**
 * S3 stores a file where a folder stands, and one below a file: keys are only names to it. The gateway asks before anything
 * shows. What comes between the question and the file is a race that S3 offers nothing against. A name that others have
 * given to a file and a folder at once stays both; a login that may not look writes unasked.
 */
import { GatewayError, hasCode } from '../../../base/errors.js';
import { isAFolder, notAFolder } from '../../obstacles.js';
import { parentOf, ROOT, type RemotePath } from '../../path.js';
import type { Bucket } from './bucket.js';

/** Paths may have hundreds of parts. */
const LOOKS_AT_ONCE = 8;

/** Pages of a folder that are read for the files of a batch; in a longer one each file asks for its own place. */
const MOST_PAGES = 2;

/** Of a key, in UTF-8 (Amazon S3, "Naming Amazon S3 objects"). Without it each level of a longer path would be asked for first. */
const MAX_KEY_BYTES = 1024;

/** bad_path, is_a_folder, not_a_folder */
export async function requireFilePlace(bucket: Bucket, path: RemotePath): Promise<void> {
  bucket.calls.context.places?.enter(path);
  await Promise.all([refuseFolderAt(bucket, path), refuseFileAbove(bucket, path)]);
}

/** bad_path, not_a_folder */
export async function refuseFileAbove(bucket: Bucket, path: RemotePath): Promise<void> {
  if (Buffer.byteLength(bucket.fileKey(path)) > MAX_KEY_BYTES) {
    throw new GatewayError('bad_path', 'the path is longer than the store takes', { step: 'request' });
  }
  const { places } = bucket.calls.context;
  const look = (): Promise<RemotePath | undefined> => ifAllowed(fileAbove(bucket, path));
  const file = await (places === undefined ? look() : places.ask(`above ${parentOf(path)}`, look));
  if (file !== undefined) throw notAFolder(file);
}

async function refuseFolderAt(bucket: Bucket, path: RemotePath): Promise<void> {
  if (await isKnownFree(bucket, path)) return;
  const below = await ifAllowed(bucket.firstBelow(bucket.folderKey(path), path));
  if (below === undefined) return;
  if ((await ifAllowed(bucket.head(bucket.fileKey(path), path))) === undefined) throw isAFolder(path);
}

/** Whether the batch of files that this one is of knows that no folder stands here. */
async function isKnownFree(bucket: Bucket, path: RemotePath): Promise<boolean> {
  const { places } = bucket.calls.context;
  if (places === undefined || places.hasEntered(path)) return false;
  const parent = parentOf(path);
  const folders = await places.ask(`folders ${parent}`, () => foldersIn(bucket, parent));
  return folders?.has(bucket.folderKey(path)) === false;
}

/** Undefined where they are too many, or have names that nobody can read. */
async function foldersIn(bucket: Bucket, parent: RemotePath): Promise<ReadonlySet<string> | undefined> {
  const found = new Set<string>();
  let pages = 0;
  try {
    for await (const { prefixes, unreadable } of bucket.pages({
      ...{ prefix: bucket.folderKey(parent), oneLevel: true, what: parent },
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

/** The nearest file that one of the folders of `path` would have to share its name with. */
async function fileAbove(bucket: Bucket, path: RemotePath): Promise<RemotePath | undefined> {
  const folders: RemotePath[] = [];
  for (let folder = parentOf(path); folder !== ROOT; folder = parentOf(folder)) folders.push(folder);
  for (let at = 0; at < folders.length; at += LOOKS_AT_ONCE) {
    const some = folders.slice(at, at + LOOKS_AT_ONCE);
    const found = await Promise.all(some.map((folder) => bucket.head(bucket.fileKey(folder), folder)));
    const file = some.find((_, index) => found[index] !== undefined);
    if (file === undefined) continue;
    return (await bucket.firstBelow(bucket.folderKey(file), file)) === undefined ? file : undefined;
  }
  return undefined;
}

/** Undefined where the login may not look. */
export async function ifAllowed<T>(looking: Promise<T | undefined>): Promise<T | undefined> {
  try {
    return await looking;
  } catch (error) {
    if (hasCode(error, 'permission_denied')) return undefined;
    throw error;
  }
}
