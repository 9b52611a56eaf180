/**
 * Builds dist: `node build.js` everything, `node build.js modules` the modules alone, `node build.js bundle` and that part of
 * src/build/build.ts, `node build.js dev` on each change. What has not changed since the last time is left as it is (dist/.build.json). Types are checked by `npm run types`.
 *
 * This file is the part that has to run before there is anything in dist: it makes a module of each file of src, test and
 * bench. src/build/build.ts, one of these, does the rest.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { build } from 'esbuild';

const FOLDERS = ['src', 'test', 'bench'];
/** Scripts of pages, which are bundled, and types that the build makes (src/build/clients). */
const NOT_MODULES = [
  'src/dashboard/web/',
  'src/docs/web/',
  'src/client/api-types.ts',
  'src/client/management-types.ts',
];
const RECORD = 'dist/.modules.json';

/** @type {import('esbuild').BuildOptions} */
const OPTIONS = {
  ...{ outdir: 'dist', outbase: '.', format: 'esm', platform: 'node', target: 'es2023', sourcemap: true },
  tsconfigRaw: { compilerOptions: { target: 'ES2023', verbatimModuleSyntax: true, useDefineForClassFields: true } },
};

process.chdir(import.meta.dirname);
const words = process.argv.slice(2);
await buildModules();
if (words[0] !== 'modules') {
  const { buildOnChange, buildParts } = await import('./dist/src/build/build.js');
  await (words[0] === 'dev' ? buildOnChange(buildModules, () => buildParts(['clients'])) : buildParts(words));
}

/** @returns {Promise<void>} */
async function buildModules() {
  const known = existsSync(RECORD) ? JSON.parse(readFileSync(RECORD, 'utf8')) : {};
  const tool = digest(readFileSync('build.js'), readFileSync('node_modules/esbuild/package.json'));
  const found = Object.fromEntries(sources().map((file) => [file, digest(readFileSync(file), tool)]));
  const changed = Object.keys(found).filter((file) => found[file] !== known[file] || !existsSync(outputOf(file)));
  if (changed.length > 0) await build({ ...OPTIONS, entryPoints: changed });
  const gone = Object.keys(known).filter((file) => !(file in found));
  for (const file of gone) for (const end of ['', '.map']) rmSync(outputOf(file) + end, { force: true });
  mkdirSync('dist', { recursive: true });
  if (changed.length + gone.length > 0) writeFileSync(RECORD, JSON.stringify(found));
}

function sources() {
  return FOLDERS.filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`))
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))
    .filter((file) => !NOT_MODULES.some((folder) => file.startsWith(folder)));
}

function outputOf(file) {
  return `dist/${file.replace(/\.ts$/, '.js')}`;
}

function digest(...parts) {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('base64url');
}
