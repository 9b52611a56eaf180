/** The memory of the test's own process: while a large body passes through it, and what buffers hold. */
import assert from 'node:assert/strict';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const MIB = 1024 ** 2;
/** The first body fills what is filled once: compiled code, buffers of sockets, the heap's first size. */
const FIRST_PART = 1 / 8;
/** Measurements of one body, at equal distances. */
const MEASUREMENTS = 16;
/** A body that is held needs at least its size. */
const BOUND_PART = 1 / 2;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/**
 * Fails if memory grows with the body. `pass` moves a body of the given size and reports the bytes of each piece, once
 * it has no further use for them. A small body is first, and resident memory over that of the small one counts.
 *
 * Garbage is collected before each measurement: how much of it lies around depends on the machine.
 */
export async function assertFlatMemory(
  bytes: number,
  pass: (bytes: number, passed: (bytes: number) => void) => Promise<void>,
): Promise<void> {
  const first = await peakOf(bytes * FIRST_PART, pass);
  const grown = (await peakOf(bytes, pass)) - first;
  const shown = `memory grew by ${Math.round(grown / MIB)} MiB with a body of ${Math.round(bytes / MIB)} MiB`;
  assert.ok(grown < bytes * BOUND_PART, shown);
}

/** Bytes of all buffers that are in use. */
export function heldByBuffers(): number {
  collect();
  return process.memoryUsage().arrayBuffers;
}

async function peakOf(
  bytes: number,
  pass: (bytes: number, passed: (bytes: number) => void) => Promise<void>,
): Promise<number> {
  const step = bytes / MEASUREMENTS;
  let [peak, seen, due] = [0, 0, step];
  await pass(bytes, (more) => {
    seen += more;
    if (seen < due) return;
    due = seen + step;
    collect();
    peak = Math.max(peak, process.memoryUsage.rss());
  });
  assert.ok(peak > 0, 'nothing was measured');
  return peak;
}
