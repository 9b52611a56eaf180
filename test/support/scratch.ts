/** Where the tests of one run put their files. */
import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import path from 'node:path';

const MEMORY = '/dev/shm';
const TMPFS_MAGIC = 0x01021994;
const NEEDED_BYTES = 6 * 1024 ** 3;

/**
 * A new folder, in memory where there is plenty: servers and databases wait for every fsync, and on a disk that others
 * keep busy that takes seconds. `remove` takes what the tests left in it too.
 */
export function makeScratch(): { readonly folder: string; remove(): void } {
  const folder = mkdtempSync(path.join(hasRoomInMemory() ? MEMORY : tmpdir(), 'ftg-tests-'));
  // As the system's own: some servers run as other users.
  chmodSync(folder, 0o1777);
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }) };
}

function hasRoomInMemory(): boolean {
  try {
    const { type, bavail, bsize } = statfsSync(MEMORY);
    return type === TMPFS_MAGIC && bavail * bsize > NEEDED_BYTES && freemem() > NEEDED_BYTES;
  } catch {
    return false;
  }
}
