import { GatewayError } from '../../../base/errors.js';
import { LeftOuts } from '../../left-out.js';
import { EPOCH, entryPath, folderInfo } from '../../listing.js';
import { ROOT, type RemotePath } from '../../path.js';
import type { FileInfo, ListOptions } from '../../remote.js';
import type { Bucket, ListedObject } from './bucket.js';
import { objectInfo, NAMELESS, noFolder } from './listing.js';

/** A page of them takes a request; with more than this the store is assumed never to end. */
const MAX_OBJECTS = 100_000_000;

/**
 * Lists everything below `folder` without a delimiter, in the order of the keys: one request for five hundred objects,
 * in any number of folders. Folders are derived from the keys below them; their time is that of a marker object.
 */
export async function* listTree(
  bucket: Bucket,
  folder: RemotePath,
  options: {
    readonly after?: string | undefined;
    readonly leftOut?: ListOptions['leftOut'];
    warn(message: string, facts: Record<string, unknown>): void;
  },
): AsyncGenerator<readonly FileInfo[], void, undefined> {
  const prefix = bucket.folderKey(folder);
  const after = options.after === undefined ? undefined : prefix + options.after;
  let isThere = folder === ROOT || after !== undefined;
  const leftOuts = new LeftOuts(folder, options.leftOut);
  const leaveOut = (below: string): Promise<void> =>
    leftOuts.add({ name: Buffer.from(below), isDirectory: below.endsWith('/'), why: 'name' });
  let former = after === undefined ? undefined : Buffer.from(after);
  const level = new OpenFolders(folder);
  const pages = bucket.pages({ prefix, oneLevel: false, what: folder, after, maxEntries: MAX_OBJECTS });
  for await (const { objects, unreadable } of pages) {
    isThere ||= objects.length + unreadable.length > 0;
    for (const key of unreadable) {
      if (key === '') await leftOuts.add(NAMELESS);
      else await leaveOut(key.slice(prefix.length));
    }
    // A listing that continues after a key would miss keys that are out of order.
    const first = objects[0] && Buffer.from(objects[0].key);
    if (former !== undefined && first !== undefined && Buffer.compare(first, former) <= 0) throw unordered(folder);
    former = objects.length === 0 ? former : Buffer.from((objects.at(-1) as ListedObject).key);
    const found: FileInfo[] = [];
    for (const object of objects) {
      if (object.key === prefix) continue;
      const infos = level.enter(object.key.slice(prefix.length), object);
      if (infos === undefined) await leaveOut(object.key.slice(prefix.length));
      else found.push(...infos);
    }
    yield found;
  }
  leftOuts.warn((message, facts) => options.warn(message, facts), {});
  if (!isThere) throw await noFolder(bucket, folder);
}

/** The folders that contain the newest key. */
class OpenFolders {
  readonly #names: string[] = [];
  readonly #paths: RemotePath[];

  constructor(root: RemotePath) {
    this.#paths = [root];
  }

  /** The folders that begin with this key, and its file; undefined for a key that is not a path. */
  enter(below: string, object: ListedObject): FileInfo[] | undefined {
    const names = below.split('/');
    const last = names.pop() as string;
    const isMarker = last === '';
    let depth = 0;
    while (depth < names.length && depth < this.#names.length && names[depth] === this.#names[depth]) depth += 1;
    const paths = this.#paths.slice(0, depth + 1);
    for (const name of isMarker ? names.slice(depth) : [...names.slice(depth), last]) {
      const path = entryPath(paths.at(-1) as RemotePath, name);
      if (path === undefined) return undefined;
      paths.push(path);
    }
    const file = isMarker ? undefined : objectInfo(paths.pop() as RemotePath, object);
    const folders = paths.slice(depth + 1);
    this.#names.splice(depth, Infinity, ...names.slice(depth));
    this.#paths.splice(0, Infinity, ...paths);
    const infos = folders.map((path, index) =>
      folderInfo(path, isMarker && index === folders.length - 1 ? object.modifiedAt : EPOCH),
    );
    return file === undefined ? infos : [...infos, file];
  }
}

function unordered(folder: RemotePath): GatewayError {
  const text = `${folder}: the store does not list its keys in their order; list one folder at a time`;
  return new GatewayError('protocol_error', text, { step: 'transfer' });
}
