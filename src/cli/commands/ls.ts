/** `ftg ls`: lists a folder, the matches of a glob, or a tree while it is read. */
import type { FileInfo, ListAnswer, ListOptions } from '../../client/index.js';
import type { Arguments, Session } from '../command.js';
import { globAt, isDeep, nothingMatches } from '../glob.js';
import { type Location, parseFolderLocation } from '../location.js';
import { bytesText, incompleteText, oneLine, table, timeText } from '../output.js';

export async function ls(
  session: Session,
  [place = '']: Arguments,
  { recursive = false, long = false }: { readonly recursive?: boolean; readonly long?: boolean },
): Promise<void> {
  const { gateway, out, signal } = session;
  const location = parseFolderLocation(place);
  const glob = await globAt(session, location);
  if (glob !== undefined) {
    const pattern = recursive && !isDeep(glob.pattern) ? `**/${glob.pattern}` : glob.pattern;
    const found = await listTree(session, { ...location, path: glob.folder }, long, {
      pattern,
      recursive: isDeep(pattern),
    });
    if (found === 0) throw nothingMatches(place);
    return;
  }
  if (recursive) return void (await listTree(session, location, long, { recursive }));
  const { connectionId, path } = location;
  const answer = await gateway.files.list(connectionId, path === '' ? undefined : path, { signal });
  out.show(answer, () => {
    const rows = answer.files.map((file) => [
      ...(long ? rightsOf(file) : []),
      sizeOf(file),
      timeOf(file),
      nameOf(file.name, file),
    ]);
    const heads = long ? ['RIGHTS', 'OWNER', 'GROUP'] : [];
    return table([...heads, 'SIZE', 'CHANGED', 'NAME'], rows, 'the folder is empty');
  });
  warnOf(session, answer);
}

/** Page by page: a tree may have millions of entries. Resolves to their number. */
async function listTree(
  session: Session,
  { connectionId, path }: Location,
  long: boolean,
  options: Pick<ListOptions, 'recursive' | 'pattern'>,
): Promise<number> {
  const { gateway, out, signal } = session;
  let found = 0;
  const pages = gateway.files.listPages(connectionId, path === '' ? undefined : path, { ...options, signal });
  for await (const page of pages) {
    found += page.files.length;
    const root = page.path.endsWith('/') ? page.path : `${page.path}/`;
    out.show(page, () =>
      page.files
        .map((file) => {
          const name = oneLine(nameOf(file.path.slice(root.length), file));
          const [mode = '', owner = '', group = ''] = rightsOf(file).map(oneLine);
          const rights = long ? `${mode.padEnd(4)}  ${owner.padEnd(10)}  ${group.padEnd(10)}  ` : '';
          return `${rights}${sizeOf(file).padStart(8)}  ${timeOf(file).padEnd(20)}  ${name}`;
        })
        .join('\n'),
    );
    warnOf(session, page);
  }
  return found;
}

function warnOf({ out }: Session, { path, incomplete = 0 }: ListAnswer): void {
  if (incomplete > 0) out.note(incompleteText(path, incomplete));
}

/** A dash where the server reports nothing. */
const rightsOf = ({ mode = '-', owner = '-', group = '-' }: FileInfo): string[] => [mode, owner, group];

function sizeOf({ isDirectory, size }: FileInfo): string {
  return isDirectory ? '-' : bytesText(size);
}

/** The epoch means that the server stores no time. */
function timeOf({ modifiedAt }: FileInfo): string {
  return Date.parse(modifiedAt) === 0 ? '-' : timeText(modifiedAt);
}

function nameOf(name: string, { isDirectory }: FileInfo): string {
  return isDirectory ? `${name}/` : name;
}
