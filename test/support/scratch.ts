/** The folder for the files of the tests of one run. */
import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import path from 'node:path';

const PREFIX = 'ftg-tests-';
const MEMORY = '/dev/shm';
const TMPFS_MAGIC = 0x01021994;
const NEEDED_BYTES = 6 * 1024 ** 3;

/**
 * A new folder, in memory if there is plenty: servers and databases wait for every fsync, and on a busy disk that takes
 * seconds. `remove` also deletes what the tests left in it.
 */
export function makeScratch(): { readonly folder: string; remove(): void } {
  // That of a run within a test is below its own, which is removed even if that run is killed.
  const isWithin = path.basename(tmpdir()).startsWith(PREFIX);
  const folder = mkdtempSync(path.join(!isWithin && hasRoomInMemory() ? MEMORY : tmpdir(), PREFIX));
  // Like the system's own: some servers run as other users.
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
