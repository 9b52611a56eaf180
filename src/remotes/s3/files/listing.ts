import type { GatewayError } from '../../../base/errors.js';
import { LeftOuts } from '../../left-out.js';
import { entryPath, folderInfo } from '../../listing.js';
import { notAFolder, notFound } from '../../obstacles.js';
import { baseName, ROOT, type RemotePath } from '../../path.js';
import type { FileInfo, LeftOut, ListOptions } from '../../remote.js';
import type { Bucket, ListedObject, ObjectFacts } from './bucket.js';
import { keptTime } from './description.js';
import { ifAllowed } from './place.js';

/** Each costs a request: the folders of a listing beyond this number have no time. */
const MAX_MARKERS = 1_000;
const MARKERS_AT_ONCE = 8;

/** Undefined if the folder has no marker object, or the login may not read it. */
async function markerTime(bucket: Bucket, key: string, what: RemotePath): Promise<Date | undefined> {
  const marker = await ifAllowed(bucket.head(key, what));
  return marker?.modifiedAt;
}

/**
 * One level below `folder`, page after page, without the folder's own marker. Keys that no client could address are
 * left out and counted. not_found if neither a key below nor a marker exists, not_a_folder if a file exists there.
 */
export async function* listFolder(
  bucket: Bucket,
  folder: RemotePath,
  options: {
    readonly folderTimes: boolean;
    readonly after?: string | undefined;
    readonly leftOut?: ListOptions['leftOut'];
    warn(message: string, facts: Record<string, unknown>): void;
  },
): AsyncGenerator<readonly FileInfo[], void, undefined> {
  const prefix = bucket.folderKey(folder);
  const after = options.after === undefined ? undefined : prefix + options.after;
  // A listing that begins after a name may be empty although the folder exists.
  let isThere = folder === ROOT || after !== undefined;
  const leftOuts = new LeftOuts(folder, options.leftOut);
  const leaveOut = (name: string, isDirectory: boolean): Promise<void> =>
    leftOuts.add({ name: Buffer.from(name), isDirectory, why: 'name' });
  let requested = 0;
  for await (const page of bucket.pages({ prefix, oneLevel: true, what: folder, after })) {
    isThere ||= page.objects.length + page.prefixes.length + page.unreadable.length > 0;
    for (const key of page.unreadable) {
      if (key === '') await leftOuts.add(NAMELESS);
      else await leaveOut(key.slice(key.lastIndexOf('/', key.length - 2) + 1), false);
    }
    let at = 0;
    let times: (Date | undefined)[] = [];
    let found: FileInfo[] = [];
    for (const one of inKeyOrder(page.prefixes, page.objects)) {
      if (typeof one === 'string') {
        if (times.length === 0 && options.folderTimes && requested < MAX_MARKERS) {
          yield found;
          found = [];
          const keys = page.prefixes.slice(at, at + MARKERS_AT_ONCE);
          times = await Promise.all(keys.map((key) => markerTime(bucket, key, folder)));
          requested += times.length;
        }
        at += 1;
        const time = times.shift();
        const path = entryPath(folder, one.slice(prefix.length, -1));
        if (path === undefined) await leaveOut(one.slice(prefix.length, -1), true);
        else found.push(folderInfo(path, time));
        continue;
      }
      const { key, size, modifiedAt, etag } = one;
      if (key === prefix) continue;
      const path = entryPath(folder, key.slice(prefix.length));
      if (path === undefined) await leaveOut(key.slice(prefix.length), false);
      else found.push(objectInfo(path, { size, modifiedAt, etag }));
    }
    yield found;
  }
  leftOuts.warn((message, facts) => options.warn(message, facts), {});
  if (!isThere) throw await noFolder(bucket, folder);
}

/** Both as one list: a store answers with a page of keys in order, and shows the folders among them apart. */
function* inKeyOrder(
  prefixes: readonly string[],
  objects: readonly ListedObject[],
): Generator<string | ListedObject, void> {
  let at = 0;
  for (const prefix of prefixes) {
    const bytes = Buffer.from(prefix);
    for (let next = objects[at]; next !== undefined; next = objects[at]) {
      if (Buffer.compare(Buffer.from(next.key), bytes) > 0) break;
      yield next;
      at += 1;
    }
    yield prefix;
  }
  yield* objects.slice(at);
}

/** An entry of a page that has no key. */
export const NAMELESS: LeftOut = {
  name: undefined,
  isDirectory: false,
  why: 'unreadable',
  line: 'an entry without a key',
};

/** The reason why nothing is listed there: not_a_folder or not_found. */
export async function noFolder(bucket: Bucket, folder: RemotePath): Promise<GatewayError> {
  const file = await bucket.head(bucket.fileKey(folder), folder);
  return file === undefined ? notFound(folder) : notAFolder(folder);
}

export function objectInfo(
  path: RemotePath,
  { size, modifiedAt, etag, description }: Omit<ObjectFacts, 'etag'> & { readonly etag?: string | undefined },
): FileInfo {
  // Built in one piece: a page has a thousand entries, and spreading an object takes longer than everything else here.
  const name = baseName(path);
  if (etag === undefined && description === undefined) return { name, path, size, isDirectory: false, modifiedAt };
  if (description === undefined) return { name, path, size, isDirectory: false, modifiedAt, etag };
  const keptModifiedAt = keptTime(description);
  const info = { name, path, size, isDirectory: false, modifiedAt, etag };
  return keptModifiedAt === undefined ? info : { ...info, keptModifiedAt };
}
