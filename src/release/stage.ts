/** A staged package: a folder with the content of its tarball. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Licensed } from './licences.js';

export interface Staged {
  readonly name: string;
  readonly version: string;
  readonly folder: string;
  /** Packages whose code is in its files. */
  readonly bundled?: readonly Licensed[];
}

/** Creates it in `folder`, which must not exist yet. */
export function stage(manifest: { readonly name: string; readonly version: string }, folder: string): Staged {
  const { name, version } = manifest;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  return { name, version, folder };
}
