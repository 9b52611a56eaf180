/**
 * Fetches files from the gateway: written completely or not at all. The part of a large file survives an interrupted
 * `ftg get`. The next run continues after it if the remote file is still the same.
 */
import { lstatSync, rmSync } from 'node:fs';
import { open, rm, utimes } from 'node:fs/promises';
import { resolve } from 'node:path';
import { systemCodeOf } from '../base/errors.js';
import { type Download, type FileVersion, FtgError, type Progress } from '../client/index.js';
import type { Session } from './command.js';
import { RESUMABLE_BYTES } from '../contract/tus.js';
import { keptAs } from './kept.js';
import type { Location } from './location.js';
import { partOf, publish } from './store.js';

interface FetchOptions {
  readonly overwrite: boolean;
  /** Absent = now. */
  readonly modifiedAt?: Date | undefined;
  readonly onProgress: Progress;
}

/** For a file that cannot be continued, or has changed meanwhile: each attempt starts from the first byte. */
const ATTEMPTS = 3;
/** At most this many bytes are lost if the process or machine is killed. */
const SYNC_BYTES = 16 * 1024 * 1024;

/** The stored state of an unfinished download. */
interface Begun {
  readonly part: string;
  /** Number of its first bytes that are certainly on the disk. */
  readonly bytes: number;
  readonly version: FileVersion;
  readonly pid: number;
}

export async function fetchFile(
  session: Session,
  location: Location,
  file: string,
  options: FetchOptions,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    if (await fetchOnce(session, location, file, { ...options, isLast: attempt === ATTEMPTS })) return;
  }
}

/** False if the download has to start again. */
async function fetchOnce(
  { gateway, signal }: Session,
  { connectionId, path }: Location,
  file: string,
  { overwrite, modifiedAt, onProgress, isLast }: FetchOptions & { readonly isLast: boolean },
): Promise<boolean> {
  const target = resolve(file);
  const kept = keptAs('downloads', [gateway.url, connectionId, path, target], (text) => discard(parsed(text)));
  const found = parsed(kept.read());
  const isOthers = found !== undefined && found.pid !== process.pid && isRunning(found.pid);
  const begun = found !== undefined && !isOthers && hasPart(found) ? found : undefined;
  const part = begun?.part ?? partOf(target);
  let goesOn = begun;
  let download: Download | undefined;
  try {
    download = await gateway.files.download(connectionId, path, { resume: begun, onProgress, signal });
    const { body, version } = download;
    const isKept = !isOthers && version !== undefined && version.size >= RESUMABLE_BYTES;
    await write(body, part, begun?.bytes, (bytes) => {
      if (!isKept) return;
      // One byte is left to fetch: the request for it shows that the rest belongs to the same file.
      goesOn = { part, bytes: Math.min(bytes, version.size - 1), version, pid: process.pid };
      kept.write(JSON.stringify(goesOn));
    });
    if (modifiedAt !== undefined) await utimes(part, modifiedAt, modifiedAt);
    await publish(part, target, overwrite);
    goesOn = undefined;
    return true;
  } catch (thrown) {
    // The user knows the file only by its own name.
    if (isErrnoException(thrown) && thrown.path === part) thrown.path = file;
    if (!signal.aborted && !mayPass(thrown)) goesOn = undefined;
    if (!isLast && isToBeginAnew(thrown, download)) return false;
    throw thrown;
  } finally {
    if (goesOn === undefined) {
      await rm(part, { force: true });
      if (!isOthers) kept.forget();
    }
  }
}

function isErrnoException(thrown: unknown): thrown is NodeJS.ErrnoException {
  return thrown instanceof Error && 'errno' in thrown;
}

function mayPass(thrown: unknown): boolean {
  return thrown instanceof FtgError && thrown.code !== 'file_changed' && (thrown.status === 0 || thrown.status >= 429);
}

function isToBeginAnew(thrown: unknown, download: Download | undefined): boolean {
  if (!(thrown instanceof FtgError)) return false;
  const isCut = thrown.code === 'network_error' && download !== undefined && download.version === undefined;
  return isCut || thrown.code === 'file_changed';
}

/** Writes after the existing bytes; calls `onSynced` with the number of bytes that are certainly on the disk. */
async function write(
  body: ReadableStream<Uint8Array>,
  part: string,
  there: number | undefined,
  onSynced: (bytes: number) => void,
): Promise<void> {
  const handle = await open(part, there === undefined ? 'wx' : 'r+');
  let at = there ?? 0;
  let synced = at;
  const sync = async (): Promise<void> => {
    await handle.datasync();
    synced = at;
    onSynced(at);
  };
  try {
    for await (const chunk of body) {
      for (let done = 0; done < chunk.byteLength;) {
        const { bytesWritten } = await handle.write(chunk, done, chunk.byteLength - done, at);
        done += bytesWritten;
        at += bytesWritten;
      }
      if (at - synced >= SYNC_BYTES) await sync();
    }
  } finally {
    if (at > synced) await sync().finally(() => handle.close());
    else await handle.close();
  }
}

function parsed(text: string | undefined): Begun | undefined {
  try {
    return JSON.parse(text ?? '') as Begun;
  } catch {
    return undefined;
  }
}

function hasPart({ part, bytes }: Begun): boolean {
  const there = lstatSync(part, { throwIfNoEntry: false });
  return there !== undefined && there.isFile() && there.size >= bytes;
}

/** A second process would write the same bytes to the same places, but would not find its file at the end. */
function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return systemCodeOf(error) === 'EPERM';
  }
}

function discard(begun: Begun | undefined): void {
  if (begun !== undefined && !isRunning(begun.pid)) rmSync(begun.part, { force: true });
}
