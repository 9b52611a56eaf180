/** Lists a folder in the form of the seam: follows links, checks names, and resolves doubts about the folder. */
import { keyOfRaw } from '../../../base/entry-key.js';
import { GatewayError } from '../../../base/errors.js';
import { LeftOuts } from '../../left-out.js';
import { entryPath, EPOCH, fileInfo, folderInfo } from '../../listing.js';
import { notAFolder } from '../../obstacles.js';
import { baseName, ROOT, type RemotePath } from '../../path.js';
import type { FileInfo, ListOptions } from '../../remote.js';
import { byOwnName, parseMachineLine, unreadableEntry, type FtpEntry } from './entries.js';
import { isReply, notListed, openListLines } from './lines.js';
import { find, stat } from '../files/lookup.js';
import type { FtpOperation } from '../session/operation.js';
import { isPositive, isUnsupported, refusedBy, type Reply } from '../session/replies.js';
import { listEntered } from './unix-listing.js';
import { SECOND_MS } from '../../../contract/units.js';

/**
 * Unreadable lines kept until it is known whether the server lists this way at all; this is more than a listing may
 * leave out.
 */
const MAX_UNREADABLE = 100_001;

/** not_found, not_a_folder, permission_denied, protocol_error. */
export async function* listFolder(
  operation: FtpOperation,
  folder: RemotePath,
  { followLinks = true, leftOut }: ListOptions = {},
): AsyncGenerator<readonly FileInfo[]> {
  const leftOuts = new LeftOuts(folder, leftOut);
  try {
    yield* readEntries(operation, folder, followLinks, leftOuts);
  } finally {
    leftOuts.warn((message, facts) => operation.deps.warn(message, facts), { host: operation.host });
  }
}

async function* readEntries(
  operation: FtpOperation,
  folder: RemotePath,
  followLinks: boolean,
  leftOuts: LeftOuts,
): AsyncGenerator<readonly FileInfo[]> {
  const unresolved: { readonly path: RemotePath; readonly isLink: boolean }[] = [];
  const listed = listEntries(operation, folder);
  for await (const entries of followLinks ? listed : withBrokenLinks(operation, folder, listed)) {
    const infos: FileInfo[] = [];
    for (const entry of entries) {
      const { kind } = entry;
      if (kind === 'unreadable') {
        await leftOuts.add({ name: undefined, isDirectory: false, why: 'unreadable', line: entry.name });
        continue;
      }
      const path = entryPath(folder, entry.name);
      if (path === undefined) {
        await leftOuts.add({ name: bytesOf(entry), isDirectory: kind === 'folder', why: 'name' });
        continue;
      }
      const isComplete = kind === 'folder' || (kind === 'file' && entry.size !== undefined);
      if (isComplete) infos.push(toFileInfo(entry, path));
      else if (kind === 'link' && !followLinks) infos.push({ ...toFileInfo(entry, path), isLink: true });
      else if (entry.rawName === undefined) unresolved.push({ path, isLink: kind === 'link' });
      else await leftOuts.add({ name: bytesOf(entry), isDirectory: false, why: whyOf(kind === 'link') });
    }
    yield infos;
  }
  // The control connection is free only now.
  for (const { path, isLink } of unresolved) {
    const target = await findTarget(operation, path);
    if (target !== undefined) yield [isLink ? { ...target, isLink } : target];
    else await leftOuts.add({ name: Buffer.from(baseName(path)), isDirectory: false, why: whyOf(isLink) });
  }
}

const whyOf = (isLink: boolean): 'link' | 'unreadable' => (isLink ? 'link' : 'unreadable');

const bytesOf = ({ name, rawName }: FtpEntry): Buffer =>
  rawName === undefined ? Buffer.from(name) : keyOfRaw(Buffer.from(rawName, 'base64'));

/** ProFTPD's MLSD leaves broken links out: if it lists nothing, LIST may still show entries. */
async function* withBrokenLinks(
  operation: FtpOperation,
  folder: RemotePath,
  listedEntries: AsyncIterable<FtpEntry[]>,
): AsyncGenerator<FtpEntry[]> {
  let isEmpty = true;
  for await (const entries of listedEntries) {
    isEmpty &&= entries.length === 0;
    yield entries;
  }
  const { features, memory } = operation.lease;
  if (isEmpty && memory.hidesBrokenLinks && features.machineListings && memory.machineListings)
    yield* forPeople(operation, folder);
}

async function* forPeople(operation: FtpOperation, folder: RemotePath): AsyncGenerator<FtpEntry[]> {
  if (isPositive(await operation.enter(folder))) yield* listEntered(operation, folder);
}

/** Whether the folder has any entry, in any kind of listing. */
export async function holdsAnything(operation: FtpOperation, folder: RemotePath): Promise<boolean> {
  // Reads the listing to its end: stopping early would cost the session.
  const holdsSome = async (entries: AsyncIterable<FtpEntry[]>): Promise<boolean> => {
    let isEmpty = true;
    for await (const some of entries) isEmpty &&= some.length === 0;
    return !isEmpty;
  };
  if (await holdsSome(listEntries(operation, folder))) return true;
  return (operation.lease.memory.hidesBrokenLinks ||= await holdsSome(forPeople(operation, folder)));
}

