/** File names: within the limit of file systems, 255 bytes of UTF-8; and those of unfinished files. */

export const MAX_NAME_BYTES = 255;

/** The hidden names of unfinished files, of any gateway and any tag: see temporaryName. */
export const OWN_TEMPORARY = /^\.ftg-(?:[0-9a-f]{8}-|[a-z]+-[0-9a-f]{12}\.)/;

/** The longest beginning of `name` that has at most `bytes` bytes, cut between characters. */
export function nameStart(name: string, bytes: number): string {
  let kept = [...name];
  while (Buffer.byteLength(kept.join('')) > bytes) kept = kept.slice(0, -1);
  return kept.join('');
}

/** The longest end of `name` that has at most `bytes` bytes, cut between characters: it keeps the extension. */
export function nameEnd(name: string, bytes: number): string {
  let kept = [...name];
  while (Buffer.byteLength(kept.join('')) > bytes) kept = kept.slice(1);
  return kept.join('');
}
