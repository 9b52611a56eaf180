/**
 * Resumable files under a hidden name: each piece is written by REST and STOR, or by APPE if the server offers nothing
 * else.
 */
import { finished } from 'node:stream/promises';
import { hasCode } from '../../../base/errors.js';
import { readBack } from '../../acknowledged.js';
import { cannotResume, piecesAreGone, unequalSizes } from '../../obstacles.js';
import { baseName, type RemotePath } from '../../path.js';
import { isRefusal, publishUpload } from '../../publish.js';
import type {
  BeginOptions,
  BegunFile,
  FileInfo,
  PieceCommit,
  PiecedFile,
  PieceOptions,
  Pieces,
  PieceWriter,
  Settled,
  StoredBytes,
} from '../../remote.js';
import type { FtpMemory } from '../memory.js';
import { beginTransfer, type FtpTransfer } from '../session/data.js';
import type { FtpOperation } from '../session/operation.js';
import { refusedBy } from '../session/replies.js';
import { find, measure } from './lookup.js';
import { placesOn } from './places.js';
import { FtpSink } from './sink.js';
import { openFile } from './source.js';
import { dated } from './times.js';
import { openHidden } from './writer.js';

/** How a file can be continued, as its `storeId` records it. */
const RESTART = 'R';
const APPEND = 'A';
/** A refusal may have another cause, which is gone at the second try. */
const MOST_TRIES = 2;

export class FtpPieces implements Pieces {
  readonly #operation: FtpOperation;
  readonly #atomicUploads: boolean;
  readonly #remove: (path: RemotePath) => Promise<void>;
  readonly canBeRead = true;

  constructor(operation: FtpOperation, atomicUploads: boolean, remove: (path: RemotePath) => Promise<void>) {
    this.#operation = operation;
    this.#atomicUploads = atomicUploads;
    this.#remove = remove;
  }

  async begin(
    { path, hidden }: Pick<PiecedFile, 'path' | 'hidden'>,
    { canBeApart = false }: Pick<BeginOptions, 'canBeApart'>,
  ): Promise<BegunFile> {
    if (!this.#atomicUploads) throw cannotResume('it writes in place (atomicUploads: false)');
    const { memory } = this.#operation.lease;
    await this.#empty(path, hidden);
    for (let tries = 0; memory.goesOnBy === undefined && tries < MOST_TRIES; tries++) {
      const found = await this.#tryBoth(path, hidden);
      await this.#empty(path, hidden);
      if (found.restart || found.append) memory.goesOnBy = found;
    }
    // Another node continues without trying first.
    if (memory.goesOnBy !== undefined) {
      const { restart, append } = memory.goesOnBy;
      return { storeId: `${restart ? RESTART : ''}${append ? APPEND : ''}`, layout: 'turns' };
    }
    await this.#remove(hidden).catch(() => undefined);
    if (canBeApart) return { storeId: '', layout: 'apart' };
    throw cannotResume('the FTP server cannot continue a file, neither by REST and STOR nor by APPE');
  }

  async measure({ hidden }: PiecedFile, { offset, isUnproven }: StoredBytes): Promise<number | undefined> {
    const found = await find(this.#operation, hidden);
    if (found === undefined) return undefined;
    return isUnproven ? Math.min(found.size, offset) : found.size;
  }

  async resume(
    { path, hidden, storeId }: PiecedFile,
    { offset }: StoredBytes,
    { hash }: PieceOptions,
  ): Promise<PieceWriter> {
    const operation = this.#operation;
    const [restart, append] = [storeId.includes(RESTART), storeId.includes(APPEND)];
    const found = await find(operation, hidden);
    if (found === undefined) throw piecesAreGone(path);
    const { size } = found;
    // Some servers would fill the gap with zeros.
    if (size < offset) throw unequalSizes(path, size, offset);
    // Some servers keep the bytes of a STOR under a name of their own until it is complete, and drop them if the
    // connection breaks.
    const isAppended = append && size === offset && (offset === 0 || !restart);
    if (!isAppended && !restart && offset > 0) {
      throw cannotResume(`the FTP server cannot cut off what follows the ${offset} valid bytes of ${path}`);
    }
    const transfer = isAppended ? await this.#append(path, hidden) : await this.#store(path, hidden, offset);
    return new FtpPieceWriter(operation, transfer, { path, hidden, offset, hash });
  }

  async publish({ path, hidden }: PiecedFile, commit: PieceCommit): Promise<FileInfo> {
    const operation = this.#operation;
    const { size, exclusive = false, modifiedAt, isAgain, check } = commit;
    let info = await find(operation, hidden);
    if (info === undefined) {
      const published = isAgain ? await find(operation, path) : undefined;
      if (published?.size !== size) throw piecesAreGone(path);
      return published;
    }
    if (info.size !== size) throw unequalSizes(path, info.size, size);
    if (modifiedAt !== undefined) info = await dated(operation, hidden, modifiedAt);
    const { context } = operation;
    await readBack(context, check, () => openFile(operation, hidden));
    operation.signal.throwIfAborted();
    await publishUpload(placesOn(operation), { path: hidden }, { path }, { exclusive, size, context });
    return { ...info, name: baseName(path), path };
  }

  async discard({ hidden }: PiecedFile): Promise<void> {
    await this.#remove(hidden).catch((error: unknown) => {
      if (!hasCode(error, 'not_found')) throw error;
    });
  }

