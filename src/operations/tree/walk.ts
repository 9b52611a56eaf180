/**
 * A folder with everything below it, as one stream of entries; or one level of it.
 * Memory is bounded: for each folder on the way down to the newest entry at most MOST_KEPT entries are kept. A folder
 * with more is listed again, from after those. A symbolic link to a folder is an entry and is not entered, if the
 * server's listing shows it as a link (FolderRules may enter it); if the server hides that, a folder that repeats itself
 * is only an entry, and anything deeper than MAX_DEPTH ends the walk with an error. A sub-folder that disappears
 * meanwhile is no error; one that may not be read is. The entries that a listing leaves out are reported to the caller.
 * If a listing may end early unnoticed, the walk in order lists each folder of a tree twice and takes the entries of
 * both.
 * Until the walk has been read to its end, the remote may be busy with a listing: FTP has one data connection.
 */
import { GatewayError } from '../../base/errors.js';
import { Turns } from '../../base/turns.js';
import { baseName, ROOT, withRawName, type RemotePath } from '../../remotes/path.js';
import type { FileInfo, LeftOut, ListOptions, Remote } from '../../remotes/remote.js';
import { compareCodePoints, type Compare, tooManyEntries } from '../sorted-listing.js';
import { FirstEntries } from './first-entries.js';
import { listOneFolder, type LoopCheck, type MarksAbove, NO_MARKS } from './folder.js';
import type { PathFilter } from './path-filter.js';

export interface TreeEntry {
  readonly file: FileInfo;
  /** With the exact bytes of its names. */
  readonly path: RemotePath;
  /** The same below the root of the walk, with a slash at the end if it is a folder. */
  readonly key: string;
}

export interface WalkOptions {
  readonly isDeep: boolean;
  /** Absent = everything. */
  readonly filter?: PathFilter | undefined;
  /** Entries that may be read, wanted or not, counting every repeated listing of a folder; absent = any number. */
  readonly mostEntries?: number;
  /**
   * Called for each entry that a listing leaves out, with the path of its folder below the root; again if the folder is
   * listed again.
   */
  readonly leftOut?: (folder: string, what: LeftOut) => void;
}

/**
 * For a walk that yields only files, and lists each folder separately even if the store can list the whole tree. Links
 * to folders are entered, so a loop of links ends at one of the limits.
 */
export interface FolderRules {
  /** Called with its path below the root before a folder is listed for the first time. */
  listing(below: string): void;
  /** Whether a folder below the root is entered. */
  enters(folder: TreeEntry): boolean;
  /** Folders that are entered, with the root, and levels below the root; more are an error. */
  readonly mostFolders: number;
  readonly mostLevels: number;
}

interface FreeWalkOptions extends WalkOptions {
  readonly folders?: FolderRules;
}

type TreeWalkOptions = FreeWalkOptions & Pick<OrderedWalkOptions, 'isByKey' | 'mayList'>;

interface OrderedWalkOptions extends WalkOptions {
  /** The key of an entry: the walk begins after it. */
  readonly after?: string | undefined;
  /** The number of entries that will be requested. */
  readonly expected?: number;
  /** One level is sorted as its entries are in a tree. Folders then have no times of their own on a store. */
  readonly isByKey?: boolean;
  /** Asked before a folder is listed, or listed again. false: the walk ends with the entries that are in memory. */
  readonly mayList?: (() => boolean) | undefined;
}

const MAX_DEPTH = 100;
const [LEAST_KEPT, MOST_KEPT] = [1_000, 10_000];

/** Each entry as soon as the server lists it, in its order. */
export async function* walk(
  remote: Remote,
  root: RemotePath,
  options: FreeWalkOptions,
): AsyncGenerator<TreeEntry, void> {
  const tree = new TreeWalk(remote, root, options);
  if (options.isDeep && options.folders === undefined && remote.listTree !== undefined) return yield* tree.listed({});
  const open: AsyncGenerator<TreeEntry, void>[] = [];
  for (let folder: RemotePath | undefined = root; folder !== undefined; folder = await nextOf(open)) {
    const compare = tree.orderIn(folder);
    const folders = new FirstEntries<TreeEntry>(MOST_KEPT, compare);
    tree.begin(folder);
    for await (const entry of tree.list(folder)) {
      if (tree.enters(entry)) folders.offer(tree.counted(entry));
      if (tree.takes(entry)) yield entry;
    }
    open.push(tree.inOrder(folder, { keeps: (entry) => tree.enters(entry), compare, most: MOST_KEPT }, folders));
  }
}

