import type { GatewayError } from '../../../base/errors.js';
import type { SftpChannel } from '../session/channel.js';
import type { HostMemory } from '../host-memory.js';
import { isStatus, refused, STATUS, translate } from '../wire/replies.js';
import type { Attributes } from '../wire/wire.js';

/** A path on the server: its bytes, and the words for it in error texts. */
export interface ServerPath {
  readonly raw: Buffer;
  readonly shown: string;
}

export interface PublishTools {
  readonly channel: SftpChannel;
  readonly memory: HostMemory;
  /** What a rename that nothing at the target explains means: an upload cannot be published, or a move is refused. */
  readonly purpose: 'publish' | 'move';
  /** A hidden name beside `target` for the file that makes way. */
  asideOf(target: ServerPath): ServerPath;
  /** The aside file could not be removed now. */
  removeLater(path: ServerPath): void;
}

/** What stands at a path, links not followed; undefined when nothing does or nothing can be learned. */
export async function lookAt(channel: SftpChannel, path: ServerPath): Promise<Attributes | undefined> {
  try {
    return await channel.lstat(path.raw);
  } catch (error) {
    if (isStatus(error)) return undefined;
    throw error;
  }
}

/** Whether a folder stands at a path, links followed. */
export async function isFolderAt(channel: SftpChannel, path: ServerPath): Promise<boolean> {
  try {
    return (await channel.stat(path.raw)).isFolder;
  } catch (error) {
    if (isStatus(error)) return false;
    throw error;
  }
}

/**
 * Renames so that an existing target is never replaced: already_exists (a folder too). Free of races where the server
 * refuses by itself; `memory.moveOnto` tells.
 */
export async function renameNew(tools: PublishTools, from: ServerPath, to: ServerPath): Promise<void> {
  const { channel, memory } = tools;
  const exists = (cause?: unknown): GatewayError =>
    refused('already_exists', `${to.shown} exists already`, 'publish', cause);
  if (memory.moveOnto !== 'refuses' && (await lookAt(channel, to)) !== undefined) throw exists();
  try {
    await channel.rename(from.raw, to.raw);
  } catch (error) {
    if (!isStatus(error)) throw error;
    if (isStatus(error, STATUS.FILE_ALREADY_EXISTS) || (await lookAt(channel, to)) !== undefined) {
      memory.moveOnto = 'refuses';
      throw exists(error);
    }
    throw renameRefused(tools, error, to);
  }
}

/**
 * Renames onto whatever file stands at the target: by posix-rename@openssh.com in one step; else by the plain rename,
 * which some servers let replace; else the old file makes way under a hidden name and comes back when the rename
 * still fails. At no moment is the old file gone without the new one being complete under some name.
 */
export async function renameOver(tools: PublishTools, from: ServerPath, to: ServerPath): Promise<void> {
  const { channel, memory } = tools;
  const hasPosixRename = channel.extensions.has('posix-rename@openssh.com') && !memory.refusesPosixRename;
  if (hasPosixRename) {
    try {
      await channel.posixRename(from.raw, to.raw);
      return;
    } catch (error) {
      if (!isStatus(error)) throw error;
      if (await isFolderAt(channel, to)) throw refused('is_a_folder', `${to.shown} is a folder`, 'publish', error);
      if (!isStatus(error, STATUS.OP_UNSUPPORTED, STATUS.PERMISSION_DENIED)) throw renameRefused(tools, error, to);
    }
  }
  await renameByHand(tools, from, to);
  if (hasPosixRename) memory.refusesPosixRename = true;
}

async function renameByHand(tools: PublishTools, from: ServerPath, to: ServerPath): Promise<void> {
  const { channel, memory } = tools;
  let refusal: unknown;
  try {
    await channel.rename(from.raw, to.raw);
    return;
  } catch (error) {
    if (!isStatus(error)) throw error;
    if ((await lookAt(channel, to)) === undefined) throw renameRefused(tools, error, to);
    memory.moveOnto = 'refuses';
    refusal = error;
  }
  if (await isFolderAt(channel, to)) throw refused('is_a_folder', `${to.shown} is a folder`, 'publish', refusal);
  await replaceInTwoSteps(tools, from, to);
}

async function replaceInTwoSteps(tools: PublishTools, from: ServerPath, to: ServerPath): Promise<void> {
  const { channel } = tools;
  const aside = tools.asideOf(to);
  try {
    await channel.rename(to.raw, aside.raw);
  } catch (error) {
    throw isStatus(error) ? renameRefused(tools, error, to) : error;
  }
  try {
    await channel.rename(from.raw, to.raw);
  } catch (error) {
    await bringBack(channel, aside, to);
    throw isStatus(error) ? renameRefused(tools, error, to) : error;
  }
  try {
    await channel.remove(aside.raw);
  } catch {
    tools.removeLater(aside);
  }
}

async function bringBack(channel: SftpChannel, aside: ServerPath, to: ServerPath): Promise<void> {
  try {
    await channel.rename(aside.raw, to.raw);
  } catch (error) {
    throw refused(
      'remote_failure',
      `${to.shown} could not be replaced, and the file that stood there could not be moved back: it is ${aside.shown} now`,
      'publish',
      error,
    );
  }
}

function renameRefused({ purpose }: PublishTools, error: Error, to: ServerPath): GatewayError {
  const known = translate(error, to.shown, 'publish');
  if (purpose === 'move' || known.code === 'no_space') return known;
  const words = `the server refused to rename the uploaded file to ${to.shown}; where it allows no renaming, set atomicUploads: false`;
  return refused('remote_failure', words, 'publish', error);
}
