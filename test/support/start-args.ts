/** The programs that the build makes, and how `npm start` starts the gateway: each test starts it in the same way. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { inPackage, PACKAGE_ROOT } from '../../src/base/package-root.js';

interface Manifest {
  readonly scripts: { readonly start: string };
  readonly bin: { readonly ftg: string };
}

const manifestIn = (root: URL): Manifest => JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as Manifest;
/** The words after `exec node`. */
const wordsOf = ({ scripts }: Manifest): readonly string[] => scripts.start.split(' ').slice(2);
const own = manifestIn(PACKAGE_ROOT);
const words = wordsOf(own);

/** The options of Node.js before the program. */
export const START_ARGS: readonly string[] = words.slice(0, -1);
/** From the root of the project. */
export const MAIN_PATH = words.at(-1) ?? '';
export const MAIN = fileURLToPath(inPackage(MAIN_PATH));
export const FTG = fileURLToPath(inPackage(own.bin.ftg));

/** The program of another checkout, which may have another version. */
export function mainOf(checkout: string): string {
  const root = pathToFileURL(`${resolve(checkout)}/`);
  return fileURLToPath(new URL(wordsOf(manifestIn(root)).at(-1) ?? '', root));
}

/** The same gateway module by module, for debugging and profiling. */
export const unbundledOf = (checkout: string = fileURLToPath(PACKAGE_ROOT)): string =>
  join(resolve(checkout), 'dist/src/main.js');
