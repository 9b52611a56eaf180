/** Writes local files: they are visible completely or not at all. */
import { randomBytes } from 'node:crypto';
import { link, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { MAX_NAME_BYTES, nameStart } from '../base/file-name.js';

/** The name of an incomplete file: hidden, in the same folder, and not longer than file systems allow. */
export function partOf(file: string): string {
  const suffix = `.${randomBytes(6).toString('hex')}.part`;
  return join(dirname(file), `.${nameStart(basename(file), MAX_NAME_BYTES - suffix.length - 1)}${suffix}`);
}

export async function publish(part: string, file: string, overwrite: boolean): Promise<void> {
  if (overwrite) return rename(part, file);
  // A link, unlike a rename, does not replace a file that appeared meanwhile.
  await link(part, file).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EEXIST' ? exists(file) : error;
  });
  await rm(part);
}

export function exists(file: string): Error {
  return Object.assign(new Error(`${file} exists`), { code: 'EEXIST' });
}
