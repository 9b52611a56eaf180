/** Errors for what blocks an operation, in the same words for every protocol. */
import { GatewayError, type ErrorCode, type Step } from '../base/errors.js';
import { ROOT, type RemotePath } from './path.js';

/** `cause`: the server's own refusal; its words are kept. */
function obstacle(code: ErrorCode, text: string, step: Step, cause?: unknown): GatewayError {
  return new GatewayError(code, text, {
    step,
    cause,
    remote: cause instanceof GatewayError ? cause.remote : undefined,
  });
}

export const notFound = (path: RemotePath): GatewayError => obstacle('not_found', `${path} does not exist`, 'open');

export const isAFolder = (path: RemotePath, cause?: unknown): GatewayError =>
  obstacle('is_a_folder', `${path} is a folder, not a file`, 'open', cause);

export const notAFolder = (path: RemotePath, cause?: unknown): GatewayError =>
  obstacle('not_a_folder', `${path} is a file, not a folder`, 'open', cause);

export const notEmpty = (path: RemotePath, cause?: unknown): GatewayError =>
  obstacle('not_empty', `${path} is not empty`, 'publish', cause);

/** @throws GatewayError bad_path */
export function refuseRoot(path: RemotePath): void {
  if (path === ROOT) throw obstacle('bad_path', 'the root folder / cannot be removed', 'request');
}

export const unequalSizes = (path: RemotePath, actual: number, expected: number): GatewayError =>
  obstacle('size_mismatch', `${path}: ${actual} bytes are on the server, ${expected} were expected`, 'verify');

export const alreadyExists = (path: string, cause?: unknown): GatewayError =>
  obstacle('already_exists', `${path} exists already`, 'publish', cause);

export const folderExistsAt = (path: RemotePath, cause?: unknown): GatewayError =>
  obstacle('is_a_folder', `${path} is a folder, and no file takes its place`, 'publish', cause);

/** Why the entry at `to` blocks a move: only a file can replace a file, and only if `replace` is set. */
export function moveObstacle(
  { isFolder, replace }: { readonly isFolder: boolean; readonly replace: boolean },
  to: RemotePath,
  existing: { readonly isFolder: boolean } | undefined,
): GatewayError | undefined {
  if (existing === undefined) return undefined;
  if (existing.isFolder) return folderExistsAt(to);
  if (isFolder) return obstacle('not_a_folder', `${to} is a file, and no folder takes its place`, 'publish');
  return replace ? undefined : alreadyExists(to);
}

export function cannotResume(why: string): GatewayError {
  return new GatewayError('resume_unsupported', `this connection takes no resumable uploads: ${why}`, { step: 'open' });
}

/** The error for a file in pieces that can no longer be continued. */
export function piecesAreGone(path: RemotePath, cause?: unknown): GatewayError {
  return obstacle(
    'unknown_upload',
    `the stored part of ${path} is gone from the server; begin a new upload`,
    'open',
    cause,
  );
}