/** The next folder of the deepest level that has one. */
async function nextOf(open: AsyncGenerator<TreeEntry, void>[]): Promise<RemotePath | undefined> {
  for (let level = open.at(-1); level !== undefined; level = open.at(-1)) {
    const next = await level.next();
    if (next.done !== true) return next.value.path;
    open.pop();
  }
  return undefined;
}

/**
 * In order: one level is sorted like a listing, folders first, then by name; a tree by path, where a folder sorts as if
 * a slash followed its name, directly before everything below it, and so is one level with `isByKey`. A walk that
 * continues after the last entry misses nothing that stays.
 */
export async function* walkInOrder(
  remote: Remote,
  root: RemotePath,
  options: OrderedWalkOptions,
): AsyncGenerator<TreeEntry, void> {
  const { isDeep, after, expected = MOST_KEPT } = options;
  const tree = new TreeWalk(remote, root, options);
  const isNew = (entry: TreeEntry): boolean => after === undefined || compareCodePoints(entry.key, after) > 0;
  if (isDeep && remote.listTree !== undefined) {
    for await (const entry of tree.listed({ ...(after === undefined ? {} : { after }) })) if (isNew(entry)) yield entry;
    return;
  }
  const most = Math.min(Math.max(expected, LEAST_KEPT), MOST_KEPT);
  if (!isDeep)
    return yield* tree.inOrder(root, { keeps: (entry) => tree.takes(entry), compare: tree.orderIn(root), most, after });

  // A folder that contains the former entry is walked again.
  const keeps = (entry: TreeEntry): boolean =>
    (tree.takes(entry) && isNew(entry)) ||
    (tree.enters(entry) && (isNew(entry) || after?.startsWith(entry.key) === true));
  const open = [tree.inOrder(root, { keeps, compare: tree.orderIn(root), most })];
  for (let level = open.at(-1); level !== undefined; level = open.at(-1)) {
    const next = await level.next();
    if (tree.isStopped) return;
    if (next.done === true) {
      open.pop();
      continue;
    }
    const entry = next.value;
    if (isNew(entry) && tree.takes(entry)) yield entry;
    if (tree.enters(entry)) open.push(tree.inOrder(entry.path, { keeps, compare: tree.orderIn(entry.path), most }));
  }
}

interface InOrder {
  readonly keeps: (entry: TreeEntry) => boolean;
  readonly compare: Compare<TreeEntry>;
  readonly most: number;
  readonly after?: string | undefined;
}

/** What both walks do with one folder. */
class TreeWalk {
  readonly #remote: Remote;
  readonly #root: RemotePath;
  readonly #options: TreeWalkOptions;
  readonly #turns = new Turns();
  readonly #above: number;
  #folders = 1;
  #read = 0;
  /** Entries of second listings: a server may also prolong them. */
  #readAgain = 0;
  #isStopped = false;
  /** The marks of the folders on the way down to the one that was listed last: folders below are compared with them. */
  readonly #marked: { readonly folder: RemotePath; readonly below: MarksAbove }[] = [];

  constructor(remote: Remote, root: RemotePath, options: TreeWalkOptions) {
    this.#remote = remote;
    this.#root = root;
    this.#options = options;

    this.#above = root === ROOT ? 1 : root.length + 1;
  }

  /** Whether it was not to list another folder. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** The order within one folder, whose keys have the same beginning. */
  orderIn(folder: RemotePath): Compare<TreeEntry> {
    const { isDeep, isByKey = false } = this.#options;
    if (!isDeep && !isByKey) return foldersFirst;
    const from = folder === this.#root ? 0 : folder.length + 1 - this.#above;
    return (a, b) => compareCodePoints(a.key, b.key, from);
  }

