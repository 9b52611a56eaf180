import { destroyOnAbort, orAbort, within } from '../../../base/deadline.js';
import { GatewayError, toGatewayError } from '../../../base/errors.js';
import type { Commit, FileInfo, RemoteWriter } from '../../remote.js';
import { isStatus, translate } from '../wire/replies.js';
import type { ServerPath } from './confine.js';
import type { Attributes } from '../wire/wire.js';
import { SftpSink, type SinkPlan } from './sink.js';

const ABORT_MS = 10_000;

/** What an upload is for: it knows where the written file belongs and how to take it back. */
export interface WriterJob {
  /** The file that is open for writing. */
  readonly file: ServerPath;
  /** The server does what it is asked in order, so the file may be measured and closed behind its last write. */
  readonly isOrderly: boolean;
  readonly signal: AbortSignal;
  /** Puts the file where it belongs, once `measuring` has shown that it is complete, closed and of the right size. */
  publish(measuring: Promise<Attributes>, expected: Commit): Promise<FileInfo>;
  /** Undoes what was written. The handle is closed before, unless `handle` is given: then it closes that. */
  takeBack(handle: Buffer | undefined): Promise<void>;
  /** `takeBack` did not succeed. */
  leaveBehind(): void;
}

/** A file on its way to the server: the bytes, then `commit` or `abort`. */
export class SftpWriter extends SftpSink implements RemoteWriter {
  readonly #plan: SinkPlan;
  readonly #job: WriterJob;
  #handle: Buffer | undefined;
  #committing: Promise<FileInfo> | undefined;
  #aborting: Promise<void> | undefined;
  #isPublished = false;

  constructor(plan: SinkPlan, job: WriterJob) {
    super(plan);
    this.#plan = plan;
    this.#job = job;
    this.#handle = plan.handle;
    destroyOnAbort(this, job.signal);
  }

  commit(expected: Commit): Promise<FileInfo> {
    this.#committing ??= this.#commit(expected);
    return orAbort(this.#committing, this.#job.signal);
  }

  abort(cause: Error): Promise<void> {
    this.#aborting ??= this.#abort(cause);
    return this.#aborting;
  }

  async #commit(expected: Commit): Promise<FileInfo> {
    if (!this.writableFinished) {
      await this.drained();
      throw new GatewayError('internal', 'commit before the end of the stream', { step: 'publish' });
    }
    const expectedSize = this.#plan.start + expected.size;
    if (this.sentBytes !== expected.size) throw this.#mismatch(this.#plan.start + this.sentBytes, expectedSize);
    try {
      const info = await this.#job.publish(this.#measureAndClose(expectedSize), expected);
      this.#isPublished = true;
      return info;
    } catch (error) {
      throw translate(error, expected.path ?? this.#plan.path, 'publish');
    }
  }

  async #measureAndClose(expectedSize: number): Promise<Attributes> {
    const { channel, handle, path } = this.#plan;
    if (!this.#job.isOrderly || this.isStriped) await this.drained();
    await this.releaseLanes(false);
    this.#handle = undefined;
    const measured = channel.fstat(handle).catch((error: unknown) => {
      if (isStatus(error)) return undefined;
      throw error;
    });
    try {
      let [attributes] = await Promise.all([measured, channel.close(handle), this.drained()]);
      // Servers in front of an object store know the size only once the file is closed, and some cannot tell it before.
      if (attributes?.size !== expectedSize) attributes = await channel.stat(this.#job.file.raw);
      if (attributes.size !== expectedSize) throw this.#mismatch(attributes.size, expectedSize);
      return attributes;
    } catch (error) {
      throw translate(error, path, 'verify');
    }
  }

  #mismatch(size: number | undefined, expected: number): GatewayError {
    const stands = size === undefined ? 'of unknown size' : `${size} bytes long`;
    return new GatewayError('size_mismatch', `${this.#plan.path} is ${stands} on the server instead of ${expected}`, {
      step: 'verify',
    });
  }

  async #abort(cause: Error): Promise<void> {
    this.destroy(toGatewayError(cause));
    // A stream that has finished is not destroyed again.
    void this.releaseLanes(true);
    // A rename under way decides first: taking back the file meanwhile could hit the published one.
    await this.#committing?.catch(() => undefined);
    if (this.#isPublished) return;
    const handle = this.#handle;
    this.#handle = undefined;
    const takenBack = this.#job.takeBack(handle).then(
      () => true,
      () => false,
    );
    if (!(await within(takenBack, ABORT_MS, () => false))) this.#job.leaveBehind();
  }
}
