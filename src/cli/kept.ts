/**
 * The state of interrupted transfers, for continuing them when the command runs again: a short text for each, in a file
 * beside the profiles.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DAY_MS } from '../contract/units.js';
import { profilePath } from './profiles.js';

/** After this time a transfer is not continued. */
const FORGET_MS = 7 * DAY_MS;

interface Kept {
  read(): string | undefined;
  write(text: string): void;
  forget(): void;
}

/** `parts` identify one transfer among all of its kind; `dispose` removes what a forgotten one has left. */
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
      // Without a stored state the transfer still works; it just cannot be continued.
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
