/** Selects the folder's files from a listing: by patterns, temporary names and markers. */
import { refusal } from '../base/errors.js';
import { OWN_TEMPORARY } from '../base/file-name.js';
import { compileGlob } from '../base/globs/glob.js';
import type { FilterReason } from './decide.js';

interface NameRules {
  readonly filePattern: string | null;
  readonly excludePattern: string | null;
  /** The name of the marker that announces a file: `{filename}.done`, `{name}.ok`, `_SUCCESS`. */
  readonly doneFile: string | null;
  readonly recursive: boolean;
  /** Globs of temporary names, which are ignored unless filePattern names them. */
  readonly skipNames: readonly string[];
}

export interface NameFilter {
  /** Whether sub-folders are also watched. */
  readonly isDeep: boolean;
  /** Why this path below the folder is not one of its files; undefined = it is. */
  reasonAgainst(path: string): FilterReason | undefined;
  /** Whether a sub-folder is not listed. */
  skipsFolder(path: string): boolean;
  /** The path of the marker that announces this file; undefined if the folder needs no markers. */
  markerOf(path: string): string | undefined;
  /** Whether this path can be the marker of some file. */
  isMarker(path: string): boolean;
}

type Matcher = (text: string) => boolean;

const PLACEHOLDER = '\u{e000}';

/** @throws GatewayError bad_request for an invalid pattern */
export function createNameFilter(rules: NameRules): NameFilter {
  const { filePattern, excludePattern, doneFile } = rules;
  const wanted = filePattern === null ? undefined : compile(filePattern, 'filePattern');
  const unwanted = excludePattern === null ? undefined : compile(excludePattern, 'excludePattern');
  const skips = rules.skipNames.map((glob) => new TemporaryName(glob, wanted));
  const marker = doneFile === null ? undefined : markerMatcher(doneFile);
  const isDeep = rules.recursive || (filePattern !== null && isOnPaths(filePattern));

  return {
    isDeep,
    reasonAgainst: (path) => {
      const name = baseName(path);
      if (OWN_TEMPORARY.test(name)) return 'temporary_name';
      if (marker?.(name) === true) return 'marker';
      if (skips.some((skip) => skip.covers(path, name))) return 'temporary_name';
      if (wanted !== undefined && !wanted(path)) return 'pattern';
      return unwanted?.(path) === true ? 'excluded' : undefined;
    },
    skipsFolder: (path) => skips.some((skip) => skip.covers(path, baseName(path))),
    markerOf: (path) => {
      if (doneFile === null) return undefined;
      const name = baseName(path);
      return path.slice(0, path.length - name.length) + markerName(doneFile, name);
    },
    isMarker: (path) => marker?.(baseName(path)) === true,
  };
}

/** A glob with a slash or `**` is matched against the path below the folder, any other one against the name. */
function isOnPaths(glob: string): boolean {
  return glob.includes('/') || glob.includes('**');
}

function compile(glob: string, field: string): Matcher {
  try {
    const matches = compileGlob(glob.replace(/^\.?\//, ''));
    return isOnPaths(glob) ? (path) => matches(path) : (path) => matches(baseName(path));
  } catch {
    throw refusal('bad_request', `${field} must be a glob such as *.csv or in/**/*.{csv,txt}`);
  }
}

/** A glob of skipNames, such as `.*` or `*.part`, which the operator has configured. */
class TemporaryName {
  readonly #matches: Matcher;
  readonly #prefix: string;
  readonly #suffix: string;
  readonly #wanted: Matcher | undefined;

  constructor(glob: string, wanted: Matcher | undefined) {
    this.#matches = compileGlob(glob, { dot: true });
    this.#prefix = /^[^*?[\]{}()!+@|\\]*/.exec(glob)?.[0] ?? '';
    this.#suffix = /[^*?[\]{}()!+@|\\]*$/.exec(glob)?.[0] ?? '';
    this.#wanted = wanted;
  }

  covers(path: string, name: string): boolean {
    return this.#matches(name) && !this.#isNamed(path, name);
  }

  /**
   * Whether filePattern names it: the pattern matches the name, but not the name with another temporary part. So
   * `*.part` includes `a.part`, and `a*` does not.
   */
  #isNamed(path: string, name: string): boolean {
    if (this.#wanted === undefined || !this.#wanted(path)) return false;
    const isExact = this.#prefix.length + this.#suffix.length >= name.length;
    const middle = isExact ? '' : name.slice(this.#prefix.length, name.length - this.#suffix.length);
    const other =
      (this.#prefix === '' ? '' : PLACEHOLDER) + middle + (this.#suffix === '' || isExact ? '' : `.${PLACEHOLDER}`);
    return !this.#wanted(path.slice(0, path.length - name.length) + other);
  }
}

/** @throws GatewayError bad_request */
function markerMatcher(template: string): Matcher {
  const unknown = /\{(?!filename\}|name\})[^}]*\}?/.exec(template);
  if (unknown !== null || template === '' || template.includes('/')) {
    throw refusal(
      'bad_request',
      'doneFile must be a file name, with {filename} or {name} (without extension) in place of the name of the file',
    );
  }
  if (template === '{filename}' || template === '{name}') {
    throw refusal('bad_request', 'doneFile must differ from the name of the file');
  }
  const [before = '', after, ...more] = template.split(/\{(?:filename|name)\}/);
  if (after === undefined) return (name) => name === template;
  // With a second placeholder, every possible length of the first one would have to be tried.
  if (more.length > 0) {
    throw refusal('bad_request', 'doneFile must hold {filename} or {name} once at most');
  }
  const shortest = before.length + after.length;
  return (name) => name.length > shortest && name.startsWith(before) && name.endsWith(after);
}

function markerName(template: string, filename: string): string {
  const dot = filename.lastIndexOf('.');
  const name = dot > 0 ? filename.slice(0, dot) : filename;
  return template.replace(/\{(filename|name)\}/g, (_, token) => (token === 'filename' ? filename : name));
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
