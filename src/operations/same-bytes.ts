/** Whether what stands somewhere is a copy of a file: told by its bytes, and by the time that it would be dated. */
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { RemotePath } from '../remotes/path.js';
import type { FileInfo, Remote } from '../remotes/remote.js';
import { isSameTime, shownTime } from '../remotes/times.js';
import { streamOf } from '../remotes/whole.js';
import { find } from './conflicts.js';

/** Read only where they are as long. */
export async function holdSame(source: Remote, target: Remote, from: RemotePath, to: RemotePath): Promise<boolean> {
  const [one, other] = [await source.stat(from), await find(target, to)];
  if (other === undefined || other.isDirectory || one.size !== other.size) return false;
  return (await digestOf(source, from)) === (await digestOf(target, to));
}

/** Whether a copy written with this time would be dated so; where times are not kept, whatever was written since. */
export function isDatedAs(found: FileInfo, time: Date | undefined, { can }: Remote): boolean {
  if (time === undefined) return true;
  return can.keepsTimes === 'no' ? found.modifiedAt >= time : isSameTime(shownTime(found), time);
}

/** The same of bytes that come from elsewhere, all of which are read. */
export async function holdsBytes(remote: Remote, path: RemotePath, body: Readable): Promise<boolean> {
  const [one, other] = await Promise.all([digestOfStream(body), digestOf(remote, path)]);
  return one === other;
}

async function digestOf(remote: Remote, path: RemotePath): Promise<string> {
  return digestOfStream(streamOf(await remote.read(path)));
}

async function digestOfStream(body: Readable): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(body, async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) hash.update(chunk);
  });
  return hash.digest('hex');
}
