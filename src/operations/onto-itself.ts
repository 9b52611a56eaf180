/**
 * Proof that a copy is another file than its source. Connections have many names for one place: host names and
 * addresses, logins, root folders, links, mounts, endpoints of a store, protocols. So names prove nothing; the servers
 * are asked.
 * Two folders are different if one of them lacks a name of the other one, or has a file of another size under that
 * name. Otherwise a hidden file is made through the target: if the source shows it, both are one place.
 */
import { hasCode } from '../base/errors.js';
import type { Connection } from '../connections/connection.js';
import { definitionOf } from '../contract/connection/types.js';
import { encodingOn } from '../remotes/encoded-names.js';
import { makeHiddenFile, removeHiddenFile } from '../remotes/hidden-file.js';
import type { Leftovers } from '../remotes/leftovers.js';
import { baseName, joinPath, parentOf, ROOT, type RemotePath } from '../remotes/path.js';
import type { Remotes } from '../remotes/registry.js';
import type { FileInfo, Remote } from '../remotes/remote.js';
import { find, OntoItself } from './conflicts.js';

export interface Ends {
  readonly source: Connection;
  readonly target: Connection;
}

export interface OpenEnds {
  readonly source: Remote;
  readonly target: Remote;
}

/**
 * A job or a route, whose files share what was proven about their folders; inside a scope no file may be copied into
 * its own folder.
 */
export interface ProofScope {
  readonly id: string;
}

/** Mounts and links change: after this time it is proven again. */
const PROVEN_FOR_MS = 60_000;
const MOST_PROOFS = 10_000;

interface Proof {
  readonly until: number;
  readonly answer: Promise<boolean>;
}

export class FolderProofs {
  readonly #remotes: Pick<Remotes, 'place'>;
  readonly #leftoversOf: (connection: Connection) => Leftovers;
  readonly #proofs = new Map<string, Proof>();

  constructor(remotes: Pick<Remotes, 'place'>, leftoversOf: (connection: Connection) => Leftovers) {
    this.#remotes = remotes;
    this.#leftoversOf = leftoversOf;
  }

  /** Call before `to` is written, and before `from` is removed because of it. @throws OntoItself */
  async refuseOntoItself(
    ends: Ends,
    open: OpenEnds,
    from: RemotePath,
    to: RemotePath,
    scope: ProofScope | undefined,
  ): Promise<void> {
    if (ends.source.id === ends.target.id && from === to) throw new OntoItself(from);
    const mayBeOneName = folded(baseName(from)) === folded(baseName(to)) || mayBeSameBytes(ends, from, to);
    if (!mayBeOneName && scope === undefined) return;
    if (await this.#areApart(ends, open, from, to, scope)) return;
    throw new OntoItself(
      from,
      ': both connections lead to the same folder, under different names. Nothing was changed',
    );
  }

  #areApart(
    ends: Ends,
    open: OpenEnds,
    from: RemotePath,
    to: RemotePath,
    scope: ProofScope | undefined,
  ): Promise<boolean> {
    const prove = (): Promise<boolean> => this.#prove(ends, open, from, to, scope === undefined);
    // Not shared: what one client's request finds out must not fail another client's.
    if (scope === undefined) return prove();
    const [source, target] = foldersOf(ends, from, to);
    const [one, other] = [this.#nameOf(ends.source, source), this.#nameOf(ends.target, target)];
    const key = `${scope.id}\n${one}\n${other}`;
    const known = this.#proofs.get(key);
    if (known !== undefined && known.until > performance.now()) return known.answer;
    const answer = prove();
    this.#proofs.delete(key);
    this.#proofs.set(key, { until: performance.now() + PROVEN_FOR_MS, answer });
    for (const oldest of this.#proofs.keys()) {
      if (this.#proofs.size <= MOST_PROOFS) break;
      this.#proofs.delete(oldest);
    }
    answer.catch(() => this.#proofs.delete(key));
    return answer;
  }

  #nameOf(connection: Connection, folder: RemotePath): string {
    return `${connection.id} ${this.#remotes.place(connection, folder)}`;
  }

  async #prove({ target }: Ends, open: OpenEnds, from: RemotePath, to: RemotePath, isAlone: boolean): Promise<boolean> {
    // Nothing is replaced, or the target's folder does not exist while the source's does.
    const there = await unlessDenied(find(open.target, isAlone ? to : parentOf(to)));
    if (there === undefined) return true;
    const isNamedAlike = there !== 'denied' && baseName(from) === baseName(to);
    const existing = isNamedAlike ? await unlessDenied(find(open.target, to)) : 'denied';
    // A login that may only write shows nothing: the hidden file decides.
    if (existing !== 'denied') {
      const original = await find(open.source, from);
      // A file that appears, disappears or grows meanwhile proves nothing.
      if (!isLike(existing, original) && isLike(existing, await find(open.target, to))) return true;
    }
    return (await folderShownBy(open, [parentOf(from)], parentOf(to), this.#leftoversOf(target))) === undefined;
  }
}

/** A store has no links or mounts: what is proven about two folders is valid for equally named folders below them. */
function foldersOf({ source, target }: Ends, from: RemotePath, to: RemotePath): readonly [RemotePath, RemotePath] {
  let [one, other] = [parentOf(from), parentOf(to)];
  if (!definitionOf(source).can.isObjectStore || !definitionOf(target).can.isObjectStore) return [one, other];
  while (one !== ROOT && other !== ROOT && baseName(one) === baseName(other)) {
    [one, other] = [parentOf(one), parentOf(other)];
  }
  return [one, other];
}

async function unlessDenied<T>(lookup: Promise<T>): Promise<T | 'denied'> {
  try {
    return await lookup;
  } catch (error) {
    if (hasCode(error, 'permission_denied')) return 'denied';
    throw error;
  }
}

function isLike(one: FileInfo | undefined, other: FileInfo | undefined): boolean {
  return one?.isDirectory === other?.isDirectory && one?.size === other?.size;
}

/**
 * The source's folder that is also the target's folder, which exists; undefined = none. Errors: those of writing and
 * looking.
 */
export async function folderShownBy(
  { source, target }: OpenEnds,
  folders: readonly RemotePath[],
  folder: RemotePath,
  leftovers: Leftovers,
): Promise<RemotePath | undefined> {
  const hidden = await makeHiddenFile(target, folder, 'same', leftovers);
  try {
    for (const one of folders) {
      if ((await find(source, joinPath(one, baseName(hidden)))) !== undefined) return one;
    }
    return undefined;
  } finally {
    await removeHiddenFile(target, hidden, leftovers);
  }
}

/** In two encodings the same bytes are different text. */
function mayBeSameBytes({ source, target }: Ends, from: RemotePath, to: RemotePath): boolean {
  return encodingOn(source) !== encodingOn(target) && [from, to].every((path) => BEYOND_ASCII.test(baseName(path)));
}

const BEYOND_ASCII = /\P{ASCII}/u;

/** Servers may treat names as equal that differ in case or composition. */
function folded(name: string): string {
  return name.normalize('NFC').toUpperCase().toLowerCase();
}
