/** The list endpoint's requests for trees, and for folders with a pattern: whole, as a page, or line by line. */
import { Readable } from 'node:stream';
import type { Hold } from '../../budgets/memory.js';
import { baseName, type RemotePath } from '../../remotes/path.js';
import { LeftOutCount } from '../../remotes/left-out.js';
import type { FileInfo } from '../../remotes/remote.js';
import { HeldListing, SortedListing } from '../sorted-listing.js';
import type { Operation, OperationRequest, Operations } from '../operation.js';
import type { PathReference } from '../path-reference.js';
import { openBody } from '../streamed.js';
import { firstRead, orderOf, walk, walkInOrder, type TreeEntry, type WalkOptions } from './walk.js';

export interface ListedTree {
  readonly path: RemotePath;
  /** Can be read once. */
  readonly files: Iterable<FileInfo>;
  /** Entries that the server lists and `files` does not contain. */
  readonly incomplete: number;
}

type ListOf = Omit<WalkOptions, 'leftOut'>;

/** The whole tree, sorted like `walkInOrder`. `memory` counts it. Errors include share_exceeded and overloaded. */
export function listTree(
  operation: Operation,
  reference: PathReference,
  options: ListOf,
  memory: Hold,
): Promise<ListedTree> {
  return operation.use(async (remote) => {
    const path = await reference(remote);
    operation.locate(path, baseName(path));
    operation.mark('transfer');
    const entries = new SortedListing(orderOf(options));
    const held = new HeldListing(path, memory, options.mostEntries ?? Infinity);
    const omitted = new LeftOutCount();
    for await (const entry of walk(remote, path, counting(options, omitted))) {
      operation.signal.throwIfAborted();
      entries.add(entry);
      if (held.add(entry.path.length + entry.key.length)) await held.turn();
    }
    return { path, files: filesOf(entries), incomplete: omitted.count };
  });
}

const counting = <O extends ListOf>(options: O, omitted: LeftOutCount): O & Pick<WalkOptions, 'leftOut'> => ({
  ...options,
  leftOut: (folder, what) => omitted.add(folder, what),
});

function* filesOf(entries: Iterable<TreeEntry>): Generator<FileInfo> {
  for (const { file } of entries) yield file;
}

interface PageOptions extends ListOf {
  readonly limit: number;
  /** The end of the former page. */
  readonly after: string | undefined;
}

interface ListedPage extends ListedTree {
  /** The end of this page; undefined if nothing follows. */
  readonly end: string | undefined;
}

/** Memory of an entry, with its path and the listing that leads to it. */
export const PAGE_ENTRY_BYTES = 512;

/** At most `limit` entries in order. `memory` counts them. Errors include share_exceeded and overloaded. */
export function listPage(
  operation: Operation,
  reference: PathReference,
  { limit, after, ...options }: PageOptions,
  memory: Hold,
): Promise<ListedPage> {
  return operation.use(async (remote) => {
    memory.require((limit + 1) * PAGE_ENTRY_BYTES);
    const path = await reference(remote);
    operation.locate(path, baseName(path));
    operation.mark('transfer');
    const entries: TreeEntry[] = [];
    const omitted = new LeftOutCount();
    const page = (end: string | undefined): ListedPage => {
      return { path, files: filesOf(entries), end, incomplete: omitted.count };
    };
    for await (const entry of walkInOrder(
      remote,
      path,
      counting({ ...options, after, expected: limit + 1 }, omitted),
    )) {
      operation.signal.throwIfAborted();
      if (entries.length === limit) return page(entries.at(-1)?.key);
      entries.push(entry);
    }
    return page(undefined);
  });
}

/** A chunk is sent when it is this large, or when its first line has waited for this long. */
const [CHUNK_CHARACTERS, CHUNK_MS] = [16 * 1024, 50];

/** A line for each entry, as the server lists them, while it does; and a last one if some were left out. */
export async function openListing(
  operations: Operations,
  request: OperationRequest,
  reference: PathReference,
  options: ListOf,
  lineOf: (file: FileInfo) => string,
  endOf: (incomplete: number) => string,
): Promise<Readable> {
  const { body } = await openBody(operations, request, async (remote, operation) => {
    const path = await reference(remote);
    operation.locate(path, baseName(path));
    const omitted = new LeftOutCount();
    const entries = await firstRead(walk(remote, path, counting(options, omitted)));
    const end = (): string => (omitted.count === 0 ? '' : endOf(omitted.count));
    return { facts: path, source: Readable.from(linesOf(entries, lineOf, end), { objectMode: false }) };
  });
  return body;
}

async function* linesOf(
  entries: AsyncIterable<TreeEntry>,
  lineOf: (file: FileInfo) => string,
  end: () => string,
): AsyncGenerator<Buffer> {
  let text = '';
  let since = 0;
  for await (const { file } of entries) {
    if (text === '') since = performance.now();
    text += lineOf(file);
    if (text.length < CHUNK_CHARACTERS && performance.now() - since < CHUNK_MS) continue;
    yield Buffer.from(text);
    text = '';
  }
  text += end();
  if (text !== '') yield Buffer.from(text);
}
