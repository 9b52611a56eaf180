import { randomBytes } from 'node:crypto';
import { GatewayError, hasCode } from '../../../base/errors.js';
import { makeFolders, type FolderMaker } from '../../make-folders.js';
import { joinPath, baseName, parentOf, pathBytes, ROOT, type RemotePath } from '../../path.js';
import type { SftpChannel } from '../session/channel.js';
import type { Confinement } from './confine.js';
import type { HostMemory } from '../host-memory.js';
import { lookAt, renameNew, renameOver, type PublishTools, type ServerPath } from './publish.js';
import { isMissing, isStatus, refused, STATUS, translate } from '../wire/replies.js';
import { OPEN } from '../wire/wire.js';

const MAX_NAME_BYTES = 255;

/** The names of a server, on one channel: finds, opens, makes and moves, and asks again where a reply does not say why. */
export class Tree {
  constructor(
    readonly channel: SftpChannel,
    readonly confinement: Confinement,
    readonly memory: HostMemory,
  ) {}

  /** Opens for reading. not_found, is_a_folder, permission_denied. */
  async openForReading(path: RemotePath): Promise<Buffer> {
    const file = await this.confinement.target(this.channel, path);
    return this.#open(file, OPEN.READ);
  }

  /** Opens for writing; makes the folder once the server has said that it is missing. */
  async openForWriting(file: ServerPath, path: RemotePath, flags: number): Promise<Buffer> {
    try {
      return await this.#open(file, flags);
    } catch (error) {
      if (!isMissing(error)) throw await this.#lookAbove(error, path);
      await this.makeFolder(parentOf(path));
      return this.#open(file, flags);
    }
  }

  /** Opens for listing. not_found, not_a_folder. */
  async openFolder(folder: RemotePath): Promise<{ at: ServerPath; handle: Buffer }> {
    const at = await this.confinement.target(this.channel, folder);
    try {
      return { at, handle: await this.channel.openFolder(at.raw) };
    } catch (error) {
      // "No such file" and "failure" are what servers say of a file that is no folder, too.
      if (!isStatus(error)) throw error;
      const standing = await this.channel.stat(at.raw).catch((missing: unknown) => {
        throw isMissing(missing) ? missing : error;
      });
      if (standing.isFolder) throw error;
      throw refused('not_a_folder', `${folder} is a file, not a folder`, 'open', error);
    }
  }

  async removeFile(path: RemotePath): Promise<void> {
    const at = await this.confinement.entry(this.channel, path);
    try {
      await this.channel.remove(at.raw);
    } catch (error) {
      throw await this.#lookFurther(error, at, (raw) => this.channel.lstat(raw));
    }
  }

