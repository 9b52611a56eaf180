import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  UploadPartCommand,
  UploadPartCopyCommand,
  type CompletedPart,
  type UploadPartCommandOutput,
} from '@aws-sdk/client-s3';
import { hash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { MIB } from '../../../contract/units.js';
import { type ErrorCode, GatewayError, hasCode } from '../../../base/errors.js';
import { EPOCH } from '../../listing.js';
import { piecesAreGone } from '../../obstacles.js';
import type { RemotePath } from '../../path.js';
import type { MultipartNote } from '../../leftovers.js';
import type { Unverified } from '../../../contract/transfer.js';
import type { StoredPart } from '../../remote.js';
import type { Bucket, ObjectFacts } from './bucket.js';
import { describe, type Description } from './description.js';
import { IDEMPOTENT_ATTEMPTS } from '../client/calls.js';
import { contentMd5, sendBody, streamedError } from '../client/checksums.js';
import { crc32InBase64 } from '../client/crc32.js';
import { bareEtag, copySource } from './keys.js';
import { replyOf } from '../client/replies.js';
import { StreamedRequest } from '../client/streamed-request.js';

const GIB = 1024 * MIB;
/** Limits of S3 itself: one PUT or copy, one part (the last may be smaller), parts of one upload. */
export const MAX_PUT_BYTES = 5 * GIB;
const MIN_PART_BYTES = 5 * MIB;
export const MAX_PARTS = 10_000;
/** Some stores accept no more parts than this by default. */
const COMMON_MAX_PARTS = 1_000;
/** Streamed parts need no memory, so they are long, and the pause between two of them costs little. */
const STREAMED_PART_BYTES = 256 * MIB;

/** Part size for a known total: equal parts, few of them. */
export function equalPartBytes(total: number): number {
  const fewest = Math.ceil(total / COMMON_MAX_PARTS / MIB) * MIB;
  return Math.min(MAX_PUT_BYTES, Math.max(STREAMED_PART_BYTES, fewest));
}

/**
 * Part size for an unknown total, for the part with this number (from 1): equal for the first thousand, then doubled
 * every thousand, so that a short upload needs little memory and 8 MiB at the start still reach 5 TiB.
 * 0 after the last part that an upload may have.
 */
export function growingPartBytes(number: number, base: number, equalParts: boolean): number {
  if (number > MAX_PARTS) return 0;
  const first = Math.max(MIN_PART_BYTES, base);
  return equalParts ? first : first * 2 ** Math.floor((number - 1) / COMMON_MAX_PARTS);
}

/** Part size for an uploader whose parts are all equal; `total` undefined = unknown. */
export function sdkPartBytes(total: number | undefined, base: number): number {
  const fewest = Math.ceil((total ?? 0) / (MAX_PARTS - 1) / MIB) * MIB;
  return Math.max(MIN_PART_BYTES, base, fewest);
}

export interface UploadTarget {
  readonly path: RemotePath;
  readonly key: string;
}

/** A range of another object, both ends inclusive. */
interface CopiedPart {
  readonly bucket: string;
  readonly key: string;
  readonly etag: string | undefined;
  readonly start: number;
  readonly end: number;
}

export type CompletedUpload = ObjectFacts;

/** What the store has called a part. */
export type SentPart = Pick<StoredPart, 'etag' | 'checksum'>;

const NOTED_ELSEWHERE: MultipartNote = { done: () => undefined, abortLater: () => undefined };

/**
 * One multipart upload. It is noted durably before the first part is sent, and the note is removed only when the store
 * has completed or aborted it: otherwise the store would keep its parts, and charge for them, for ever.
 */
export class MultipartUpload {
  readonly #bucket: Bucket;
  readonly #uploadId: string;
  readonly #note: MultipartNote;
  readonly #cut = new AbortController();
  readonly #signal: AbortSignal;
  readonly #inFlight = new Set<Promise<unknown>>();
  readonly #parts: CompletedPart[] = [];
  #isEnded = false;

  private constructor(
    bucket: Bucket,
    readonly target: UploadTarget,
    uploadId: string,
    note: MultipartNote,
  ) {
    this.#bucket = bucket;
    this.#uploadId = uploadId;
    this.#note = note;

    this.#signal = AbortSignal.any([bucket.calls.context.signal, this.#cut.signal]);
  }

  static async open(
    bucket: Bucket,
    target: UploadTarget,
    description: Description = describe(target.key),
  ): Promise<MultipartUpload> {
    const uploadId = await MultipartUpload.begin(bucket, target, description);
    try {
      const note = await bucket.calls.context.leftovers.expectMultipart(target.path, uploadId);
      return new MultipartUpload(bucket, target, uploadId, note);
    } catch (error) {
      await abortUpload(bucket, target, uploadId).catch(() => undefined);
      throw error;
    }
  }

  /** An upload that another operation has begun, and others continue: it is noted elsewhere. */
  static reopen(bucket: Bucket, target: UploadTarget, uploadId: string, parts: readonly StoredPart[]): MultipartUpload {
    const upload = new MultipartUpload(bucket, target, uploadId, NOTED_ELSEWHERE);
    for (const { number, etag, checksum } of parts) {
      upload.#parts.push({
        PartNumber: number,
        ETag: etag,
        ...(checksum === null ? {} : { ChecksumCRC32: checksum }),
      });
    }
    return upload;
  }

  /** Resolves with the store's id of the upload. */
  static async begin(bucket: Bucket, target: UploadTarget, description: Description): Promise<string> {
    const { calls } = bucket;
    const command = new CreateMultipartUploadCommand({
      Bucket: bucket.name,
      Key: target.key,
      ...description,
      ...checksum(bucket),
    });
    // Never repeated: a lost answer may belong to an upload that exists, and its id would be unknown.
    const { UploadId } = await calls.call((options) => calls.client.send(command, options), {
      step: 'open',
      what: target.path,
    });
    if (UploadId !== undefined && UploadId !== '') return UploadId;
    throw new GatewayError('protocol_error', `${target.path}: the store opened a multipart upload without an id`, {
      step: 'open',
    });
  }

  /** Sends a part from memory; it may be sent again. */
  async sendPart(number: number, body: Buffer): Promise<SentPart> {
    const { calls } = this.#bucket;
    const send = (withMd5: boolean): Promise<UploadPartCommandOutput> => {
      const command = this.#partCommand(number, body, body.length, withMd5 ? contentMd5(body) : undefined);
      // TLS protects the bytes in flight, and the store's own ETag at rest: SHA-256 of every part costs more than
      // everything else.
      command.middlewareStack.add(
        (next) => (args) => {
          (args.request as { headers: Record<string, string> }).headers['x-amz-content-sha256'] = 'UNSIGNED-PAYLOAD';
          return next(args);
        },
        { step: 'build', name: 'unsignedPart' },
      );
      return calls.call((options) => calls.client.send(command, options), {
        step: 'transfer',
        what: this.target.path,
        attempts: IDEMPOTENT_ATTEMPTS,
        allowMs: calls.copyAllowanceMs(body.length * SLOW_LINK),
        signal: this.#signal,
      });
    };
    return this.#keep(number, await this.#track(sendBody(calls, body.length, send)));
  }

  /** Starts a part whose bytes are written as they arrive. */
  openPart(number: number, size: number): StreamedRequest<SentPart> {
    const { calls } = this.#bucket;
    const about = { step: 'transfer', what: this.target.path } as const;
    const request = new StreamedRequest<SentPart>(
      async (body, options) => {
        const sent = this.#keep(number, await calls.client.send(this.#partCommand(number, body, size), options));
        calls.traits.learnChecksums(this.#bucket.name, 'no');
        return sent;
      },
      {
        signal: this.#signal,
        seen: calls.seen,
        stallMs: calls.limits.stallTimeoutMs,
        enter: (signal) => calls.gate.enter(signal),
        stalled: (waitedMs) => calls.stalled(about, waitedMs),
        translate: (error) => streamedError(calls, calls.translate(error, about), about),
      },
    );
    void this.#track(request.settled());
    return request;
  }

  /** Lets the store copy a range of another object into a part. */
  async copyPart(number: number, source: CopiedPart): Promise<void> {
    const { calls } = this.#bucket;
    const condition = calls.traits.now.copyIfMatch ? source.etag : undefined;
    const command = new UploadPartCopyCommand({
      Bucket: this.#bucket.name,
      Key: this.target.key,
      UploadId: this.#uploadId,
      PartNumber: number,
      CopySource: copySource(source.bucket, source.key),
      CopySourceRange: `bytes=${source.start}-${source.end}`,
      ...(condition === undefined ? {} : { CopySourceIfMatch: `"${condition}"` }),
    });
    const answer = await this.#track(
      calls.call((options) => calls.client.send(command, options), {
        step: 'transfer',
        what: this.target.path,
        attempts: IDEMPOTENT_ATTEMPTS,
        allowMs: calls.copyAllowanceMs(source.end - source.start),
        signal: this.#signal,
      }),
    );
    this.#keep(number, answer.CopyPartResult ?? {});
  }

  /**
   * Makes the object visible and compares its size. With `exclusive` the store is asked to refuse an existing object:
   * already_exists. size_mismatch if the object does not have `size` bytes.
   */
  async complete(size: number, exclusive: boolean): Promise<CompletedUpload> {
    const { calls } = this.#bucket;
    const { path, key } = this.target;
    const { exclusiveComplete } = calls.traits.now;
    let namedEtag = true;
    try {
      namedEtag = await this.#sendComplete(size, exclusive && exclusiveComplete !== 'no');
    } catch (error) {
      if (exclusive && this.#bucket.isConditionUnknown(error, 'exclusiveComplete')) {
        namedEtag = await this.#sendComplete(size, false);
      } else if (!(await this.#hasCompleted(error))) {
        throw exclusive ? this.#bucket.conditionError(error, 'exclusiveComplete', path) : error;
      }
    }
    this.#isEnded = true;
    this.#note.done();
    return confirmSize(this.#bucket, { path, key }, size, { namedEtag });
  }

  /** Ends the parts under way at once; abort() then removes the upload itself. */
  cut(cause: Error): void {
    this.#cut.abort(cause);
  }

  /** Removes the upload and its parts; a failed removal is tried again later. Never throws. */
  async abort(cause: Error): Promise<void> {
    this.cut(cause);
    // A part that arrives after the abort would stay: S3 requires to wait for those under way.
    await Promise.allSettled([...this.#inFlight]);
    if (this.#isEnded) return;
    this.#isEnded = true;
    await abortUpload(this.#bucket, this.target, this.#uploadId).then(
      () => this.#note.done(),
      () => this.#note.abortLater(),
    );
  }

  /** Whether the answer names the ETag of what was made. */
  async #sendComplete(size: number, condition: boolean): Promise<boolean> {
    const { calls } = this.#bucket;
    const Parts = this.#parts.sort((a, b) => (a.PartNumber ?? 0) - (b.PartNumber ?? 0));
    const command = new CompleteMultipartUploadCommand({
      Bucket: this.#bucket.name,
      Key: this.target.key,
      UploadId: this.#uploadId,
      MultipartUpload: { Parts },
      ...(condition ? { IfNoneMatch: '*' } : {}),
    });
    const { ETag } = await calls.call((options) => calls.client.send(command, options), {
      step: 'publish',
      what: this.target.path,
      // With a condition, a second try would find the object that an unanswered first try made.
      attempts: condition ? 1 : IDEMPOTENT_ATTEMPTS,
      allowMs: calls.copyAllowanceMs(size),
      signal: this.#signal,
    });
    return ETag !== undefined;
  }

  /** After a lost answer: whether the object at the key is the one made from these parts. */
  async #hasCompleted(error: unknown): Promise<boolean> {
    const wasLost =
      error instanceof GatewayError && (error.code === 'connection_lost' || replyOf(error).code === 'NoSuchUpload');
    return wasLost && (await this.completed().catch(() => undefined)) !== undefined;
  }

  /**
   * The object at the key, if its ETag or its checksum shows that it was made from these parts. The ETags of encrypted
   * objects show nothing, except with the keys of the store: they are no digests.
   */
  async completed(): Promise<CompletedUpload | undefined> {
    const etag = joinedEtag(this.#parts);
    const crc = joinedCrc(this.#parts);
    if (etag === undefined && crc === undefined) return undefined;
    const { key, path } = this.target;
    const facts = await this.#bucket.head(key, path);
    if (facts === undefined || (etag !== undefined && facts.etag === etag)) return facts;
    return crc !== undefined && (await this.#bucket.checksum(key, path, facts)) === crc ? facts : undefined;
  }

  #partCommand(number: number, body: Buffer | Readable, size: number, md5?: string): UploadPartCommand {
    return new UploadPartCommand({
      Bucket: this.#bucket.name,
      Key: this.target.key,
      UploadId: this.#uploadId,
      PartNumber: number,
      Body: body,
      ContentLength: size,
      ...(md5 === undefined ? {} : { ContentMD5: md5 }),
      ...checksum(this.#bucket),
    });
  }

  #keep(number: number, answer: { ETag?: string | undefined; ChecksumCRC32?: string | undefined }): SentPart {
    const { ETag, ChecksumCRC32 } = answer;
    if (ETag === undefined || bareEtag(ETag) === undefined) {
      throw new GatewayError('protocol_error', `${this.target.path}: the store took a part without naming its ETag`, {
        step: 'transfer',
      });
    }
    this.#parts.push({ PartNumber: number, ETag, ...(ChecksumCRC32 === undefined ? {} : { ChecksumCRC32 }) });
    return { etag: ETag, checksum: ChecksumCRC32 ?? null };
  }

  #track<T>(work: Promise<T>): Promise<T> {
    this.#inFlight.add(work);
    const forget = (): void => void this.#inFlight.delete(work);
    work.then(forget, forget);
    return work;
  }
}

/**
 * The facts of an object that the store has acknowledged. If it named no ETag, as every store does, something else may
 * have answered: then the object must be there. @throws GatewayError size_mismatch, protocol_error
 */
export async function confirmSize(
  bucket: Bucket,
  { path, key }: UploadTarget,
  size: number,
  { namedEtag = true } = {},
): Promise<CompletedUpload> {
  let why: Unverified = 'taken_away';
  const facts = await bucket.head(key, path).catch((error: unknown) => {
    if (!hasCode(error, 'permission_denied')) throw error;
    why = 'may_not_look';
    return undefined;
  });
  if (facts === undefined) {
    if (!namedEtag && why === 'taken_away') {
      const text = `${path}: the answer to the upload names no ETag, and the store does not have the file`;
      throw new GatewayError('protocol_error', text, { step: 'verify' });
    }
    bucket.calls.context.unverified?.(why);
    return { size, modifiedAt: EPOCH, etag: undefined };
  }
  if (facts.size === size) return facts;
  throw new GatewayError(
    'size_mismatch',
    `${path}: the store holds ${facts.size} of ${size} bytes after it took them all`,
    { step: 'verify' },
  );
}

/** The codes of the gateway for what stores say of the parts of an upload. */
const PART_ERRORS: Readonly<Record<string, ErrorCode>> = {
  InvalidPart: 'invalid_part',
  InvalidPartOrder: 'invalid_part_order',
  EntityTooSmall: 'part_too_small',
};

/**
 * Does work that needs an open upload of a client's own parts. Errors: unknown_upload if the store has lost it,
 * invalid_part, invalid_part_order, part_too_small.
 */
export async function withOwnParts<T>(path: RemotePath, work: Promise<T>): Promise<T> {
  try {
    return await inOpenUpload(path, work);
  } catch (error) {
    const code = PART_ERRORS[String(replyOf(error).code)];
    if (code === undefined || !(error instanceof GatewayError)) throw error;
    throw new GatewayError(code, `${path}: the store refuses its parts`, {
      step: 'publish',
      remote: error.remote,
      cause: error,
    });
  }
}

/** Does work that needs an open upload. @throws GatewayError unknown_upload if the store has lost it */
export async function inOpenUpload<T>(path: RemotePath, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw replyOf(error).code === 'NoSuchUpload' ? piecesAreGone(path, error) : error;
  }
}

/** Sending a part from memory may be a hundred times slower than a copy inside the store. */
export const SLOW_LINK = 100;

/** Aborts an upload; one that the store does not know (any more) is no error. */
export async function abortUpload(bucket: Bucket, { path, key }: UploadTarget, uploadId: string): Promise<void> {
  const { calls } = bucket;
  const command = new AbortMultipartUploadCommand({ Bucket: bucket.name, Key: key, UploadId: uploadId });
  try {
    await calls.call((options) => calls.client.send(command, options), {
      step: 'publish',
      what: path,
      attempts: IDEMPOTENT_ATTEMPTS,
      signal: calls.cleanupSignal(),
    });
  } catch (error) {
    if (replyOf(error).status !== 404) throw error;
  }
}

/** The ETag of an object made from these parts; undefined if the ETags of the parts are no MD5 digests. */
function joinedEtag(parts: readonly CompletedPart[]): string | undefined {
  const sums = parts.map(({ ETag }) => bareEtag(ETag) ?? '');
  if (!sums.every((sum) => /^[0-9a-f]{32}$/i.test(sum))) return undefined;
  return `${hash('md5', Buffer.from(sums.join(''), 'hex'), 'hex')}-${sums.length}`;
}

/** The checksum that S3 gives an object made from these parts: that of their checksums. */
function joinedCrc(parts: readonly CompletedPart[]): string | undefined {
  const sums = parts.map(({ ChecksumCRC32 }) => ChecksumCRC32);
  if (sums.length === 0 || !sums.every((sum) => sum !== undefined)) return undefined;
  return `${crc32InBase64(Buffer.concat(sums.map((sum) => Buffer.from(sum, 'base64'))))}-${sums.length}`;
}

/** If the SDK sends a checksum with every part, the upload must have been opened for that kind. */
function checksum(bucket: Bucket): { ChecksumAlgorithm?: 'CRC32' } {
  return bucket.calls.traits.sendsChecksumsFor(bucket.calls.connection) ? { ChecksumAlgorithm: 'CRC32' } : {};
}
