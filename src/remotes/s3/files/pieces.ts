/**
 * Resumable files: one multipart upload, and tails after its parts. Only the journal decides which of them count: the
 * store may have some that were never confirmed.
 */
import { MIB } from '../../../contract/units.js';
import { sumOfSizes } from '../../../base/numbers.js';
import { UNCOUNTED } from '../../../budgets/memory.js';
import { GatewayError, refusal } from '../../../base/errors.js';
import { cannotResume } from '../../obstacles.js';
import type { RemotePath } from '../../path.js';
import type {
  BeginOptions,
  BegunFile,
  FileInfo,
  OpenFile,
  PartJournal,
  PartWriter,
  PieceCommit,
  PiecedFile,
  PieceOptions,
  Pieces,
  PieceWriter,
  StoredBytes,
  StoredPart,
  StoredTail,
} from '../../remote.js';
import type { Bucket } from './bucket.js';
import { copyObject } from './copy.js';
import { describe } from './description.js';
import { objectInfo } from './listing.js';
import {
  abortUpload,
  type CompletedUpload,
  confirmSize,
  inOpenUpload,
  MAX_PARTS,
  withOwnParts,
  MultipartUpload,
  type UploadTarget,
} from './multipart.js';
import { S3PartWriter } from './part-writer.js';
import { S3PieceWriter } from './piece-writer.js';
import { wantsMd5 } from '../client/checksums.js';
import { requireFilePlace } from './place.js';
import { refuseExisting } from './sink.js';
import { countedTails, TailObjects } from './tails.js';

interface PiecesTuning {
  readonly partBytes: number;
  readonly partsInFlight: number;
}

/** Parts are gathered in memory, so that a broken connection loses none: they must not grow without bound. */
const MAX_GATHERED_BYTES = 64 * MIB;
/** A store that refuses a part of one request only after its head gets it again, if it is short. */
const SHORT_PART_BYTES = 64 * 1024;
/** A crash loses these, besides the part that is being gathered: few of them, so that little must be sent again. */
const MOST_PARTS_IN_FLIGHT = 2;

export class S3Pieces implements Pieces {
  readonly #bucket: Bucket;
  readonly #tuning: PiecesTuning;
  readonly canBeRead = false;

  constructor(bucket: Bucket, tuning: PiecesTuning) {
    this.#bucket = bucket;
    this.#tuning = tuning;
  }

