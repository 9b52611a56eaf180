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

export interface Crumb {
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
