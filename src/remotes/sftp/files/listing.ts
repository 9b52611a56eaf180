import { isUtf8 } from 'node:buffer';
import { ListingBounds } from '../../listing-bounds.js';
import type { FileInfo } from '../../remote.js';
import { joinPath, type RemotePath } from '../../path.js';
import type { SftpChannel } from '../session/channel.js';
import type { Confinement } from './confine.js';
import type { HostMemory } from '../host-memory.js';
import { isStatus, STATUS } from '../wire/replies.js';
import type { Attributes, NameEntry } from '../wire/wire.js';

/** Folder reads under way at once: a server hands out some hundred names per round trip. */
const READS_AHEAD = 3;
const LINKS_AT_ONCE = 16;
/** Servers send some hundred names at once, odd ones fewer. */
const LEAST_PER_REPLY = 20;

export interface ListPlan {
  readonly channel: SftpChannel;
  readonly handle: Buffer;
  readonly folder: RemotePath;
  /** The folder's own bytes on the server. */
  readonly rawFolder: Buffer;
  readonly confinement: Confinement;
  readonly memory: HostMemory;
  readonly log: (message: string, facts: Record<string, unknown>) => void;
}

/**
 * The entries of an open folder, as many at once as the server tells. Links are followed for what they are; a broken one
 * is listed as it stands.
 */
export async function* listEntries(plan: ListPlan): AsyncGenerator<readonly FileInfo[]> {
  const bounds = new ListingBounds(plan.folder);
  for await (const batch of batches(plan)) {
    bounds.add(batch.length, LEAST_PER_REPLY);
    const infos: FileInfo[] = [];
    const links: NameEntry[] = [];
    for (const entry of batch) {
      if (!isListable(plan, entry, bounds)) continue;
      if (entry.attributes.isLink) links.push(entry);
      else infos.push(describe(plan, entry, entry.attributes));
    }
    for (let start = 0; start < links.length; start += LINKS_AT_ONCE) {
      const followed = links.slice(start, start + LINKS_AT_ONCE).map(async (link) => {
        return describe(plan, link, await followLink(plan, link));
      });
      infos.push(...(await Promise.all(followed)));
    }
    yield infos;
  }
}

async function* batches({ channel, handle, memory }: ListPlan): AsyncGenerator<NameEntry[]> {
  const atOnce = memory.oneRequestAtATime ? 1 : READS_AHEAD;
  const reads: Promise<NameEntry[] | undefined>[] = [];
  let isComplete = false;
  while (!isComplete || reads.length > 0) {
    while (!isComplete && reads.length < atOnce) {
      const read = channel.readFolder(handle).catch((error: unknown) => {
        if (isStatus(error, STATUS.EOF)) return undefined;
        throw error;
      });
      read.catch(() => undefined);
      reads.push(read);
    }
    // Replies that were asked for later may still hold names: a server may answer them in any order.
    const batch = await reads.shift();
    if (batch === undefined || batch.length === 0) isComplete = true;
    else yield batch;
  }
}

// eslint-disable-next-line no-control-regex
const UNSAFE = /[/\u0000-\u001f\u007f-\u009f]/;
const MAX_NAME_BYTES = 1024;

/** Names come from a server that nobody vouches for: what would be another path, or reach a terminal, is left out. */
function isListable({ folder, log }: ListPlan, { rawName }: NameEntry, bounds: ListingBounds): boolean {
  const name = rawName.toString('utf8');
  const isSelf = name === '.' || name === '..';
  if (!isSelf && name !== '' && rawName.length <= MAX_NAME_BYTES && !UNSAFE.test(name)) return true;
  if (bounds.leaveOut() && !isSelf)
    log('left out of a listing: an unsafe name', { folder, name: JSON.stringify(name.slice(0, 100)) });
  return false;
}

function describe({ folder }: ListPlan, { rawName }: NameEntry, attributes: Attributes): FileInfo {
  const name = rawName.toString('utf8');
  const info = fileInfo(name, joinPath(folder, name), attributes);
  return isUtf8(rawName) ? info : { ...info, rawName: rawName.toString('base64') };
}

async function followLink(plan: ListPlan, { rawName, attributes }: NameEntry): Promise<Attributes> {
  const { channel, confinement, rawFolder } = plan;
  const slash = rawFolder.at(-1) === 0x2f ? '' : '/';
  const raw = Buffer.concat([rawFolder, Buffer.from(slash), rawName]);
  try {
    return (await confinement.holds(channel, raw)) ? await channel.stat(raw) : attributes;
  } catch (error) {
    if (isStatus(error)) return attributes;
    throw error;
  }
}

/** A file's facts in the seam's form. */
export function fileInfo(name: string, path: RemotePath, attributes: Attributes): FileInfo {
  const { isFolder, size, modifiedAt } = attributes;
  return { name, path, size: isFolder ? 0 : (size ?? 0), isDirectory: isFolder, modifiedAt };
}