  async begin(
    { path, hidden, length = 0 }: Omit<PiecedFile, 'storeId' | 'journal'>,
    { modifiedAt, isChecked }: BeginOptions,
  ): Promise<BegunFile> {
    if (length > MAX_GATHERED_BYTES * MAX_PARTS) throw tooLarge(path);
    await requireFilePlace(this.#bucket, path);
    const target = this.#target(isChecked ? hidden : path);
    const id = await MultipartUpload.begin(this.#bucket, target, describe(target.key, modifiedAt));
    return { storeId: isChecked ? `${STAGED}${id}` : id, layout: 'store' };
  }

  async measure({ journal }: PiecedFile): Promise<number> {
    return offsetOf(await countedOf(journal));
  }

  async resume(file: PiecedFile, { offset }: StoredBytes, options: PieceOptions): Promise<PieceWriter> {
    const counted = await countedOf(file.journal);
    if (offsetOf(counted) !== offset) throw this.#lost(file.path);
    const { parts, tails } = counted;
    const hold = this.#bucket.calls.context.hold?.() ?? UNCOUNTED;
    const { partBytes, partsInFlight } = this.#tuning;
    return new S3PieceWriter(this.#bucket, {
      ...options,
      upload: this.#reopen(file, parts),
      journal: file.journal,
      hold,
      offset,
      tails,
      tailObjects: this.#tailObjects(file),
      length: file.length,
      number: parts.length + 1,
      partsInFlight: Math.min(partsInFlight, MOST_PARTS_IN_FLIGHT),
      bytesOfPart: (number) => {
        const first = this.#bucket.calls.traits.now.equalParts ? parts[0]?.size : undefined;
        return first ?? partBytesOf(number, partBytes, file);
      },
    });
  }

  async sendPart(file: PiecedFile, { number, size }: Pick<StoredPart, 'number' | 'size'>): Promise<PartWriter> {
    const { calls } = this.#bucket;
    const hold = calls.context.hold?.() ?? UNCOUNTED;
    const part = { upload: this.#reopen(file, []), number, size };
    // A bucket that requires a checksum gets it before the bytes: they are gathered.
    const isGathered = wantsMd5(calls) === 'yes' || size <= SHORT_PART_BYTES;
    // The chunks, and the part that is made of them.
    if (isGathered) hold.require(2 * size);
    return new S3PartWriter(part, isGathered ? hold : undefined, calls.context.signal);
  }

  async publish(file: PiecedFile, commit: PieceCommit): Promise<FileInfo> {
    const { path } = file;
    const { context } = this.#bucket.calls;
    const { parts } = commit;
    const counted = parts === undefined ? await countedOf(file.journal) : { parts, tails: [] };
    if (offsetOf(counted) !== commit.size) throw this.#lost(path);
    const isStaged = file.storeId.startsWith(STAGED);
    if (commit.check !== undefined && !isStaged)
      throw cannotResume('it was begun when files of its connection were not read back; begin it again');
    if (!isStaged || commit.size === 0) context.mark?.('rename');
    await requireFilePlace(this.#bucket, path);
    const done =
      commit.size === 0
        ? await this.#putEmpty(file, commit)
        : await (isStaged ? this.#completeStaged(file, counted, commit) : this.#complete(file, counted, commit));
    await this.#removeTails(file).catch(() => context.leftovers.removeLater(file.hidden));
    return objectInfo(path, done);
  }

  async discard(file: PiecedFile): Promise<void> {
    // If beginning was cut, the id is unknown.
    if (file.storeId !== '') await abortUpload(this.#bucket, this.#uploadTarget(file), uploadIdOf(file));
    await this.#removeTails(file);
  }

  async #complete(
    file: PiecedFile,
    counted: Counted,
    { size, exclusive = false, isAgain }: PieceCommit,
  ): Promise<CompletedUpload> {
    const { context, traits } = this.#bucket.calls;
    const done = isAgain ? await this.#reopen(file, counted.parts).completed() : undefined;
    if (done !== undefined && counted.tails.length === 0) return done;
    const upload = this.#reopen(file, await this.#withoutTails(file, counted));
    if (exclusive && traits.now.exclusiveComplete !== 'yes')
      await refuseExisting(this.#bucket, this.#target(file.path));
    context.irrevocable?.();
    return withOwnParts(file.path, upload.complete(size, exclusive));
  }

  /** A file that must be read again is stored under the hidden name first; the store then copies it. */
  async #completeStaged(file: PiecedFile, counted: Counted, commit: PieceCommit): Promise<CompletedUpload> {
    try {
      return await this.#copyStaged(file, counted, commit);
    } catch (error) {
      // An earlier try may have published it without a chance to report it.
      const published = commit.isAgain ? await this.#published(file, commit) : undefined;
      if (published === undefined) throw error;
      return published;
    }
  }

  async #copyStaged(
    file: PiecedFile,
    counted: Counted,
    { size, exclusive = false, modifiedAt, check, isAgain }: PieceCommit,
  ): Promise<CompletedUpload> {
    const bucket = this.#bucket;
    const { context } = bucket.calls;
    const [staged, final] = [this.#target(file.hidden), this.#target(file.path)];
    const done = isAgain ? await this.#reopen(file, counted.parts).completed() : undefined;
    const isDone = done !== undefined && counted.tails.length === 0;
    const facts = isDone ? done : await this.#stage(file, counted, size);
    await check?.(() => this.#open(staged));
    context.mark?.('rename');
    if (exclusive) await refuseExisting(bucket, final);
    const origin = { bucket: bucket.name, key: staged.key, facts };
    context.irrevocable?.();
    return copyObject(bucket, origin, final, { exclusive, description: describe(final.key, modifiedAt) });
  }

  async #stage(file: PiecedFile, counted: Counted, size: number): Promise<CompletedUpload> {
    const upload = this.#reopen(file, await this.#withoutTails(file, counted));
    return withOwnParts(file.path, upload.complete(size, false));
  }

  /** The object at the final path, if it is this file. */
  async #published({ path }: PiecedFile, { size, check }: PieceCommit): Promise<CompletedUpload | undefined> {
    const final = this.#target(path);
    const facts = await this.#bucket.head(final.key, path);
    if (facts?.size !== size) return undefined;
    return check?.(() => this.#open(final)).then(
      () => facts,
      () => undefined,
    );
  }

  async #open({ key, path }: UploadTarget): Promise<OpenFile> {
    const { facts, body } = await this.#bucket.get(key, path);
    return { info: objectInfo(path, facts), range: undefined, body };
  }

  /** A store cannot complete a multipart upload without parts. */
  async #putEmpty(file: PiecedFile, { exclusive = false, modifiedAt, isAgain }: PieceCommit): Promise<CompletedUpload> {
    const target = this.#target(file.path);
    const { key, path } = target;
    const existing = isAgain ? await this.#bucket.head(key, path) : undefined;
    if (existing?.size !== 0) {
      const { context, traits } = this.#bucket.calls;
      if (exclusive && traits.now.exclusivePut !== 'yes') await refuseExisting(this.#bucket, target);
      context.irrevocable?.();
      await this.#bucket.put(key, Buffer.alloc(0), path, { exclusive, modifiedAt });
    }
    await abortUpload(this.#bucket, this.#uploadTarget(file), uploadIdOf(file)).catch(() => undefined);
    return confirmSize(this.#bucket, target, 0);
  }

  async #removeTails(file: PiecedFile): Promise<void> {
    await this.#tailObjects(file).remove(await file.journal.tails());
  }

  /** The tails become the last part. */
  async #withoutTails(file: PiecedFile, { parts, tails }: Counted): Promise<readonly StoredPart[]> {
    if (tails.length === 0) return parts;
    const hold = this.#bucket.calls.context.hold?.() ?? UNCOUNTED;
    const size = sumOfSizes(tails);
    // Read one after the other, and joined.
    hold.require(2 * size);
    const body = Buffer.concat(await this.#tailObjects(file).read(tails), size);
    const number = parts.length + 1;
    const sent = await inOpenUpload(file.path, this.#reopen(file, parts).sendPart(number, body));
    const last = { number, size, ...sent };
    await file.journal.add([last]);
    hold.resize(0);
    return [...parts, last];
  }

  #tailObjects({ path, hidden }: PiecedFile): TailObjects {
    return new TailObjects(this.#bucket, path, hidden);
  }

  #reopen(file: PiecedFile, parts: readonly StoredPart[]): MultipartUpload {
    return MultipartUpload.reopen(this.#bucket, this.#uploadTarget(file), uploadIdOf(file), parts);
  }

  #uploadTarget({ path, hidden, storeId }: PiecedFile): UploadTarget {
    return this.#target(storeId.startsWith(STAGED) ? hidden : path);
  }

  #target(path: RemotePath): UploadTarget {
    return { path, key: this.#bucket.fileKey(path) };
  }

  #lost(path: RemotePath): GatewayError {
    return new GatewayError('size_mismatch', `${path}: the store has other bytes than were recorded`, {
      step: 'verify',
    });
  }
}

/** Prefix of the store's id if the file is stored under its hidden name, to be read again there. */
const STAGED = 'hidden:';

const uploadIdOf = ({ storeId }: PiecedFile): string =>
  storeId.startsWith(STAGED) ? storeId.slice(STAGED.length) : storeId;

interface Counted {
  readonly parts: readonly StoredPart[];
  readonly tails: readonly StoredTail[];
}

/** The parts without a gap before them. */
async function countedOf(journal: PartJournal): Promise<Counted> {
  const byNumber = new Map((await journal.parts()).map((part) => [part.number, part]));
  const parts: StoredPart[] = [];
  for (let part = byNumber.get(1); part !== undefined; part = byNumber.get(part.number + 1)) parts.push(part);
  return { parts, tails: countedTails(await journal.tails(), parts.length + 1) };
}

const offsetOf = ({ parts, tails }: Counted): number => sumOfSizes(parts) + sumOfSizes(tails);

/** Large enough to fit the file into the allowed number of parts; they grow if the total is unknown. */
function partBytesOf(number: number, partBytes: number, { path, length }: PiecedFile): number {
  if (number > MAX_PARTS) throw tooLarge(path);
  const needed = length === undefined ? partBytes * 2 ** Math.floor((number - 1) / 1_000) : length / MAX_PARTS;
  return Math.ceil(Math.min(MAX_GATHERED_BYTES, Math.max(partBytes, needed)) / MIB) * MIB;
}

function tooLarge(path: RemotePath): GatewayError {
  return refusal('too_large', `${path}: on S3 a resumable upload takes at most 625 GiB`);
}
