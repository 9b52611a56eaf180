/** Decides whether an existing file is a copy of another: by its bytes, and by the time that the copy would have. */
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Connection } from '../connections/connection.js';
import { baseName, type RemotePath } from '../remotes/path.js';
import type { FileInfo, Remote } from '../remotes/remote.js';
import { isHeldBack } from '../remotes/rate-limit.js';
import { isSameTime, ownTimeOf, shownTime } from '../remotes/times.js';
import { streamOf } from '../remotes/whole.js';
import { find, namesFor } from './conflicts.js';
import { ContentHash } from './content-hash.js';
import type { End, EndPaces } from './end-paces.js';
import type { OpenEnds, ProofScope } from './onto-itself.js';
import type { Operation, Operations } from './operation.js';

interface CopySearch {
  readonly source: Connection;
  readonly target: Connection;
  readonly from: RemotePath;
  readonly to: RemotePath;
  /** It may have got a free name beside `to`. */
  readonly isRenamed?: boolean;
  /** The time that it was given; absent = that of the source. */
  readonly modifiedAt?: Date | undefined;
  readonly scope?: ProofScope | undefined;
}

/**
 * After a crash: the copy that is already complete, with the same bytes and time, to which the operation is set then.
 * Errors: OntoItself; those of reading either file.
 */
export function findCopy(
  { folderProofs }: Operations,
  operation: Operation,
  { source, target, from, to, isRenamed = false, modifiedAt, scope }: CopySearch,
): Promise<FileInfo | undefined> {
  return operation.useBoth(source, async (reading, writing) => {
    const open = { source: reading, target: writing };
    await operation.stayingEndable(() => folderProofs.refuseOntoItself({ source, target }, open, from, to, scope));
    const original = await find(reading, from);
    if (original === undefined) return undefined;
    for (const place of isRenamed ? namesFor(to) : [to]) {
      const found = await find(writing, place);
      if (found === undefined) return undefined;
      if (!isDatedAs(found, modifiedAt ?? ownTimeOf(original), writing)) continue;
      if (!(await holdSame(open, from, place, operation.paces, operation.evidence.hashing()))) continue;
      operation.evidence.readBack();
      operation.locate(place, baseName(place));
      operation.fileSize = found.size;
      return found;
    }
    return undefined;
  });
}

/**
 * Reads both files only if they are equally long. `hash` gets the target's bytes. `paces` watches both ends meanwhile.
 */
export async function holdSame(
  { source, target }: OpenEnds,
  from: RemotePath,
  to: RemotePath,
  paces: EndPaces,
  hash?: ContentHash,
): Promise<boolean> {
  const [one, other] = [await source.stat(from), await find(target, to)];
  if (other === undefined || other.isDirectory || one.size !== other.size) return false;
  const watched = async (end: End, remote: Remote, path: RemotePath, sum = new ContentHash()): Promise<Buffer> => {
    let moved = 0;
    const stop = paces.watch(
      end,
      () => !isHeldBack(remote),
      () => moved,
    );
    return digestOf(remote, path, sum, (bytes) => (moved += bytes)).finally(stop);
  };
  return (await watched('source', source, from)).equals(await watched('target', target, to, hash));
}

/** Whether a copy written with this time would have the found time; if times are not kept, any later one. */
export function isDatedAs(found: FileInfo, time: Date | undefined, { can }: Remote): boolean {
  if (time === undefined) return true;
  return can.keepsTimes === 'no' ? found.modifiedAt >= time : isSameTime(shownTime(found), time);
}

/** The same for bytes from another source, which are all read. */
export async function holdsBytes(
  remote: Remote,
  path: RemotePath,
  body: Readable,
  hash?: ContentHash,
): Promise<boolean> {
  const [one, other] = await Promise.all([digestOfStream(body), digestOf(remote, path, hash)]);
  return one.equals(other);
}

async function digestOf(
  remote: Remote,
  path: RemotePath,
  hash?: ContentHash,
  onBytes?: (bytes: number) => void,
): Promise<Buffer> {
  return digestOfStream(streamOf(await remote.read(path)), hash, onBytes);
}

async function digestOfStream(
  body: Readable,
  hash = new ContentHash(),
  onBytes?: (bytes: number) => void,
): Promise<Buffer> {
  await pipeline(body, async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) {
      hash.update(chunk);
      onBytes?.(chunk.length);
    }
  });
  return hash.value;
}
