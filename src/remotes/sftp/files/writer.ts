import { destroyOnAbort, orAbort } from '../../../base/deadline.js';
import type { EndSignal } from '../../../base/ending.js';
import { GatewayError, toGatewayError } from '../../../base/errors.js';
import type { Commit, FileInfo, RemoteWriter } from '../../remote.js';
import type { Lanes } from './lanes.js';
import { SftpSink, type SinkPlan } from './sink.js';
import type { SftpUpload } from './upload.js';

/** A file that is being sent to the server: the bytes, then `commit` or `abort`. */
export class SftpWriter extends SftpSink implements RemoteWriter {
  readonly #lanes: Lanes;
  readonly #upload: SftpUpload;
  readonly #signal: EndSignal;
  #committing: Promise<FileInfo> | undefined;
  #aborting: Promise<void> | undefined;

  constructor(plan: SinkPlan, upload: SftpUpload, signal: EndSignal) {
    super(plan);
    this.#lanes = plan.lanes;
    this.#upload = upload;
    this.#signal = signal;
    destroyOnAbort(this, signal);
  }

  commit(expected: Commit): Promise<FileInfo> {
    this.#committing ??= this.#commit(expected);
    return orAbort(this.#committing, this.#signal);
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
    const { start } = this.#upload.plan;
    if (this.sentBytes !== expected.size) throw this.#upload.mismatch(start + this.sentBytes, start + expected.size);
    if (this.#lanes.areSeveral) await this.drained();
    await this.#lanes.release(false);
    return this.#upload.publish(expected, this.drained());
  }

  async #abort(cause: Error): Promise<void> {
    this.destroy(toGatewayError(cause));
    // A stream that has finished is not destroyed again.
    void this.#lanes.release(true);
    await this.#committing?.catch(() => undefined);
    await this.#upload.takeBack();
  }
}
