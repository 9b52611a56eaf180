import { type Hold, UNCOUNTED } from '../../../budgets/memory.js';
import { GatewayError } from '../../../base/errors.js';
import type { S3Connection } from '../../../connections/connection.js';
import type { PoolLimits } from '../../../contract/connection/fields.js';
import { folderInfo } from '../../listing.js';
import type { MoreSessions } from '../../more-sessions.js';
import { alreadyExists, isAFolder, moveObstacle, notAFolder, notEmpty, notFound, refuseRoot } from '../../obstacles.js';
import { ROOT, type RemotePath } from '../../path.js';
import { chooseAgain, chooseRange } from '../../reported-size.js';
import type { ProtocolDeps } from '../../protocol.js';
import { certificateOf } from '../../certificate-proof.js';
import { connectOf } from '../../dial/connect-times.js';
import { serverOf } from '../../dial/dial.js';
import { hiddenBeside } from '../../publish.js';
import type {
  Capabilities,
  CopyOptions,
  Expected,
  FileInfo,
  ListOptions,
  LikelyRange,
  ListTreeOptions,
  MoveOptions,
  OpenFile,
  Remote,
  RemoteContext,
  RemoteWriter,
  SelectRange,
  ServerFacts,
  ServerProof,
  WriteOptions,
  Pieces,
} from '../../remote.js';
import type { ProbeResult } from '../../probe-result.js';
import { changedMeanwhile, Bucket, type ObjectFacts } from './bucket.js';
import { Calls } from '../client/calls.js';
import { wantsMd5 } from '../client/checksums.js';
import { hostOf, identityOf } from '../client/endpoint.js';
import { copyObject, type CopyOrigin } from './copy.js';
import { canBeWrittenAnew, keptTime, withTime } from './description.js';
import { moveFolder } from './folders.js';
import { objectInfo, listFolder } from './listing.js';
import { listTree } from './tree.js';
import { S3Pieces } from './pieces.js';
import { ifAllowed, refuseFileAbove, requireFilePlace } from './place.js';
import { abortUpload, MAX_PUT_BYTES, type CompletedUpload, type UploadTarget } from './multipart.js';
import type { S3Lease } from '../client/session.js';
import { removeTree } from './remove-tree.js';
import { SdkSink } from './sdk-sink.js';
import { GatheringSink, PutSink, SerialPartsSink, TentativeSink, type Sink } from './sink.js';
import { S3Writer } from './writer.js';

/** Known sizes up to this are gathered and sent whole: such a request can be repeated on a fresh socket. */
const GATHERED_BYTES = 1024 * 1024;
const CALLS_AT_ONCE = 8;
const MAX_OBJECT_BYTES = 5 * 1024 ** 4;

/**
 * A bucket, or the part of it below a prefix, as a file tree. A folder is a key prefix: it exists while a key begins
 * with it, be it only the empty marker object that makeFolder writes. A key may name a file and a folder at once; the
 * file is then what a path means, except to list().
 */
const FIRST_BYTE = { start: 0, end: 0 };

export class S3Remote implements Remote {
  readonly #lease: S3Lease;
  readonly #connection: S3Connection;
  readonly #deps: ProtocolDeps;
  readonly #context: RemoteContext;
  readonly #bucket: Bucket;

  constructor(
    lease: S3Lease,
    connection: S3Connection,
    limits: PoolLimits,
    deps: ProtocolDeps,
    context: RemoteContext,
    more?: MoreSessions<S3Lease>,
  ) {
    this.#lease = lease;
    this.#connection = connection;
    this.#deps = deps;
    this.#context = context;

    this.#bucket = new Bucket(new Calls(lease, connection, limits, context), more);
  }

  readonly #warn = (message: string, facts: Record<string, unknown>): void =>
    this.#deps.warn(message, { ...facts, bucket: this.#connection.bucket });

