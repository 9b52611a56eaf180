/** Local files: written whole or not at all. */
import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { link, rename, rm, utimes } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

interface StoreOptions {
  readonly overwrite: boolean;
  readonly signal: AbortSignal;
  /** Absent = now. */
  readonly modifiedAt?: Date | undefined;
}

/** Under another name until it is whole; whatever goes wrong leaves nothing. */
export async function store(
  body: Readable,
  file: string,
  { overwrite, signal, modifiedAt }: StoreOptions,
): Promise<void> {
  const temporary = join(dirname(file), `.${basename(file)}.${randomBytes(6).toString('hex')}.part`);
  try {
    await pipeline(body, createWriteStream(temporary, { flags: 'wx', flush: true }), { signal });
    if (modifiedAt !== undefined) await utimes(temporary, modifiedAt, modifiedAt);
    if (overwrite) return await rename(temporary, file);
    // A link, unlike a rename, does not replace what came meanwhile.
    await link(temporary, file).catch((error: NodeJS.ErrnoException) => {
      throw error.code === 'EEXIST' ? exists(file) : error;
    });
  } finally {
    await rm(temporary, { force: true });
  }
}

export function exists(file: string): Error {
  return Object.assign(new Error(`${file} exists`), { code: 'EEXIST' });
}
