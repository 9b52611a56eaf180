/** `ftg get`: a file of a connection to a local file, or to standard output. */
import { randomBytes } from 'node:crypto';
import { createWriteStream, existsSync, statSync } from 'node:fs';
import { link, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, posix } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Session } from '../command.js';
import { parseFileLocation } from '../location.js';
import { bytesText, printable } from '../output.js';
import { ProgressLine } from '../progress.js';

export interface GetOptions {
  readonly overwrite: boolean;
  readonly progress: boolean;
}

export async function get(
  session: Session,
  [source = '', local = '.']: readonly (string | undefined)[],
  { overwrite, progress }: GetOptions,
): Promise<void> {
  const { gateway, out, signal } = session;
  const { connectionId, path } = parseFileLocation(source);
  const name = posix.basename(path);
  const file = local === '-' ? undefined : localFile(local, name);
  if (file !== undefined && !overwrite && existsSync(file)) throw exists(file);
  const line = new ProgressLine(name, progress && !out.isJson);
  const startedAt = performance.now();
  try {
    const download = await gateway.files.download(connectionId, path, { onProgress: line.update, signal });
    const body = Readable.fromWeb(download.body);
    if (file === undefined) {
      // Standard output stays open: it is not ours.
      await pipeline(body, process.stdout, { signal, end: false });
      return;
    }
    await store(body, file, overwrite, signal);
    const durationMs = Math.round(performance.now() - startedAt);
    const { size } = statSync(file);
    out.show({ connectionId, path, file, size, durationMs }, () => {
      line.end();
      return `${printable(file)}  ${bytesText(size)} in ${durationMs} ms`;
    });
  } finally {
    line.end();
  }
}

/** Under another name until it is whole; whatever goes wrong leaves nothing. */
async function store(body: Readable, file: string, overwrite: boolean, signal: AbortSignal): Promise<void> {
  const temporary = join(dirname(file), `.${basename(file)}.${randomBytes(6).toString('hex')}.part`);
  try {
    await pipeline(body, createWriteStream(temporary, { flags: 'wx', flush: true }), { signal });
    if (overwrite) return await rename(temporary, file);
    // A link, unlike a rename, does not replace what came meanwhile.
    await link(temporary, file).catch((error: NodeJS.ErrnoException) => {
      throw error.code === 'EEXIST' ? exists(file) : error;
    });
  } finally {
    await rm(temporary, { force: true });
  }
}

function localFile(local: string, name: string): string {
  const isFolder = local.endsWith('/') || (existsSync(local) && statSync(local).isDirectory());
  return isFolder ? join(local, name) : local;
}

function exists(file: string): Error {
  return Object.assign(new Error(`${file} exists`), { code: 'EEXIST' });
}
