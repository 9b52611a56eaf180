import { open, unlink, type FileHandle } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface SortedEntry {
  /** The sort key, compared byte by byte. */
  readonly key: Buffer;
  readonly size: number;
  readonly modifiedMs: number;
}

/** Entries sorted at once: few enough not to block the event loop. */
const RUN_ENTRIES = 4096;
/** Enough for most folders; it grows for others. */
const FIRST_BYTES = 4 << 10;
/** Sorted runs kept in memory; beyond this, they go to a temporary file. */
const MEMORY_BYTES = 2 << 20;
const READ_BYTES = 8 << 10;
const BATCH_ENTRIES = 250;
/** Key length (2 bytes), size and date (8 each). */
const HEAD_BYTES = 18;

/**
 * Sorts a listing of any length by its keys, in bounded memory: short sorted runs, on disk beyond some megabytes,
 * merged while they are read. An entry that was added twice is returned once; an entry with a size below zero, which no
 * file has, is different from the file of its name.
 * Entries wait as bytes, not as objects: objects would survive the quick garbage collections, fill the heap, and stop
 * the program for a full collection.
 */
export class EntrySorter {
  readonly #spilled: Place[] = [];
  readonly #inMemory: { readonly start: number; readonly end: number }[] = [];
  /** The run that is being filled: records in the order of their arrival, and their offsets. */
  #records: Buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #recordBytes = 0;
  readonly #starts = new Uint32Array(RUN_ENTRIES);
  #entries = 0;
  /** The last runs, one after the other; filled again once they are on disk. */
  #memory: Buffer = Buffer.alloc(0);
  #memoryBytes = 0;
  #file: FileHandle | undefined;
  #fileBytes = 0;

