/**
 * Sets the time of a file: by MFMT if the server announces it, or by MDTM with two arguments on vsftpd, which has no
 * MFMT.
 */
import type { RemotePath } from '../../path.js';
import type { FileInfo } from '../../remote.js';
import { isSameTime } from '../../times.js';
import { timeValue } from '../names/entries.js';
import { QUARTER_HOUR_MS } from '../names/list-zone.js';
import type { FtpOperation } from '../session/operation.js';
import { isUnsupported } from '../session/replies.js';
import { measure } from './lookup.js';
import type { FtpLease } from '../session/session.js';
import { DAY_MS } from '../../../contract/units.js';

/** Other servers would read the time as part of the name. */
const setterOf = ({ control, features }: FtpLease): 'MFMT' | 'MDTM' | undefined =>
  features.setsTimes ? 'MFMT' : control.isSoftware('vsftpd') ? 'MDTM' : undefined;

export const canSetTimes = (lease: FtpLease): boolean => setterOf(lease) !== undefined;

/** Sets the time as far as the server supports it; resolves with the file's facts after that. */
export async function dated(operation: FtpOperation, path: RemotePath, time: Date): Promise<FileInfo> {
  const { memory } = operation.lease;
  const setter = setterOf(operation.lease);
  if (setter === undefined) return (await measure(operation, path)).info;
  const set = (value: Date): ReturnType<typeof measure> =>
    measure(operation, path, { verb: `${setter} ${timeValue(value)}`, path });
  let measured = await set(time);
  const { reply } = measured;
  const requested = Math.floor(time.getTime() / 1000) * 1000;
  const apart = measured.info.modifiedAt.getTime() - requested;
  const isKnown = reply !== undefined && !isUnsupported(reply);
  // Some servers read it as local time, which differs by whole quarters of an hour.
  if (isKnown && apart !== 0 && apart % QUARTER_HOUR_MS === 0 && Math.abs(apart) <= DAY_MS) {
    measured = await set(new Date(requested - apart));
  }
  memory.keepsTimes = isSameTime(measured.info.modifiedAt, time);
  return measured.info;
}
