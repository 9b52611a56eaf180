/** Places with globs, which the gateway looks for: "warehouse:in/*.csv". */
import { FtgError, type FileInfo } from '../client/index.js';
import type { Session } from './command.js';
import { type Glob, globOf, type Location } from './location.js';

/** undefined too where something is there by that very name: names may hold stars and brackets. */
export async function globAt(
  { gateway, signal }: Session,
  { connectionId, path }: Location,
): Promise<Glob | undefined> {
  const glob = globOf(path);
  if (glob === undefined) return undefined;
  const { exists } = await gateway.files.exists(connectionId, path, { signal });
  return exists ? undefined : glob;
}

/** Files that match, and no folders. */
export async function* filesIn(
  { gateway, signal }: Session,
  connectionId: string,
  { folder, pattern }: Glob,
): AsyncGenerator<FileInfo, void> {
  const options = { pattern, recursive: isDeep(pattern), signal };
  for await (const { files } of gateway.files.listPages(connectionId, folder === '' ? undefined : folder, options)) {
    for (const file of files) if (!file.isDirectory) yield file;
  }
}

export function isDeep(pattern: string): boolean {
  return pattern.includes('/') || pattern.includes('**');
}

/** As the gateway says it of one file. */
export function nothingMatches(place: string): FtgError {
  return new FtgError(`nothing matches ${place}`, { status: 404, code: 'not_found' });
}