  /** With its parents. */
  async makeFolder(path: RemotePath): Promise<{ readonly created: boolean }> {
    // What was just made is no link: what comes below it needs no question where it leads.
    let made: ServerPath | undefined;
    const entry = async (at: RemotePath): Promise<ServerPath> =>
      made?.shown === parentOf(at)
        ? { raw: Buffer.concat([made.raw, Buffer.from('/'), pathBytes(baseName(at))]), shown: at }
        : this.confinement.entry(this.channel, at);
    const maker: FolderMaker = {
      tryToMake: async (at) => {
        const place = await entry(at).catch(async (error: unknown) => {
          if (!isMissing(error)) throw await this.#lookAbove(error, at);
        });
        // Looks before it asks: some servers say yes to making what exists.
        if (place === undefined) return 'absent';
        if (await this.#isFolder(place)) return 'exists';
        try {
          await this.channel.makeFolder(place.raw);
        } catch (error) {
          if (isMissing(error)) return 'absent';
          await this.#expectFolder(place, at, error);
          return 'exists';
        }
        made = place;
        return 'made';
      },
      make: async (at) => {
        const place = await entry(at);
        made = await this.channel.makeFolder(place.raw).then(
          () => place,
          (error: unknown) => this.#expectFolder(place, at, error).then(() => undefined),
        );
      },
    };
    if (path !== ROOT) return makeFolders(path, maker);
    if (await this.#isFolder(await entry(ROOT))) return { created: false };
    await maker.make(ROOT);
    return { created: true };
  }

  /** The entry's place; where the confinement has to ask for the folder and finds none, it is made. */
  async entryInNewFolder(path: RemotePath): Promise<ServerPath> {
    try {
      return await this.confinement.entry(this.channel, path);
    } catch (error) {
      if (!isMissing(error)) throw await this.#lookAbove(error, path);
      await this.makeFolder(parentOf(path));
      return this.confinement.entry(this.channel, path);
    }
  }

  /** Renames to `to`, making its folder once a failure turns out to come from its absence. */
  async renameTo(source: ServerPath, to: RemotePath, how: 'over' | 'new', tools: PublishTools): Promise<void> {
    const rename = how === 'over' ? renameOver : renameNew;
    const target = await this.entryInNewFolder(to);
    try {
      await rename(tools, source, target);
    } catch (error) {
      const folder = parentOf(to);
      const isGone = error instanceof GatewayError && !error.keepsSession;
      if (isGone) throw error;
      const isThere = (await lookAt(this.channel, this.confinement.plain(folder))) !== undefined;
      if (isThere) throw await this.#lookAbove(error, to);
      await this.makeFolder(folder);
      await rename(tools, source, await this.confinement.entry(this.channel, to));
    }
  }

  /** What renaming needs to know; `later` takes the path of an old file that could not be removed. */
  publishTools(path: RemotePath, purpose: PublishTools['purpose'], later: (path: RemotePath) => void): PublishTools {
    const name = asideName(baseName(path));
    const shown = joinPath(parentOf(path), name);
    return {
      channel: this.channel,
      memory: this.memory,
      purpose,
      asideOf: ({ raw }) => ({
        raw: Buffer.concat([raw.subarray(0, raw.lastIndexOf('/') + 1), Buffer.from(name)]),
        shown,
      }),
      removeLater: () => later(shown),
    };
  }

  async #open(file: ServerPath, flags: number): Promise<Buffer> {
    try {
      return await this.channel.open(file.raw, flags);
    } catch (error) {
      throw await this.#lookFurther(error, file, (raw) => this.channel.stat(raw));
    }
  }

  /** What is behind a failure that says nothing: a folder, or that nothing is there. */
  async #lookFurther(
    error: unknown,
    at: ServerPath,
    look: (raw: Buffer) => Promise<{ readonly isFolder: boolean }>,
  ): Promise<unknown> {
    if (!isStatus(error) || isMissing(error)) return error;
    try {
      const { isFolder } = await look(at.raw);
      return isFolder ? refused('is_a_folder', `${at.shown} is a folder`, 'open', error) : error;
    } catch (second) {
      return isMissing(second) && isStatus(error, STATUS.FAILURE) ? second : error;
    }
  }

  async #expectFolder(at: ServerPath, path: RemotePath, error: unknown): Promise<void> {
    if (isStatus(error) && (await this.#isFolder(at))) return;
    throw translate(await this.#lookAbove(error, path), at.shown, 'publish');
  }

  /** Of a name below a file servers say anything: "No such file", "failure", "already exists". */
  async #lookAbove(error: unknown, path: RemotePath): Promise<unknown> {
    const isReply = isStatus(error) || hasCode(error, 'remote_failure') || hasCode(error, 'not_found');
    for (let folder = parentOf(path); isReply && folder !== ROOT; folder = parentOf(folder)) {
      const standing = await this.channel.stat(this.confinement.plain(folder).raw).catch((second: unknown) => {
        if (!isStatus(second)) throw second;
      });
      if (standing?.isFolder === true) break;
      if (standing === undefined) continue;
      return refused('not_a_folder', `${folder} is a file, not a folder`, 'publish', error);
    }
    return error;
  }

  /** False where nothing stands, or nobody may look. @throws GatewayError not_a_folder */
  async #isFolder(at: ServerPath): Promise<boolean> {
    try {
      if ((await this.channel.stat(at.raw)).isFolder) return true;
    } catch (error) {
      if (isStatus(error)) return false;
      throw error;
    }
    throw refused('not_a_folder', `${at.shown} is a file, not a folder`, 'publish', undefined);
  }
}

/**
 * The hidden name of a file that makes way, cut to what file systems take. Not one of the names that are swept up
 * after a crash: for a moment it is the only copy of the old file.
 */
function asideName(name: string): string {
  const suffix = `.ftg-old-${randomBytes(8).toString('hex')}`;
  let kept = name;
  while (Buffer.byteLength(kept) + suffix.length + 1 > MAX_NAME_BYTES) kept = [...kept].slice(0, -1).join('');
  return `.${kept}${suffix}`;
}
