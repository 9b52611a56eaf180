/** What an interrupted transfer goes on from when its command is run again: a short text for each, in a file beside the profiles. */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { profilePath } from './profiles.js';

/** Below, a second try costs less than what it takes to go on. */
export const RESUMABLE_BYTES = 64 * 1024 * 1024;
/** Nobody goes on with one that has lain for so long. */
const FORGET_MS = 7 * 86_400_000;

interface Kept {
  read(): string | undefined;
  write(text: string): void;
  forget(): void;
}

/** `parts` tell one transfer from all others of its kind; `dispose` takes away what a forgotten one has left. */
export function keptAs(
  kind: 'uploads' | 'downloads',
  parts: readonly unknown[],
  dispose: (text: string) => void = () => undefined,
): Kept {
  const folder = join(dirname(profilePath(process.env)), kind);
  const file = join(folder, createHash('sha256').update(JSON.stringify(parts)).digest('hex'));
  const read = (one: string): string | undefined => {
    try {
      return readFileSync(one, 'utf8').trim();
    } catch {
      return undefined;
    }
  };
  const forgetOld = (): void => {
    for (const name of readdirSync(folder)) {
      const old = join(folder, name);
      if (Date.now() - statSync(old).mtimeMs <= FORGET_MS) continue;
      dispose(read(old) ?? '');
      rmSync(old, { force: true });
    }
  };
  return {
    read: () => read(file),
    write: (text) => {
      // A transfer that cannot be gone on with is a transfer all the same.
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        forgetOld();
        writeFileSync(file, `${text}\n`, { mode: 0o600 });
      } catch {
        return;
      }
    },
    forget: () => rmSync(file, { force: true }),
  };
}
