/**
 * The tree of a connection as the keys of a store: a file is a key, its path without the first slash. An empty folder is
 * also one, with a slash at its end: stores keep such markers, and without it nothing would show the folder. A link to
 * a folder is not entered, as in any listing of a tree. It is a common prefix, and its content is listed by that
 * prefix.
 *
 * A list never looks complete when it is not. Links that lead nowhere have no content to ask for: they are counted. An
 * entry that is there and that no key can express fails the list.
 */
import type { Hold } from '../../budgets/memory.js';
import { GatewayError, hasCode } from '../../base/errors.js';
import { MAX_NAME_BYTES, OWN_TEMPORARY } from '../../base/file-name.js';
import { labelOf, LeftOutCount } from '../../remotes/left-out.js';
import { baseName, parseRemotePath, ROOT, type RemotePath } from '../../remotes/path.js';
import type { FileInfo, LeftOut, Remote } from '../../remotes/remote.js';
import type { Operation } from '../operation.js';
import { compareCodePoints } from '../sorted-listing.js';
import { PAGE_ENTRY_BYTES } from './list-tree.js';
import type { PathFilter } from './path-filter.js';
import { walkInOrder, type TreeEntry } from './walk.js';

export interface KeysOptions {
  /** It may end inside a name. */
  readonly prefix: string;
  /** With a slash: one level, its folders as common prefixes. */
  readonly delimiter: '' | '/';
  /** A key or a common prefix: the page begins after it. */
  readonly after: string;
  readonly limit: number;
}

/** A key with its file or empty folder, or a common prefix. */
export type KeyEntry = { readonly key: string; readonly info: FileInfo } | { readonly prefix: string };

export interface KeysPage {
  readonly entries: readonly KeyEntry[];
  /** The last entry, if more follow. */
  readonly next: string | undefined;
  /** Links that lead nowhere, in the folders that were read for this page. */
  readonly incomplete: number;
}

/** A page, with what else was read for it. */
export interface KeysRead extends KeysPage {
  /** Entries in order, directly after those of the page. */
  readonly rest: readonly KeyEntry[];
  /** Whether nothing follows the rest. */
  readonly isEnd: boolean;
}

const NOTHING: KeysRead = { entries: [], next: undefined, incomplete: 0, rest: [], isEnd: true };

/**
 * One page, in code-point order of the whole key, which is the order of its bytes. `memory` counts it. Errors include
 * share_exceeded, overloaded, and remote_failure for an entry that no key can express.
 */
export function listKeys(operation: Operation, memory: Hold, options: KeysOptions): Promise<KeysRead> {
  return operation.use(async (remote) => {
    const { prefix, limit } = options;
    const place = placeOf(prefix);
    operation.locate(place?.folder ?? ROOT, baseName(place?.folder ?? ROOT));
    if (place === undefined || limit === 0 || isBehind(options)) return NOTHING;
    memory.require((limit + 1) * PAGE_ENTRY_BYTES);
    operation.mark('transfer');
    // A large folder is listed whole for each page: as many of its entries as there is room for are read at once.
    const isWorthIt = remote.listTree === undefined && limit > FEW_KEYS;
    const isRoomy = isWorthIt && memory.stretch((limit + MOST_READ) * PAGE_ENTRY_BYTES);
    return pageOf(remote, place, { ...options, most: isRoomy ? MOST_READ : limit + 1 }, operation.signal);
  });
}

/** As many as a walk keeps of a folder. */
const MOST_READ = 10_000;
/** A client that asks for at most this many does not read page after page. */
const FEW_KEYS = 100;

interface ReadOptions extends KeysOptions {
  /** Entries to read of a folder at once. */
  readonly most: number;
}

/** The first page of what was read. */
export function firstOf(read: Pick<KeysRead, 'rest' | 'isEnd' | 'incomplete'>, limit: number): KeysRead {
  const entries = read.rest.slice(0, limit);
  const rest = read.rest.slice(limit);
  const last = entries.at(-1);
  const end = last === undefined ? undefined : 'prefix' in last ? last.prefix : last.key;
  return { ...read, entries, rest, next: rest.length === 0 && read.isEnd ? undefined : end };
}

interface Place {
  readonly folder: RemotePath;
  /** The folder as the beginning of its keys: "" or "a/b/". */
  readonly above: string;
  /** How the names in it begin. */
  readonly start: string;
}

