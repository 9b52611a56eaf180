import { GatewayError, hasCode } from '../../../base/errors.js';
import type { KnownPlaces } from '../../known-places.js';
import { makeFolders } from '../../make-folders.js';
import { isAFolder, notAFolder, notEmpty, notFound } from '../../obstacles.js';
import { baseName, joinPath, parentOf, pathBytes, ROOT, type RemotePath } from '../../path.js';
import { inFolder, isAnswerLost, type Places, type EntryFacts } from '../../publish.js';
import type { SftpMemory } from '../memory.js';
import type { SftpChannel } from '../session/channel.js';
import type { SftpLease } from '../session/session.js';
import { isMissing, isStatus, STATUS, translate } from '../wire/replies.js';
import { OPEN } from '../wire/wire.js';
import { findEntry, findTarget, unlessRefused, type AnswerAt, type Confinement, type ServerPath } from './confine.js';
import { type Modes, setFolderMode } from './modes.js';

/** The rights that OPEN can give a new file. Writing to a file removes setuid and setgid, so they are set later. */
const ACCESS = 0o777;
const SELF = new Set(['.', '..']);
const SLASH = '/'.charCodeAt(0);

/** Includes the slash before it. */
const nameOf = (raw: Buffer): Buffer => raw.subarray(raw.lastIndexOf('/'));
/** Servers may return a name in another case or composition than requested. */
const folded = (raw: Buffer): string => raw.toString('utf8').normalize('NFC').toLowerCase();

/** The names of a server, on one channel: finds, opens, makes and moves, and asks again if a reply gives no reason. */
export class Tree implements Places<ServerPath> {
  #lacksReplace = false;

  constructor(
    readonly channel: SftpChannel,
    readonly confinement: Confinement,
    readonly memory: SftpMemory,
    /** The files of a job that miss the same folder make it together. */
    readonly places: KnownPlaces | undefined,
    readonly modes: Modes,
    /** Absent on a channel that replaces a lost one. */
    readonly lease?: Pick<SftpLease, 'afresh'>,
  ) {}

  async afresh<R>(work: (tree: Tree) => Promise<R>): Promise<R> {
    const { lease, confinement, memory, places, modes } = this;
    if (lease === undefined)
      throw new GatewayError('connection_lost', 'the channel that replaced a lost one was lost, too');
    return lease.afresh((channel) => work(new Tree(channel, confinement, memory, places, modes)));
  }

  /** Opens for reading. not_found, is_a_folder, permission_denied. */
  async openForReading(path: RemotePath): Promise<{ at: ServerPath; handle: Buffer }> {
    const open = (at: ServerPath): Promise<Buffer> => this.#open(at, path, OPEN.READ);
    const { at, answer } = await this.confinement.ask(this.channel, path, open, (handle) => this.giveBack(handle));
    return { at, handle: answer };
  }

