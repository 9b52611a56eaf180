/** What the listings of all protocols share: servers are not trusted to send valid names, or to come to an end. */
import { GatewayError } from '../base/errors.js';
import { baseName, joinPath, type RemotePath } from './path.js';
import type { FileInfo, Rights } from './remote.js';

/** Most entries of one folder; FTP's listings have the same bound, in lines. */
const MAX_ENTRIES = 2_000_000;

/** Counts what a server lists in one folder. */
export class ListingBounds {
  readonly #folder: string;
  readonly #maxEntries: number;
  #entries = 0;

  constructor(folder: string, maxEntries = MAX_ENTRIES) {
    this.#folder = folder;
    this.#maxEntries = maxEntries;
  }

  /**
   * Counts a reply or page with this number of entries, at least as `atLeast`, so that even replies with few entries
   * come to an end. @throws GatewayError protocol_error
   */
  add(entries: number, atLeast: number): void {
    this.#entries += Math.max(entries, atLeast);
    if (this.#entries <= this.#maxEntries) return;
    const text = `the server lists more than ${this.#maxEntries} entries in ${this.#folder}; it was not read further`;
    throw new GatewayError('protocol_error', text, { step: 'transfer' });
  }
}

const UNSAFE = /[/\p{Cc}]/u;
const CONTROL = /\p{Cc}/u;
const MAX_NAME_CHARS = 1024;

/**
 * Undefined for a name that no client could address ("a/b", ".", ""), or that contains control characters for a
 * terminal.
 */
export function entryPath(folder: RemotePath, name: string): RemotePath | undefined {
  if (name === '' || name === '.' || name === '..' || name.length > MAX_NAME_CHARS) return undefined;
  if (UNSAFE.test(name) || !name.isWellFormed()) return undefined;
  try {
    return joinPath(folder, name);
  } catch {
    return undefined;
  }
}

export const EPOCH = new Date(0);

export function fileInfo(path: RemotePath, size: number, modifiedAt: Date, rights?: Rights): FileInfo {
  return infoOf(path, size, false, modifiedAt, rights);
}

export function folderInfo(path: RemotePath, modifiedAt = EPOCH, rights?: Rights): FileInfo {
  return infoOf(path, 0, true, modifiedAt, rights);
}

/** Each object is made in one piece: a long listing has a million of them. */
function infoOf(path: RemotePath, size: number, isDirectory: boolean, modifiedAt: Date, rights?: Rights): FileInfo {
  const name = baseName(path);
  if (rights?.mode === undefined && rights?.owner === undefined) return { name, path, size, isDirectory, modifiedAt };
  const { mode, owner, group } = rights;
  return { name, path, size, isDirectory, modifiedAt, mode, owner, group };
}

/** Owners and groups are few: a long listing holds each of their names once. */
const NAMES = new Map<string, string>();
const MOST_NAMES = 1_000;
const LONGEST_NAME = 64;

/** The name of an owner or a group in a listing; undefined if it cannot be one. */
export function ownerName(text: string): string | undefined {
  const known = NAMES.get(text);
  if (known !== undefined) return known;
  if (text === '' || text.length > LONGEST_NAME || CONTROL.test(text)) return undefined;
  if (NAMES.size >= MOST_NAMES) NAMES.clear();
  NAMES.set(text, text);
  return text;
}
