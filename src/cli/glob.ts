/** Places with globs that the gateway evaluates: "warehouse:in/*.csv". */
import { FtgError, type FileInfo } from '../client/index.js';
import type { Session } from './command.js';
import { UsageError } from './exit-codes.js';
import { type Glob, globOf, type Location } from './location.js';

/** undefined also if an entry has exactly this name: names may contain stars and brackets. */
export async function globAt(
  { gateway, signal }: Session,
  { connectionId, path }: Location,
): Promise<Glob | undefined> {
  const glob = globOf(path);
  if (glob === undefined) return undefined;
  const { exists } = await gateway.files.exists(connectionId, path, { signal });
  return exists ? undefined : glob;
}

/** Matching files without folders. */
export async function* filesIn(session: Session, connectionId: string, glob: Glob): AsyncGenerator<FileInfo, void> {
  for await (const entry of entriesIn(session, connectionId, glob)) if (!entry.isDirectory) yield entry;
}

/** Matching folders, none of them inside another. @throws UsageError for a glob that cannot guarantee that */
export async function* foldersIn(session: Session, connectionId: string, glob: Glob): AsyncGenerator<FileInfo, void> {
  for await (const entry of treesIn(session, connectionId, glob)) if (entry.isDirectory) yield entry;
}

/** Matching files and folders, none of them inside another. @throws UsageError for a glob that cannot guarantee that */
export function treesIn(session: Session, connectionId: string, glob: Glob): AsyncGenerator<FileInfo, void> {
  if (!glob.pattern.includes('**')) return entriesIn(session, connectionId, glob);
  throw new UsageError(`${glob.pattern} names files at any depth: leave -r away`);
}

async function* entriesIn(
  { gateway, signal }: Session,
  connectionId: string,
  { folder, pattern }: Glob,
): AsyncGenerator<FileInfo, void> {
  const options = { pattern, recursive: isDeep(pattern), signal };
  for await (const { files } of gateway.files.listPages(connectionId, folder === '' ? undefined : folder, options)) {
    yield* files;
  }
}

export function isDeep(pattern: string): boolean {
  return pattern.includes('/') || pattern.includes('**');
}

/** The same answer as that of the gateway for one file. */
export function nothingMatches(place: string): FtgError {
  return new FtgError(`nothing matches ${place}`, { status: 404, code: 'not_found' });
}