  async #empty(path: RemotePath, hidden: RemotePath): Promise<void> {
    const writer = await openHidden(this.#operation, path, hidden);
    try {
      writer.end();
      await finished(writer);
      await writer.commit({ size: 0 });
    } catch (error) {
      await writer.abort(error as Error);
      throw error;
    }
  }

  /** Tests the server's abilities on a file that is not in use. */
  async #tryBoth(path: RemotePath, hidden: RemotePath): Promise<NonNullable<FtpMemory['goesOnBy']>> {
    const sizeAfter = async (open: () => Promise<FtpTransfer>): Promise<number | undefined> => {
      // A refusal here says nothing about resuming: a client may just have removed the folder.
      await this.#send(path, hidden, await this.#store(path, hidden, 0), 'four');
      try {
        await this.#send(path, hidden, await open(), 'six...');
        return (await measure(this.#operation, hidden)).info.size;
      } catch (error) {
        if (isRefusal(error)) return undefined;
        throw error;
      }
    };
    const restart = (await sizeAfter(() => this.#store(path, hidden, 2))) === 8;
    return { restart, append: (await sizeAfter(() => this.#append(path, hidden))) === 10 };
  }

  async #send(path: RemotePath, hidden: RemotePath, transfer: FtpTransfer, text: string): Promise<void> {
    const writer = new FtpPieceWriter(this.#operation, transfer, { path, hidden, offset: 0 });
    writer.end(text);
    await writer.taken();
  }

  async #store(path: RemotePath, hidden: RemotePath, offset: number): Promise<FtpTransfer> {
    const operation = this.#operation;
    return accepted(
      path,
      await beginTransfer(operation, `STOR ${operation.at(hidden)}`, offset, { mustRestart: true }),
    );
  }

  async #append(path: RemotePath, hidden: RemotePath): Promise<FtpTransfer> {
    const operation = this.#operation;
    return accepted(path, await beginTransfer(operation, `APPE ${operation.at(hidden)}`));
  }
}

interface Piece {
  readonly path: RemotePath;
  readonly hidden: RemotePath;
  readonly offset: number;
  readonly hash?: PieceOptions['hash'];
}

class FtpPieceWriter extends FtpSink implements PieceWriter {
  readonly #piece: Piece;

  constructor(operation: FtpOperation, transfer: FtpTransfer, piece: Piece) {
    super(operation, transfer, `writing ${piece.path}`);
    this.#piece = piece;

    // Once nothing is piped into it any more, `settle` reports the error.
    this.on('error', () => undefined);
  }

  /** The server does not report what it has stored before its last reply. */
  get safeOffset(): number {
    return this.#piece.offset;
  }

  protected override passes(chunk: Buffer): void {
    this.#piece.hash?.update(chunk);
  }

  /** Resolves when all has been sent and the server has confirmed it. */
  async taken(): Promise<void> {
    await finished(this);
    await this.confirmed();
  }

  async settle(keep: boolean): Promise<Settled> {
    const { path, hidden, offset } = this.#piece;
    if (!this.destroyed) this.end();
    await this.taken();
    const { size } = (await measure(this.operation, hidden)).info;
    const reached = offset + this.sent;
    if (size < reached) throw unequalSizes(path, size, reached);
    // FTP has no command to shorten a file.
    return keep ? { offset: reached, isClean: size === reached } : { offset, isClean: size === offset };
  }
}

function accepted(path: RemotePath, transfer: FtpTransfer): FtpTransfer {
  if (transfer.first.code < 400) return transfer;
  throw refusedBy(transfer.first, 'open', `writing on in ${path}`, 'permission_denied');
}
