/** A small file of the system that somebody may edit while the program runs. */
import { readFileSync, statSync } from 'node:fs';

/** Whether it has changed is asked no more often than this. */
const LOOK_AGAIN_MS = 1_000;

/**
 * What `parse` makes of the file, read again when it has changed; of "" where there is none. Synchronous on purpose: it
 * takes microseconds, and must not wait in line behind whatever else the threads for file access do.
 */
export function watchedFile<T>(file: string, parse: (text: string) => T): () => T {
  let lookedAt = -Infinity;
  let seen: string | undefined;
  let parsed: T | undefined;
  return () => {
    const now = performance.now();
    if (parsed !== undefined && now - lookedAt < LOOK_AGAIN_MS) return parsed;
    lookedAt = now;
    const version = versionOf(file);
    if (parsed === undefined || version !== seen) {
      seen = version;
      parsed = parse(textOf(file));
    }
    return parsed;
  };
}

function versionOf(file: string): string {
  try {
    const { mtimeMs, ino, size } = statSync(file);
    return `${mtimeMs} ${ino} ${size}`;
  } catch {
    return '';
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
