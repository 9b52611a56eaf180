/** `ftg put` and `ftg get`: transfer content between here and the gateway. */
import { existsSync, statSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { basename, join, posix, resolve, sep } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Transfer } from '../../client/index.js';
import type { Session } from '../command.js';
import { UsageError } from '../exit-codes.js';
import { fetchFile } from '../fetch-file.js';
import { foldersIn, globAt, isDeep, nothingMatches } from '../glob.js';
import { expand } from '../local-glob.js';
import { safeNames } from '../local-path.js';
import {
  type Glob,
  isFolder,
  type Location,
  parseFileLocation,
  parseLocation,
  splitPath,
  targetFolder,
} from '../location.js';
import { bytesText, printable } from '../output.js';
import { ProgressLine } from '../progress.js';
import { uploadFile } from '../resumable.js';
import { exists } from '../store.js';
import { type FolderOptions, getTree, putTree } from './folders.js';
import { withAdvice } from './trees.js';

interface PutOptions {
  readonly overwrite: boolean;
  readonly template?: string;
  readonly progress?: boolean;
}

interface MaybeFolder extends Omit<FolderOptions, 'transfers'> {
  readonly recursive?: boolean;
  readonly transfers?: number;
}

const TRANSFERS = 4;

function refuseFolderOptions({ recursive = false, dryRun, onConflict, transfers }: MaybeFolder): void {
  const given = Object.entries({ 'dry-run': dryRun, 'on-conflict': onConflict, transfers }).find(([, value]) => value);
  if (!recursive && given !== undefined) throw new UsageError(`--${given[0]} needs -r`);
}

export async function put(session: Session, args: readonly string[], options: PutOptions & MaybeFolder): Promise<void> {
  refuseFolderOptions(options);
  const { recursive = false, transfers = TRANSFERS } = options;
  if (args.length < 2) throw new UsageError('name a file and where it goes: ftg put report.pdf warehouse:/upload/');
  const target = parseLocation(args.at(-1) ?? '');
  const sources = (await Promise.all(args.slice(0, -1).map((given) => expand(given)))).flat();
  if (sources.length > 1 && !isFolder(target.path)) {
    throw new UsageError(`${target.path} is the name of one file, but there are ${sources.length}: end it with /`);
  }
  if (sources.includes('-') && isFolder(target.path)) {
    throw new UsageError('standard input has no name: give it one, such as warehouse:/upload/report.pdf');
  }
  const names = new Set<string>();
  for (const name of sources.map((source) => basename(resolve(source)))) {
    if (names.has(name)) throw new UsageError(`two of them are called ${name}: one would replace the other`);
    names.add(name);
  }
  for (const source of sources) {
    if (recursive && source !== '-' && statSync(source).isDirectory()) {
      if (options.template !== undefined) throw new UsageError('--template is for files, and not with -r');
      const path = targetFolder(basename(resolve(source)), target.path);
      await putTree(session, source, { ...target, path }, { ...options, transfers });
      continue;
    }
    refuseFolderOptions({ ...options, recursive: false });
    const transfer = await putOne(session, source, target, options);
    const { path, size, durationMs } = transfer;
    session.out.show(transfer, () => `${printable(path)}  ${bytesText(size)} in ${durationMs} ms`);
  }
}

async function putOne(
  session: Session,
  source: string,
  { connectionId, path }: Location,
  { overwrite, template, progress }: PutOptions,
): Promise<Transfer> {
  const { out, signal } = session;
  const { folder, name } = isFolder(path) ? { folder: folderOf(path), name: basename(source) } : splitPath(path);
  const line = new ProgressLine(name, out.isJson ? false : progress);
  const sized = sizeOf(source);
  const options = {
    ...sized,
    filename: name,
    ...(folder === undefined ? {} : { path: folder }),
    ...(overwrite ? {} : { overwrite: false }),
    ...(template === undefined ? {} : { filename_template: template }),
    onProgress: line.update,
    signal,
  };
  try {
    return source === '-'
      ? await session.gateway.files.upload(connectionId, process.stdin, options)
      : await uploadFile(session, source, connectionId, options);
  } finally {
    line.end();
  }
}

