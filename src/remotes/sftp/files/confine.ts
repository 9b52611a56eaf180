import { GatewayError } from '../../../base/errors.js';
import { baseName, parentOf, pathBytes, ROOT, underRoot, type RemotePath } from '../../path.js';
import type { SftpChannel } from '../session/channel.js';
import { isMissing, isStatus, translate } from '../wire/replies.js';
import type { Attributes } from '../wire/wire.js';

/** A path on the server: its bytes, and its name for clients. */
export interface ServerPath {
  readonly raw: Buffer;
  readonly path: RemotePath;
}

/** What exists at a path, links not followed; undefined if nothing exists or nothing can be learned. */
export const findEntry = (channel: SftpChannel, { raw }: ServerPath): Promise<Attributes | undefined> =>
  unlessRefused(channel.lstat(raw));

/** The same, links followed. */
export const findTarget = (channel: SftpChannel, { raw }: ServerPath): Promise<Attributes | undefined> =>
  unlessRefused(channel.stat(raw));

/** The attributes of an open file: from FSTAT, or from STAT if the server has no FSTAT or omits the size there. */
export async function measureOpen(channel: SftpChannel, handle: Buffer, { raw }: ServerPath): Promise<Attributes> {
  const own = await unlessRefused(channel.fstat(handle));
  return own?.size === undefined && own?.isFolder !== true ? channel.stat(raw) : own;
}

export async function unlessRefused<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (isStatus(error)) return undefined;
    throw error;
  }
}

/** False if the server refuses. */
export async function isDone(request: Promise<void>): Promise<boolean> {
  return (await unlessRefused(request.then(() => true))) === true;
}

export interface AnswerAt<T> {
  readonly at: ServerPath;
  readonly answer: T;
}

/**
 * Keeps a connection inside its `rootPath`. Paths are free of `..` already, but the server follows symbolic links; so
 * if the root is not "/", the server is asked for the real path, and that is used.
 */
export class Confinement {
  readonly #rootPath: string;
  #realRoot: Promise<Buffer> | undefined;

  constructor(rootPath: string) {
    this.#rootPath = underRoot(rootPath, ROOT);
  }

  get isOpen(): boolean {
    return this.#rootPath === '/';
  }

  /**
   * For requests that follow links and change nothing: sent together with the question for the real path, so that they
   * cost no further round trip. The answer counts only if the path is inside; `giveBack` releases one that does not
   * count.
   */
  ask<T>(
    channel: SftpChannel,
    path: RemotePath,
    question: (at: ServerPath) => Promise<T>,
    giveBack?: (answer: T) => void,
  ): Promise<AnswerAt<T>> {
    return this.#together(path, () => this.target(channel, path), question, giveBack);
  }

  /** The same for requests that do not follow a link at the end. Rejects as `entry` does. */
  askOfEntry<T>(
    channel: SftpChannel,
    path: RemotePath,
    question: (at: ServerPath) => Promise<T>,
  ): Promise<AnswerAt<T>> {
    return this.#together(path, () => this.entry(channel, path), question);
  }

  /** For requests that follow links and change something. */
  async target(channel: SftpChannel, path: RemotePath): Promise<ServerPath> {
    const plain = this.plain(path);
    if (this.isOpen) return plain;
    const [root, real] = await Promise.all([this.#root(channel), channel.realPath(plain.raw)]).catch(
      (error: unknown): never => {
        throw translate(error, path, 'open');
      },
    );
    return { raw: inside(real, root, path), path };
  }

  /**
   * For requests that change the entry itself: remove, rename, make. Rejects with the server's status if its folder is
   * missing.
   */
  async entry(channel: SftpChannel, path: RemotePath): Promise<ServerPath> {
    if (this.isOpen || path === ROOT) return this.plain(path);
    const folder = this.plain(parentOf(path));
    const [root, real] = await Promise.all([this.#root(channel), channel.realPath(folder.raw)]);
    const raw = Buffer.concat([withSlash(inside(real, root, path)), pathBytes(baseName(path))]);
    return { raw, path };
  }

  /** For creating or overwriting an entry in place: the server follows a link at the end, so its target is checked. */
  async writable(channel: SftpChannel, entry: ServerPath): Promise<ServerPath> {
    if (this.isOpen || (await findEntry(channel, entry))?.isLink !== true) return entry;
    return this.target(channel, entry.path);
  }

  /** Whether a path leads to a place inside; false if the server cannot answer. */
  async holds(channel: SftpChannel, raw: Buffer): Promise<boolean> {
    if (this.isOpen) return true;
    const [root, real] = await Promise.all([this.#root(channel), channel.realPath(raw)]);
    return isInside(real, root);
  }

  plain(path: RemotePath): ServerPath {
    return { raw: pathBytes(underRoot(this.#rootPath, path)), path };
  }

  /** A path of the server as clients see it; undefined if it is outside. */
  async seen(channel: SftpChannel, real: Buffer): Promise<string | undefined> {
    if (this.isOpen) return real.toString('utf8');
    const root = await this.#root(channel);
    return isInside(real, root) ? real.toString('utf8').slice(root.toString('utf8').length) || '/' : undefined;
  }

  async #together<T>(
    path: RemotePath,
    leads: () => Promise<ServerPath>,
    question: (at: ServerPath) => Promise<T>,
    giveBack?: (answer: T) => void,
  ): Promise<AnswerAt<T>> {
    const plain = this.plain(path);
    if (this.isOpen) return { at: plain, answer: await question(plain) };
    const [led, asked] = await Promise.allSettled([leads(), question(plain)]);
    if (led.status === 'fulfilled' && asked.status === 'fulfilled') return { at: led.value, answer: asked.value };
    if (asked.status === 'fulfilled') giveBack?.(asked.value);
    throw led.status === 'rejected' ? led.reason : (asked as PromiseRejectedResult).reason;
  }

  #root(channel: SftpChannel): Promise<Buffer> {
    this.#realRoot ??= channel.realPath(Buffer.from(this.#rootPath)).catch((error: unknown): never => {
      if (!isMissing(error)) throw error;
      throw new GatewayError('not_found', `the rootPath of the connection, ${this.#rootPath}, does not exist`, {
        step: 'open',
        cause: error,
      });
    });
    return this.#realRoot;
  }
}

const SLASH = '/'.charCodeAt(0);
const withSlash = (path: Buffer): Buffer => (path.at(-1) === SLASH ? path : Buffer.concat([path, Buffer.from('/')]));

function isInside(real: Buffer, root: Buffer): boolean {
  const folder = withSlash(root);
  return real.equals(root) || real.subarray(0, folder.length).equals(folder);
}

function inside(real: Buffer, root: Buffer, path: RemotePath): Buffer {
  if (isInside(real, root)) return real;
  throw new GatewayError('permission_denied', `${path} leads outside the connection's root by a symbolic link`, {
    step: 'open',
  });
}
