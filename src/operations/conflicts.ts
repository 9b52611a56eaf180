/** Rules for a file that already exists where a copy is to be stored. */
import { GatewayError, hasCode } from '../base/errors.js';
import type { ConflictRule } from '../contract/job.js';
import { baseName, joinPath, parentOf, type RemotePath } from '../remotes/path.js';
import type { FileInfo, Remote } from '../remotes/remote.js';
import type { PathReference } from './path-reference.js';

/** The reason why a file is left unchanged; thrown when that is found out. */
export class LeftAlone extends GatewayError {
  constructor(message: string) {
    super('already_exists', message, { step: 'open' });
  }
}

/** Source and target are one file or one folder, under two names of connections. Nothing was written or removed. */
export class OntoItself extends GatewayError {
  constructor(from: RemotePath, reason = '') {
    super('already_exists', `${from} would be copied onto itself${reason}`, { step: 'open' });
  }
}

/** Whether the rule leaves the existing file unchanged. */
export function isLeftAlone(rule: ConflictRule, error: GatewayError): boolean {
  if (error instanceof OntoItself) return false;
  return error instanceof LeftAlone || (rule === 'skip' && error.code === 'already_exists');
}

export const replaces = (rule: ConflictRule): boolean => rule === 'replace' || rule === 'newer';

/** Numbers that are tried to find a free name. */
const MOST_NAMES = 1000;
const MOST_RACES = 10;

/** The path itself, and names beside it. */
export function* namesFor(path: RemotePath): Generator<RemotePath> {
  yield path;
  for (let number = 1; number < MOST_NAMES; number++) yield numbered(path, number);
}

/** The first of these names that is free. */
export function freeName(wanted: RemotePath): PathReference {
  return async (remote) => {
    for (const place of namesFor(wanted)) {
      if ((await find(remote, place)) === undefined) return place;
    }
    throw new GatewayError('already_exists', `${wanted} and ${MOST_NAMES} names like it exist`, { step: 'open' });
  };
}

/** Repeats `copy` if another client took the name that was free. */
export async function underFreeName<T>(copy: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await copy();
    } catch (error) {
      const isTaken = hasCode(error, 'already_exists') && !(error instanceof OntoItself);
      if (!isTaken || tries === MOST_RACES) throw error;
    }
  }
}

/** @throws LeftAlone if the existing file is as new as the source */
export async function refuseOlder(target: Remote, to: RemotePath, modifiedMs: number): Promise<void> {
  const found = await find(target, to);
  if (found === undefined || found.isDirectory || found.modifiedAt.getTime() < modifiedMs) return;
  throw new LeftAlone(`${to} exists and is not older`);
}

export async function find(remote: Remote, path: RemotePath): Promise<FileInfo | undefined> {
  try {
    return await remote.stat(path);
  } catch (error) {
    if (hasCode(error, 'not_found')) return undefined;
    // No server was asked: the path is of another server, and this one has no such name in its encoding.
    if (hasCode(error, 'bad_path') && error.step === 'request') return undefined;
    throw error;
  }
}

/** `report (2).pdf` */
function numbered(path: RemotePath, number: number): RemotePath {
  const name = baseName(path);
  const dot = name.lastIndexOf('.');
  const [stem, extension] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ''];
  return joinPath(parentOf(path), `${stem} (${number + 1})${extension}`);
}
