/** `ftg edit`: edits a remote file in a local editor. The file is stored only if neither side prevents it. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, statSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Download, FtgError } from '../../client/index.js';
import type { Arguments, Session } from '../command.js';
import { safeNames } from '../local-path.js';
import { type Location, parseFileLocation, splitPath } from '../location.js';
import { bytesText, printable } from '../output.js';

interface EditOptions {
  readonly editor?: string;
}

/** The state of the file when it was fetched. */
interface Original {
  readonly digest: string;
  readonly etag?: string | undefined;
}

export async function edit(session: Session, [place = '']: Arguments, options: EditOptions): Promise<void> {
  const location = parseFileLocation(place);
  const [name = ''] = safeNames(posix.basename(location.path));
  const folder = await mkdtemp(join(tmpdir(), 'ftg-edit-'));
  const file = join(folder, name);
  let isToStay = false;
  try {
    const original = await fetchOriginal(session, location, file);
    try {
      await runEditor(editorOf(options), file, session.signal);
    } finally {
      // However the editor ended, unsaved work must not be lost.
      isToStay = (await digestOf(createReadStream(file))) !== (original?.digest ?? EMPTY);
    }
    const { connectionId, path } = location;
    if (!isToStay) {
      session.out.show({ connectionId, path, isChanged: false }, () => `${printable(place)} is not changed`);
      return;
    }
    await store(session, location, file, original);
    isToStay = false;
    const { size } = statSync(file);
    session.out.show(
      { connectionId, path, isChanged: true, size },
      () => `${printable(place)}  ${bytesText(size)} stored`,
    );
  } catch (thrown) {
    if (isToStay) session.out.note(`what you have edited is kept in ${file}`);
    throw thrown;
  } finally {
    if (!isToStay) await rm(folder, { recursive: true, force: true });
  }
}

/** undefined: the file does not exist yet. */
async function fetchOriginal(session: Session, location: Location, file: string): Promise<Original | undefined> {
  const download = await opened(session, location);
  if (download === undefined) {
    await writeFile(file, '', { mode: 0o600 });
    return undefined;
  }
  const hash = createHash('sha256');
  const hashed = async function* (chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
    for await (const chunk of chunks) {
      hash.update(chunk);
      yield chunk;
    }
  };
  const { signal } = session;
  const target = createWriteStream(file, { flags: 'wx', mode: 0o600 });
  await pipeline(Readable.fromWeb(download.body), hashed, target, { signal });
  return { digest: hash.digest('hex'), etag: download.etag };
}

async function opened(
  { gateway, signal }: Session,
  { connectionId, path }: Location,
  ifNoneMatch?: string,
): Promise<Download | undefined> {
  const condition = ifNoneMatch === undefined ? {} : { ifNoneMatch };
  return gateway.files.download(connectionId, path, { signal, ...condition }).catch((thrown: unknown) => {
    if (thrown instanceof FtgError && thrown.code === 'not_found') return undefined;
    throw thrown;
  });
}

/** @throws FtgError file_changed if the file was changed on the server meanwhile */
async function store(session: Session, location: Location, file: string, original: Original | undefined) {
  const { gateway, signal } = session;
  const { connectionId, path } = location;
  if (original !== undefined && !(await isStill(session, location, original))) {
    throw new FtgError(`${connectionId}:${path} has changed on the server while you edited it; it is left as it is`, {
      status: 0,
      code: 'file_changed',
    });
  }
  const { folder, name } = splitPath(path);
  await gateway.files.upload(connectionId, () => createReadStream(file), {
    filename: name,
    size: statSync(file).size,
    signal,
    ...(folder === undefined ? {} : { path: folder }),
    // A file that was created meanwhile is not replaced.
    ...(original === undefined ? { overwrite: false } : {}),
  });
}

/** Compares the ETag, and the content if the server gives none, or another one for the same content. */
async function isStill(session: Session, location: Location, { digest, etag }: Original): Promise<boolean> {
  const now = await opened(session, location, etag);
  if (now === undefined) return false;
  return now.isNotModified || (await digestOf(Readable.fromWeb(now.body))) === digest;
}

const EMPTY = createHash('sha256').digest('hex');

async function digestOf(content: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of content) hash.update(chunk);
  return hash.digest('hex');
}

function editorOf({ editor }: EditOptions): string {
  const { VISUAL, EDITOR } = process.env;
  return editor ?? (VISUAL || EDITOR || (process.platform === 'win32' ? 'notepad' : 'vi'));
}

/** The editor may be several words, as in git. @throws Error */
async function runEditor(editor: string, file: string, signal: AbortSignal): Promise<void> {
  const isWindows = process.platform === 'win32';
  const child = isWindows
    ? spawn(`${editor} "${file}"`, { stdio: 'inherit', shell: true, signal })
    : spawn('/bin/sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit', signal });
  // Ctrl-C belongs to the editor, although the terminal also sends SIGINT to this process.
  const listeners = process.listeners('SIGINT');
  const ignore = (): void => undefined;
  process.removeAllListeners('SIGINT').on('SIGINT', ignore);
  // If the editor is ended with this process, it may still write until it exits.
  let failure: Error | undefined;
  child.once('error', (error) => (failure = error));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  for (const listener of listeners) process.on('SIGINT', listener);
  process.off('SIGINT', ignore);
  if (failure !== undefined) throw failure;
  if (code !== 0) throw new Error(`the editor "${editor}" ended with ${code}: nothing is stored`);
}
