import type { FileInfo } from '../remotes/remote.js';

// Sorted in one piece: names of 1,000 characters that differ in the last ones take 10 ms.
const RUN_LENGTH = 512;

/**
 * A folder's entries in order, without one long sort that would stall the event loop: entries are sorted in short runs
 * as they arrive and merged while they are read.
 */
export class SortedListing {
  private readonly runs: FileInfo[][] = [];
  private run: FileInfo[] = [];

  add(file: FileInfo): void {
    this.run.push(file);
    if (this.run.length === RUN_LENGTH) this.closeRun();
  }

  get length(): number {
    return this.runs.reduce((sum, run) => sum + run.length, 0) + this.run.length;
  }

  /** Merges by a heap of the runs' heads. */
  *[Symbol.iterator](): Generator<FileInfo> {
    this.closeRun();
    const heap = this.runs.map((run) => ({ run, at: 0, head: run[0] as FileInfo }));
    heap.sort((a, b) => compareFiles(a.head, b.head));
    for (let first = heap[0]; first !== undefined; first = heap[0]) {
      yield first.head;
      const next = first.run[++first.at];
      if (next !== undefined) first.head = next;
      else {
        const last = heap.pop();
        if (last === undefined || last === first) continue;
        heap[0] = last;
      }
      siftDown(heap);
    }
  }

  private closeRun(): void {
    if (this.run.length === 0) return;
    this.runs.push(this.run.sort(compareFiles));
    this.run = [];
  }
}

function siftDown(heap: { readonly head: FileInfo }[]): void {
  for (let parent = 0; ;) {
    let least = parent;
    for (const child of [2 * parent + 1, 2 * parent + 2]) {
      const [a, b] = [heap[child], heap[least]];
      if (a !== undefined && b !== undefined && compareFiles(a.head, b.head) < 0) least = child;
    }
    if (least === parent) return;
    [heap[parent], heap[least]] = [
      heap[least] as { readonly head: FileInfo },
      heap[parent] as { readonly head: FileInfo },
    ];
    parent = least;
  }
}

/** Folders first, then names in code-point order. */
export function compareFiles(a: FileInfo, b: FileInfo): number {
  if (a.isDirectory !== b.isDirectory) return a.isDirectory ? -1 : 1;
  return compareCodePoints(a.name, b.name);
}

/** JavaScript compares UTF-16 units, which puts U+E000…U+FFFF behind the characters beyond them; code points do not. */
export function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const [unitA, unitB] = [a.charCodeAt(index), b.charCodeAt(index)];
    if (unitA === unitB) continue;
    const isSurrogateA = (unitA & 0xf800) === 0xd800;
    const isSurrogateB = (unitB & 0xf800) === 0xd800;
    return isSurrogateA === isSurrogateB ? unitA - unitB : isSurrogateA ? 1 : -1;
  }
  return a.length - b.length;
}
