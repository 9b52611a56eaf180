import { isUtf8 } from 'node:buffer';
import { LeftOuts } from '../../left-out.js';
import { entryPath, fileInfo, folderInfo, ListingBounds } from '../../listing.js';
import type { FileInfo, ListOptions } from '../../remote.js';
import type { RemotePath } from '../../path.js';
import type { SftpChannel } from '../session/channel.js';
import type { Confinement } from './confine.js';
import type { SftpMemory } from '../memory.js';
import { NO_NAMES, OwnerNames } from './owner-names.js';
import { isMissing, isStatus, STATUS } from '../wire/replies.js';
import type { Attributes, NameEntry, Names } from '../wire/wire.js';

/** Concurrent reads of a folder: a server returns some hundred names per round trip. */
const READS_AHEAD = 3;
/** Reads in the first round: most folders fit into one reply, followed by one that ends the listing. */
const FIRST_READS = 2;
/** Concurrent requests for single entries of a folder: targets of links, and what READDIR did not report. */
const LOOKUPS_AT_ONCE = 16;
/** Servers send some hundred names at once, a few servers fewer. */
const LEAST_PER_REPLY = 20;
const SELF_WEIGHT = 20;

interface ListPlan {
  readonly channel: SftpChannel;
  readonly handle: Buffer;
  readonly folder: RemotePath;
  /** The folder's own bytes on the server. */
  readonly rawFolder: Buffer;
  readonly confinement: Confinement;
  readonly memory: SftpMemory;
  readonly followLinks: boolean;
  readonly leftOut: ListOptions['leftOut'];
  readonly warn: (message: string, facts: Record<string, unknown>) => void;
}

/** The plan of a listing under way. */
interface Reading extends ListPlan {
  readonly names: OwnerNames;
}

/**
 * The entries of an open folder, in the batches of the server. Links are followed if requested; a broken one is listed
 * as a link.
 */
export async function* listEntries(plan: ListPlan): AsyncGenerator<readonly FileInfo[]> {
  const leftOuts = new LeftOuts(plan.folder, plan.leftOut);
  try {
    yield* readEntries({ ...plan, names: new OwnerNames() }, leftOuts);
  } finally {
    leftOuts.warn(plan.warn, {});
  }
}

async function* readEntries(plan: Reading, leftOuts: LeftOuts): AsyncGenerator<readonly FileInfo[]> {
  const bounds = new ListingBounds(plan.folder);
  for await (const batch of batches(plan)) {
    bounds.add(batch.length, LEAST_PER_REPLY);
    const infos: FileInfo[] = [];
    const unclear: (readonly [NameEntry, RemotePath])[] = [];
    for (const entry of batch) {
      if (isSelf(entry)) {
        // Any folder contains both: a listing that repeats them must come to an end sooner.
        bounds.add(SELF_WEIGHT, 0);
        continue;
      }
      const path = entryPath(plan.folder, entry.rawName.toString('utf8'));
      if (path === undefined) {
        await leftOuts.add({ name: entry.rawName, isDirectory: entry.attributes.isFolder, why: 'name' });
        continue;
      }
      const { attributes } = entry;
      plan.names.learn(entry);
      if (!isReported(attributes) || (attributes.isLink && plan.followLinks)) unclear.push([entry, path]);
      else if (attributes.isLink) infos.push(linkInfo(plan, entry, path, attributes));
      else infos.push(entryInfo(plan, entry, path, attributes));
    }
    const atOnce = plan.memory.oneRequestAtATime ? 1 : LOOKUPS_AT_ONCE;
    for (let start = 0; start < unclear.length; start += atOnce) {
      const lookups = unclear
        .slice(start, start + atOnce)
        .map(([entry, path]) => queryEntry(plan, leftOuts, entry, path));
      for (const info of await Promise.all(lookups)) if (info !== undefined) infos.push(info);
    }
    yield infos;
  }
}

