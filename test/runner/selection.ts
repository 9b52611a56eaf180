/** Which test files a run means: those of the tier that is asked for, or whose path contains one of the arguments. */
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runsOnBoth, TIERS, tierOf, type Tier } from '../tiers.js';

/** dist/test, and the root of the repository. */
export const FOLDER = fileURLToPath(new URL('..', import.meta.url));
export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

export interface Request {
  readonly tiers: readonly Tier[];
  /** Absent: all of the tiers. */
  readonly parts: readonly string[];
  /** Runs again what a changed file belongs to, until it is stopped. */
  readonly isWatching: boolean;
  /** Installs what the files need, and runs none of them. */
  readonly onlyInstalls: boolean;
}

const WATCH = '--watch';
const INSTALL = '--install';

/** `--tier=…` more than once, `--watch` or `--install`, and parts of paths. Parts without a tier mean files of any tier. */
export function parseRequest(args: readonly string[]): Request {
  const options = args.filter((arg) => arg.startsWith('--'));
  const parts = args.filter((arg) => !arg.startsWith('--')).map((part) => part.replaceAll('\\', '/'));
  const unknown = options.filter(
    (option) => ![WATCH, INSTALL].includes(option) && !TIERS.some((tier) => option === `--tier=${tier}`),
  );
  if (unknown.length > 0)
    throw new Error(`unknown: ${unknown.join(' ')}; there are ${WATCH}, ${INSTALL}, --tier=${TIERS.join('|')}`);
  const asked = TIERS.filter((tier) => options.includes(`--tier=${tier}`));
  const usual: readonly Tier[] = parts.length > 0 ? TIERS : ['unit', 'main'];
  return {
    tiers: asked.length > 0 ? asked : usual,
    parts,
    isWatching: options.includes(WATCH),
    onlyInstalls: options.includes(INSTALL),
  };
}

/** All test files, by their compiled names below FOLDER, with slashes. */
export function testFiles(): string[] {
  return (
    readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
      .map((name) => name.replaceAll('\\', '/'))
      .filter((name) => name.endsWith('.test.js'))
      // The compiled copy of a file that was moved or removed remains.
      .filter((name) => existsSync(path.join(ROOT, 'test', name.replace(/\.js$/, '.ts'))))
      .sort()
  );
}

export function select({ tiers, parts }: Request): string[] {
  const wanted = parts.map((part) => part.replace(/^test\//, '').replace(/\.ts$/, '.js'));
  return testFiles()
    .filter((name) => wanted.length === 0 || wanted.some((part) => name.includes(part)))
    .filter((name) => tiers.includes(tierOf(name, FOLDER)));
}

/** Files that run again on node:http with tier rest, in addition to their own tier. */
export function selectForNode(request: Request): string[] {
  return request.tiers.includes('rest') ? select({ ...request, tiers: TIERS }).filter(runsOnBoth) : [];
}
