/**
 * A file that its server has acknowledged counts as stored, even if it cannot be looked up afterwards: drop folders
 * take a file away as soon as it is closed, and some logins may only write. The operation then records why the file was
 * not verified.
 */
import { hasCode } from '../base/errors.js';
import { EPOCH, fileInfo } from './listing.js';
import type { RemotePath } from './path.js';
import { isRefusal } from './publish.js';
import type { Unverified } from '../contract/transfer.js';
import type { Commit, FileInfo, OpenFile, RemoteContext } from './remote.js';

type Reporting = Pick<RemoteContext, 'unverified'>;

const reasonOf = (refusal: unknown): Unverified => (hasCode(refusal, 'not_found') ? 'taken_away' : 'may_not_look');

/** Returns what `find` returns. If the server refuses the lookup, returns a file of `size` bytes without a time. */
export async function findStored(
  { unverified }: Reporting,
  path: RemotePath,
  size: number,
  find: () => Promise<FileInfo>,
): Promise<FileInfo> {
  try {
    return await find();
  } catch (error) {
    if (!isRefusal(error)) throw error;
    unverified?.(reasonOf(error));
    return fileInfo(path, size, EPOCH);
  }
}

/** Reads the stored bytes back, if the server lets the file be opened. */
export async function readBack(
  { unverified }: Reporting,
  check: Commit['check'],
  open: () => Promise<OpenFile>,
): Promise<void> {
  let refusal: unknown;
  const opened = (): Promise<OpenFile> =>
    open().catch((error: unknown) => {
      if (isRefusal(error)) refusal = error;
      throw error;
    });
  try {
    await check?.(opened);
  } catch (error) {
    if (refusal === undefined) throw error;
    unverified?.(reasonOf(refusal));
  }
}
