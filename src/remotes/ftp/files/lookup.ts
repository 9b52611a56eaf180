/** Looks up what exists at a path: by MLST if the server has it, otherwise by combining SIZE, MDTM and CWD. */
import { setTimeout as delay } from 'node:timers/promises';
import { abortSignalOf } from '../../../base/ending.js';
import { GatewayError, hasCode } from '../../../base/errors.js';
import { EPOCH, fileInfo, folderInfo } from '../../listing.js';
import { notFound } from '../../obstacles.js';
import { baseName, parentOf, rawNameOf, ROOT, type RemotePath } from '../../path.js';
import type { FileInfo } from '../../remote.js';
import { parseFacts } from '../names/entries.js';
import { listEntered } from '../names/unix-listing.js';
import { type FtpOperation, type Question, sizeIn } from '../session/operation.js';
import { isPositive, isUnsupported, refusedBy, saysDenied, saysMissing, type Reply } from '../session/replies.js';

/** A size that does not change for this long is final. */
const REST_MS = 250;
/** A file that grows for longer is being written by another client. */
const MOST_ATTEMPTS = 20;

/** not_found when absent. */
export async function stat(operation: FtpOperation, path: RemotePath): Promise<FileInfo> {
  return present(path, await find(operation, path));
}

function present(path: RemotePath, info: FileInfo | undefined): FileInfo {
  if (info === undefined) throw notFound(path);
  return info;
}

/** Undefined if nothing exists there; permission_denied if something does, but the login may not see it. */
export function find(operation: FtpOperation, path: RemotePath): Promise<FileInfo | undefined> {
  return query(operation, path, false);
}

/** `mlst`: the answer to an MLST that was sent already. */
async function query(
  operation: FtpOperation,
  path: RemotePath,
  isSecondTry: boolean,
  mlst?: Reply,
): Promise<FileInfo | undefined> {
  const { features, memory } = operation.lease;
  if (features.machineListings && memory.machineListings) {
    const reply = mlst ?? (await operation.ask('MLST', path, [250]));
    if (isPositive(reply)) {
      const info = factsOf(reply, path);
      if (info !== undefined) return info;
    } else if (isUnsupported(reply)) {
      memory.machineListings = false;
    } else if (path !== ROOT) {
      return absent(operation, path, reply, isSecondTry);
    }
  }
  return findBySize(operation, path, isSecondTry);
}

/** Whether a folder or a link to one is there: one question. Some servers without MLST enter what does not exist. */
export async function isSurelyFolder(operation: FtpOperation, path: RemotePath): Promise<boolean> {
  const { control, features, memory } = operation.lease;
  if (!features.machineListings || !memory.machineListings) {
    return control.isSoftware('vsftpd') && (await operation.isFolder(path));
  }
  const reply = await operation.ask('MLST', path, [250]);
  if (!isPositive(reply)) return false;
  return factsOf(reply, path)?.isDirectory ?? operation.isFolder(path);
}

/**
 * Reads the size and time of a path that is known to be a file, so it does not check for a folder. `before`: a command
 * sent in the same write, before the questions; `reply` is its reply.
 */
export async function measure(
  operation: FtpOperation,
  path: RemotePath,
  before?: Question,
): Promise<{ readonly info: FileInfo; readonly reply: Reply | undefined }> {
  const { features, memory } = operation.lease;
  const isListed = features.machineListings && memory.machineListings;
  const questions: Question[] = isListed
    ? [{ verb: 'MLST', path, success: [250] }]
    : [{ verb: 'SIZE', path, success: [213] }, ...(memory.hasMdtm ? [{ verb: 'MDTM', path, success: [213] }] : [])];
  const replies = await operation.askAll([...(before === undefined ? [] : [before]), ...questions]);
  const [reply, first, second] = before === undefined ? [undefined, ...replies] : replies;
  if (isListed) return { info: present(path, await query(operation, path, false, first)), reply };
  const size = sizeIn(first as Reply);
  const info =
    typeof size === 'number' ? fileInfo(path, size, operation.timeIn(second) ?? EPOCH) : await stat(operation, path);
  return { info, reply };
}

/**
 * Resolves when the file no longer grows, or after some seconds at the latest. The session that wrote it is gone, but
 * the server may still be writing buffered bytes. Pure-FTPd renames a file before it deletes it: if the file has grown
 * meanwhile, it stays under that name, which no client may touch.
 */
export async function untilAtRest(operation: FtpOperation, path: RemotePath): Promise<void> {
  let before: number | undefined;
  for (let attempts = 0; attempts < MOST_ATTEMPTS; attempts++) {
    const now = await sizeOf(operation, path);
    if (now === before) return;
    before = now;
    await delay(REST_MS, undefined, { signal: abortSignalOf(operation.signal) }).catch(() =>
      operation.signal.throwIfAborted(),
    );
  }
}

/** undefined if nothing exists there, or the login may not see it. */
async function sizeOf(operation: FtpOperation, path: RemotePath): Promise<number | undefined> {
  try {
    return (await find(operation, path))?.size;
  } catch (error) {
    if (hasCode(error, 'permission_denied')) return undefined;
    throw error;
  }
}

