/** The size that a server reports of a file, which need not be its true one, or not any more. */
import { hasCode, type GatewayError } from '../base/errors.js';
import type { ByteRange, FileInfo, SelectRange } from './remote.js';

/** A range, or why there is none in a file of that size. */
export type RangeChoice =
  | { readonly range: ByteRange; readonly refusal?: undefined }
  | { readonly range?: undefined; readonly refusal: GatewayError };

/** Undefined = the whole file. Throws what `select` throws for other reasons than the size. */
export function chooseRange(info: FileInfo, select: SelectRange | undefined): RangeChoice | undefined {
  try {
    const range = select?.(info);
    return range === undefined ? undefined : { range };
  } catch (refusal) {
    if (hasCode(refusal, 'bad_range')) return { refusal };
    throw refusal;
  }
}

/** For a second try at a file whose size was not true: of one that has grown the range is chosen once more, others are read whole. */
export function chooseAgain(before: FileInfo, select: SelectRange): SelectRange {
  return (now) => (now.size > before.size ? select(now) : undefined);
}

/** Whether a file has grown since it was reported as it was `before`: then that was true, and is the file as it was. */
export function hasGrown(before: FileInfo, now: FileInfo): boolean {
  return now.size > before.size && now.modifiedAt > before.modifiedAt;
}
