/**
 * Detects folders that are links to a folder above, on servers that hide which entries are links: such a folder has the
 * same listing as one above it. Names alone prove nothing, and one copy in another is no loop: the third time that the
 * same names, sizes and times appear on one path, nothing below is listed. Folders with fewer than two entries, which
 * cannot branch, end at a depth.
 */
import { createHash } from 'node:crypto';
import type { FileInfo } from '../../remotes/remote.js';

/** Entries of a listing that are compared, and buffered until that is done. */
const HEAD = 200;
const LEAST_ENTRIES = 2;
const MARK_BYTES = 8;
const TIMES_ABOVE = 2;

/** The marks of the folders above, concatenated. */
export type MarksAbove = Buffer;

export const NO_MARKS: MarksAbove = Buffer.alloc(0);

interface RepeatedOptions {
  readonly above: MarksAbove;
  readonly isHeld: boolean;
  readonly marked: (below: MarksAbove | undefined) => void;
}

/**
 * Yields the listing, or nothing if it is repeated. `marked` gets the marks for what is below, undefined if it is
 * repeated: before the first entry with `isHeld`, otherwise before the last.
 */
export async function* unlessRepeated(
  listing: AsyncIterable<FileInfo>,
  { above, isHeld, marked }: RepeatedOptions,
): AsyncGenerator<FileInfo, void> {
  const holds = isHeld || above.length >= TIMES_ABOVE * MARK_BYTES;
  const head: FileInfo[] = [];
  let isMarked = false;
  const isNew = (): boolean => {
    isMarked = true;
    const mark = markOf(head);
    const isRepeated = mark !== undefined && count(above, mark) >= TIMES_ABOVE;
    marked(isRepeated ? undefined : mark === undefined ? above : Buffer.concat([above, mark]));
    return !isRepeated;
  };
  for await (const info of listing) {
    if (isMarked) {
      yield info;
      continue;
    }
    head.push(info);
    if (head.length === HEAD && !isNew()) return;
    if (!holds) yield info;
    else if (isMarked) yield* head;
  }
  if (!isMarked && isNew() && holds) yield* head;
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