/** Undefined for a prefix that no key has: one with `//`, `..` or a control character in its folder. */
function placeOf(prefix: string): Place | undefined {
  const above = prefix.slice(0, prefix.lastIndexOf('/') + 1);
  const start = prefix.slice(above.length);
  if (above === '') return { folder: ROOT, above, start };
  try {
    const folder = parseRemotePath(`/${above}`, ROOT, 'prefix');
    return folder.slice(1) === above.slice(0, -1) && folder !== ROOT ? { folder, above, start } : undefined;
  } catch (error) {
    if (hasCode(error, 'bad_path')) return undefined;
    throw error;
  }
}

/** Whether every key with the prefix is before `after`. */
const isBehind = ({ prefix, after }: KeysOptions): boolean =>
  !after.startsWith(prefix) && compareCodePoints(after, prefix) > 0;

async function pageOf(remote: Remote, place: Place, options: ReadOptions, signal: AbortSignal): Promise<KeysRead> {
  const { folder, above, start } = place;
  const { prefix, delimiter, limit } = options;
  // What is before the prefix is before all of its keys.
  const after = options.after.startsWith(prefix) ? options.after : '';
  const isStore = remote.listTree !== undefined;
  const page = new GatheredKeys(place, limit, isStore);
  const entered = delimiter === '/' ? await enteredIn(remote, prefix, after, signal) : undefined;
  if (entered !== undefined) page.add({ prefix: entered });
  let isStopped = false;
  const mayList = (): boolean => {
    isStopped = page.isFull;
    return !isStopped;
  };
  try {
    if (isStore && start === '' && after === '') page.addMarker(await folderAt(remote, folder));
    for await (const entry of walkInOrder(remote, folder, {
      isDeep: delimiter === '',
      isByKey: true,
      // A store begins at the names that begin so, and is read until they end.
      filter: isStore || start === '' ? undefined : namesThatBegin(start),
      after: after.slice(above.length) || (isStore ? before(start) : undefined),
      expected: options.most,
      mayList,
      leftOut: (below, what) => page.leaveOut(below, what),
    })) {
      signal.throwIfAborted();
      if (isStore && !entry.key.startsWith(start)) {
        if (compareCodePoints(entry.key, start) > 0) break;
        continue;
      }
      if (delimiter === '/') page.addLevel(entry);
      else page.addDeep(entry);
      // A store begins at any key as fast as here.
      if (page.isFull && (isStore || page.size >= options.most)) return page.result(false);
    }
    if (isStopped) return page.result(false);
  } catch (error) {
    if (!isAbsence(error, folder)) throw error;
    return page.result(true);
  }
  page.endFolder();
  // The folder that the prefix is, if there is nothing in it.
  if (!isStore && start === '' && after === '' && page.isUntouched) page.addMarker(await folderAt(remote, folder));
  return page.result(true);
}

/** Whether the error says that there is no such folder, or that the server cannot have one with this name. */
function isAbsence(error: unknown, folder: RemotePath): boolean {
  if (folder === ROOT) return false;
  if (hasCode(error, 'not_found', 'not_a_folder', 'bad_path')) return true;
  const isTooLong = folder.split('/').some((name) => Buffer.byteLength(name) > MAX_NAME_BYTES);
  return isTooLong && hasCode(error, 'remote_failure');
}

/** With `after` inside a folder of the level: its common prefix, if keys below it follow. */
async function enteredIn(
  remote: Remote,
  prefix: string,
  after: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const end = after.indexOf('/', prefix.length) + 1;
  if (end === 0 || end === after.length) return undefined;
  const inside = { prefix: after.slice(0, end), delimiter: '', after, limit: 1, most: 1 } as const;
  const place = placeOf(inside.prefix);
  const { entries } = place === undefined ? NOTHING : await pageOf(remote, place, inside, signal);
  return entries.length === 0 ? undefined : inside.prefix;
}

/** Undefined for the root, which has no key, and for what is not a folder. */
async function folderAt(remote: Remote, folder: RemotePath): Promise<FileInfo | undefined> {
  if (folder === ROOT) return undefined;
  try {
    const info = await remote.stat(folder);
    return info.isDirectory ? info : undefined;
  } catch (error) {
    if (hasCode(error, 'not_found')) return undefined;
    throw error;
  }
}

function namesThatBegin(start: string): PathFilter {
  const begins = (below: string): boolean => below.startsWith(start);
  return { takes: begins, enters: begins };
}

const LAST_CHARACTER = '\u{10FFFD}';

