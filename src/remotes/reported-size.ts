/** The size that a server reports for a file may be wrong, or out of date. */
import { hasCode, type GatewayError } from '../base/errors.js';
import type { ByteRange, FileInfo, SelectRange } from './remote.js';

/** A range, or why a file of that size has none. */
export type RangeChoice =
  | { readonly range: ByteRange; readonly refusal?: undefined }
  | { readonly range?: undefined; readonly refusal: GatewayError };

/** Undefined = the whole file. Throws errors of `select` that have other causes than the size. */
export function chooseRange(info: FileInfo, select: SelectRange | undefined): RangeChoice | undefined {
  try {
    const range = select?.(info);
    return range === undefined ? undefined : { range };
  } catch (refusal) {
    if (hasCode(refusal, 'bad_range')) return { refusal };
    throw refusal;
  }
}

/**
 * For a second try after a wrong size: if the file has grown, the range is chosen again; otherwise the file is read
 * whole.
 */
export function chooseAgain(before: FileInfo, select: SelectRange): SelectRange {
  return (now) => (now.size > before.size ? select(now) : undefined);
}

/**
 * Whether a file has grown since it was reported as `before`: then that size was right, and belongs to the former
 * content.
 */
export function hasGrown(before: FileInfo, now: FileInfo): boolean {
  return now.size > before.size && now.modifiedAt > before.modifiedAt;
}
