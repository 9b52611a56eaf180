/** Three ways to send an upload's bytes to the store. With each of them, nothing is visible before `publish`. */
import type { Hold } from '../../../budgets/memory.js';
import { GatewayError, toGatewayError } from '../../../base/errors.js';
import { alreadyExists } from '../../obstacles.js';
import type { Bucket } from './bucket.js';
import { refusesWithoutChecksum } from '../client/replies.js';
import { describe } from './description.js';
import { wholeSeconds } from './keys.js';
import {
  confirmSize,
  equalPartBytes,
  growingPartBytes,
  MultipartUpload,
  sdkPartBytes,
  type CompletedUpload,
  type UploadTarget,
} from './multipart.js';
import type { StreamedRequest } from '../client/streamed-request.js';

/** The buffer of a writer: enough to keep a socket busy. What sinks and piece writers hold beyond it has its own bound. */
export const WRITER_BUFFER_BYTES = 256 * 1024;

export type Done = (error?: Error | null) => void;

export interface Sink {
  /** Where the bytes are going; undefined while none has been sent, so that any target is still possible. */
  readonly target: UploadTarget | undefined;
  write(chunk: Buffer, done: Done): void;
  /** Call after the last write: makes the object visible at `target`, which is the sink's own target if it has one. */
  publish(target: UploadTarget, size: number, exclusive: boolean, modifiedAt?: Date): Promise<CompletedUpload>;
  /** Ends the requests under way at once. */
  cut(cause: Error): void;
  /** Removes what the store has of an unpublished upload. Never throws. */
  clean(cause: Error): Promise<void>;
}

/**
 * One streamed PUT. A store publishes when the body is complete, so the last chunk stays here until `publish`; a body
 * that ends before its announced length is never stored.
 */
export class PutSink implements Sink {
  readonly #bucket: Bucket;
  readonly #options: { readonly isConditional: boolean; readonly modifiedAt: Date | undefined };
  readonly #request: StreamedRequest<string | undefined>;
  #held: Buffer | undefined;

  constructor(
    bucket: Bucket,
    readonly target: UploadTarget,
    size: number,
    options: { readonly isConditional: boolean; readonly modifiedAt: Date | undefined },
    onFailure: (error: Error) => void,
  ) {
    this.#bucket = bucket;
    this.#options = options;

    const { isConditional, modifiedAt } = options;
    this.#request = bucket.openPut(target.key, size, target.path, { exclusive: isConditional, modifiedAt });
    this.#request.onFailure(onFailure);
  }

  write(chunk: Buffer, done: Done): void {
    const held = this.#held;
    this.#held = chunk;
    if (held === undefined) done();
    else this.#request.feed(held, done);
  }

