/** Remote paths: POSIX, absolute from the connection's root. */
export function joinPath(folder: string, name: string): string {
  return folder.endsWith('/') ? `${folder}${name}` : `${folder}/${name}`;
}

export function parentOf(path: string): string {
  const end = path.replace(/\/+$/, '').lastIndexOf('/');
  return end <= 0 ? '/' : path.slice(0, end);
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/**
 * `rawName` of a folder above: that of `path` holds the exact bytes of its last names, base64, from the first one on that is
 * not UTF-8. Undefined where all names of `above` are.
 */
export function rawNameAbove(path: string, rawName: string | undefined, above: string): string | undefined {
  if (rawName === undefined) return undefined;
  const names = atob(rawName).split('/');
  const kept = names.slice(0, Math.max(0, names.length - (depthOf(path) - depthOf(above))));
  return kept.length === 0 ? undefined : btoa(kept.join('/'));
}

/** Whether the folder in which it lies can be named by its bytes alone: nothing new can be put there. */
export function isInRawFolder({ path, rawName }: { readonly path: string; readonly rawName?: string }): boolean {
  return rawNameAbove(path, rawName, parentOf(path)) !== undefined;
}

const depthOf = (path: string): number => path.split('/').filter(Boolean).length;

interface Crumb {
  readonly name: string;
  readonly path: string;
}

export function crumbsOf(path: string): readonly Crumb[] {
  const names = path.split('/').filter(Boolean);
  return names.map((name, index) => ({ name, path: `/${names.slice(0, index + 1).join('/')}` }));
}

/** How much of a name stands before its ending; `.tar.gz` is one, and a name that begins with its only dot has none. */
export function stemLength(name: string): number {
  const [ending = ''] = /(\.tar)?\.[^.]+$/i.exec(name) ?? [];
  return ending.length === name.length ? name.length : name.length - ending.length;
}
