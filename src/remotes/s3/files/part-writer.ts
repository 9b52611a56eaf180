/** Sends one part of a client's multipart upload as a part of the store's own. */
import { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { Hold } from '../../../budgets/memory.js';
import { destroyOnAbort } from '../../../base/deadline.js';
import { toGatewayError } from '../../../base/errors.js';
import type { PartWriter, StoredPart } from '../../remote.js';
import type { StreamedRequest } from '../client/streamed-request.js';
import { type MultipartUpload, type SentPart, withOwnParts } from './multipart.js';
import { type Done, WRITER_BUFFER_BYTES } from './sink.js';

interface OwnPart {
  readonly upload: MultipartUpload;
  readonly number: number;
  readonly size: number;
}

/**
 * The last chunk stays here until `taken`: a store keeps a part when its body is complete, and nothing of one that ends
 * before its announced length.
 */
export class S3PartWriter extends Writable implements PartWriter {
  readonly #part: OwnPart;
  /** Counts the bytes, if the whole part is gathered before it is sent. */
  readonly #gathering: Hold | undefined;
  readonly #request: StreamedRequest<SentPart> | undefined;
  #chunks: Buffer[] = [];

  constructor(part: OwnPart, gathering: Hold | undefined, signal: AbortSignal) {
    super({ autoDestroy: false, highWaterMark: WRITER_BUFFER_BYTES });
    this.#part = part;
    this.#gathering = gathering;

    this.on('error', () => undefined);
    if (gathering === undefined) {
      this.#request = part.upload.openPart(part.number, part.size);
      this.#request.onFailure((error) => this.destroy(error));
    }
    destroyOnAbort(this, signal);
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
    const former = this.#chunks.at(-1);
    if (this.#request === undefined || former === undefined) {
      this.#chunks.push(chunk);
      return done();
    }
    this.#chunks = [chunk];
    this.#request.feed(former, done);
  }

  override _destroy(error: Error | null, done: Done): void {
    this.#forget();
    if (error !== null) {
      this.#request?.abort(error);
      this.#part.upload.cut(error);
    }
    done(error);
  }

  async taken(): Promise<StoredPart> {
    const { upload, number, size } = this.#part;
    if (!this.destroyed) this.end();
    await finished(this);
    try {
      return { number, size, ...(await withOwnParts(upload.target.path, this.#sent())) };
    } finally {
      this.#forget();
    }
  }

  async dropped(cause: Error): Promise<void> {
    this.destroy(toGatewayError(cause));
    await this.#request?.settled();
  }

  async #sent(): Promise<SentPart> {
    const { upload, number, size } = this.#part;
    const request = this.#request;
    if (request === undefined) return upload.sendPart(number, Buffer.concat(this.#chunks, size));
    for (const chunk of this.#chunks) request.feed(chunk, () => undefined);
    return request.finish();
  }

  #forget(): void {
    this.#chunks = [];
    this.#gathering?.resize(0);
  }
}
