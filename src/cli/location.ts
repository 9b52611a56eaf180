/** A place on a connection, in the form `warehouse:/upload/report.pdf`. */
import { posix } from 'node:path';
import { UsageError } from './exit-codes.js';

export interface Location {
  readonly connectionId: string;
  /** "" = the default path of the connection. */
  readonly path: string;
}

export class NotAPlace extends UsageError {
  constructor(readonly text: string) {
    super(`${text} is not a place on a connection, such as warehouse:/upload/report.pdf`);
  }
}

/** Whether it has the form of a place. On Windows C:\x is a local file. */
export function isPlace(text: string, platform: NodeJS.Platform = process.platform): boolean {
  return /^[^:/\\]+:/.test(text) && !(platform === 'win32' && /^[a-z]:[\\/]/i.test(text));
}

/** @throws NotAPlace */
export function parseLocation(text: string): Location {
  if (!isPlace(text)) throw new NotAPlace(text);
  const colon = text.indexOf(':');
  return { connectionId: text.slice(0, colon), path: text.slice(colon + 1) };
}

/** A connection alone means its default folder. @throws NotAPlace */
export function parseFolderLocation(text: string): Location {
  return parseLocation(/^[\w-]+$/.test(text) ? `${text}:` : text);
}

/** @throws UsageError if it names no file */
export function parseFileLocation(text: string): Location {
  const location = parseLocation(text);
  if (isFolder(location.path)) throw new UsageError(`${text} names a folder, not a file`, 'folders need -r');
  return location;
}

/** A folder ends with a slash; an empty path is the default path. */
export function isFolder(path: string): boolean {
  return path === '' || path.endsWith('/');
}

/** Folder and name; the folder is undefined if it is the default path. */
export function splitPath(path: string): { readonly folder: string | undefined; readonly name: string } {
  const cut = path.lastIndexOf('/');
  if (cut < 0) return { folder: undefined, name: path };
  return { folder: cut === 0 ? '/' : path.slice(0, cut), name: path.slice(cut + 1) };
}

/** The full path of a file whose `target` is a folder or a new name. */
export function targetPath(source: string, target: string): string {
  return isFolder(target) ? `${target}${posix.basename(source)}` : target;
}

/**
 * The path of a copied folder: below a target that ends with a slash, under its own name; any other target is its new
 * name.
 */
export function targetFolder(source: string, target: string): string {
  const name = posix.basename(source);
  return isFolder(target) && !['', '.', '..'].includes(name) ? `${target}${name}` : target;
}

export interface Glob {
  readonly folder: string;
  /** Matches the path below the folder. */
  readonly pattern: string;
}

/** "in/*.csv" is "*.csv" in the folder "in"; undefined if the path has no wildcards. */
export function globOf(path: string): Glob | undefined {
  const names = path.split('/');
  const first = names.findIndex((name) => /[*?[\]{}]|[!+@]\(/.test(name));
  if (first < 0) return undefined;
  const folder = names.slice(0, first).join('/');
  return { folder: folder === '' && path.startsWith('/') ? '/' : folder, pattern: names.slice(first).join('/') };
}