/** Yields batches as they arrive: passing entries on one by one takes longer than reading them. */
async function* listEntries(operation: FtpOperation, folder: RemotePath): AsyncGenerator<FtpEntry[]> {
  const { features, memory } = operation.lease;
  if (features.machineListings && memory.machineListings) {
    const opened = await openListLines(operation, `MLSD ${operation.at(folder)}`);
    if (!isReply(opened)) {
      const outcome = yield* machineEntries(operation, folder, opened);
      if (outcome === 'read') return;
    } else if (!isUnsupported(opened)) {
      await expectFolder(operation, folder);
      // The folder exists and is accessible: so the server cannot list it this way.
      if (!isNotImplementedHere(opened)) {
        throw notListed(operation, opened, () => refusedBy(opened, 'open', `listing ${folder}`, 'permission_denied'));
      }
    }
    memory.machineListings = false;
    operation.deps.log('FTP server announces MLSD but does not list by it', { host: operation.host });
  }
  const entered = await operation.enter(folder);
  if (!isPositive(entered)) {
    if (folder === ROOT) await expectSlashes(operation);
    await expectFolder(operation, folder);
    throw refusedBy(entered, 'open', `listing ${folder}`, 'permission_denied');
  }
  yield* listEntered(operation, folder);
}

async function* machineEntries(
  operation: FtpOperation,
  folder: RemotePath,
  batches: AsyncIterable<Buffer[]>,
): AsyncGenerator<FtpEntry[], 'read' | 'unreadable'> {
  let sawSelf = false;
  let read = 0;
  const unreadable: FtpEntry[] = [];
  let held: FtpEntry | undefined;
  for await (const lines of batches) {
    const entries: FtpEntry[] = [];
    for (const line of lines) {
      const parsed = parseMachineLine(line, operation.encoding);
      const entry = parsed === undefined ? undefined : byOwnName(parsed, operation.at(folder), operation.encoding);
      if (entry !== undefined && entry.kind === 'self') sawSelf = true;
      else if (entry === undefined) {
        if (unreadable.length < MAX_UNREADABLE) unreadable.push(unreadableEntry(line, operation.encoding));
      } else if (read++ === 0) held = entry;
      else entries.push(entry);
    }
    if (held !== undefined && entries.length > 0) {
      yield [held];
      held = undefined;
    }
    if (read > 1 && unreadable.length > 0) entries.push(...unreadable.splice(0));
    yield entries;
  }
  if (read === 0 && unreadable.length > 0 && !sawSelf) return 'unreadable';
  // Some servers list nothing for an absent folder, and list a file as its own only entry.
  const isDoubtful = !sawSelf && (read === 0 || (read === 1 && held?.name === baseName(folder)));
  if (isDoubtful) await expectFolder(operation, folder);
  if (held !== undefined) yield [held];
  yield unreadable;
  return 'read';
}

/**
 * Some systems name folders in another way (`DKA0:[USER]`, `'USER.'`), and not all of their servers also take slashes.
 */
async function expectSlashes({ lease, signal, host, connection: { rootPath } }: FtpOperation): Promise<void> {
  const login = await lease.loginFolder(signal);
  if (login.includes('/')) return;
  const text = `${host} names its folders in a way of its own (${JSON.stringify(login)}) and does not take ${rootPath}; the gateway needs a server that takes paths with slashes`;
  throw new GatewayError('remote_failure', text, { step: 'open' });
}

async function expectFolder(operation: FtpOperation, folder: RemotePath): Promise<void> {
  const info = await stat(operation, folder);
  if (info.isDirectory) return;
  throw notAFolder(folder);
}

const isNotImplementedHere = (reply: Reply): boolean => reply.code === 501 || reply.code === 503;

/** The target of a link; undefined if it leads nowhere, or to a place that we may not see. */
async function findTarget(operation: FtpOperation, path: RemotePath): Promise<FileInfo | undefined> {
  try {
    return await find(operation, path);
  } catch (error) {
    if (error instanceof GatewayError && error.keepsSession) return undefined;
    throw error;
  }
}

function toFileInfo({ kind, rawName, size = 0, time, rights }: FtpEntry, path: RemotePath): FileInfo {
  const modifiedAt = time === undefined ? EPOCH : new Date(time.ms);
  // Fields are added, not spread into a new object: spread objects of a long listing survive the quick garbage
  // collections.
  const info: { -readonly [Key in keyof FileInfo]: FileInfo[Key] } =
    kind === 'folder' ? folderInfo(path, modifiedAt, rights) : fileInfo(path, size, modifiedAt, rights);
  if (rawName !== undefined) info.rawName = rawName;
  // For entries older than half a year, LIST shows only the day.
  if (time !== undefined && time.resolutionMs > SECOND_MS) info.timeResolutionMs = time.resolutionMs;
  return info;
}
