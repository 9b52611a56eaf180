/** What the compiled test files load, read from their text: nothing runs, and types are gone. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Every module reached, by its path, or by its name if it is a library's or Node's; and the names that are taken from each. */
export type Reached = ReadonlyMap<string, ReadonlySet<string>>;

/** Imports, re-exports, `import('…')`, and files of ours that a thread or a process is started with. */
const LOADS =
  /^(?:import|export)\b([^'"`;]*?)\bfrom\s*['"]([^'"]+)['"]|^import\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)|\bnew URL\(\s*['"](\.[^'"]+\.js)['"]/gm;

const known = new Map<string, Reached>();

/** Does not look into modules whose path matches `closed`. */
export function reachedBy(file: string, closed = /^$/): Reached {
  const reached = new Map<string, Set<string>>();
  const pending = [file];
  const seen = new Set(pending);
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    for (const [target, names] of loadedBy(next)) {
      const all = reached.get(target) ?? new Set();
      for (const name of names) all.add(name);
      reached.set(target, all);
      if (!path.isAbsolute(target) || seen.has(target) || closed.test(target)) continue;
      seen.add(target);
      pending.push(target);
    }
  }
  return reached;
}

/** The files are others after a build. */
export function forgetImports(): void {
  known.clear();
}

function loadedBy(file: string): Reached {
  const done = known.get(file);
  if (done !== undefined) return done;
  const loaded = new Map<string, Set<string>>();
  for (const [, bindings = '', ...specifiers] of readFileSync(file, 'utf8').matchAll(LOADS)) {
    const specifier = specifiers.find((one) => one !== undefined) ?? '';
    const target = specifier.startsWith('.') ? path.join(path.dirname(file), specifier) : specifier;
    // Code that a test only quotes names no file.
    if (path.isAbsolute(target) && !existsSync(target)) continue;
    const names = loaded.get(target) ?? new Set();
    for (const [name] of bindings.matchAll(/\w+/g)) names.add(name);
    loaded.set(target, names);
  }
  known.set(file, loaded);
  return loaded;
}
