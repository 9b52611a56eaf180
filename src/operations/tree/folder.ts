/**
 * One folder of a tree, listed: every way through a tree reads its folders here.
 * A link to a folder above is found even on servers that hide which entries are links: such a folder has the same
 * listing as one above it. Equal names prove nothing, and one copy in another is no loop: the third time that the same
 * names, sizes and times appear on one path, nothing below is listed. Folders with fewer than two entries, which cannot
 * branch, end at a depth.
 */
import { createHash } from 'node:crypto';
import { hasCode } from '../../base/errors.js';
import type { RemotePath } from '../../remotes/path.js';
import type { FileInfo, ListOptions, Remote } from '../../remotes/remote.js';

/** Entries of a listing that are compared, and buffered until that is done. */
const HEAD = 200;
const LEAST_ENTRIES = 2;
const MARK_BYTES = 8;
const TIMES_ABOVE = 2;

/** The marks of the folders above, concatenated. */
export type MarksAbove = Buffer;

export const NO_MARKS: MarksAbove = Buffer.alloc(0);

export interface LoopCheck {
  readonly above: MarksAbove;
  /** No entry is yielded before the first ones have been compared. */
  readonly isHeld: boolean;
  /**
   * Gets the marks for what is below, undefined if the folder is repeated: before the first entry with `isHeld`,
   * otherwise before the last.
   */
  readonly marked: (below: MarksAbove | undefined) => void;
}

interface FolderOptions extends ListOptions {
  /** If another client has removed the folder meanwhile, it has no entries. */
  readonly mayBeGone?: boolean;
  /** Present: nothing is yielded if the folder repeats one above it. A store has no links. */
  readonly loops?: LoopCheck | undefined;
}

/** Yields its entries. Errors: those of Remote.list. */
export async function* listOneFolder(
  remote: Remote,
  folder: RemotePath,
  { mayBeGone = false, loops, ...options }: FolderOptions,
): AsyncGenerator<FileInfo, void> {
  const head = loops === undefined || remote.listTree !== undefined ? undefined : new ListingHead(loops);
  try {
    for await (const batch of remote.list(folder, options)) {
      for (const info of batch) {
        if (head === undefined || head.isMarked) {
          yield info;
          continue;
        }
        head.entries.push(info);
        if (head.entries.length === HEAD && !head.isNew()) return;
        if (!head.holds) yield info;
        else if (head.isMarked) yield* head.entries;
      }
    }
    if (head !== undefined && !head.isMarked && head.isNew() && head.holds) yield* head.entries;
  } catch (error) {
    if (!mayBeGone || !hasCode(error, 'not_found', 'not_a_folder')) throw error;
  }
}

/** The first entries of a listing, compared with the folders above. */
class ListingHead {
  readonly #loops: LoopCheck;
  readonly entries: FileInfo[] = [];
  readonly holds: boolean;
  isMarked = false;

  constructor(loops: LoopCheck) {
    this.#loops = loops;
    this.holds = loops.isHeld || loops.above.length >= TIMES_ABOVE * MARK_BYTES;
  }

  isNew(): boolean {
    const { above, marked } = this.#loops;
    this.isMarked = true;
    const mark = markOf(this.entries);
    const isRepeated = mark !== undefined && count(above, mark) >= TIMES_ABOVE;
    marked(isRepeated ? undefined : mark === undefined ? above : Buffer.concat([above, mark]));
    return !isRepeated;
  }
}

function markOf(head: readonly FileInfo[]): Buffer | undefined {
  // Without times, only names could be compared.
  if (head.length < LEAST_ENTRIES || head.every(({ modifiedAt }) => modifiedAt.getTime() === 0)) return undefined;
  const hash = createHash('sha256');
  for (const { name, rawName = '', isDirectory, size, modifiedAt } of head) {
    hash.update(JSON.stringify([name, rawName, isDirectory, size, modifiedAt.getTime()]));
  }
  return hash.digest().subarray(0, MARK_BYTES);
}

function count(above: MarksAbove, mark: Buffer): number {
  let found = 0;
  for (let at = 0; at < above.length; at += MARK_BYTES) {
    if (above.subarray(at, at + MARK_BYTES).equals(mark)) found += 1;
  }
  return found;
}
