/** What one request does for a part: its bytes go to the server, and then its row is stored. */
import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import { onAbort } from '../base/deadline.js';
import { Ending } from '../base/ending.js';
import { toGatewayError } from '../base/errors.js';
import type { MultipartPart } from '../contract/upload.js';
import { ContentHash } from '../operations/content-hash.js';
import type { RunningOperation } from '../operations/operation.js';
import { pump, type ExpectedDigest } from '../operations/pump.js';
import { withWriter } from '../operations/put.js';
import { baseName, parseRemotePath, ROOT } from '../remotes/path.js';
import type { Remote, StoredPart } from '../remotes/remote.js';
import { fileOf, partOf, piecesOf, type UploadRequest, type UploadServiceOptions } from './file.js';
import type { HeldPart } from './part-writers.js';

export interface Part {
  readonly number: number;
  readonly size: number;
  readonly body: Readable;
  readonly digest?: ExpectedDigest | undefined;
}

const TAG_BYTES = 16;

export class PartWork {
  readonly #options: UploadServiceOptions;
  readonly #request: UploadRequest;
  readonly #held: HeldPart;
  readonly #part: Part;
  readonly #hash: ContentHash | undefined;
  /** Bytes of the body have been taken: nothing can be tried again. */
  hasBegun = false;

  constructor(options: UploadServiceOptions, request: UploadRequest, held: HeldPart, part: Part) {
    this.#options = options;
    this.#request = request;
    this.#held = held;
    this.#part = part;

    this.#hash = request.connection.verify === 'readback' ? new ContentHash() : undefined;
  }

  async run(): Promise<MultipartPart> {
    const request = this.#request;
    const held = this.#held;
    const { operations, parts } = this.#options;
    const { number, size } = this.#part;
    const ending = new Ending();
    const stopListening = onAbort(request.signal, (reason) => ending.abort(reason));
    held.lost = (reason) => ending.abort(reason);
    try {
      const running = await operations.begin({ ...request, signal: ending, job: partOf(held.id, () => false) });
      try {
        const path = parseRemotePath(held.upload.path, ROOT, 'path');
        running.locate(path, baseName(path));
        running.expectedSize = size;
        const stored = await running.use((remote, attempt) => this.#write(remote, running, () => attempt.committed()));
        const part = await parts.store(held, {
          number,
          size,
          etag: `${randomBytes(TAG_BYTES).toString('hex')}-1`,
          place: held.place,
          start: held.start,
          digest: this.#hash?.value ?? null,
          storeEtag: stored?.etag ?? null,
          storeChecksum: stored?.checksum ?? null,
        });
        running.drop();
        return part;
      } catch (thrown) {
        throw await running.fail(thrown);
      }
    } finally {
      stopListening();
    }
  }

  #write(remote: Remote, running: RunningOperation, committed: () => void): Promise<StoredPart | undefined> {
    const begun = (): void => {
      this.hasBegun = true;
      committed();
      running.mark('transfer');
    };
    if (this.#held.place !== null) return this.#writeAside(remote, running, this.#held.place, begun);
    return this.#held.upload.layout === 'store'
      ? this.#send(remote, running, begun)
      : this.#writeInPlace(remote, running, begun);
  }

  async #writeInPlace(remote: Remote, running: RunningOperation, begun: () => void): Promise<undefined> {
    const { start, upload } = this.#held;
    const from = { offset: start, isUnproven: false };
    const isAmid = upload.layout === 'offsets';
    const writer = await piecesOf(remote).resume(this.#file, from, { isProven: true, isAmid });
    begun();
    try {
      await this.#pump(running, writer, true);
    } catch (error) {
      await writer.settle(false).catch(() => undefined);
      throw error;
    }
    running.mark('verify');
    await writer.settle(true);
    return undefined;
  }

  async #writeAside(remote: Remote, running: RunningOperation, place: string, begun: () => void): Promise<undefined> {
    const { size } = this.#part;
    const writer = await remote.write(parseRemotePath(place, ROOT, 'path'), { size, isHidden: true });
    begun();
    await withWriter(writer, async () => {
      await this.#pump(running, writer, false);
      running.mark('verify');
      await writer.commit({ size });
    });
    return undefined;
  }

  async #send(remote: Remote, running: RunningOperation, begun: () => void): Promise<StoredPart> {
    const pieces = piecesOf(remote);
    if (pieces.sendPart === undefined) throw new Error('a store without parts');
    const writer = await pieces.sendPart(this.#file, this.#part);
    begun();
    try {
      await this.#pump(running, writer, true);
      running.mark('verify');
      return await writer.taken();
    } catch (error) {
      await writer.dropped(toGatewayError(error));
      throw error;
    }
  }

  async #pump(running: RunningOperation, writer: Parameters<typeof pump>[1], isMoreToCome: boolean): Promise<void> {
    const { body, size, digest } = this.#part;
    await pump(body, writer, {
      signal: running.signal,
      size,
      digest,
      hash: this.#hash,
      isMoreToCome,
      onBytes: (bytes) => (running.fileSize = bytes),
    });
  }

  get #file() {
    return fileOf(this.#options.store, this.#held.upload, this.#held.writer);
  }
}