  /**
   * Opens for writing; makes the folder after the server has reported that it is missing. `path`: the file's name for
   * clients.
   */
  openForWriting(file: ServerPath, path: RemotePath, flags: number): Promise<Buffer> {
    const { file: mode } = this.modes;
    // A new file has no other rights than these from its first byte on.
    return inFolder(this, path, () => this.#open(file, path, flags, mode === undefined ? undefined : mode & ACCESS));
  }

  /** Opens for listing. not_found, not_a_folder. */
  async openFolder(folder: RemotePath): Promise<{ at: ServerPath; handle: Buffer }> {
    const open = async ({ raw }: ServerPath): Promise<Buffer> => {
      try {
        return await this.channel.openFolder(raw);
      } catch (error) {
        // Servers also answer "No such file" and "failure" for a file that is no folder.
        if (!isStatus(error)) throw error;
        const existing = await this.channel.stat(raw).catch((missing: unknown) => {
          throw isMissing(missing) ? missing : error;
        });
        throw existing.isFolder ? error : notAFolder(folder, translate(error, folder, 'open'));
      }
    };
    const { at, answer } = await this.confinement.ask(this.channel, folder, open, (handle) => this.giveBack(handle));
    return { at, handle: answer };
  }

  async removeFile(path: RemotePath): Promise<void> {
    const at = await this.confinement.entry(this.channel, path);
    try {
      await this.channel.remove(at.raw);
    } catch (error) {
      const reason = translate(error, path, 'publish');
      if (isAnswerLost(reason) && (await this.#isGone(at))) return;
      throw await this.#findCause(reason, path, () => this.channel.lstat(at.raw));
    }
  }

  /** Asks on another channel, after this one was lost; false if that is also lost. */
  #isGone({ raw }: ServerPath): Promise<boolean> {
    return this.afresh(({ channel }) => channel.lstat(raw)).then(() => false, isMissing);
  }

  /** `isExact`: the server removes only folders. Others follow a link to one, or remove a file. */
  async removeFolder(path: RemotePath, isExact: boolean, before: () => void): Promise<void> {
    const at = await this.confinement.entry(this.channel, path);
    if (!isExact && !(await this.#isNoLink(at))) throw notAFolder(path);
    before();
    for (let isAgain = false; ; isAgain = true) {
      try {
        return await this.channel.removeFolder(at.raw);
      } catch (error) {
        const reason = await this.#whyNotRemoved(error, at);
        // Its last entry may have gone after the refusal.
        if (isAgain || !hasCode(reason, 'remote_failure')) throw reason;
      }
    }
  }

  /** The entry's place; if the confinement asks for the folder and finds none, the folder is made. */
  entryInNewFolder(path: RemotePath): Promise<ServerPath> {
    return inFolder(this, path, () => this.#translated(path, this.confinement.entry(this.channel, path)));
  }

  /** The entry's place; undefined if its folder is missing: nothing is made. */
  entryIfThere(path: RemotePath): Promise<ServerPath | undefined> {
    return this.#ifThere(path, this.confinement.entry(this.channel, path));
  }

  /** The same, with what exists there. */
  lookUpIfThere(path: RemotePath): Promise<AnswerAt<EntryFacts | undefined> | undefined> {
    return this.#ifThere(
      path,
      this.confinement.askOfEntry(this.channel, path, (at) => this.lookUp(at)),
    );
  }

  makeFolder(path: RemotePath): Promise<{ readonly created: boolean }> {
    const make = (): ReturnType<Tree['makeFolder']> => this.#makeFolder(path);
    return this.places === undefined ? make() : this.places.share(`make ${path}`, make);
  }

  async #makeFolder(path: RemotePath): Promise<{ readonly created: boolean }> {
    // A folder that was just made is not a link: paths below it need no check of their real path.
    let made: ServerPath | undefined;
    const make = async (at: RemotePath): Promise<'made' | 'exists'> => {
      let place: ServerPath;
      if (made !== undefined && made.path === parentOf(at)) {
        place = { raw: Buffer.concat([made.raw, Buffer.from('/'), pathBytes(baseName(at))]), path: at };
      } else {
        // Looks first: some servers report success for making a folder that exists.
        const existing = await this.confinement.askOfEntry(this.channel, at, (plain) => this.#isFolder(plain));
        if (existing.answer) return 'exists';
        place = existing.at;
      }
      try {
        await this.channel.makeFolder(place.raw, this.modes.folder);
      } catch (error) {
        if (isStatus(error) && !isMissing(error) && (await this.#isFolder(place))) return 'exists';
        throw error;
      }
      // The server takes away what its umask forbids.
      if (this.modes.folder !== undefined) await setFolderMode(this.channel, place, this.modes.folder);
      made = place;
      return 'made';
    };
    if (path === ROOT) return { created: (await this.#translated(path, make(ROOT))) === 'made' };
    return makeFolders(path, {
      // Below a missing folder, and below a file, servers give any reply: "No such file", "failure", "already exists".
      tryToMake: (at) =>
        make(at).catch((error: unknown) => {
          if (isStatus(error)) return 'absent';
          throw error;
        }),
      make: (at) => this.#translated(at, make(at)),
    });
  }

  async lookUp(place: ServerPath): Promise<EntryFacts | undefined> {
    const found = await findEntry(this.channel, place);
    if (found?.isLink !== true) return found;
    return this.channel.stat(place.raw).catch((error: unknown) => {
      if (isStatus(error)) return found;
      throw error;
    });
  }

  async rename(from: ServerPath, to: ServerPath): Promise<void> {
    await this.#translated(to.path, this.channel.rename(from.raw, to.raw));
    if (this.#lacksReplace) this.memory.refusesPosixRename = true;
  }

  /** Uses posix-rename@openssh.com; some servers announce it and refuse it. */
  async replace(from: ServerPath, to: ServerPath): Promise<boolean> {
    if (!this.channel.extensions.has('posix-rename@openssh.com') || this.memory.refusesPosixRename) return false;
    try {
      await this.channel.posixRename(from.raw, to.raw);
      return true;
    } catch (error) {
      if (!isStatus(error, STATUS.OP_UNSUPPORTED, STATUS.PERMISSION_DENIED)) throw translate(error, to.path, 'publish');
      // It counts only if a plain rename succeeds where this one failed.
      this.#lacksReplace = true;
      return false;
    }
  }

  remove(place: ServerPath): Promise<void> {
    return this.#translated(place.path, this.channel.remove(place.raw));
  }

  beside({ raw, path }: ServerPath, name: string): ServerPath {
    const folder = raw.subarray(0, raw.lastIndexOf('/') + 1);
    return { raw: Buffer.concat([folder, pathBytes(name)]), path: joinPath(parentOf(path), name) };
  }

  get refusesToReplace(): boolean {
    return this.memory.moveOnto === 'refuses';
  }

  learnRefusal(): void {
    this.memory.moveOnto = 'refuses';
  }

  /** Closes what was opened for reading, without waiting. */
  giveBack(handle: Buffer): void {
    this.channel.close(handle).catch(() => undefined);
  }

  async #open({ raw }: ServerPath, path: RemotePath, flags: number, mode?: number): Promise<Buffer> {
    try {
      return await this.channel.open(raw, flags, mode);
    } catch (error) {
      throw await this.#findCause(translate(error, path, 'open'), path, () => this.channel.stat(raw));
    }
  }

  /** Finds the cause of an unspecific failure: a folder, or that nothing exists. */
  async #findCause(
    error: GatewayError,
    path: RemotePath,
    lookup: () => Promise<{ readonly isFolder: boolean }>,
  ): Promise<GatewayError> {
    if (!error.keepsSession || error.code === 'not_found') return error;
    try {
      return (await lookup()).isFolder ? isAFolder(path, error) : error;
    } catch (second) {
      return isMissing(second) && isStatus(error.cause, STATUS.FAILURE) ? translate(second, path, 'open') : error;
    }
  }

  /** Also checks its real name: ProFTPD shows a link to a folder as that folder. */
  async #isNoLink(at: ServerPath): Promise<boolean> {
    const above = { ...at, raw: at.raw.subarray(0, Math.max(at.raw.lastIndexOf('/'), 1)) };
    const real = ({ raw }: ServerPath): Promise<Buffer | undefined> => unlessRefused(this.channel.realPath(raw));
    const [existing, own, folder] = await Promise.all([findEntry(this.channel, at), real(at), real(above)]);
    if (existing?.isFolder === false) return false;
    if (own === undefined || folder === undefined) return true;
    const expected = Buffer.concat([folder.at(-1) === SLASH ? folder.subarray(0, -1) : folder, nameOf(at.raw)]);
    return folded(own) === folded(expected);
  }

  /** OpenSSH answers "No such file" for a file and for a link, and "failure" for a folder that is not empty. */
  async #whyNotRemoved(error: unknown, at: ServerPath): Promise<unknown> {
    if (!isStatus(error)) return error;
    const refusal = translate(error, at.path, 'publish');
    const existing = await findEntry(this.channel, at);
    if (existing === undefined) return isStatus(error, STATUS.FAILURE) ? notFound(at.path) : refusal;
    if (!existing.isFolder) return notAFolder(at.path, refusal);
    const isUnclear = refusal.code === 'remote_failure' || refusal.code === 'not_found';
    const isFull = isUnclear && (/not empty/i.test(error.text) || (await this.#holdsAnything(at)));
    return isFull ? notEmpty(at.path, refusal) : refusal;
  }

  async #holdsAnything({ raw }: ServerPath): Promise<boolean> {
    const handle = await this.channel.openFolder(raw).catch(() => undefined);
    if (handle === undefined) return false;
    try {
      for (;;) {
        const names = await this.channel.readFolder(handle);
        for (const { rawName } of names) if (!SELF.has(rawName.toString('latin1'))) return true;
        if (names.length === 0) return false;
      }
    } catch (error) {
      if (isStatus(error)) return false;
      throw error;
    } finally {
      this.giveBack(handle);
    }
  }

  /** False if nothing exists, or the login may not look. @throws GatewayError not_a_folder */
  async #isFolder(place: ServerPath): Promise<boolean> {
    const existing = await findTarget(this.channel, place);
    if (existing?.isFolder === false) throw notAFolder(place.path);
    return existing !== undefined;
  }

  async #ifThere<T>(path: RemotePath, asked: Promise<T>): Promise<T | undefined> {
    try {
      return await asked;
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw translate(error, path, 'publish');
    }
  }

  async #translated<T>(path: RemotePath, work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      throw translate(error, path, 'publish');
    }
  }
}
