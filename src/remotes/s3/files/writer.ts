import { type Readable, Writable } from 'node:stream';
import { GatewayError } from '../../../base/errors.js';
import type { RemotePath } from '../../path.js';
import type { Commit, FileInfo, RemoteWriter } from '../../remote.js';
import type { Bucket } from './bucket.js';
import { copyObject } from './copy.js';
import { describe } from './description.js';
import { objectInfo } from './listing.js';
import type { UploadTarget } from './multipart.js';
import { requireFilePlace } from './place.js';
import { refuseExisting, type Done, type Sink, WRITER_BUFFER_BYTES } from './sink.js';

/** A file that is being written. */
interface Opened {
  readonly path: RemotePath;
  readonly size: number | undefined;
  /** A path that is already known to be free, or to be a file. */
  readonly checked: RemotePath | undefined;
  /** A hidden key for it. */
  readonly stage: () => Promise<UploadTarget>;
}

/** Counts and checks the bytes, passes them to a sink, and publishes them under the final name. */
export class S3Writer extends Writable implements RemoteWriter {
  readonly #bucket: Bucket;
  readonly #opened: Opened;
  readonly #sink: Sink;
  #received = 0;
  #isCommitted = false;
  /** A temporary object that exists, or may exist, in the store. */
  #staged: UploadTarget | undefined;
  #aborting: Promise<void> | undefined;

  constructor(bucket: Bucket, opened: Opened, openSink: (onFailure: (error: Error) => void) => Sink) {
    // A finished stream is not done yet: commit() follows.
    super({ autoDestroy: false, highWaterMark: WRITER_BUFFER_BYTES });
    this.#bucket = bucket;
    this.#opened = opened;

    // Failures are reported by write callbacks, commit() and pipeline; an event without a listener must not end the
    // process.
    this.on('error', () => undefined);
    this.#sink = openSink((error) => this.destroy(error));
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
    this.#received += chunk.length;
    const { size } = this.#opened;
    if (size !== undefined && this.#received > size) {
      done(this.#mismatch(`more than the announced ${size} bytes came`));
      return;
    }
    if (chunk.length === 0) done();
    else this.#sink.write(chunk, done);
  }

  override _final(done: Done): void {
    const { size } = this.#opened;
    const isShort = size !== undefined && this.#received < size;
    done(isShort ? this.#mismatch(`${this.#received} of the announced ${size} bytes came`) : null);
  }

  override _destroy(error: Error | null, done: Done): void {
    if (!this.#isCommitted) this.#sink.cut(error ?? cancelled());
    done(error);
  }

  async commit(expected: Commit): Promise<FileInfo> {
    if (this.errored !== null) throw this.errored;
    if (this.destroyed || !this.writableFinished) {
      throw new GatewayError('internal', 'commit before the stream has finished', { step: 'publish' });
    }
    if (expected.size !== this.#received) {
      throw this.#mismatch(`${this.#received} bytes were sent, ${expected.size} were expected`);
    }
    const { size, path = this.#opened.path, exclusive = false, modifiedAt, check } = expected;
    const final = { path, key: this.#bucket.fileKey(path) };
    const { context } = this.#bucket.calls;
    if (check === undefined) context.mark?.('rename');
    const staged = this.#sink.target ?? (check && (await this.#opened.stage()));
    if (staged === undefined || staged.key === final.key) {
      if (path !== this.#opened.checked) await requireFilePlace(this.#bucket, path);
      context.irrevocable?.();
      const facts = await this.#sink.publish(final, size, exclusive, modifiedAt);
      this.#isCommitted = true;
      return objectInfo(path, facts);
    }
    if (exclusive) await refuseExisting(this.#bucket, final);
    this.#staged = staged;
    const facts = await this.#sink.publish(staged, size, false);
    await check?.(async () => ({ ...(await this.#read(staged)), range: undefined }));
    context.mark?.('rename');
    await requireFilePlace(this.#bucket, path);
    const origin = { bucket: this.#bucket.name, key: staged.key, facts };
    context.irrevocable?.();
    const description = describe(final.key, modifiedAt);
    const copied = await copyObject(this.#bucket, origin, final, { exclusive, description });
    this.#isCommitted = true;
    await this.#removeStaged();
    return objectInfo(path, copied);
  }

  async #read({ key, path }: UploadTarget): Promise<{ info: FileInfo; body: Readable }> {
    const { facts, body } = await this.#bucket.get(key, path);
    return { info: objectInfo(path, facts), body };
  }

  async abort(cause: Error): Promise<void> {
    if (this.#isCommitted) return;
    this.#aborting ??= this.#clean(cause);
    await this.#aborting;
  }

  async #clean(cause: Error): Promise<void> {
    this.destroy(cause);
    await this.#sink.clean(cause);
    await this.#removeStaged();
  }

  async #removeStaged(): Promise<void> {
    const staged = this.#staged;
    if (staged === undefined) return;
    this.#staged = undefined;
    const { calls } = this.#bucket;
    await this.#bucket.remove(staged.key, staged.path, calls.cleanupSignal()).catch(() => {
      calls.context.leftovers.removeLater(staged.path);
    });
  }

  #mismatch(words: string): GatewayError {
    return new GatewayError('size_mismatch', `${this.#opened.path}: ${words}`, { step: 'verify' });
  }
}

function cancelled(): GatewayError {
  return new GatewayError('client_gone', 'the upload was given up', { step: 'transfer' });
}
