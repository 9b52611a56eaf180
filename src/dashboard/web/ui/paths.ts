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
 * The `rawName` of the folder `above`. A `rawName` holds the exact bytes of the last names of a path in base64, from the
 * first
 * name that is not UTF-8. Undefined if all names of `above` are UTF-8.
 */
export function rawNameAbove(path: string, rawName: string | undefined, above: string): string | undefined {
  if (rawName === undefined) return undefined;
  const names = atob(rawName).split('/');
  const kept = names.slice(0, Math.max(0, names.length - (depthOf(path) - depthOf(above))));
  return kept.length === 0 ? undefined : btoa(kept.join('/'));
}

/** Whether the path of the entry's folder is not UTF-8. Nothing new can be created there. */
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

/** The length of a name without its extension. `.tar.gz` is one extension; a name whose only dot is at its start has none. */
export function stemLength(name: string): number {
  const [ending = ''] = /(\.tar)?\.[^.]+$/i.exec(name) ?? [];
  return ending.length === name.length ? name.length : name.length - ending.length;
}