/** A key shortly before all that begin with `start`. */
function before(start: string): string | undefined {
  const last = [...start].at(-1);
  const code = last?.codePointAt(0) ?? 0;
  // Characters below the space may not be sent to every store.
  if (last === undefined || code <= 0x20) return undefined;
  const former = code === 0xe000 ? 0xd7ff : code - 1;
  return `${start.slice(0, -last.length)}${String.fromCodePoint(former)}${LAST_CHARACTER}`;
}

/** Gathers entries that come in order. */
class GatheredKeys {
  readonly #place: Place;
  readonly #limit: number;
  readonly #isStore: boolean;
  readonly #entries: KeyEntry[] = [];
  readonly #links = new LeftOutCount();
  readonly #unkeyed = new LeftOutCount();
  #raw = 0;
  #example = '';
  /** The newest folder of a tree, while nothing in it has been found. */
  #folder: TreeEntry | undefined;
  #isUntouched = true;

  constructor(place: Place, limit: number, isStore: boolean) {
    this.#place = place;
    this.#limit = limit;
    this.#isStore = isStore;
  }

  /** Whether the folder of the place holds nothing, as far as it was read. */
  get isUntouched(): boolean {
    return this.#isUntouched;
  }

  get size(): number {
    return this.#entries.length;
  }

  /** Whether more than the page has been found. */
  get isFull(): boolean {
    return this.#entries.length > this.#limit;
  }

  add(entry: KeyEntry): void {
    this.#entries.push(entry);
  }

  /** The key of the place itself. A store has a time only for a marker that it keeps. */
  addMarker(info: FileInfo | undefined): void {
    if (info === undefined || (this.#isStore && !isKept(info))) return;
    this.add({ key: this.#place.above, info });
  }

  addLevel(entry: TreeEntry): void {
    const key = this.#keyOf(entry);
    if (key !== undefined) this.add(entry.file.isDirectory ? { prefix: key } : { key, info: entry.file });
  }

  addDeep(entry: TreeEntry): void {
    if (this.#folder !== undefined && entry.key.startsWith(this.#folder.key)) this.#folder = undefined;
    this.endFolder();
    const key = this.#keyOf(entry);
    if (key === undefined) return;
    const { isDirectory, isLink } = entry.file;
    if (!isDirectory || (this.#isStore && isKept(entry.file))) this.add({ key, info: entry.file });
    else if (!this.#isStore && isLink !== true) this.#folder = entry;
  }

  /** Adds the newest folder, if it turned out to be empty. */
  endFolder(): void {
    const folder = this.#folder;
    this.#folder = undefined;
    if (folder !== undefined) this.add({ key: `${this.#place.above}${folder.key}`, info: folder.file });
  }

  leaveOut(below: string, what: LeftOut): void {
    this.#isUntouched = false;
    if (this.#folder?.key === `${below}/`) this.#folder = undefined;
    const { start } = this.#place;
    if (below === '' && what.name !== undefined && !what.name.toString().startsWith(start)) return;
    if (what.why === 'link') this.#links.add(below, what);
    else {
      this.#unkeyed.add(below, what);
      this.#show(`${below === '' ? '' : `${below}/`}${labelOf(what)}`);
    }
  }

  /** `isEnd`: nothing follows what was read. @throws GatewayError remote_failure if an entry has no key */
  result(isEnd: boolean): KeysRead {
    const count = this.#unkeyed.count + this.#raw;
    if (count > 0) {
      const what = count === 1 ? 'an entry that no key can express' : `${count} entries that no key can express`;
      const text = `${this.#place.folder} holds ${what}, such as ${JSON.stringify(this.#example)}`;
      throw new GatewayError('remote_failure', text, { step: 'transfer' });
    }
    return firstOf({ rest: this.#entries, isEnd, incomplete: this.#links.count }, this.#limit);
  }

  /** Undefined for an entry that is not listed. */
  #keyOf({ key, file }: TreeEntry): string | undefined {
    this.#isUntouched = false;
    if (OWN_TEMPORARY.test(file.name)) return undefined;
    if (key.isWellFormed()) return `${this.#place.above}${key}`;
    if (key.startsWith(this.#place.start)) {
      this.#raw += 1;
      this.#show(key);
    }
    return undefined;
  }

  #show(example: string): void {
    if (this.#example === '') this.#example = example.toWellFormed().slice(0, MOST_SHOWN);
  }
}

const MOST_SHOWN = 200;

const isKept = ({ modifiedAt }: FileInfo): boolean => modifiedAt.getTime() !== 0;