  async publish(target: UploadTarget, size: number, exclusive: boolean): Promise<CompletedUpload> {
    // It was announced too late to be the store's own condition: the best option left is a check just before the last
    // bytes are sent.
    if (exclusive && !this.#options.isConditional)
      await refuseExisting(this.#bucket, target, this.#bucket.calls.spareSignal());
    const held = this.#held;
    this.#held = undefined;
    if (held !== undefined) this.#request.feed(held, () => undefined);
    const etag = await this.#request.finish();
    return justStored(this.#bucket, target, size, etag, this.#options.modifiedAt);
  }

  cut(cause: Error): void {
    this.#request.abort(cause);
  }

  async clean(cause: Error): Promise<void> {
    this.cut(cause);
    await this.#request.settled();
  }
}

/** Sends a known size as equal parts, each streamed, one after the other: no part is ever held in memory. */
export class SerialPartsSink implements Sink {
  readonly #bucket: Bucket;
  readonly #onFailure: (error: Error) => void;
  readonly #partBytes: number;
  readonly #upload: PendingUpload;
  #part: StreamedRequest<unknown> | undefined;
  #partLeft = 0;
  #number = 0;
  #left: number;

  constructor(
    bucket: Bucket,
    readonly target: UploadTarget,
    size: number,
    modifiedAt: Date | undefined,
    onFailure: (error: Error) => void,
  ) {
    this.#bucket = bucket;
    this.#onFailure = onFailure;

    this.#left = size;
    this.#partBytes = equalPartBytes(size);
    this.#upload = new PendingUpload(bucket, async () => target, modifiedAt);
  }

  write(chunk: Buffer, done: Done): void {
    this.#send(chunk).then(() => done(), done);
  }

  async publish(target: UploadTarget, size: number, exclusive: boolean): Promise<CompletedUpload> {
    const upload = await this.#upload.open();
    await this.#part?.finish();
    if (exclusive && this.#bucket.calls.traits.now.exclusiveComplete !== 'yes')
      await refuseExisting(this.#bucket, target);
    return upload.complete(size, exclusive);
  }

  cut(cause: Error): void {
    this.#upload.cut(cause);
  }

  async clean(cause: Error): Promise<void> {
    await this.#upload.abort(cause);
  }

  async #send(chunk: Buffer): Promise<void> {
    const upload = await this.#upload.open();
    for (let rest = chunk; rest.length > 0;) {
      const part = this.#part !== undefined && this.#partLeft > 0 ? this.#part : await this.#nextPart(upload);
      const piece = rest.subarray(0, this.#partLeft);
      await new Promise<void>((done, fail) => part.feed(piece, (error) => (error ? fail(error) : done())));
      this.#partLeft -= piece.length;
      this.#left -= piece.length;
      rest = rest.subarray(piece.length);
    }
  }

  async #nextPart(upload: MultipartUpload): Promise<StreamedRequest<unknown>> {
    await this.#part?.finish();
    this.#number += 1;
    this.#partLeft = Math.min(this.#partBytes, this.#left);
    this.#part = upload.openPart(this.#number, this.#partLeft);
    this.#part.onFailure(this.#onFailure);
    return this.#part;
  }
}

interface GatheringTuning {
  readonly partBytes: number;
  readonly partsInFlight: number;
  /** For a multipart upload; a single request gets it at `publish`. */
  readonly modifiedAt: Date | undefined;
  /** Counts the parts in memory: fewer are sent at once if there is no room for more. */
  readonly hold: Hold;
  /** Bytes to come, when known. */
  readonly size?: number | undefined;
}

/**
 * For an unknown size, a small one, or a bucket that requires a checksum for each body: gathers bytes up to one part.
 * If that is all, it becomes one PUT at `publish`; otherwise a multipart upload with several parts at once. Memory: the
 * parts under way and the one that is being filled.
 */
export class GatheringSink implements Sink {
  readonly #bucket: Bucket;
  readonly #tuning: GatheringTuning;
  readonly #onFailure: (error: Error) => void;
  readonly #upload: PendingUpload;
  #chunks: Buffer[] = [];
  #gathered = 0;
  #number = 1;
  #partBytes: number;
  readonly #inFlight = new Set<Promise<void>>();
  #inFlightBytes = 0;
  #failure: Error | undefined;

  constructor(
    bucket: Bucket,
    tuning: GatheringTuning,
    /** Returns the target of a multipart upload; called when one is needed. */
    chooseTarget: () => Promise<UploadTarget>,
    onFailure: (error: Error) => void,
  ) {
    this.#bucket = bucket;
    this.#tuning = tuning;
    this.#onFailure = onFailure;

    this.#upload = new PendingUpload(bucket, chooseTarget, tuning.modifiedAt);
    this.#partBytes = this.#sizeOf(1);
  }

  get target(): UploadTarget | undefined {
    return this.#upload.opened?.target;
  }

  write(chunk: Buffer, done: Done): void {
    if (this.#gathered + chunk.length <= this.#partBytes && this.#hasRoom(chunk.length)) {
      this.#gather(chunk);
      done();
      return;
    }
    this.#overflow(chunk).then(() => done(), done);
  }

  async publish(target: UploadTarget, size: number, exclusive: boolean, modifiedAt?: Date): Promise<CompletedUpload> {
    const { exclusivePut, exclusiveComplete } = this.#bucket.calls.traits.now;
    const upload = this.#upload.opened;
    if (upload === undefined) {
      if (exclusive && exclusivePut !== 'yes') await refuseExisting(this.#bucket, target);
      const etag = await this.#bucket.put(target.key, this.#take(), target.path, { exclusive, modifiedAt });
      return justStored(this.#bucket, target, size, etag, modifiedAt);
    }
    if (this.#gathered > 0) this.#start(upload);
    await Promise.all([...this.#inFlight]);
    if (this.#failure !== undefined) throw this.#failure;
    if (exclusive && exclusiveComplete !== 'yes') await refuseExisting(this.#bucket, target);
    return upload.complete(size, exclusive);
  }

  cut(cause: Error): void {
    this.#chunks = [];
    this.#upload.cut(cause);
  }

  async clean(cause: Error): Promise<void> {
    this.cut(cause);
    await this.#upload.abort(cause);
  }

  async #overflow(chunk: Buffer): Promise<void> {
    if (this.#gathered + chunk.length <= this.#partBytes) return this.#gatherInTurn(chunk);
    const upload = await this.#upload.open();
    for (let rest = chunk; rest.length > 0;) {
      if (this.#partBytes === 0) throw tooLarge(upload.target);
      // A full part is sent when a byte follows it: before that it may be the last one, or the whole file.
      if (this.#gathered === this.#partBytes) {
        await this.#slot();
        this.#start(upload);
        continue;
      }
      const piece = rest.subarray(0, this.#partBytes - this.#gathered);
      await this.#gatherInTurn(piece);
      rest = rest.subarray(piece.length);
    }
  }

  /** Waits until another part may be sent: fewer at once when parts have grown, so that memory does not grow. */
  async #slot(): Promise<void> {
    const budget = this.#tuning.partBytes * this.#tuning.partsInFlight;
    const most = Math.max(1, Math.floor(budget / this.#partBytes));
    while (this.#inFlight.size >= most) await Promise.race(this.#inFlight);
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Waits for parts under way to free memory; share_exceeded or overloaded if there are none. */
  async #gatherInTurn(piece: Buffer): Promise<void> {
    while (!this.#hasRoom(piece.length)) {
      if (this.#inFlight.size === 0) this.#tuning.hold.require(this.#gathered + piece.length);
      await Promise.race(this.#inFlight);
    }
    if (this.#failure !== undefined) throw this.#failure;
    this.#gather(piece);
  }

  #hasRoom(bytes: number): boolean {
    const { hold } = this.#tuning;
    const wanted = this.#inFlightBytes + this.#gathered + bytes;
    return this.#inFlight.size === 0 ? hold.resize(wanted) : hold.stretch(wanted);
  }

  #start(upload: MultipartUpload): void {
    const number = this.#number;
    const part = this.#take();
    this.#inFlightBytes += part.length;
    const over = (): void => {
      this.#inFlight.delete(sent);
      this.#inFlightBytes -= part.length;
      this.#tuning.hold.resize(this.#inFlightBytes + this.#gathered);
    };
    const sent: Promise<void> = upload.sendPart(number, part).then(
      () => over(),
      (error: Error) => {
        over();
        this.#failure ??= error;
        this.#onFailure(error);
      },
    );
    this.#inFlight.add(sent);
    this.#number += 1;
    this.#partBytes = this.#sizeOf(this.#number);
  }

  #gather(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#gathered += chunk.length;
  }

  #take(): Buffer {
    const [only] = this.#chunks;
    const body = this.#chunks.length === 1 && only !== undefined ? only : Buffer.concat(this.#chunks, this.#gathered);
    this.#chunks = [];
    this.#gathered = 0;
    return body;
  }

  #sizeOf(number: number): number {
    const { size, partBytes } = this.#tuning;
    if (size !== undefined) return sdkPartBytes(size, partBytes);
    return growingPartBytes(number, partBytes, this.#bucket.calls.traits.now.equalParts);
  }
}

interface TentativePlan {
  /** At most this much is kept to be sent again. */
  readonly mostBytes: number;
  readonly hold: Hold;
  streamed(onFailure: (error: Error) => void): Sink;
  /** Makes a sink that sends checksums. */
  summed(onFailure: (error: Error) => void): Sink;
}

/**
 * A streamed upload to a bucket that may require a checksum for each body, which is not known yet. Stores refuse after
 * the head of a request, so the first bytes are kept, as far as there is memory, and sent again with checksums.
 */
export class TentativeSink implements Sink {
  readonly #plan: TentativePlan;
  readonly #onFailure: (error: Error) => void;
  #sink: Sink;
  /** All bytes so far; undefined once they are too many. */
  #kept: Buffer[] | undefined = [];
  #keptBytes = 0;
  #switching: Promise<void> | undefined;
  #cause: Error | undefined;

  constructor(
    readonly target: UploadTarget,
    plan: TentativePlan,
    onFailure: (error: Error) => void,
  ) {
    this.#plan = plan;
    this.#onFailure = onFailure;

    this.#sink = plan.streamed((error) => this.#failed(error));
  }

  write(chunk: Buffer, done: Done): void {
    if (this.#switching === undefined) {
      this.#keep(chunk);
      this.#sink.write(chunk, (error) => this.#written(error, done));
    } else {
      // Written after the kept bytes.
      this.#switching.then(() => this.#sink.write(chunk, done), done);
    }
  }

  async publish(target: UploadTarget, size: number, exclusive: boolean, modifiedAt?: Date): Promise<CompletedUpload> {
    await this.#switching;
    try {
      return await this.#sink.publish(target, size, exclusive, modifiedAt);
    } catch (error) {
      if (!this.#canSendAgain(error)) throw error;
      await this.#switch(error);
      return this.#sink.publish(target, size, exclusive, modifiedAt);
    } finally {
      this.#forget();
    }
  }

  cut(cause: Error): void {
    this.#cause ??= cause;
    this.#forget();
    this.#sink.cut(cause);
  }

  async clean(cause: Error): Promise<void> {
    this.cut(cause);
    await this.#switching?.catch(() => undefined);
    await this.#sink.clean(cause);
  }

  #keep(chunk: Buffer): void {
    if (this.#kept === undefined) return;
    this.#keptBytes += chunk.length;
    const { hold, mostBytes } = this.#plan;
    if (this.#keptBytes <= mostBytes && hold.stretch(this.#keptBytes)) this.#kept.push(chunk);
    else this.#forget();
  }

  #forget(): void {
    this.#kept = undefined;
    this.#plan.hold.resize(0);
  }

  #written(error: Error | null | undefined, done: Done): void {
    if (this.#canSendAgain(error)) this.#switch(error).then(() => done(), done);
    else done(error);
  }

  #failed(error: Error): void {
    if (this.#canSendAgain(error)) this.#switch(error).catch(this.#onFailure);
    else this.#onFailure(error);
  }

  #canSendAgain(error: unknown): boolean {
    return this.#cause === undefined && this.#kept !== undefined && refusesWithoutChecksum(error);
  }

  #switch(refusal: unknown): Promise<void> {
    this.#switching ??= this.#sendAgain(toGatewayError(refusal));
    return this.#switching;
  }

  async #sendAgain(refusal: GatewayError): Promise<void> {
    const refused = this.#sink;
    const kept = this.#kept ?? [];
    await refused.clean(refusal);
    if (this.#cause !== undefined) throw this.#cause;
    const sink = this.#plan.summed(this.#onFailure);
    this.#sink = sink;
    for (const chunk of kept)
      await new Promise<void>((done, fail) => sink.write(chunk, (error) => (error ? fail(error) : done())));
    this.#forget();
  }
}

/**
 * A multipart upload that is opened when the first part needs it, and also ended if the end comes during the opening.
 */
class PendingUpload {
  readonly #bucket: Bucket;
  readonly #chooseTarget: () => Promise<UploadTarget>;
  readonly #modifiedAt: Date | undefined;
  opened: MultipartUpload | undefined;
  #opening: Promise<MultipartUpload> | undefined;
  #cause: Error | undefined;

  constructor(bucket: Bucket, chooseTarget: () => Promise<UploadTarget>, modifiedAt: Date | undefined) {
    this.#bucket = bucket;
    this.#chooseTarget = chooseTarget;
    this.#modifiedAt = modifiedAt;
  }

  open(): Promise<MultipartUpload> {
    this.#opening ??= this.#open();
    return this.#opening;
  }

  cut(cause: Error): void {
    this.#cause ??= cause;
    this.opened?.cut(cause);
  }

  async abort(cause: Error): Promise<void> {
    this.cut(cause);
    const upload = await this.#opening?.catch(() => undefined);
    await upload?.abort(cause);
  }

  async #open(): Promise<MultipartUpload> {
    const target = await this.#chooseTarget();
    if (this.#cause !== undefined) throw this.#cause;
    const upload = await MultipartUpload.open(this.#bucket, target, describe(target.key, this.#modifiedAt));
    this.opened = upload;
    if (this.#cause !== undefined) upload.cut(this.#cause);
    return upload;
  }
}

/** The object that a successful PUT has made. */
async function justStored(
  bucket: Bucket,
  target: UploadTarget,
  size: number,
  etag: string | undefined,
  modifiedAt: Date | undefined,
): Promise<CompletedUpload> {
  const description = describe(target.key, modifiedAt);
  if (etag === undefined) return { ...(await confirmSize(bucket, target, size, { namedEtag: false })), description };
  return { size, etag, modifiedAt: wholeSeconds(new Date()), description };
}

function tooLarge({ path }: UploadTarget): GatewayError {
  return new GatewayError('too_large', `${path}: larger than an upload of unknown length can be at this store`, {
    step: 'transfer',
  });
}

export async function refuseExisting(bucket: Bucket, { path, key }: UploadTarget, signal?: AbortSignal): Promise<void> {
  if ((await bucket.head(key, path, { signal })) !== undefined) throw alreadyExists(path);
}
