/** Selects entries of a tree by globs on their paths below its root, and finds the folders that need not be listed. */
import { refusal } from '../../base/errors.js';
import { compileFolderGlob } from '../../base/globs/folder-glob.js';
import { compileGlob } from '../../base/globs/glob.js';

export interface PathFilter {
  /** Whether the entry at this path below the root ("a/b.csv") is wanted; asked only if its folders are entered. */
  takes(below: string): boolean;
  /** Whether anything below this folder may be wanted. */
  enters(folder: string): boolean;
}

interface PathPatterns {
  /** Entries that match one of these; none = all. */
  readonly include?: readonly string[];
  /** Excludes entries that match one of these; a folder is excluded with everything below it. */
  readonly exclude?: readonly string[];
}

interface Pattern {
  matches(below: string): boolean;
  /** Whether it may match something below this folder. */
  reaches(folder: string): boolean;
}

/** A star also matches a leading dot: all entries of a tree count. */
const GLOBS = { dot: true } as const;

/**
 * A glob with a slash or `**` matches the path below the root, any other one the name, at any depth. `exclude` takes
 * precedence. @throws GatewayError bad_request that names `include` or `exclude`
 */
export function createPathFilter({ include = [], exclude = [] }: PathPatterns): PathFilter {
  const wanted = include.map((glob) => patternOf(glob, 'include'));
  const unwanted = exclude.map((glob) => patternOf(glob, 'exclude'));
  const emptied = exclude.map((glob) => emptiedBy(glob));
  return {
    takes: (below) =>
      (wanted.length === 0 || wanted.some((pattern) => pattern.matches(below))) &&
      !unwanted.some((pattern) => pattern.matches(below)),
    enters: (folder) =>
      (wanted.length === 0 || wanted.some((pattern) => pattern.reaches(folder))) &&
      !unwanted.some((pattern) => pattern.matches(folder)) &&
      !emptied.some((matches) => matches?.(folder)),
  };
}

/** One glob that always matches the whole path below the root. @throws GatewayError bad_request */
export function createPatternFilter(glob: string, field: string): PathFilter {
  const pattern = onPaths(glob, field);
  return { takes: (below) => pattern.matches(below), enters: (folder) => pattern.reaches(folder) };
}

function patternOf(glob: string, field: string): Pattern {
  if (glob.includes('/') || glob.includes('**')) return onPaths(glob, field);
  const matches = compiled(glob, field, compileGlob);
  return { matches: (below) => matches(below.slice(below.lastIndexOf('/') + 1)), reaches: () => true };
}

function onPaths(glob: string, field: string): Pattern {
  const path = withoutStart(glob);
  return { matches: compiled(path, field, compileGlob), reaches: compiled(path, field, compileFolderGlob) };
}

/** `tmp/**` leaves nothing in tmp. */
function emptiedBy(glob: string): ((folder: string) => boolean) | undefined {
  const [, folders] = /^([^!(][^()[\]{}\\]*)\/\*\*$/.exec(withoutStart(glob)) ?? [];
  return folders === undefined ? undefined : compiled(folders, 'exclude', compileGlob);
}

const withoutStart = (glob: string): string => glob.replace(/^\.?\//, '');

function compiled(
  glob: string,
  field: string,
  compile: (glob: string, options: typeof GLOBS) => (text: string) => boolean,
): (text: string) => boolean {
  try {
    return compile(glob, GLOBS);
  } catch {
    throw refusal('bad_request', `${field} must be a glob such as *.csv or in/**/*.{csv,txt}`);
  }
}
