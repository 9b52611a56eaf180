/** The programs that the build makes, and how `npm start` starts the gateway: whatever starts one does so in the same way. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { inPackage } from '../../src/base/package-root.js';

const { scripts, bin } = JSON.parse(readFileSync(inPackage('package.json'), 'utf8')) as {
  readonly scripts: { readonly start: string };
  readonly bin: { readonly ftg: string };
};
const [, , ...words] = scripts.start.split(' ');

/** What is given to Node.js before the program. */
export const START_ARGS: readonly string[] = words.slice(0, -1);
/** From the root of the project. */
export const MAIN_PATH = words.at(-1) ?? '';
export const MAIN = fileURLToPath(inPackage(MAIN_PATH));
/** The same gateway module by module, to be debugged and profiled. */
export const UNBUNDLED = fileURLToPath(inPackage('dist/src/main.js'));
export const FTG = fileURLToPath(inPackage(bin.ftg));
