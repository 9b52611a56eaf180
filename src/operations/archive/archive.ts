/** Streams folders and files of a connection as one ZIP archive, read on one session. */
import { Readable } from 'node:stream';
import { hasCode } from '../../base/errors.js';
import { OWN_TEMPORARY } from '../../base/file-name.js';
import { baseName, pathBytes, type RemotePath } from '../../remotes/path.js';
import type { FileInfo, LeftOut, Remote } from '../../remotes/remote.js';
import { labelOf } from '../../remotes/left-out.js';
import { streamOf } from '../../remotes/whole.js';
import type { OperationRequest, Operations } from '../operation.js';
import type { PathReference } from '../path-reference.js';
import { openBody } from '../streamed.js';
import { firstRead, walkInOrder } from '../tree/walk.js';
import { Missing, MISSING_NAME } from './missing.js';
import { zipOf, type ZipEntry } from './zip.js';

const DEAD_LINK = 'a link that leads nowhere';

const REASONS: Readonly<Record<LeftOut['why'], string>> = {
  link: DEAD_LINK,
  name: 'no path has such a name',
  unreadable: 'the gateway cannot read how the server lists it',
};

interface Archive {
  /** The file name of the archive. */
  readonly filename: string;
  readonly body: Readable;
}

/**
 * Each path becomes one entry at the top, with its own name: a file, or a folder with everything below it. Links to
 * folders are not followed: they become empty folders. `rootName` names the connection's root, and an archive of
 * several paths. A file that disappears, changes or cannot be read meanwhile destroys the body. Entries that no path
 * can name are listed in a file of the archive.
 */
export async function openArchive(
  operations: Operations,
  request: OperationRequest,
  references: readonly PathReference[],
  rootName: string,
): Promise<Archive> {
  const { facts, body } = await openBody(operations, request, async (remote, operation) => {
    const taken = new Set<string>();
    const tops = await topsOf(remote, references, rootName, taken);
    const [first] = tops as [Top, ...Top[]];
    const filename = `${tops.length === 1 ? first.name : rootName}.zip`;
    operation.locate(first.path, filename);
    operation.evidence.covers(tops.map(({ path }) => path));
    const memory = request.memory?.hold();
    const pieces = await firstRead(
      zipOf(entriesOf(remote, tops, freeName(MISSING_NAME, false, taken)), (bytes) => memory?.require(bytes)),
    );
    return { facts: filename, source: Readable.from(gathered(pieces), { objectMode: false }) };
  });
  return { filename: facts, body };
}

interface Top {
  readonly path: RemotePath;
  /** Unique in the archive. */
  readonly name: string;
  readonly info: FileInfo;
}

/** Errors: not_found for the first path that does not exist. */
async function topsOf(
  remote: Remote,
  references: readonly PathReference[],
  rootName: string,
  taken: Set<string>,
): Promise<Top[]> {
  const tops: Top[] = [];
  for (const reference of references) {
    const path = await reference(remote);
    // A path that is requested twice is included once.
    if (tops.some((top) => top.path === path)) continue;
    const info = await remote.stat(path);
    const name = freeName(safeName(baseName(path)) || rootName, info.isDirectory, taken);
    tops.push({ path, name, info });
  }
  return tops;
}

/** `name`, or `name (2)`: names that differ only in case would collide on some systems. */
function freeName(name: string, isDirectory: boolean, taken: Set<string>): string {
  const dot = isDirectory ? -1 : name.lastIndexOf('.');
  const [stem, extension] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ''];
  let free = name;
  for (let count = 2; taken.has(free.toLowerCase()); count++) free = `${stem} (${count})${extension}`;
  taken.add(free.toLowerCase());
  return free;
}

async function* entriesOf(remote: Remote, tops: readonly Top[], missingName: string): AsyncGenerator<ZipEntry, void> {
  const missing = new Missing();
  for (const { path, name, info } of tops) {
    if (!info.isDirectory) {
      yield fileEntry(remote, path, name, info, missing);
      continue;
    }
    yield { name: `${name}/`, modifiedAt: info.modifiedAt };
    const leftOut = (below: string, what: LeftOut): void => {
      const folder = below === '' ? `${name}/` : `${name}/${below.toWellFormed()}/`;
      missing.add(folder, labelOf(what), REASONS[what.why]);
    };
    for await (const { file, path: inside, key } of walkInOrder(remote, path, { isDeep: true, leftOut })) {
      // It is no file yet, and will be gone or larger when it is its turn.
      if (OWN_TEMPORARY.test(file.name)) continue;
      const full = `${name}/${key.split('/').map(safeName).join('/')}`;
      if (file.isDirectory) yield { name: full, modifiedAt: file.modifiedAt };
      else yield fileEntry(remote, inside, full, file, missing);
    }
  }
  yield* missing.entries(missingName);
}

function fileEntry(remote: Remote, path: RemotePath, name: string, info: FileInfo, missing: Missing): ZipEntry {
  return {
    name,
    modifiedAt: info.modifiedAt,
    open: async () => {
      try {
        const file = await remote.read(path);
        return { reportedSize: file.info.size, chunks: streamOf(file) as AsyncIterable<Buffer> };
      } catch (error) {
        // A link that leads nowhere is listed as a link, and has no content.
        if (info.isLink !== true || !hasCode(error, 'not_found')) throw error;
        missing.add('', name, DEAD_LINK);
        return undefined;
      }
    },
  };
}

/**
 * A name that every system unpacks into its own folder: a backslash, which some take for a slash, and bytes that are
 * not UTF-8 are written `%5C`, `%FF`. So that two names never become equal, a `%` in front of such digits is `%25`.
 */
function safeName(name: string): string {
  const text = name.replace(/%(?=25|5C|[89A-F][0-9A-F])/g, '%25').replaceAll('\\', '%5C');
  if (text.isWellFormed()) return text;
  return Array.from(text, (character) => {
    if (character.isWellFormed()) return character;
    return `%${(pathBytes(character)[0] ?? 0).toString(16).toUpperCase()}`;
  }).join('');
}

const GATHERED_BYTES = 64 * 1024;
/** Larger pieces are passed on as they are: joining would copy them. */
const SMALL_BYTES = 16 * 1024;

/** Sends headers and short files together. */
async function* gathered(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let held: Buffer[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    const isSmall = piece.length < SMALL_BYTES;
    if (isSmall) {
      held.push(piece);
      bytes += piece.length;
      if (bytes < GATHERED_BYTES) continue;
    }
    if (bytes > 0) yield Buffer.concat(held);
    [held, bytes] = [[], 0];
    if (!isSmall) yield piece;
  }
  if (bytes > 0) yield Buffer.concat(held);
}
