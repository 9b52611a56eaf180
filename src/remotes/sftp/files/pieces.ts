/** Resumable files under a hidden name: written at an offset, one packet after the other. */
import { finished } from 'node:stream/promises';
import { UNCOUNTED } from '../../../budgets/memory.js';
import { destroyOnAbort } from '../../../base/deadline.js';
import { type Step } from '../../../base/errors.js';
import { readBack } from '../../acknowledged.js';
import { EPOCH } from '../../listing.js';
import { cannotResume, piecesAreGone, unequalSizes } from '../../obstacles.js';
import type { RemotePath } from '../../path.js';
import { publishUpload } from '../../publish.js';
import type {
  BeginOptions,
  BegunFile,
  FileInfo,
  RemoteContext,
  OpenFile,
  PieceCommit,
  PiecedFile,
  PieceOptions,
  Pieces,
  PieceWriter,
  Settled,
  StoredBytes,
} from '../../remote.js';
import { isSameTime } from '../../times.js';
import type { SftpMemory } from '../memory.js';
import { isMissing, isStatus, translate } from '../wire/replies.js';
import { OPEN, type Attributes } from '../wire/wire.js';
import type { WritesOn } from './append-probe.js';
import { isDone, measureOpen, unlessRefused, type ServerPath } from './confine.js';
import { type Lane, Lanes } from './lanes.js';
import { infoOf } from './listing.js';
import { setFileMode } from './modes.js';
import { SftpSink, type SinkPlan } from './sink.js';
import type { Tree } from './tree.js';
import { closeAndRemove } from './upload.js';

interface PiecesPlan {
  readonly context: RemoteContext;
  readonly memory: SftpMemory;
  readonly atomicUploads: boolean;
  /** The server executes requests in order: the bytes that a file has are those that were written first. */
  readonly isOrderly: boolean;
  readonly maxRequests: number;
  readonly session: Lane['session'];
  run<T>(path: RemotePath, step: Step, work: (tree: Tree) => Promise<T>): Promise<T>;
  read(path: RemotePath): Promise<OpenFile>;
  writesOn(tree: Tree, file: ServerPath, path: RemotePath): Promise<WritesOn>;
}

export class SftpPieces implements Pieces {
  readonly #plan: PiecesPlan;
  readonly canBeRead = true;

  constructor(plan: PiecesPlan) {
    this.#plan = plan;
  }

  begin(
    { path, hidden }: Pick<PiecedFile, 'path' | 'hidden'>,
    { canBeApart = false }: Pick<BeginOptions, 'canBeApart'>,
  ): Promise<BegunFile> {
    const plan = this.#plan;
    return plan.run(path, 'open', async (tree) => {
      if (!plan.atomicUploads) throw cannotResume('it writes in place (atomicUploads: false)');
      const { channel } = tree;
      const file = await tree.confinement.writable(channel, await tree.entryInNewFolder(hidden));
      await channel.close(await tree.openForWriting(file, path, OPEN.WRITE | OPEN.CREATE | OPEN.TRUNCATE));
      const writesOn = await plan.writesOn(tree, file, hidden);
      if (writesOn !== 'nowhere') return { storeId: '', layout: writesOn === 'anywhere' ? 'offsets' : 'turns' };
      await closeAndRemove(channel, undefined, file);
      if (canBeApart) return { storeId: '', layout: 'apart' };
      throw cannotResume('the SFTP server empties a file that is opened to be written on');
    });
  }