function factsOf(reply: Reply, path: RemotePath): FileInfo | undefined {
  const line = reply.text.split('\n').find((text) => !/^\d{3}[- ]/.test(text) && text.includes('='));
  const facts = line === undefined ? undefined : parseFacts(line.trimStart());
  if (facts === undefined || facts.type === 'link' || facts.type === 'unknown') return undefined;
  const modifiedAt = facts.modifiedMs === undefined ? EPOCH : new Date(facts.modifiedMs);
  if (facts.type !== 'file') return folderInfo(path, modifiedAt, facts.rights);
  return facts.size === undefined ? undefined : fileInfo(path, facts.size, modifiedAt, facts.rights);
}

async function findBySize(
  operation: FtpOperation,
  path: RemotePath,
  isSecondTry: boolean,
): Promise<FileInfo | undefined> {
  const { hasMdtm } = operation.lease.memory;
  const [sized, timed] = await operation.askAll([
    { verb: 'SIZE', path, success: [213] },
    ...(hasMdtm ? [{ verb: 'MDTM', path, success: [213], isSequel: true }] : []),
  ]);
  const size = sizeIn(sized as Reply);
  if (typeof size === 'number') {
    const modifiedAt = operation.timeIn(timed) ?? EPOCH;
    const mayBeFolder = await sizeAnswersForFolders(operation);
    const isFolder = mayBeFolder && (await operation.isFolder(path));
    return isFolder ? folderInfo(path, modifiedAt) : fileInfo(path, size, modifiedAt);
  }
  const entered = await operation.enter(path);
  if (isPositive(entered)) return folderInfo(path, await askTime(operation, path));
  if (isUnsupported(size)) return findInListing(operation, path);
  return absent(operation, path, saysDenied(size) || saysMissing(size) ? size : entered, isSecondTry);
}

/**
 * Nothing was found at the path: is it absent, or hidden from us? If the replies leave that open, RNFR answers it
 * without a data connection: it returns 350 for anything that exists, and the next command cancels it.
 */
async function absent(
  operation: FtpOperation,
  path: RemotePath,
  reply: Reply,
  isSecondTry: boolean,
): Promise<FileInfo | undefined> {
  if (saysMissing(reply)) return undefined;
  const error = refusedBy(reply, 'open', path, 'not_found');
  if (error.code !== 'not_found') throw error;
  const probe = await operation.ask('RNFR', path, [350]);
  if (probe.code !== 350) return undefined;
  // Another client may have created it between the two questions.
  if (!isSecondTry) {
    // From here on ProFTPD answers 501 to everything but RNTO, and a real RNTO could harm the file: a new login resets
    // it.
    await operation.lease.reconnect(operation.signal);
    return query(operation, path, true);
  }
  throw refusedBy(reply, 'open', path, 'permission_denied');
}

async function sizeAnswersForFolders(operation: FtpOperation): Promise<boolean> {
  const { memory } = operation.lease;
  memory.sizeAnswersForFolders ??= typeof (await operation.askSize(ROOT)) === 'number';
  return memory.sizeAnswersForFolders;
}

/** If MDTM answers for files only (vsftpd), a folder's time comes from its parent's listing. */
export async function withListedTime(operation: FtpOperation, info: FileInfo): Promise<FileInfo> {
  if (!info.isDirectory || info.path === ROOT || info.modifiedAt.getTime() !== 0) return info;
  const { info: listed } = await searchListing(operation, info.path);
  return listed?.isDirectory === true ? listed : info;
}

async function askTime(operation: FtpOperation, path: RemotePath): Promise<Date> {
  return (await operation.askModifiedAt(path)) ?? EPOCH;
}

/** The last resort, for servers without MLST and SIZE: finds the entry in the parent folder's listing. */
async function findInListing(operation: FtpOperation, path: RemotePath): Promise<FileInfo | undefined> {
  const { info, unreadable } = await searchListing(operation, path);
  if (info === undefined && unreadable !== undefined) throw maybeThere(path, unreadable);
  return info;
}

/** `unreadable`: the listing has a line that could be any name. */
async function searchListing(
  operation: FtpOperation,
  path: RemotePath,
): Promise<{ readonly info?: FileInfo; readonly unreadable?: string | undefined }> {
  if (path === ROOT || !isPositive(await operation.enter(parentOf(path)))) return {};
  const name = baseName(path);
  let found: FileInfo | undefined;
  let unreadable: string | undefined;
  // Reads the listing to its end: stopping early would cost the session.
  for await (const entries of listEntered(operation, parentOf(path))) {
    unreadable ??= entries.find(({ kind }) => kind === 'unreadable')?.name;
    const entry = entries.find((one) => one.name === name.toWellFormed() && one.rawName === rawNameOf(name));
    if (entry === undefined || entry.kind === 'unreadable') continue;
    const { kind, size = 0, time, rights } = entry;
    const modifiedAt = time === undefined ? EPOCH : new Date(time.ms);
    const info = kind === 'folder' ? folderInfo(path, modifiedAt, rights) : fileInfo(path, size, modifiedAt, rights);
    found = { ...info, timeResolutionMs: time?.resolutionMs ?? 0 };
  }
  if (found === undefined) return { unreadable };
  if (found.isDirectory) return { info: found };
  // A listing shows minutes only; `can` says whether the exact time is available.
  const exact = await operation.askModifiedAt(path);
  if (exact === undefined) operation.lease.memory.hasMdtm = false;
  return { info: exact === undefined ? found : fileInfo(path, found.size, exact, found) };
}

function maybeThere(path: RemotePath, line: string): GatewayError {
  const text = `whether ${path} exists is not known: the listing of its folder has a line that cannot be read: ${JSON.stringify(line)}`;
  return new GatewayError('protocol_error', text, { step: 'open' });
}
