/** Reads the part of a file that a preview shows: the beginning or end of a text, or all bytes. */
import { ApiError, fetchAnswer } from '../../api/client.ts';

/** Limit of a text. */
export const MOST_TEXT = 256 * 1024;
/** Limit of an image or a PDF. */
export const MOST_MEDIA = 25 * 1024 * 1024;

export type Kind = 'image' | 'pdf' | 'csv' | 'json' | 'log' | 'text';

const KINDS: readonly (readonly [RegExp, Kind])[] = [
  [/\.(png|jpe?g|gif|webp|avif|svg|bmp|ico)$/i, 'image'],
  [/\.pdf$/i, 'pdf'],
  [/\.(csv|tsv)$/i, 'csv'],
  [/\.(json|geojson)$/i, 'json'],
  [/(\.log(\.\d+)?|^(syslog|messages))$/i, 'log'],
];

export function kindOf(name: string): Kind {
  return KINDS.find(([pattern]) => pattern.test(name))?.[1] ?? 'text';
}

export interface Part {
  readonly text: string;
  /** The size of the file at the time of the read. */
  readonly size: number;
  readonly isWhole: boolean;
}

/** Null if the file is not UTF-8 text. The file may have changed since it was listed. */
export async function readText(url: string, which: 'start' | 'end', signal?: AbortSignal): Promise<Part | null> {
  const range = which === 'start' ? `bytes=0-${MOST_TEXT - 1}` : `bytes=-${MOST_TEXT}`;
  const read = await readRange(url, range, signal);
  if (read === undefined) return { text: '', size: 0, isWhole: true };
  const { bytes, size } = read;
  const isWhole = bytes.length >= size;
  const text = decode(isWhole || which === 'start' ? bytes : fromNextLine(bytes));
  return text === null ? null : { text, size, isWhole };
}

interface More {
  readonly text: string;
  readonly size: number;
}

/** The text after `from`. Null if there is no new text; undefined if the file became shorter or grew too much. */
export async function readMore(url: string, from: number, signal: AbortSignal): Promise<More | null | undefined> {
  const { headers } = await fetchAnswer('HEAD', url, undefined, signal);
  const size = Number(headers.get('Content-Length') ?? from);
  if (size === from) return null;
  if (size < from || size - from > MOST_TEXT) return undefined;
  const read = await readRange(url, `bytes=${from}-${size - 1}`, signal);
  const text = read === undefined ? null : decode(read.bytes);
  return read === undefined || text === null ? undefined : { text, size: from + read.bytes.length };
}

/** Undefined for an empty file, which has no range. */
export async function readRange(
  url: string,
  range: string,
  signal?: AbortSignal,
): Promise<{ readonly bytes: Uint8Array<ArrayBuffer>; readonly size: number } | undefined> {
  try {
    const answer = await fetchAnswer('GET', url, undefined, signal, { Range: range });
    const bytes = new Uint8Array(await answer.arrayBuffer());
    const [, total] = /\/(\d+)$/.exec(answer.headers.get('Content-Range') ?? '') ?? [];
    return { bytes, size: total === undefined ? bytes.length : Number(total) };
  } catch (error) {
    if (error instanceof ApiError && error.code === 'bad_range') return undefined;
    throw error;
  }
}

function fromNextLine(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(bytes.indexOf(0x0a) + 1);
}

function decode(bytes: Uint8Array): string | null {
  try {
    // With `stream`, a character cut at the end is not an error. A byte order mark is content.
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true });
    return text.includes('\0') ? null : text;
  } catch {
    return null;
  }
}
