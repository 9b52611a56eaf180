/** Names that a job cannot process: the fault of each, and its report. */
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { NameEncoding } from '../base/encoding.js';
import type { Connection } from '../connections/connection.js';
import { definitionOf } from '../contract/connection/types.js';
import { MAX_NAME_BYTES } from '../base/file-name.js';
import type { Ends } from '../operations/onto-itself.js';
import { encodedPath, encodingOn, inexpressibleIn } from '../remotes/encoded-names.js';
import { labelOf } from '../remotes/left-out.js';
import { textOfKey } from '../remotes/path.js';
import type { LeftOut } from '../remotes/remote.js';
import type { NewJobFile } from '../storage/storage.js';
import type { FileFilter } from './file-filter.js';

/** Below the job's folder: the limit of an index of PostgreSQL, with some reserve. */
const MAX_PATH_BYTES = 2_500;
const MAX_TOLD_BYTES = 1_000;
const CONTROL = /\p{Cc}/u;
const SLASH = Buffer.from('/');

/** The last name of a path. */
export const nameIn = (path: Buffer): Buffer => path.subarray(path.lastIndexOf(0x2f) + 1);

/** Names that no server is asked for. */
export function problemOf(path: Buffer): string | undefined {
  if (path.length > MAX_PATH_BYTES) return `makes a path of more than ${MAX_PATH_BYTES} bytes`;
  return CONTROL.test(path.toString()) ? 'holds control characters' : undefined;
}

/** The fault of a name that no path can have. */
function defectOf(name: Buffer): string {
  const text = name.toString();
  if (CONTROL.test(text)) return 'holds control characters';
  if (text.includes('/')) return 'holds a slash';
  return text === '' || text === '.' || text === '..' ? `is ${JSON.stringify(text)}` : 'is too long';
}

/** The fault of a name that the destination cannot have. */
export function targetProblem({ source, target }: Ends, path: Buffer): string | undefined {
  if (!isUtf8(path) && !definitionOf(target).can.rawNames) return 'is not UTF-8, which the keys of S3 objects must be';
  return folderProblem({ source, target }, path);
}

/** The fault of the name of a folder that the destination cannot have. */
export function folderProblem({ source, target }: Ends, path: Buffer): string | undefined {
  return encodingProblem(encodingOn(source), encodingOn(target), path) ?? lengthProblem(target, path);
}

function encodingProblem(source: NameEncoding, target: NameEncoding, path: Buffer): string | undefined {
  if (isUtf8(path)) {
    const fault = inexpressibleIn(target, path.toString());
    return fault === undefined ? undefined : `holds ${fault}`;
  }
  // The same bytes would be another name there, or none.
  return source === target ? undefined : `is no text in ${source.name}, so it has no name in ${target.name}`;
}

/** Servers report it like any other failure, which would be tried again for minutes. */
function lengthProblem(target: Connection, path: Buffer): string | undefined {
  if (definitionOf(target).can.isObjectStore) return undefined;
  if (encodedPath(encodingOn(target), textOfKey(nameIn(path))).length <= MAX_NAME_BYTES) return undefined;
  return `is longer than ${MAX_NAME_BYTES} bytes, which the destination cannot hold`;
}

/** In a form that a row can store: a long path is cut, and stays unique. */
export function storablePath(path: Buffer): Buffer {
  if (path.length === 0) return SLASH;
  if (path.length <= MAX_PATH_BYTES) return path;
  const tag = createHash('sha256').update(path).digest('hex').slice(0, 8);
  return Buffer.concat([path.subarray(0, MAX_TOLD_BYTES), Buffer.from(`…${tag}`)]);
}

/** Whether the filter takes it, or could take something in it. */
export function mayBeWanted(filter: FileFilter, path: string, depth: number, { isDirectory, why }: LeftOut): boolean {
  const isTaken = !isDirectory && filter.takesPath(path);
  return isTaken || ((isDirectory || why === 'unreadable') && filter.enters(path, depth));
}

/** The record of it in the job. */
export function findingOf(what: LeftOut): Pick<NewJobFile, 'state' | 'errorCode' | 'errorMessage'> {
  const { name, why } = what;
  if (why === 'link') return left('a link that leads nowhere');
  if (why === 'name' && name !== undefined) return badPath(`the name ${defectOf(name)}`);
  const errorMessage = `the gateway cannot read how the server lists it: ${JSON.stringify(what.line ?? labelOf(what))}`;
  return { state: 'failed', errorCode: 'protocol_error', errorMessage };
}

export const badPath = (errorMessage: string) => ({ state: 'failed', errorCode: 'bad_path', errorMessage }) as const;

export const left = (errorMessage: string) => ({ state: 'skipped', errorMessage }) as const;

export const CLASH = {
  state: 'failed',
  errorCode: 'already_exists',
  errorMessage:
    'the destination takes its name for that of another entry of the folder: they differ only in case, or in how their letters are composed',
} as const;
