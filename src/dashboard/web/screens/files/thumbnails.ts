/**
 * Small pictures of the images in view: the one inside a large JPEG, or an image that is small itself. Each of them is
 * one download, which the history shows.
 */
import { useEffect, useState } from 'react';
import type { FileInfo } from '../../api/types.ts';
import { readRange } from './content.ts';
import { embeddedPicture } from './embedded-picture.ts';
import { downloadUrl } from './links.ts';

/** A JPEG has its small picture near the start. */
const HEAD_BYTES = 64 * 1024;
/** Smaller images are shown themselves. */
const MOST_BYTES = 256 * 1024;
const AT_ONCE = 2;
const MOST_KEPT = 200;
const JPEG = /\.jpe?g$/i;
const IMAGE = /\.(jpe?g|png|gif|webp|avif|bmp|ico)$/i;

/** Object URLs by file; undefined = it has none. The oldest are first. */
const kept = new Map<string, string | undefined>();
const waiting = new Set<() => void>();
let running = 0;

/** The address of the picture, once there is one. `connectionId`: undefined while pictures are off. */
export function useThumbnail(connectionId: string | undefined, file: FileInfo): string | undefined {
  const { size, modifiedAt } = file;
  const bytes = size <= MOST_BYTES ? size : JPEG.test(file.name) ? HEAD_BYTES : 0;
  const isWanted = connectionId !== undefined && bytes > 0 && !file.isDirectory && IMAGE.test(file.name);
  const url = isWanted ? downloadUrl(connectionId, file) : undefined;
  const key = `${url ?? ''} ${size} ${modifiedAt}`;
  const [shown, setShown] = useState<readonly [key: string, address: string | undefined]>();
  useEffect(() => {
    if (url === undefined) return undefined;
    const abort = new AbortController();
    const load = async (): Promise<void> => {
      if (!kept.has(key)) keep(key, await read(url, bytes, size, abort.signal));
      if (!abort.signal.aborted) setShown([key, kept.get(key)]);
    };
    // A picture that cannot be read is left out: the download of the file says why.
    const start = (): void =>
      void load()
        .catch(() => undefined)
        .finally(end);
    waiting.add(start);
    startNext();
    return () => {
      waiting.delete(start);
      abort.abort();
    };
  }, [url, key, bytes, size]);
  return url !== undefined && shown?.[0] === key ? shown[1] : undefined;
}

/** Call when Files is left: they take memory, and are data of an account that may log out. */
export function forgetThumbnails(): void {
  for (const address of kept.values()) if (address !== undefined) URL.revokeObjectURL(address);
  kept.clear();
}

function startNext(): void {
  const [next] = waiting;
  if (next === undefined || running >= AT_ONCE) return;
  waiting.delete(next);
  running += 1;
  next();
}

function end(): void {
  running -= 1;
  startNext();
}

async function read(url: string, most: number, size: number, signal: AbortSignal): Promise<string | undefined> {
  const { bytes } = (await readRange(url, `bytes=0-${most - 1}`, signal)) ?? { bytes: undefined };
  const picture = bytes && (size <= MOST_BYTES ? bytes : embeddedPicture(bytes));
  return picture && URL.createObjectURL(new Blob([picture]));
}

function keep(key: string, address: string | undefined): void {
  kept.set(key, address);
  for (const [oldest, former] of kept) {
    if (kept.size <= MOST_KEPT) return;
    kept.delete(oldest);
    if (former !== undefined) URL.revokeObjectURL(former);
  }
}
