/** Local files: seen whole or not at all. */
import { randomBytes } from 'node:crypto';
import { link, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** What a file is called until it is whole. */
export function partOf(file: string): string {
  return join(dirname(file), `.${basename(file)}.${randomBytes(6).toString('hex')}.part`);
}

export async function publish(part: string, file: string, overwrite: boolean): Promise<void> {
  if (overwrite) return rename(part, file);
  // A link, unlike a rename, does not replace what came meanwhile.
  await link(part, file).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EEXIST' ? exists(file) : error;
  });
  await rm(part);
}

export function exists(file: string): Error {
  return Object.assign(new Error(`${file} exists`), { code: 'EEXIST' });
}
