/**
 * The folder of the installed package. Modules run from dist/src one by one, and from dist/bundle: no relative path
 * between them is fixed.
 */
import { existsSync, readFileSync } from 'node:fs';

/** Ends with a slash. The nearest folder above with a package.json. */
export const PACKAGE_ROOT: URL = rootAbove(new URL('.', import.meta.url));

/** The used fields of package.json. */
interface PackageManifest {
  readonly version: string;
  readonly bin: Readonly<Record<string, string>>;
}

/** `name` is a path below the package, such as `dist/site`. */
export const inPackage = (name: string): URL => new URL(name, PACKAGE_ROOT);

export function readManifest(): PackageManifest {
  return JSON.parse(readFileSync(inPackage('package.json'), 'utf8')) as PackageManifest;
}

function rootAbove(folder: URL): URL {
  const above = new URL('..', folder);
  return existsSync(new URL('package.json', folder)) || above.href === folder.href ? folder : rootAbove(above);
}
