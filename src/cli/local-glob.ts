/** Globs for local files that no shell has expanded: on Windows, or in quotes. */
import { existsSync } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { compileFolderGlob } from '../base/globs/folder-glob.js';
import { compileGlob } from '../base/globs/glob.js';
import { UsageError } from './exit-codes.js';
import { globOf } from './location.js';

/**
 * The names that a shell would insert, in order; an existing path stays as it is. @throws Error (ENOENT) if nothing
 * matches
 */
export async function expand(given: string): Promise<readonly string[]> {
  const glob = globOf(process.platform === 'win32' ? given.replaceAll('\\', '/') : given);
  if (glob === undefined || existsSync(given)) return [given];
  const found: string[] = [];
  const search = { root: glob.folder, matches: matcher(given, glob.pattern), reaches: compileFolderGlob(glob.pattern) };
  for await (const name of namesBelow(search, '')) found.push(join(glob.folder, name));
  if (found.length === 0) throw Object.assign(new Error(`nothing here matches ${given}`), { code: 'ENOENT' });
  return found.sort();
}

function matcher(given: string, pattern: string): (path: string) => boolean {
  try {
    return compileGlob(pattern);
  } catch (error) {
    throw new UsageError(`${given}: ${(error as Error).message}`);
  }
}

interface Search {
  readonly root: string;
  readonly matches: (path: string) => boolean;
  readonly reaches: (folder: string) => boolean;
}

async function* namesBelow(search: Search, folder: string): AsyncGenerator<string, void> {
  for await (const entry of await opendir(join(search.root || '.', folder))) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (search.matches(path)) yield path;
    // As in a shell, "**" follows no links.
    if (entry.isDirectory() && search.reaches(path)) yield* namesBelow(search, path);
  }
}