  measure({ hidden }: PiecedFile, { offset, isUnproven }: StoredBytes): Promise<number | undefined> {
    return this.#plan.run(hidden, 'open', async (tree) => {
      const found = await findFile(tree, hidden);
      if (found === undefined) return undefined;
      const { size = 0 } = found.attributes;
      return this.#plan.isOrderly && !isUnproven ? size : Math.min(size, offset);
    });
  }

  resume({ path, hidden }: PiecedFile, { offset }: StoredBytes, options: PieceOptions): Promise<PieceWriter> {
    const { context, memory, maxRequests, session } = this.#plan;
    const { hash, isAmid = false } = options;
    return this.#plan.run(hidden, 'open', async (tree) => {
      const { channel } = tree;
      const entry = await tree.entryIfThere(hidden);
      if (entry === undefined) throw piecesAreGone(path);
      const file = await tree.confinement.writable(channel, entry);
      const handle = await channel.open(file.raw, OPEN.WRITE).catch((error: unknown) => {
        throw isMissing(error) ? piecesAreGone(path, error) : error;
      });
      try {
        // A login that may only write has no other information than what was acknowledged before.
        const { size = offset } = (await unlessRefused(measureOpen(channel, handle, file))) ?? {};
        if (size < offset && !isAmid) throw unequalSizes(path, size, offset);
        const isCut = size > offset && !isAmid && (await isDone(channel.setSize(handle, offset)));
        const isClean = isCut || size === offset;
        context.signal.throwIfAborted();
        // No further channels: between their bytes and those of this one, a crash would leave holes that the size does
        // not show.
        const lanes = new Lanes({ channel, handle }, session, undefined);
        const sink = { lanes, path, start: offset, maxRequests, memory };
        return new SftpPieceWriter({ ...sink, hold: context.hold?.() ?? UNCOUNTED }, context.signal, {
          isClean,
          isAmid,
          hash,
        });
      } catch (error) {
        tree.giveBack(handle);
        throw error;
      }
    });
  }

  publish({ path, hidden }: PiecedFile, commit: PieceCommit): Promise<FileInfo> {
    const { context, memory } = this.#plan;
    const { size, exclusive = false, modifiedAt, isAgain, check } = commit;
    return this.#plan.run(path, 'publish', async (tree) => {
      const { channel } = tree;
      const from = await tree.entryIfThere(hidden);
      if (from !== undefined && modifiedAt !== undefined) await unlessRefused(channel.setTimesAt(from.raw, modifiedAt));
      const found = await findFile(tree, hidden).catch((error: unknown) => {
        if (isStatus(error)) return 'unseen' as const;
        throw error;
      });
      if (from === undefined || found === undefined) {
        const published = isAgain ? await findFile(tree, path) : undefined;
        if (published?.attributes.size !== size) throw piecesAreGone(path);
        return infoOf(path, published.attributes);
      }
      if (found === 'unseen') context.unverified?.('may_not_look');
      const unseen = { size, isFolder: false, isLink: false, hasType: true, modifiedAt: EPOCH };
      const attributes = found === 'unseen' ? unseen : found.attributes;
      if (attributes.size !== size) throw unequalSizes(path, attributes.size ?? 0, size);
      await setFileMode(channel, { file: from, path }, tree.modes.file);
      if (modifiedAt !== undefined && found !== 'unseen')
        memory.keepsTimes = isSameTime(attributes.modifiedAt, modifiedAt);
      await readBack(context, check, () => this.#plan.read(hidden));
      const to = (await tree.entryIfThere(path)) ?? (await tree.entryInNewFolder(path));
      context.signal.throwIfAborted();
      await publishUpload(tree, from, to, { exclusive, size, context });
      return infoOf(path, attributes);
    });
  }

  discard({ hidden }: PiecedFile): Promise<void> {
    return this.#plan.run(hidden, 'publish', async (tree) => {
      const file = await tree.entryIfThere(hidden);
      if (file !== undefined) await closeAndRemove(tree.channel, undefined, file);
    });
  }
}

interface PieceState extends Pick<PieceOptions, 'hash'> {
  readonly isClean: boolean;
  readonly isAmid: boolean;
}

class SftpPieceWriter extends SftpSink implements PieceWriter {
  readonly #piece: SinkPlan;
  readonly #state: PieceState;

  constructor(piece: SinkPlan, signal: AbortSignal, state: PieceState) {
    super(piece);
    this.#piece = piece;
    this.#state = state;

    destroyOnAbort(this, signal);
  }

  protected override passes(chunk: Buffer): void {
    this.#state.hash?.update(chunk);
  }

  async settle(keep: boolean): Promise<Settled> {
    const { isClean, isAmid } = this.#state;
    const { lanes, path, start } = this.#piece;
    const { channel, handle } = lanes.own;
    try {
      if (!this.destroyed) this.end();
      await finished(this);
      await this.drained();
      const isTakenBack = !keep && !isAmid && this.sentBytes > 0 && (await isDone(channel.setSize(handle, start)));
      await channel.close(handle);
      if (keep) return { offset: this.safeOffset, isClean };
      return { offset: start, isClean: isTakenBack || (isClean && this.sentBytes === 0) };
    } catch (error) {
      channel.close(handle).catch(() => undefined);
      throw translate(error, path, 'transfer');
    }
  }
}

async function findFile(
  tree: Tree,
  path: RemotePath,
): Promise<{ readonly file: ServerPath; readonly attributes: Attributes } | undefined> {
  const file = await tree.entryIfThere(path);
  if (file === undefined) return undefined;
  try {
    return { file, attributes: await tree.channel.stat(file.raw) };
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