  get can(): Capabilities {
    const { exclusivePut, exclusiveComplete } = this.#bucket.calls.traits.now;
    return {
      moveOnto: 'replaces',
      exclusiveCreate: exclusivePut === 'yes' && exclusiveComplete === 'yes',
      readsWhileWriting: false,
      timeResolutionMs: 1000,
      statTimeResolutionMs: 1000,
      keepsTimes: 'metadata',
      callsAtOnce: CALLS_AT_ONCE,
      listsInOrder: true,
    };
  }

  get proof(): ServerProof {
    return this.#lease.seen.proof;
  }

  async probe(): Promise<ProbeResult> {
    const startedAt = performance.now();
    await this.#bucket.headBucket();
    const ms = performance.now() - startedAt;
    const { socket } = this.#lease.seen;
    const certificate = socket && certificateOf(socket);
    const connect = socket && connectOf(socket);
    const shown = certificate === undefined ? {} : { certificate };
    if (connect === undefined || connect.startedAt < startedAt) return { answerMs: ms, ...shown };
    return { answerMs: Math.max(0, ms - connect.ms), connectMs: connect.ms, ...shown };
  }

  get facts(): ServerFacts {
    const { calls, name } = this.#bucket;
    const { listing, exclusivePut, exclusiveComplete, equalParts } = calls.traits.now;
    const { storageClass, acl, encryption, requesterPays, checksums, role, credentials } = this.#connection;
    return {
      protocol: 'S3',
      listing,
      exclusivePut,
      exclusiveComplete,
      equalParts,
      ...(storageClass === undefined ? {} : { storageClass }),
      ...(acl === 'none' ? {} : { acl }),
      ...(encryption.type === 'none' ? {} : { encryption: encryption.type }),
      ...(credentials === 'static' ? {} : { credentials }),
      ...(role === undefined ? {} : { role: role.arn }),
      ...(requesterPays ? { requesterPays } : {}),
      checksums,
      requiresChecksums: calls.traits.wantsChecksums(name),
    };
  }

  async home(): Promise<RemotePath> {
    return ROOT;
  }

  async stat(path: RemotePath): Promise<FileInfo> {
    if (path !== ROOT) {
      const facts = await this.#bucket.head(this.#bucket.fileKey(path), path);
      if (facts !== undefined) return objectInfo(path, facts);
    }
    const folder = await this.#folder(path);
    if (folder === undefined) throw notFound(path);
    return folder;
  }

