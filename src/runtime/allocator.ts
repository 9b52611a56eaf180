import { createRequire } from 'node:module';
import { Periodic } from '../base/periodic.js';

/** mallopt(3). */
const M_TRIM_THRESHOLD = -1;
const M_MMAP_THRESHOLD = -3;

/** Chunks and parts of bodies are smaller and come from the heap, whose pages are kept. */
const MMAP_FROM_BYTES = 16 * 1024 * 1024;
/** Free memory at the heap's end that is kept; memory above it returns to the system. */
const KEPT_BYTES = 48 * 1024 * 1024;
/** How often free memory below that end, between used pieces, returns to the system. */
const RETURN_EVERY_MS = 10_000;

/**
 * Adapts the C library's allocator to a process that moves bytes: by default it returns the memory of each freed chunk
 * to the system at once, and the next chunk needs fresh zeroed pages, a quarter of the processor time of a transfer.
 * With the new setting, kept memory becomes holes between small pieces that last: it grows for hours, and only
 * malloc_trim(3) returns the pages of holes. That takes milliseconds, in a separate thread. Does nothing if the library
 * is not glibc. Applies to the whole process.
 */
export function suitAllocatorToStreams(): void {
  if (process.platform !== 'linux') return;
  try {
    const koffi = createRequire(import.meta.url)('koffi') as {
      load(name: string): { func(definition: string): unknown };
    };
    const libc = koffi.load('libc.so.6');
    const mallopt = libc.func('int mallopt(int parameter, int value)') as (parameter: number, value: number) => number;
    const trim = libc.func('int malloc_trim(size_t pad)') as {
      async(pad: number, done: (error: Error | null) => void): void;
    };
    mallopt(M_MMAP_THRESHOLD, MMAP_FROM_BYTES);
    mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
    new Periodic(() => trim.async(0, () => undefined), RETURN_EVERY_MS).start();
  } catch {
    // Another C library: its own defaults are used.
  }
}
