/** The installed packages according to package-lock.json, all of them or only those of some dependencies. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './places.js';

interface Locked {
  readonly version: string;
  /** Present if it is installed under another name. */
  readonly name?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** By their folders, such as `node_modules/a/node_modules/b`. */
type Tree = Readonly<Record<string, Locked>>;

const { lockfileVersion, packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
  readonly lockfileVersion: number;
  readonly packages: Tree;
};

export const LOCKED: Tree = packages;

/** The packages that these dependencies of the project install, themselves included. */
function closureOf(names: readonly string[]): Tree {
  const found = new Map<string, Locked>();
  const add = (name: string, from: string): void => {
    const folder = installed(name, from);
    if (folder === undefined || found.has(folder)) return;
    const locked = packages[folder] as Locked;
    found.set(folder, locked);
    const { dependencies, optionalDependencies, peerDependencies } = locked;
    for (const below of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }))
      add(below, folder);
  };
  for (const name of names) add(name, '');
  return Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Searches like Node.js: from the folder of the importer upwards. */
function installed(name: string, from: string): string | undefined {
  for (let above = from; ; above = above.slice(0, Math.max(0, above.lastIndexOf('node_modules/') - 1))) {
    const folder = `${above === '' ? '' : `${above}/`}node_modules/${name}`;
    if (folder in packages) return folder;
    if (above === '') return undefined;
  }
}

/** A lock file of a package with only these dependencies: its users install what was tested. */
export function lockOf(
  manifest: { readonly name: string; readonly version: string; readonly dependencies?: object },
  names: readonly string[],
): string {
  const { name, version } = manifest;
  const root = Object.fromEntries(
    Object.entries(manifest).filter(([key]) =>
      ['name', 'version', 'license', 'dependencies', 'optionalDependencies', 'bin', 'engines'].includes(key),
    ),
  );
  const lock = { name, version, lockfileVersion, requires: true, packages: { '': root, ...closureOf(names) } };
  return `${JSON.stringify(lock, null, 2)}\n`;
}