  list(
    folder: RemotePath,
    { folderTimes = false, after, leftOut }: ListOptions = {},
  ): AsyncIterable<readonly FileInfo[]> {
    return listFolder(this.#bucket, folder, { folderTimes, after, leftOut, warn: this.#warn });
  }

  listTree(folder: RemotePath, { after, leftOut }: ListTreeOptions = {}): AsyncIterable<readonly FileInfo[]> {
    return listTree(this.#bucket, folder, { after, leftOut, warn: this.#warn });
  }

  async read(path: RemotePath, select?: SelectRange): Promise<OpenFile> {
    if (path === ROOT) throw isAFolder(path);
    const key = this.#bucket.fileKey(path);
    if (select === undefined || select.isCheck === true) {
      const opening = this.#bucket.getShort(key, path).catch((error: unknown) => this.#findCause(path, error));
      const { facts, ...content } = await opening;
      const info = objectInfo(path, facts);
      try {
        select?.(info);
      } catch (refusal) {
        content.body?.destroy();
        throw refusal;
      }
      return { info, range: undefined, ...content };
    }
    const likely = select.likely && (await this.#readLikely(path, select, select.likely));
    if (likely !== undefined) return likely;
    const foundFile = await this.#file(path);
    const info = objectInfo(path, foundFile);
    const choice = chooseRange(info, select);
    // One byte shows the size of an object that has no bytes where the range would begin.
    const shown = choice?.refusal === undefined || info.size === 0 ? undefined : FIRST_BYTE;
    const { facts, body } = await this.#bucket.get(key, path, foundFile, choice?.range ?? shown);
    if (choice === undefined) return { info: objectInfo(path, facts), range: undefined, body };
    if (choice.range !== undefined && facts.size === info.size) return { info, range: choice.range, body };
    if (choice.refusal !== undefined && facts.size <= info.size) {
      body.on('error', () => undefined).resume();
      throw choice.refusal;
    }
    body.destroy();
    return this.read(path, chooseAgain(info, select));
  }

  /** By one request, without a look at the object before; undefined if another range is chosen by its facts. */
  async #readLikely(path: RemotePath, select: SelectRange, likely: LikelyRange): Promise<OpenFile | undefined> {
    const opening = this.#bucket.getLikely(this.#bucket.fileKey(path), path, likely);
    const opened = await opening.catch((error: unknown) => this.#findCause(path, error));
    if (opened === undefined) return undefined;
    const { facts, range, body } = opened;
    const info = objectInfo(path, facts);
    let isRight = false;
    try {
      const chosen = chooseRange(info, select)?.range;
      isRight = chosen?.start === range.start && chosen.end === range.end;
      return isRight ? { info, range, body } : undefined;
    } finally {
      if (!isRight) body.destroy();
    }
  }

  async write(path: RemotePath, options: WriteOptions): Promise<RemoteWriter> {
    if (path === ROOT) throw isAFolder(path);
    const { size, exclusive = false, modifiedAt, isChecked = false } = options;
    // A file that must be read again is stored under a hidden key first.
    const provisional = options.provisional === true || isChecked;
    if (size !== undefined && size > MAX_OBJECT_BYTES) {
      throw new GatewayError('too_large', `${path}: an S3 object holds at most 5 TiB`, { step: 'open' });
    }
    const bucket = this.#bucket;
    // Not parallel to the body: the requests of many uploads would wait for each other's sockets.
    if (!provisional) await requireFilePlace(bucket, path);
    const checked = provisional ? undefined : path;
    const { s3PartBytes: partBytes, s3PartsInFlight: partsInFlight } = this.#deps.tuning;
    // The condition is put on a body that cannot be sent again only after the store is known to obey it.
    const asksFirst = exclusive && bucket.calls.traits.now.exclusivePut !== 'yes';
    if (this.#connection.uploader === 'sdk') {
      const target = provisional ? await this.#stage(path) : this.#target(path);
      const isConditional = exclusive && !provisional && this.can.exclusiveCreate;
      const options = { size, partBytes, partsInFlight, isConditional, modifiedAt };
      return new S3Writer(
        bucket,
        { path, size, checked, stage: () => this.#stage(path) },
        (onFailure) => new SdkSink(bucket, target, options, onFailure),
      );
    }
    const opened = { path, size, checked, stage: () => this.#stage(path) };
    const wantsChecksums = wantsMd5(bucket.calls);
    const gathered = { partBytes, partsInFlight, modifiedAt };
    if (size === undefined || size <= (provisional || asksFirst ? partBytes : GATHERED_BYTES)) {
      const choose = async (): Promise<UploadTarget> => (provisional ? this.#stage(path) : this.#target(path));
      const tuning = { ...gathered, hold: this.#hold() };
      return new S3Writer(bucket, opened, (onFailure) => new GatheringSink(bucket, tuning, choose, onFailure));
    }
    const target = provisional ? await this.#stage(path) : this.#target(path);
    const isOnePut = size <= MAX_PUT_BYTES && (provisional || !asksFirst);
    const streamed = (onFailure: (error: Error) => void): Sink =>
      isOnePut
        ? new PutSink(bucket, target, size, { isConditional: exclusive && !provisional, modifiedAt }, onFailure)
        : new SerialPartsSink(bucket, target, size, modifiedAt, onFailure);
    const summed = (onFailure: (error: Error) => void): Sink =>
      new GatheringSink(bucket, { ...gathered, size, hold: this.#hold() }, async () => target, onFailure);
    const tentative = (onFailure: (error: Error) => void): Sink =>
      new TentativeSink(target, { mostBytes: partBytes, hold: this.#hold(), streamed, summed }, onFailure);
    return new S3Writer(bucket, opened, { yes: summed, no: streamed, unknown: tentative }[wantsChecksums]);
  }

  #hold(): Hold {
    return this.#context.hold?.() ?? UNCOUNTED;
  }

  get pieces(): Pieces {
    const { s3PartBytes: partBytes, s3PartsInFlight: partsInFlight } = this.#deps.tuning;
    return new S3Pieces(this.#bucket, { partBytes, partsInFlight });
  }

  async move(from: RemotePath, to: RemotePath, { replace, etag }: MoveOptions): Promise<FileInfo> {
    if (from === ROOT || to === ROOT) throw isAFolder(ROOT);
    const bucket = this.#bucket;
    const facts = await bucket.head(bucket.fileKey(from), from);
    if (from === to) return this.stat(from);
    if (facts === undefined && (await this.#folder(from)) === undefined) throw notFound(from);
    const [file, isNoFolder] = await Promise.all([
      bucket.head(bucket.fileKey(to), to),
      bucket.hasNoneBelow(bucket.folderKey(to), to),
      refuseFileAbove(bucket, to),
    ]);
    const isFolder = facts === undefined;
    const existing = file === undefined && isNoFolder ? undefined : { isFolder: file === undefined };
    const obstacle = moveObstacle({ isFolder, replace }, to, existing);
    if (obstacle !== undefined) throw obstacle;
    if (facts === undefined) {
      await moveFolder(bucket, from, to);
      // Another client may remove it as soon as it is there.
      return (await ifAllowed(this.#folder(to))) ?? folderInfo(to);
    }
    if (etag !== undefined && facts.etag !== etag) throw changedMeanwhile(from);
    const origin = { bucket: bucket.name, key: bucket.fileKey(from), facts };
    const copied = await this.#copy(origin, to, !replace);
    this.#context.irrevocable?.();
    await bucket.remove(origin.key, from, undefined, etag);
    return objectInfo(to, copied);
  }

  async remove(path: RemotePath, { etag }: Expected = {}): Promise<void> {
    // DELETE answers 204 even if there was nothing to delete.
    await this.#file(path);
    this.#context.irrevocable?.();
    await this.#bucket.remove(this.#bucket.fileKey(path), path, undefined, etag);
  }

  async removeFolder(path: RemotePath): Promise<void> {
    refuseRoot(path);
    const bucket = this.#bucket;
    const key = bucket.folderKey(path);
    const found = await bucket.someBelow(key, path, 2);
    if (found.length === 0) {
      throw (await bucket.head(bucket.fileKey(path), path)) === undefined ? notFound(path) : notAFolder(path);
    }
    if (found.some((other) => other !== key)) throw notEmpty(path);
    this.#context.irrevocable?.();
    await bucket.remove(key, path);
  }

  removeTree(folder: RemotePath, removed: (entries: number) => void): Promise<void> {
    return removeTree(this.#bucket, folder, removed);
  }

  async makeFolder(path: RemotePath, { isLasting = false } = {}): Promise<{ readonly created: boolean }> {
    if (path === ROOT) return { created: false };
    const bucket = this.#bucket;
    const [folder, file] = await Promise.all([
      ifAllowed(this.#folder(path)),
      ifAllowed(bucket.head(bucket.fileKey(path), path)),
    ]);
    if (folder !== undefined && !isLasting) return { created: false };
    if (folder === undefined && file !== undefined) throw notAFolder(path);
    await refuseFileAbove(bucket, path);
    await bucket.put(bucket.folderKey(path), Buffer.alloc(0), path, { exclusive: false });
    return { created: folder === undefined };
  }

  async copyFrom(
    source: Remote,
    from: RemotePath,
    to: RemotePath,
    { exclusive, modifiedAt }: CopyOptions,
  ): Promise<FileInfo | undefined> {
    if (!(source instanceof S3Remote) || !this.#reaches(source)) return undefined;
    if (to === ROOT) throw isAFolder(to);
    const placing = requireFilePlace(this.#bucket, to);
    // If both fail, the source's error is reported.
    placing.catch(() => undefined);
    const facts = await source.#file(from);
    await placing;
    const origin = { bucket: source.#bucket.name, key: source.#bucket.fileKey(from), facts };
    const target = this.#target(to);
    if (origin.bucket === this.#bucket.name && origin.key === target.key) {
      // S3 refuses to copy an object onto itself unchanged; it is already there.
      if (exclusive) throw alreadyExists(to);
      return objectInfo(to, facts);
    }
    const time = modifiedAt ?? (keptTime(facts.description ?? {}) === undefined ? facts.modifiedAt : undefined);
    return objectInfo(to, await this.#copy(origin, to, exclusive, time, this.#payingFor(source)));
  }

  /** The time is metadata, which a store changes only by copying the object onto itself. */
  async setTime(path: RemotePath, modifiedAt: Date): Promise<FileInfo> {
    const facts = await this.#file(path);
    if (!canBeWrittenAnew(facts.description ?? {})) return objectInfo(path, facts);
    const origin = { bucket: this.#bucket.name, key: this.#bucket.fileKey(path), facts };
    return objectInfo(path, await this.#copy(origin, path, false, modifiedAt));
  }

  /** Aborts a multipart upload that a former operation left open; a missing one is no error. */
  async abortMultipart(path: RemotePath, uploadId: string): Promise<void> {
    await abortUpload(this.#bucket, this.#target(path), uploadId);
  }

  /** Whether this store, with this login, can read what `other` holds. */
  #reaches(other: S3Remote): boolean {
    const [mine, its] = [this.#connection, other.#connection];
    const login = (connection: S3Connection): string =>
      JSON.stringify([
        serverOf(hostOf(connection), connection),
        identityOf({ ...connection, bucket: '', checksums: 'auto' }),
        // A copy names one key of a customer, for the object that is read and for the new one.
        connection.encryption.type === 'customer' ? connection.encryptionKey : '',
      ]);
    return login(mine) === login(its);
  }

  /** The bucket, for requests that read what `source` holds, too: who pays for that is a setting of `source`. */
  #payingFor(source: S3Remote): Bucket {
    const { limits } = this.#bucket.calls;
    const { requesterPays } = source.#connection;
    if (!requesterPays || this.#connection.requesterPays) return this.#bucket;
    return new Bucket(new Calls(this.#lease, { ...this.#connection, requesterPays }, limits, this.#context));
  }

  /** `time`: replaces the one in the origin's metadata. */
  #copy(
    origin: CopyOrigin,
    to: RemotePath,
    exclusive: boolean,
    time?: Date,
    bucket: Bucket = this.#bucket,
  ): Promise<CompletedUpload> {
    const { description = {} } = origin.facts;
    const isAnew = time !== undefined && canBeWrittenAnew(description);
    // Work of many requests may be given up between them.
    if (origin.facts.size <= MAX_PUT_BYTES) this.#context.irrevocable?.();
    return copyObject(bucket, origin, this.#target(to), {
      exclusive,
      description: isAnew ? withTime(description, time) : undefined,
    });
  }

  #target(path: RemotePath): UploadTarget {
    return { path, key: this.#bucket.fileKey(path) };
  }

  /** A hidden key in the same folder; the folder is noted before anything is written to the key. */
  async #stage(path: RemotePath): Promise<UploadTarget> {
    const hidden = hiddenBeside(path, this.#context.leftovers);
    await hidden.noted;
    return this.#target(hidden.path);
  }

  /** Facts of a file. not_found, is_a_folder. */
  async #file(path: RemotePath): Promise<ObjectFacts> {
    if (path === ROOT) throw isAFolder(path);
    const facts = await this.#bucket.head(this.#bucket.fileKey(path), path);
    return facts ?? this.#findCause(path, notFound(path));
  }

  /** If there is no file, there may be a folder of that name. */
  async #findCause(path: RemotePath, error: unknown): Promise<never> {
    const isMissing = error instanceof GatewayError && error.code === 'not_found';
    if (isMissing && (await this.#folder(path)) !== undefined) throw isAFolder(path);
    throw error;
  }

  async #folder(path: RemotePath): Promise<FileInfo | undefined> {
    const prefix = this.#bucket.folderKey(path);
    const first = await this.#bucket.firstBelow(prefix, path);
    if (first !== undefined) return folderInfo(path, first.key === prefix ? first.modifiedAt : undefined);
    return path === ROOT ? folderInfo(path) : undefined;
  }
}
