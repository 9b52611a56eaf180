import { setImmediate } from 'node:timers/promises';
import { GatewayError } from '../base/errors.js';
import type { Hold } from '../budgets/memory.js';
import type { RemotePath } from '../remotes/path.js';
import type { FileInfo } from '../remotes/remote.js';

// Entries sorted at once: names of 1,000 characters that differ only at the end take 10 ms.
const RUN_LENGTH = 512;

export type Compare<T> = (a: T, b: T) => number;

/**
 * Entries in order, without one long sort that would block the event loop: they are sorted in short runs as they arrive
 * and merged while they are read.
 */
export class SortedListing<T = FileInfo> {
  readonly #compare: Compare<T>;
  readonly #runs: T[][] = [];
  #run: T[] = [];

  constructor(compare: Compare<T>) {
    this.#compare = compare;
  }

  add(entry: T): void {
    this.#run.push(entry);
    if (this.#run.length === RUN_LENGTH) this.#closeRun();
  }

  /** Merges with a heap of the runs' heads. */
  *[Symbol.iterator](): Generator<T> {
    this.#closeRun();
    const heap = this.#runs.map((run) => ({ run, at: 0, head: run[0] as T }));
    heap.sort((a, b) => this.#compare(a.head, b.head));
    const isFirst = (a: { head: T }, b: { head: T }): boolean => this.#compare(a.head, b.head) < 0;
    for (let first = heap[0]; first !== undefined; first = heap[0]) {
      yield first.head;
      const next = first.run[++first.at];
      if (next !== undefined) first.head = next;
      else {
        const last = heap.pop();
        if (last === undefined || last === first) continue;
        heap[0] = last;
      }
      siftDown(heap, isFirst);
    }
  }

  #closeRun(): void {
    if (this.#run.length === 0) return;
    this.#runs.push(this.#run.sort(this.#compare));
    this.#run = [];
  }
}

/** Moves the entry at the top of a heap down to its place. */
export function siftDown<T>(heap: T[], isAbove: (a: T, b: T) => boolean): void {
  for (let parent = 0; ;) {
    let top = parent;
    for (const child of [2 * parent + 1, 2 * parent + 2]) {
      if (child < heap.length && isAbove(heap[child] as T, heap[top] as T)) top = child;
    }
    if (top === parent) return;
    [heap[parent], heap[top]] = [heap[top] as T, heap[parent] as T];
    parent = top;
  }
}

/** Folders first, then names in code-point order. */
export function compareFiles(a: FileInfo, b: FileInfo): number {
  if (a.isDirectory !== b.isDirectory) return a.isDirectory ? -1 : 1;
  return compareCodePoints(a.name, b.name);
}

/**
 * JavaScript compares UTF-16 units, which sorts U+E000…U+FFFF after the characters beyond them; code points do not.
 * Both are equal before `from`.
 */
export function compareCodePoints(a: string, b: string, from = 0): number {
  const length = Math.min(a.length, b.length);
  for (let index = from; index < length; index++) {
    const [unitA, unitB] = [a.charCodeAt(index), b.charCodeAt(index)];
    if (unitA === unitB) continue;
    const isSurrogateA = (unitA & 0xf800) === 0xd800;
    const isSurrogateB = (unitB & 0xf800) === 0xd800;
    return isSurrogateA === isSurrogateB ? unitA - unitB : isSurrogateA ? 1 : -1;
  }
  return a.length - b.length;
}

/** A sorted answer is in memory while it is made, and until it has been sent. */
const MAX_LISTED_CHARACTERS = 50_000_000;
/** Memory of one entry in addition to its name and path. */
const ENTRY_BYTES = 192;
/** Several large listings at once would block the event loop: after this many entries, other work runs. */
const ENTRIES_PER_TURN = 128;

export function tooManyEntries(path: RemotePath, most: number): GatewayError {
  const text = `more than ${most} entries of ${path} were read for this list (limits.listEntries); list a folder below it, or line by line (Accept: application/x-ndjson)`;
  return new GatewayError('too_large', text, { step: 'transfer' });
}

/** Counts the memory of such an answer. */
export class HeldListing {
  readonly #path: RemotePath;
  readonly #memory: Hold;
  readonly #mostEntries: number;
  #entries = 0;
  #characters = 0;

  constructor(path: RemotePath, memory: Hold, mostEntries: number) {
    this.#path = path;
    this.#memory = memory;
    this.#mostEntries = mostEntries;
  }

  /**
   * Counts one more entry, with a path of `characters` characters. True: call `turn` now. @throws GatewayError
   * too_large
   */
  add(characters: number): boolean {
    this.#entries += 1;
    this.#characters += characters;
    if (this.#entries > this.#mostEntries) throw tooManyEntries(this.#path, this.#mostEntries);
    if (this.#characters > MAX_LISTED_CHARACTERS) {
      throw new GatewayError(
        'too_large',
        `${this.#path} has names of more than ${MAX_LISTED_CHARACTERS} characters in all; it was not read further`,
        { step: 'transfer' },
      );
    }
    return this.#entries % ENTRIES_PER_TURN === 0;
  }

  /** Errors: share_exceeded, overloaded */
  async turn(): Promise<void> {
    this.#memory.require(this.#entries * ENTRY_BYTES + 2 * this.#characters);
    await setImmediate();
  }
}
