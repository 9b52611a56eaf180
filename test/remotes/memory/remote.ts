/** A Remote over a tree in memory: the duties of a protocol, without any wire format. */
import { Readable, Writable } from 'node:stream';
import { destroyOnAbort } from '../../../src/base/deadline.js';
import { GatewayError } from '../../../src/base/errors.js';
import { moveObstacle, notAFolder, notEmpty, refuseRoot } from '../../../src/remotes/obstacles.js';
import { baseName, joinPath, parentOf, ROOT, underRoot, type RemotePath } from '../../../src/remotes/path.js';
import type {
  ByteRange,
  Capabilities,
  Commit,
  FileInfo,
  MoveOptions,
  OpenFile,
  Remote,
  RemoteContext,
  RemoteWriter,
  ServerFacts,
  WriteOptions,
} from '../../../src/remotes/remote.js';
import type { ProbeResult } from '../../../src/remotes/probe-result.js';
import type { MemoryConnection } from './protocol.js';
import type { MemoryTree } from './tree.js';

const CHUNK_BYTES = 64 * 1024;

export class MemoryRemote implements Remote {
  readonly #tree: MemoryTree;
  readonly #connection: MemoryConnection;
  readonly #context: RemoteContext;
  readonly proof = {};
  readonly can: Capabilities = {
    moveOnto: 'replaces',
    exclusiveCreate: true,
    readsWhileWriting: true,
    timeResolutionMs: 1,
    statTimeResolutionMs: 1,
    keepsTimes: 'listed',
    callsAtOnce: 4,
  };
  readonly facts: ServerFacts = { protocol: 'memory' };

  constructor(tree: MemoryTree, connection: MemoryConnection, context: RemoteContext) {
    this.#tree = tree;
    this.#connection = connection;
    this.#context = context;
  }

  async home(): Promise<RemotePath> {
    this.#context.signal.throwIfAborted();
    return ROOT;
  }

  async probe(): Promise<ProbeResult> {
    return { answerMs: 0 };
  }

  async stat(path: RemotePath): Promise<FileInfo> {
    this.#context.signal.throwIfAborted();
    return this.infoOf(path);
  }

  async *list(folder: RemotePath): AsyncGenerator<readonly FileInfo[]> {
    if (!(await this.stat(folder)).isDirectory) throw refused('not_a_folder', `${folder} is a file`);
    for (const path of this.#tree.childrenOf(this.at(folder))) {
      this.#context.signal.throwIfAborted();
      yield [this.infoOf(joinPath(folder, path.slice(path.lastIndexOf('/') + 1)))];
    }
  }

  async read(path: RemotePath, select?: (info: FileInfo) => ByteRange | undefined): Promise<OpenFile> {
    const info = await this.stat(path);
    if (info.isDirectory) throw refused('is_a_folder', `${path} is a folder`);
    const range = select?.(info);
    const { start, end } = range ?? { start: 0, end: info.size - 1 };
    const { signal } = this.#context;
    const contentNow = (): Buffer | undefined => this.#tree.files.get(this.at(path))?.content;
    const body = Readable.from(
      (async function* () {
        for (let from = start; from <= end; from += CHUNK_BYTES) {
          const to = Math.min(from + CHUNK_BYTES, end + 1);
          const chunk = contentNow()?.subarray(from, to);
          if (chunk?.length !== to - from) throw refused('size_mismatch', `${path} became shorter while it was read`);
          yield chunk;
          await new Promise(setImmediate);
        }
      })(),
      { objectMode: false },
    );
    destroyOnAbort(body, signal);
    return { info, range, body };
  }

