/**
 * `npm run tools`: installs what checks and tests the gateway, but neither runs nor builds it (package.json beside this file),
 * and links it into node_modules, where sources, tests and editors look. Does nothing if all of it is there.
 */
import { execFileSync } from 'node:child_process';
import console from 'node:console';
import { copyFileSync, existsSync, lstatSync, mkdirSync, mkdtempSync } from 'node:fs';
import { readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import process from 'node:process';

const HERE = import.meta.dirname;
const MODULES = join(HERE, '../../node_modules');
/** Outside the sources, so that nothing that walks through them meets thousands of strange files. */
const CACHE = join(HERE, '../../.cache');
const INSTALLED = join(CACHE, 'tools');
const IS_WINDOWS = process.platform === 'win32';

const read = (file) => JSON.parse(readFileSync(file, 'utf8'));
/** A package under another name has its version at the end: npm:typescript@7.0.2. */
const wanted = Object.entries(read(join(HERE, 'package.json')).dependencies).map(([name, version]) => [
  name,
  version.replace(/^npm:.+@/, ''),
]);

const has = (place, version) => {
  const manifest = join(place, 'package.json');
  return existsSync(manifest) && read(manifest).version === version;
};

/** Every package of the lock file: `npm install` for the gateway removes packages inside of those that are linked. */
function isComplete() {
  const { packages } = read(join(HERE, 'package-lock.json'));
  return Object.entries(packages).every(
    ([place, { version, optional }]) => place === '' || optional === true || has(join(INSTALLED, place), version),
  );
}

/** In a folder of its own until it is complete: an interrupted installation leaves nothing that looks like one. */
function install() {
  mkdirSync(CACHE, { recursive: true });
  const made = mkdtempSync(join(CACHE, 'tools-'));
  try {
    for (const name of ['package.json', 'package-lock.json']) copyFileSync(join(HERE, name), join(made, name));
    console.log(`installing ${wanted.length} tools of test/tools`);
    const options = { cwd: made, stdio: 'inherit', shell: IS_WINDOWS };
    execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], options);
    rmSync(INSTALLED, { recursive: true, force: true });
    renameSync(made, INSTALLED);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

/** `place` leads to `target`; what is there and no link belongs to a package of the gateway. */
function link(target, place) {
  const found = lstatSync(place, { throwIfNoEntry: false });
  if (found !== undefined && !found.isSymbolicLink())
    throw new Error(`${relative(process.cwd(), place)} is of another version: run npm ci`);
  rmSync(place, { force: true });
  mkdirSync(dirname(place), { recursive: true });
  // On Windows a junction needs no rights, and an absolute path.
  symlinkSync(IS_WINDOWS ? target : relative(dirname(place), target), place, 'junction');
}

const missing = wanted.filter(([name, version]) => !has(join(MODULES, name), version));
if (missing.length > 0) {
  if (!isComplete()) install();
  const installed = join(INSTALLED, 'node_modules');
  for (const [name] of missing) link(join(installed, name), join(MODULES, name));
  // Their commands are for the scripts of package.json. Those of npm for Windows cannot be linked.
  const commands = IS_WINDOWS ? [] : readdirSync(join(installed, '.bin'));
  const isFree = (name) => !existsSync(join(MODULES, '.bin', name));
  for (const name of commands.filter(isFree)) link(join(installed, '.bin', name), join(MODULES, '.bin', name));
}
