/** Finds the folders in which a glob on paths can match something: a walk of a tree does not list the others. */
import { compileGlob, type GlobOptions } from './glob.js';

type Matcher = (text: string) => boolean;

/**
 * Whether a path below the given folder ("a/b") may match `glob`. True if that is uncertain: after `**`, with a leading
 * `!`, or with a choice that contains a slash. @throws SyntaxError as `compileGlob` does
 */
export function compileFolderGlob(glob: string, options: GlobOptions = {}): Matcher {
  compileGlob(glob, options);
  const { names, isWhole } = namesOf(glob, options);
  return (folder) => {
    const parts = folder.split('/');
    // In a glob that is plain to its end, the last name is that of the entry itself.
    if (isWhole && parts.length >= names.length) return false;
    return parts.every((part, index) => names[index]?.(part) ?? true);
  };
}

/** The first names of a matching path; `isWhole`: the glob contains nothing else. */
function namesOf(
  glob: string,
  options: GlobOptions,
): { readonly names: readonly Matcher[]; readonly isWhole: boolean } {
  const names: Matcher[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at <= glob.length; at++) {
    const sign = glob.charAt(at);
    if (sign === '\\') {
      if (glob.charAt(++at) === '/') break;
    } else if ('([{'.includes(sign) && sign !== '') depth += 1;
    else if (')]}'.includes(sign) && sign !== '') depth -= 1;
    else if (sign === '/' || sign === '') {
      const name = depth === 0 ? nameGlob(glob.slice(start, at), options) : undefined;
      if (name === undefined) break;
      names.push(name);
      start = at + 1;
      if (sign === '') return { names, isWhole: true };
    }
  }
  return { names, isWhole: false };
}

/** Undefined if it is not a single name: any number of folders, a leading mark, half of a bracket. */
function nameGlob(glob: string, options: GlobOptions): Matcher | undefined {
  if (glob.includes('**') || /^!(?!\()/.test(glob)) return undefined;
  try {
    return compileGlob(glob, options);
  } catch {
    return undefined;
  }
}
