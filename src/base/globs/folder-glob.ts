/** Which folders a glob on paths can match something in: a walk of a tree leaves out the others unread. */
import { compileGlob, type GlobOptions } from './glob.js';

type Matcher = (text: string) => boolean;

/**
 * Whether a path below the given folder ("a/b") may match `glob`. True wherever that is not plain: behind `**`, a `!` in
 * front, or a choice that holds a slash. @throws SyntaxError as `compileGlob` does
 */
export function compileFolderGlob(glob: string, options: GlobOptions = {}): Matcher {
  compileGlob(glob, options);
  const { names, isWhole } = namesOf(glob, options);
  return (folder) => {
    const parts = folder.split('/');
    // Of a glob that is plain to its end, the last name is that of the entry itself.
    if (isWhole && parts.length >= names.length) return false;
    return parts.every((part, index) => names[index]?.(part) ?? true);
  };
}

/** What the first names of a path have to be; `isWhole`: there is nothing else to the glob. */
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

/** Undefined for what is no name: folders of any number, a mark in front, half of a bracket. */
function nameGlob(glob: string, options: GlobOptions): Matcher | undefined {
  if (glob.includes('**') || /^!(?!\()/.test(glob)) return undefined;
  try {
    return compileGlob(glob, options);
  } catch {
    return undefined;
  }
}