  /** undefined: there is room for more. */
  add({ key, size, modifiedMs }: SortedEntry): Promise<void> | undefined {
    const at = this.#recordBytes;
    const end = at + HEAD_BYTES + key.length;
    if (end > this.#records.length) this.#records = enlarged(this.#records, at, end);
    this.#records.writeUInt16LE(key.length, at);
    this.#records.writeDoubleLE(size, at + 2);
    this.#records.writeDoubleLE(modifiedMs, at + 10);
    key.copy(this.#records, at + HEAD_BYTES);
    this.#starts[this.#entries++] = at;
    this.#recordBytes = end;
    return this.#entries < RUN_ENTRIES ? undefined : this.#endRun();
  }

  /** In order, any number of times. A batch is valid until the next one is requested. */
  async *batches(): AsyncGenerator<readonly SortedEntry[]> {
    this.#closeRun();
    const memory = this.#memory;
    const runs = [
      ...this.#spilled.map((place) => new Run(Buffer.alloc(0), { ...place })),
      ...this.#inMemory.map(({ start, end }) => new Run(memory.subarray(start, end))),
    ];
    const heap: Run[] = [];
    for (const run of runs) if (await run.advance()) heap.push(run);
    heap.sort(byHead);
    const batch: SortedEntry[] = [];
    for (let least = heap[0]; least !== undefined; least = heap[0]) {
      const entry = least.head;
      if (isTwice(batch.at(-1), entry)) batch.pop();
      else if (batch.length >= BATCH_ENTRIES) {
        yield batch;
        batch.length = 0;
      }
      batch.push(entry);
      if (!(least.advanceNow() || (await least.advance()))) {
        const last = heap.pop();
        if (last === undefined || last === least) continue;
        heap[0] = last;
      }
      siftDown(heap);
    }
    if (batch.length > 0) yield batch;
  }

  /** Empties it for another listing; its memory is reused. */
  clear(): void {
    this.#spilled.length = 0;
    this.#inMemory.length = 0;
    this.#entries = 0;
    this.#recordBytes = 0;
    this.#memoryBytes = 0;
    this.#fileBytes = 0;
  }

  async close(): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
  }

  async #endRun(): Promise<void> {
    if (this.#memoryBytes + this.#recordBytes > MEMORY_BYTES) await this.#spill();
    this.#closeRun();
  }

  /** Packs the records of the run in the order of their keys. */
  #closeRun(): void {
    if (this.#entries === 0) return;
    const records = this.#records;
    const keyEnd = (start: number): number => start + HEAD_BYTES + records.readUInt16LE(start);
    const starts = this.#starts.subarray(0, this.#entries);
    starts.sort((a, b) => records.compare(records, b + HEAD_BYTES, keyEnd(b), a + HEAD_BYTES, keyEnd(a)));
    const start = this.#memoryBytes;
    const end = start + this.#recordBytes;
    if (end > this.#memory.length) this.#memory = enlarged(this.#memory, start, end);
    let at = start;
    for (const from of starts) at += records.copy(this.#memory, at, from, keyEnd(from));
    this.#inMemory.push({ start, end });
    this.#memoryBytes = end;
    this.#entries = 0;
    this.#recordBytes = 0;
  }

  async #spill(): Promise<void> {
    const file = (this.#file ??= await openUnnamed());
    const offset = this.#fileBytes;
    await file.write(this.#memory, 0, this.#memoryBytes, offset);
    this.#fileBytes += this.#memoryBytes;
    for (const { start, end } of this.#inMemory) this.#spilled.push({ file, start: offset + start, end: offset + end });
    this.#inMemory.length = 0;
    this.#memoryBytes = 0;
  }
}

function isTwice(last: SortedEntry | undefined, { key, size }: SortedEntry): boolean {
  return last !== undefined && last.size < 0 === size < 0 && last.key.equals(key);
}

/** Copies `bytes` of a block into one twice as large as what is wanted. */
function enlarged(block: Buffer, bytes: number, wanted: number): Buffer {
  const larger = Buffer.allocUnsafeSlow(2 * wanted);
  block.copy(larger, 0, 0, bytes);
  return larger;
}

/**
 * A file without a name, so that not even a crash leaves it behind; if the system does not support that, the name stays
 * until then.
 */
async function openUnnamed(): Promise<FileHandle> {
  const path = join(tmpdir(), `ftg-listing-${randomUUID()}`);
  const file = await open(path, 'wx+', 0o600);
  await unlink(path).catch(() => undefined);
  return file;
}

interface Place {
  readonly file: FileHandle;
  start: number;
  readonly end: number;
}

/** One sorted run, read record by record. */
class Run {
  head: SortedEntry = { key: Buffer.alloc(0), size: 0, modifiedMs: 0 };
  /** Bytes that have been read and not returned: from #at to #end. */
  #bytes: Buffer;
  #at = 0;
  #end: number;
  readonly #place: Place | undefined;

  constructor(bytes: Buffer, place?: Place) {
    this.#bytes = bytes;
    this.#end = bytes.length;
    this.#place = place;
  }

  /** False if more must be read first, or nothing is left. */
  advanceNow(): boolean {
    const left = this.#end - this.#at;
    if (left < HEAD_BYTES) return false;
    const keyBytes = this.#bytes.readUInt16LE(this.#at);
    if (left < HEAD_BYTES + keyBytes) return false;
    const size = this.#bytes.readDoubleLE(this.#at + 2);
    const modifiedMs = this.#bytes.readDoubleLE(this.#at + 10);
    const start = this.#at + HEAD_BYTES;
    // A copy: a view would keep the whole block alive as long as the key, and the block is reused.
    const key = Buffer.from(this.#bytes.subarray(start, start + keyBytes));
    this.#at = start + keyBytes;
    this.head = { key, size, modifiedMs };
    return true;
  }

  async advance(): Promise<boolean> {
    const place = this.#place;
    while (!this.advanceNow()) {
      if (place === undefined || place.start >= place.end) return false;
      await this.#readMore(place);
    }
    return true;
  }

  /** Into the same block: hundreds of runs are read in turns. */
  async #readMore(place: Place): Promise<void> {
    const rest = this.#end - this.#at;
    const wanted = Math.min(READ_BYTES, place.end - place.start);
    const block = rest + wanted <= this.#bytes.length ? this.#bytes : Buffer.allocUnsafeSlow(rest + READ_BYTES);
    this.#bytes.copy(block, 0, this.#at, this.#end);
    this.#bytes = block;
    this.#at = 0;
    this.#end = rest;
    const { bytesRead } = await place.file.read(block, rest, wanted, place.start);
    if (bytesRead === 0) throw new Error('the temporary file of a listing is shorter than what was written to it');
    place.start += bytesRead;
    this.#end += bytesRead;
  }
}

function byHead(a: Run, b: Run): number {
  return a.head.key.compare(b.head.key);
}

function siftDown(heap: Run[]): void {
  for (let parent = 0; ;) {
    let least = parent;
    for (const child of [2 * parent + 1, 2 * parent + 2]) {
      const [a, b] = [heap[child], heap[least]];
      if (a !== undefined && b !== undefined && byHead(a, b) < 0) least = child;
    }
    if (least === parent) return;
    [heap[parent], heap[least]] = [heap[least] as Run, heap[parent] as Run];
    parent = least;
  }
}