/** READDIR may omit any attribute (draft, section 5); without these a folder would be listed as an empty file. */
const isReported = ({ hasType, isFolder, isLink, size }: Attributes): boolean =>
  hasType && (isFolder || isLink || size !== undefined);

/** Queries what READDIR did not report, and the target of a link. Undefined for an entry that is gone meanwhile. */
async function queryEntry(
  plan: Reading,
  leftOuts: LeftOuts,
  entry: NameEntry,
  path: RemotePath,
): Promise<FileInfo | undefined> {
  let { attributes } = entry;
  if (!isReported(attributes)) {
    try {
      attributes = await plan.channel.lstat(rawPathOf(plan, entry));
    } catch (error) {
      if (!isStatus(error)) throw error;
      if (!isMissing(error)) await leftOuts.add({ name: entry.rawName, isDirectory: false, why: 'unreadable' });
      return undefined;
    }
  }
  if (!attributes.isLink) return entryInfo(plan, entry, path, attributes);
  return linkInfo(plan, entry, path, plan.followLinks ? await followLink(plan, entry, attributes) : attributes);
}

async function* batches({ channel, handle, memory }: ListPlan): AsyncGenerator<Names> {
  const reads: Promise<Names | undefined>[] = [];
  const askUpTo = (most: number): void => {
    while (reads.length < (memory.oneRequestAtATime ? 1 : most)) {
      const read = channel.readFolder(handle).catch((error: unknown) => {
        if (isStatus(error, STATUS.EOF)) return undefined;
        throw error;
      });
      read.catch(() => undefined);
      reads.push(read);
    }
  };
  let isLong = false;
  let isComplete = false;
  askUpTo(FIRST_READS);
  while (reads.length > 0) {
    // Replies to later requests may still contain names: a server may answer in any order.
    const batch = await reads.shift();
    if (batch === undefined || batch.length === 0) isComplete = true;
    else yield batch;
    isLong ||= reads.length === 0;
    if (isLong && !isComplete) askUpTo(READS_AHEAD);
  }
}

/** By bytes: a call of `equals` for each entry would take longer than reading its facts. */
function isSelf({ rawName: { length, 0: first, 1: second } }: NameEntry): boolean {
  return first === DOT && (length === 1 || (length === 2 && second === DOT));
}

const DOT = 0x2e;

function entryInfo({ names }: Reading, { rawName }: NameEntry, path: RemotePath, attributes: Attributes): FileInfo {
  const info = infoOf(path, attributes, names);
  // Bytes that are not UTF-8 were read as this character.
  const isText = !path.includes('\ufffd') || isUtf8(rawName);
  return isText ? info : { ...info, rawName: rawName.toString('base64') };
}

const linkInfo = (plan: Reading, entry: NameEntry, path: RemotePath, target: Attributes): FileInfo => ({
  ...entryInfo(plan, entry, path, target),
  isLink: true,
});

function rawPathOf({ rawFolder }: ListPlan, { rawName }: NameEntry): Buffer {
  const slash = rawFolder.at(-1) === 0x2f ? '' : '/';
  return Buffer.concat([rawFolder, Buffer.from(slash), rawName]);
}

/** `attributes`: the link's own; they are used if it leads nowhere. */
async function followLink(plan: ListPlan, entry: NameEntry, attributes: Attributes): Promise<Attributes> {
  const { channel, confinement } = plan;
  const raw = rawPathOf(plan, entry);
  try {
    return (await confinement.holds(channel, raw)) ? await channel.stat(raw) : attributes;
  } catch (error) {
    if (isStatus(error)) return attributes;
    throw error;
  }
}

/** A file's facts in the seam's form. */
export function infoOf(path: RemotePath, attributes: Attributes, names = NO_NAMES): FileInfo {
  const { isFolder, size, modifiedAt } = attributes;
  const rights = names.rightsOf(attributes);
  return isFolder ? folderInfo(path, modifiedAt, rights) : fileInfo(path, size ?? 0, modifiedAt, rights);
}