  async write(path: RemotePath, options: WriteOptions): Promise<RemoteWriter> {
    this.#context.signal.throwIfAborted();
    const isHidden = options.isHidden === true || (!this.#connection.atomicUploads && options.provisional !== true);
    if (options.provisional !== true) this.requirePlace(path, options.exclusive ?? false);
    if (isHidden) {
      this.#tree.write(this.at(path), Buffer.alloc(0));
      return new MemoryWriter(this, this.#tree, this.#context, path, path);
    }
    await this.#context.leftovers.expect(parentOf(path));
    const stored = joinPath(parentOf(path), this.#context.leftovers.temporaryName(baseName(path)));
    this.#tree.write(this.at(stored), Buffer.alloc(0));
    return new MemoryWriter(this, this.#tree, this.#context, path, stored);
  }

  async append(path: RemotePath): Promise<RemoteWriter> {
    const { isDirectory } = await this.stat(path);
    if (isDirectory) throw refused('is_a_folder', `${path} is a folder`);
    return new MemoryWriter(this, this.#tree, this.#context, path, undefined);
  }

  async move(from: RemotePath, to: RemotePath, { replace }: MoveOptions): Promise<FileInfo> {
    const info = await this.stat(from);
    if (from === to) return info;
    const kind = this.#tree.kindOf(this.at(to));
    const standing = kind && { isFolder: kind === 'folder' };
    const obstacle = moveObstacle({ isFolder: info.isDirectory, replace }, to, standing);
    if (obstacle !== undefined) throw obstacle;
    this.#context.irrevocable?.();
    this.#tree.makeFolder(this.at(parentOf(to)));
    this.#tree.rename(this.at(from), this.at(to));
    return this.infoOf(to);
  }

  async remove(path: RemotePath): Promise<void> {
    if ((await this.stat(path)).isDirectory) throw refused('is_a_folder', `${path} is a folder`);
    this.#context.irrevocable?.();
    this.#tree.files.delete(this.at(path));
  }

  async removeFolder(path: RemotePath): Promise<void> {
    refuseRoot(path);
    if (!(await this.stat(path)).isDirectory) throw notAFolder(path);
    if (this.#tree.childrenOf(this.at(path)).length > 0) throw notEmpty(path);
    this.#context.irrevocable?.();
    this.#tree.folders.delete(this.at(path));
  }

  async makeFolder(path: RemotePath): Promise<{ readonly created: boolean }> {
    this.#context.signal.throwIfAborted();
    return { created: this.#tree.makeFolder(this.at(path)) };
  }

  at(path: RemotePath): RemotePath {
    return underRoot(this.#connection.rootPath, path) as RemotePath;
  }

  infoOf(path: RemotePath): FileInfo {
    const [file, folder] = [this.#tree.files.get(this.at(path)), this.#tree.folders.get(this.at(path))];
    const modifiedAt = file?.modifiedAt ?? folder;
    if (modifiedAt === undefined) throw refused('not_found', `${path}: there is no such file or folder`);
    const size = file?.content.length ?? 0;
    return { name: baseName(path), path, size, isDirectory: file === undefined, modifiedAt };
  }

  /** @throws GatewayError is_a_folder; already_exists */
  requirePlace(path: RemotePath, exclusive: boolean): void {
    const kind = this.#tree.kindOf(this.at(path));
    if (kind === 'folder') throw refused('is_a_folder', `a folder is at ${path}`);
    if (kind === 'file' && exclusive) throw refused('already_exists', `${path} exists already`);
  }
}

class MemoryWriter extends Writable implements RemoteWriter {
  readonly #remote: MemoryRemote;
  readonly #tree: MemoryTree;
  readonly #context: RemoteContext;
  readonly #path: RemotePath;
  /** The hidden name of the bytes until then; undefined: they are appended to the file. */
  readonly #stored: RemotePath | undefined;
  readonly #chunks: Buffer[] = [];
  #isOver = false;

  constructor(
    remote: MemoryRemote,
    tree: MemoryTree,
    context: RemoteContext,
    path: RemotePath,
    stored: RemotePath | undefined,
  ) {
    super();
    this.#remote = remote;
    this.#tree = tree;
    this.#context = context;
    this.#path = path;
    this.#stored = stored;

    destroyOnAbort(this, context.signal);
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#chunks.push(chunk);
    setImmediate(done);
  }

  async commit({ size, path = this.#path, exclusive = false, modifiedAt }: Commit): Promise<FileInfo> {
    this.#context.signal.throwIfAborted();
    const content = Buffer.concat(this.#chunks);
    if (content.length !== size) {
      throw refused('size_mismatch', `${path}: ${content.length} bytes came, ${size} were expected`);
    }
    if (this.#stored === undefined) {
      const file = this.#tree.files.get(this.#remote.at(path));
      if (file === undefined) throw refused('not_found', `${path} is gone`);
      this.#tree.write(this.#remote.at(path), Buffer.concat([file.content, content]));
    } else {
      if (!this.#tree.files.has(this.#remote.at(this.#stored)))
        throw refused('remote_failure', `${path}: its hidden file is gone`);
      if (this.#stored !== path) this.#remote.requirePlace(path, exclusive);
      this.#context.mark?.('rename');
      this.#context.irrevocable?.();
      this.#tree.write(this.#remote.at(path), content, modifiedAt);
      if (this.#stored !== path) this.#tree.files.delete(this.#remote.at(this.#stored));
    }
    this.#isOver = true;
    return this.#remote.infoOf(path);
  }

  async abort(cause: Error): Promise<void> {
    this.destroy(cause);
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#stored !== undefined) this.#tree.files.delete(this.#remote.at(this.#stored));
  }
}

function refused(code: ConstructorParameters<typeof GatewayError>[0], text: string): GatewayError {
  return new GatewayError(code, text, { step: 'open' });
}
