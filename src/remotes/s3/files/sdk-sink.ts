/**
 * AWS's own uploader (@aws-sdk/lib-storage), for a store that does not accept our streamed parts: `uploader: sdk`. It
 * gathers each part in memory and sends several at once. Its requests go through this operation's calls, so that
 * sockets, stalls and errors are the same, and the upload that it opens is noted before a part is sent.
 */
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  type CreateMultipartUploadCommandOutput,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import type { MultipartNote } from '../../leftovers.js';
import type { Bucket } from './bucket.js';
import { type CallOptions, IDEMPOTENT_ATTEMPTS } from '../client/calls.js';
import { contentMd5, sendBody } from '../client/checksums.js';
import { describe } from './description.js';
import {
  abortUpload,
  type CompletedUpload,
  confirmSize,
  sdkPartBytes,
  SLOW_LINK,
  type UploadTarget,
} from './multipart.js';
import { type Done, refuseExisting, type Sink } from './sink.js';

interface SdkSinkOptions {
  /** undefined if unknown. */
  readonly size: number | undefined;
  readonly partBytes: number;
  readonly partsInFlight: number;
  /** The store itself must refuse an existing object. */
  readonly isConditional: boolean;
  readonly modifiedAt: Date | undefined;
}

type Command = Parameters<S3Client['send']>[0];

export class SdkSink implements Sink {
  readonly #bucket: Bucket;
  readonly #options: SdkSinkOptions;
  readonly #cut = new AbortController();
  readonly #signal: AbortSignal;
  readonly #body = new PassThrough();
  readonly #sent: Promise<{ readonly ETag?: string | undefined }>;
  readonly #partBytes: number;
  /** The last chunk waits for `publish`: the uploader publishes when its body ends. */
  #held: Buffer | undefined;
  #uploadId: string | undefined;
  #note: MultipartNote | undefined;
  #isPublished = false;

  constructor(
    bucket: Bucket,
    readonly target: UploadTarget,
    options: SdkSinkOptions,
    onFailure: (error: Error) => void,
  ) {
    this.#bucket = bucket;
    this.#options = options;

    const { size, partBytes, partsInFlight, isConditional, modifiedAt } = options;
    this.#partBytes = sdkPartBytes(size, partBytes);
    this.#signal = AbortSignal.any([bucket.calls.context.signal, this.#cut.signal]);
    const upload = new Upload({
      client: this.#client(),
      partSize: this.#partBytes,
      queueSize: partsInFlight,
      // The gateway aborts itself: it waits for the parts under way, and tries again if that fails.
      leavePartsOnError: true,
      params: {
        Bucket: bucket.name,
        Key: target.key,
        Body: this.#body,
        ...describe(target.key, modifiedAt),
        ...(isConditional ? { IfNoneMatch: '*' } : {}),
      },
    });
    this.#body.on('error', () => undefined);
    this.#sent = upload.done();
    this.#sent.catch((error: Error) => {
      this.#body.destroy(error);
      onFailure(error);
    });
  }

  write(chunk: Buffer, done: Done): void {
    const held = this.#held;
    this.#held = chunk;
    if (held === undefined) done();
    else this.#feed(held).then(() => done(), done);
  }

  async publish(target: UploadTarget, size: number, exclusive: boolean): Promise<CompletedUpload> {
    if (exclusive && !this.#options.isConditional) await refuseExisting(this.#bucket, target);
    this.#body.end(this.#held);
    this.#held = undefined;
    let etag: string | undefined;
    try {
      etag = (await this.#sent).ETag;
    } catch (error) {
      throw exclusive ? this.#bucket.conditionError(error, 'exclusivePut', target.path) : error;
    }
    this.#isPublished = true;
    this.#note?.done();
    return confirmSize(this.#bucket, target, size, { namedEtag: etag !== undefined });
  }

  cut(cause: Error): void {
    this.#cut.abort(cause);
    this.#body.destroy(cause);
  }

  async clean(cause: Error): Promise<void> {
    this.cut(cause);
    await this.#sent.catch(() => undefined);
    if (this.#isPublished || this.#uploadId === undefined) return;
    await abortUpload(this.#bucket, this.target, this.#uploadId).then(
      () => this.#note?.done(),
      () => this.#note?.abortLater(),
    );
  }

  async #feed(chunk: Buffer): Promise<void> {
    if (this.#body.errored !== null) throw this.#body.errored;
    if (this.#body.write(chunk)) return;
    await once(this.#body, 'drain', { signal: this.#signal }).catch((error: unknown) => {
      throw this.#signal.aborted ? this.#signal.reason : error;
    });
  }

  /** The pool's client with another way to send commands. */
  #client(): S3Client {
    const client = Object.create(this.#bucket.calls.client) as S3Client;
    const send = (command: Command): Promise<unknown> => this.#send(command);
    return Object.assign(client, { send });
  }

  async #send(command: Command): Promise<unknown> {
    const { calls } = this.#bucket;
    const sent =
      command instanceof UploadPartCommand || command instanceof PutObjectCommand ? command.input : undefined;
    const body = sent?.Body;
    if (sent === undefined || !(body instanceof Uint8Array)) return this.#sendOnce(command);
    return sendBody(calls, body.length, (withMd5) => {
      if (withMd5) sent.ContentMD5 = contentMd5(Buffer.from(body.buffer, body.byteOffset, body.length));
      return this.#sendOnce(command);
    });
  }

  async #sendOnce(command: Command): Promise<unknown> {
    const { calls } = this.#bucket;
    const answer = await calls.call((options) => calls.client.send(command, options) as Promise<unknown>, {
      what: this.target.path,
      // If opening an upload were cut, it would exist in the store with an unknown id.
      signal: command instanceof CreateMultipartUploadCommand ? calls.context.signal : this.#signal,
      ...this.#patience(command),
    });
    if (command instanceof CreateMultipartUploadCommand)
      await this.#opened(answer as CreateMultipartUploadCommandOutput);
    return answer;
  }

  /**
   * Never repeats a call that a lost answer may have done: the upload would be unknown, or its own object would be
   * taken for another's.
   */
  #patience(command: Command): Pick<CallOptions, 'step' | 'attempts' | 'allowMs'> {
    const { calls } = this.#bucket;
    if (command instanceof CreateMultipartUploadCommand) return { step: 'open' };
    if (command instanceof AbortMultipartUploadCommand) return { step: 'publish', attempts: IDEMPOTENT_ATTEMPTS };
    const allowMs = calls.copyAllowanceMs(this.#partBytes * SLOW_LINK);
    if (command instanceof UploadPartCommand) return { step: 'transfer', attempts: IDEMPOTENT_ATTEMPTS, allowMs };
    return { step: command instanceof CompleteMultipartUploadCommand ? 'publish' : 'transfer', allowMs };
  }

  async #opened({ UploadId = '' }: CreateMultipartUploadCommandOutput): Promise<void> {
    this.#uploadId = UploadId;
    this.#note = await this.#bucket.calls.context.leftovers.expectMultipart(this.target.path, UploadId);
  }
}