  takes({ file, key }: TreeEntry): boolean {
    const { filter, folders } = this.#options;
    if (folders !== undefined && file.isDirectory) return false;
    return filter?.takes(withoutSlash(key)) ?? true;
  }

  enters(entry: TreeEntry): boolean {
    const { isDeep, filter, folders } = this.#options;
    if (!isDeep || !entry.file.isDirectory) return false;
    if (folders === undefined ? entry.file.isLink === true : !folders.enters(entry)) return false;
    return filter?.enters(withoutSlash(entry.key)) ?? true;
  }

  begin(folder: RemotePath): void {
    this.#options.folders?.listing(this.#belowOf(folder));
  }

  /** A folder that will be entered. @throws GatewayError remote_failure */
  counted(folder: TreeEntry): TreeEntry {
    const { folders } = this.#options;
    if (folders === undefined) return folder;
    this.#folders += 1;
    if (this.#folders > folders.mostFolders || levelOf(folder.key) > folders.mostLevels) {
      throw endless(this.#root, folders.mostLevels, `more than ${folders.mostFolders} folders, or `);
    }
    return folder;
  }

  /** Everything below the root that is wanted, if the store lists it in one go. */
  async *listed(from: { readonly after?: string }): AsyncGenerator<TreeEntry, void> {
    const remote = this.#remote;
    const root = this.#root;
    for await (const batch of remote.listTree?.(root, { ...from, ...this.#leftOutIn(root) }) ?? []) {
      for (const file of batch) {
        if (this.#turns.isOver()) await this.#turns.next();
        this.#count();
        const entry = this.#entryOf(file);
        if (this.takes(entry) && this.#isEntered(entry)) yield entry;
      }
    }
  }

  /** One level; nothing if a folder below the root has disappeared. */
  async *list(folder: RemotePath, after?: string, isSecond = false): AsyncGenerator<TreeEntry, void> {
    const { isDeep, folders, isByKey = false } = this.#options;
    const listing = listOneFolder(this.#remote, folder, {
      ...(isDeep || isByKey || folders !== undefined ? {} : { folderTimes: true }),
      ...(after === undefined ? {} : { after }),
      ...this.#leftOutIn(folder),
      mayBeGone: folder !== this.#root,
      loops: isDeep && folders === undefined ? this.#loopsOf(folder) : undefined,
    });
    for await (const file of listing) {
      if (this.#turns.isOver()) await this.#turns.next();
      this.#count(isSecond);
      yield this.#entryOf(file);
    }
  }

  /** One level in order, in portions of `most`; `first`: those that are known already. */
  async *inOrder(
    folder: RemotePath,
    { keeps, compare, most, after }: InOrder,
    first?: FirstEntries<TreeEntry>,
  ): AsyncGenerator<TreeEntry, void> {
    let last = after === undefined ? undefined : markOf(after);
    for (let entries = first; ; entries = undefined) {
      this.#isStopped = entries === undefined && this.#options.mayList?.() === false;
      if (this.#isStopped) return;
      entries ??= new FirstEntries<TreeEntry>(most, compare);
      if (entries !== first) await this.#select(folder, entries, compare, last, keeps);
      for await (const entry of entries.inOrder(this.#turns)) {
        yield entry;
        last = entry;
      }
      if (!entries.hasMore) return;
    }
  }

  async #select(
    folder: RemotePath,
    entries: FirstEntries<TreeEntry>,
    compare: Compare<TreeEntry>,
    last: TreeEntry | undefined,
    keeps: (entry: TreeEntry) => boolean,
  ): Promise<void> {
    const { isDeep, isByKey = false } = this.#options;
    // If the names are listed in order, those after a file of one level are also files in order.
    const isSeeking =
      !isDeep && (isByKey || last?.file.isDirectory === false) && this.#remote.can.listsInOrder === true;
    for await (const entry of this.list(folder, isSeeking ? last?.key : undefined)) {
      if (last !== undefined && compare(entry, last) <= 0) continue;
      if (keeps(entry) && !entries.offer(entry) && isSeeking) return;
    }
    if (!isDeep || this.#remote.can.listingsMayEndEarly !== true) return;
    const kept = new Set<string>();
    for (const { key } of entries.kept) kept.add(key);
    for await (const entry of this.list(folder, undefined, true)) {
      const isKnown = kept.has(entry.key) || (last !== undefined && compare(entry, last) <= 0);
      if (!isKnown && keeps(entry)) entries.offer(entry);
    }
  }

  /** @throws GatewayError too_large */
  #count(isSecond = false): void {
    const { mostEntries = Infinity } = this.#options;
    if ((isSecond ? ++this.#readAgain : ++this.#read) > mostEntries) throw tooManyEntries(this.#root, mostEntries);
  }

  #leftOutIn(folder: RemotePath): Pick<ListOptions, 'leftOut'> {
    const { leftOut } = this.#options;
    const below = this.#belowOf(folder);
    return leftOut === undefined ? {} : { leftOut: (what) => Promise.resolve(leftOut(below, what)) };
  }

  #loopsOf(folder: RemotePath): LoopCheck {
    const marked = this.#marked;
    const isAbove = (one: RemotePath): boolean => one === ROOT || folder.startsWith(`${one}/`);
    for (let last = marked.at(-1); last !== undefined && (last.folder === folder || !isAbove(last.folder));) {
      marked.pop();
      last = marked.at(-1);
    }
    return {
      above: marked.at(-1)?.below ?? NO_MARKS,
      isHeld: false,
      marked: (below) => below !== undefined && marked.push({ folder, below }),
    };
  }

  #belowOf(folder: RemotePath): string {
    return folder.slice(this.#above);
  }

  #entryOf(file: FileInfo): TreeEntry {
    const path = file.rawName === undefined ? file.path : withRawName(file.path, file.rawName, 'rawName');
    const below = this.#belowOf(path);
    const key = file.isDirectory ? `${below}/` : below;
    if (levelOf(key) > MAX_DEPTH) throw endless(this.#root, MAX_DEPTH);
    return { file, path, key };
  }

  /** Whether the folders above it are entered: in a listing of the whole tree each entry is checked. */
  #isEntered({ key }: TreeEntry): boolean {
    const { filter } = this.#options;
    if (filter === undefined) return true;
    for (let at = key.indexOf('/'); at !== -1 && at < key.length - 1; at = key.indexOf('/', at + 1)) {
      if (!filter.enters(key.slice(0, at))) return false;
    }
    return true;
  }
}

function endless(root: RemotePath, levels: number, orMore = ''): GatewayError {
  const text = `${root} holds ${orMore}folders more than ${levels} levels deep; does a link lead back into it?`;
  return new GatewayError('remote_failure', text, { step: 'open' });
}

/** 1 for an entry of the root. */
function levelOf(key: string): number {
  let level = 1;
  for (let at = key.indexOf('/'); at !== -1 && at < key.length - 1; at = key.indexOf('/', at + 1)) level += 1;
  return level;
}

const withoutSlash = (key: string): string => (key.endsWith('/') ? key.slice(0, -1) : key).toWellFormed();

/** A stand-in for the entry of a key, for comparisons. */
function markOf(key: string): TreeEntry {
  const isDirectory = key.endsWith('/');
  const path = `/${isDirectory ? key.slice(0, -1) : key}` as RemotePath;
  return { file: { name: baseName(path), path, size: 0, isDirectory, modifiedAt: new Date(0) }, path, key };
}

const byKey: Compare<TreeEntry> = (a, b) => compareCodePoints(a.key, b.key);

const foldersFirst: Compare<TreeEntry> = (a, b) => {
  if (a.file.isDirectory !== b.file.isDirectory) return a.file.isDirectory ? -1 : 1;
  return compareCodePoints(baseName(a.path), baseName(b.path));
};

/** The order of `walkInOrder`. */
export const orderOf = ({ isDeep }: WalkOptions): Compare<TreeEntry> => (isDeep ? byKey : foldersFirst);

/** The same entries, once the first of them has arrived: errors of the root have shown by then. */
export async function firstRead<T>(entries: AsyncGenerator<T, void>): Promise<AsyncGenerator<T, void>> {
  const first = await entries.next();
  return (async function* () {
    if (first.done === true) return;
    yield first.value;
    yield* entries;
  })();
}