function sizeOf(source: string): { readonly size?: number } {
  if (source === '-') return {};
  const facts = statSync(source);
  if (facts.isDirectory()) throw new UsageError(`${source} is a folder: use -r`);
  // The size of a pipe or a device has no meaning.
  return facts.isFile() ? { size: facts.size } : {};
}

function folderOf(path: string): string | undefined {
  if (path === '') return undefined;
  return path.length > 1 ? path.slice(0, -1) : path;
}

interface GetOptions {
  readonly overwrite: boolean;
  readonly progress?: boolean;
}

export async function get(
  session: Session,
  [source = '', local = '.']: readonly (string | undefined)[],
  options: GetOptions & MaybeFolder,
): Promise<void> {
  const { overwrite, progress, recursive = false, transfers = TRANSFERS } = options;
  const location = recursive ? parseLocation(source) : parseFileLocation(source);
  const glob = await globAt(session, location);
  if (local === '-' && (recursive || glob !== undefined)) throw new UsageError('standard output takes one file');
  if (glob !== undefined) {
    const wanted = { connectionId: location.connectionId, path: glob.folder, pattern: glob.pattern };
    let found = await getTree(session, wanted, local, { ...options, transfers, isDeep: isDeep(glob.pattern) });
    if (recursive) found += await getFolders(session, location.connectionId, glob, local, { ...options, transfers });
    if (found === 0) throw nothingMatches(source);
    return;
  }
  if (recursive) {
    const target = targetFolder(location.path, local === '.' ? './' : local);
    await getTree(session, location, target, { ...options, transfers, isDeep: true });
    return;
  }
  refuseFolderOptions(options);
  const { gateway, out, signal } = session;
  const { connectionId, path } = location;
  const name = posix.basename(path);
  const file = local === '-' ? undefined : await localFile(local, name);
  if (file !== undefined && !overwrite && existsSync(file)) throw exists(file);
  const line = new ProgressLine(name, out.isJson ? false : progress);
  const startedAt = performance.now();
  try {
    if (file === undefined) {
      const { body } = await gateway.files.download(connectionId, path, { onProgress: line.update, signal });
      // Standard output stays open, because it belongs to the caller.
      await pipeline(Readable.fromWeb(body), process.stdout, { signal, end: false });
      return;
    }
    await fetchFile(session, location, file, { overwrite, onProgress: line.update });
    const durationMs = Math.round(performance.now() - startedAt);
    const { size } = statSync(file);
    out.show({ connectionId, path, file, size, durationMs }, () => {
      line.end();
      return `${printable(file)}  ${bytesText(size)} in ${durationMs} ms`;
    });
  } catch (thrown) {
    throw withAdvice(thrown, source);
  } finally {
    line.end();
  }
}

/** Fetches the folders that a glob matches, each with everything below it. */
async function getFolders(
  session: Session,
  connectionId: string,
  glob: Glob,
  local: string,
  options: FolderOptions,
): Promise<number> {
  let found = 0;
  for await (const { path, name } of foldersIn(session, connectionId, glob)) {
    found += 1;
    const [below = ''] = safeNames(name);
    await getTree(session, { connectionId, path }, join(local, below), { ...options, isDeep: true });
  }
  return found;
}

/** A folder written with a slash at its end is created, as put does on servers. */
async function localFile(local: string, name: string): Promise<string> {
  const isNamedFolder = local.endsWith('/') || local.endsWith(sep);
  if (isNamedFolder) await mkdir(local, { recursive: true });
  else if (!existsSync(local) || !statSync(local).isDirectory()) return local;
  return join(local, ...safeNames(name));
}
