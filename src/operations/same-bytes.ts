/** Whether what stands somewhere is a copy of a file: told by its bytes, and by the time that it would be dated. */
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { RemotePath } from '../remotes/path.js';
import type { FileInfo, Remote } from '../remotes/remote.js';
import { isSameTime, shownTime } from '../remotes/times.js';
import { streamOf } from '../remotes/whole.js';
import { find } from './conflicts.js';
import { ContentHash } from './content-hash.js';

/** Read only where they are as long; `hash` then takes what stands at the target. */
export async function holdSame(
  source: Remote,
  target: Remote,
  from: RemotePath,
  to: RemotePath,
  hash?: ContentHash,
): Promise<boolean> {
  const [one, other] = [await source.stat(from), await find(target, to)];
  if (other === undefined || other.isDirectory || one.size !== other.size) return false;
  return (await digestOf(source, from)).equals(await digestOf(target, to, hash));
}

/** Whether a copy written with this time would be dated so; where times are not kept, whatever was written since. */
export function isDatedAs(found: FileInfo, time: Date | undefined, { can }: Remote): boolean {
  if (time === undefined) return true;
  return can.keepsTimes === 'no' ? found.modifiedAt >= time : isSameTime(shownTime(found), time);
}

/** The same of bytes that come from elsewhere, all of which are read. */
export async function holdsBytes(
  remote: Remote,
  path: RemotePath,
  body: Readable,
  hash?: ContentHash,
): Promise<boolean> {
  const [one, other] = await Promise.all([digestOfStream(body), digestOf(remote, path, hash)]);
  return one.equals(other);
}

async function digestOf(remote: Remote, path: RemotePath, hash?: ContentHash): Promise<Buffer> {
  return digestOfStream(streamOf(await remote.read(path)), hash);
}

async function digestOfStream(body: Readable, hash = new ContentHash()): Promise<Buffer> {
  await pipeline(body, async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) hash.update(chunk);
  });
  return hash.value;
}
