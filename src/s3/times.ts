/** The time of a file in the metadata `mtime`: seconds since 1970, as rclone and s3fs write it. */
import type { FileInfo } from '../remotes/remote.js';
import { isWritableTime, shownTime } from '../remotes/times.js';
import { S3Error } from './errors.js';

const FIELD = 'x-amz-meta-mtime';

/** @throws S3Error InvalidArgument */
export function timeIn(headers: ReadonlyMap<string, string>): Date | undefined {
  const text = headers.get(FIELD);
  if (text === undefined) return undefined;
  const time = new Date(/^\d{1,12}(\.\d{1,12})?$/.test(text) ? Number(text) * 1_000 : NaN);
  if (isWritableTime(time)) return time;
  throw new S3Error('InvalidArgument', `${FIELD} must be seconds since 1970, up to the year 2106`);
}

export function timeFields(info: FileInfo): Record<string, string> {
  const time = shownTime(info);
  if (!isWritableTime(time)) return {};
  return { 'Last-Modified': time.toUTCString(), [FIELD]: String(time.getTime() / 1_000) };
}
