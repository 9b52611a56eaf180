/** What one request does for a part: its bytes go to the server, and then its row is stored. */
import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import { onAbort } from '../base/deadline.js';
import { Ending } from '../base/ending.js';
import { toGatewayError } from '../base/errors.js';
import type { Connection } from '../connections/connection.js';
import type { MultipartPart, Upload } from '../contract/upload.js';
import { ContentHash } from '../operations/content-hash.js';
import type { RunningOperation } from '../operations/operation.js';
import type { PathReference } from '../operations/path-reference.js';
import { type ExpectedDigest, leaveErrorsToPump, pump } from '../operations/pump.js';
import { withWriter } from '../operations/put.js';
import { baseName, parseRemotePath, ROOT } from '../remotes/path.js';
import type { Attempt } from '../remotes/registry.js';
import type { ByteRange, Remote, StoredPart } from '../remotes/remote.js';
import { streamOf } from '../remotes/whole.js';
import { fileOf, uploadJobPart, piecesOf, type UploadRequest, type UploadServiceOptions } from './file.js';
import type { HeldPart } from './part-writers.js';

interface PartFacts {
  readonly number: number;
  readonly size: number;
  /** Called before a byte is taken. Throws if the part is not one for this upload; returns the checksum of its bytes. */
  readonly admit?: (upload: Upload) => Promise<PartSum | undefined>;
}

/** A checksum of a part, computed as its bytes pass. */
export interface PartSum {
  pass(body: Readable): Readable;
  /** As MultipartPart.checksum has it. Called after the last byte. */
  value(): string | undefined;
}

/** A part that a client sends. */
interface SentPart extends PartFacts {
  readonly body: Readable;
  readonly digest?: ExpectedDigest | undefined;
}

/** A part whose bytes are in another file. */
interface CopiedPart extends PartFacts {
  readonly source: {
    readonly connection: Connection;
    readonly file: PathReference;
    /** Absent: the whole file. */
    readonly range: ByteRange | undefined;
  };
}

export type PartSource = SentPart | CopiedPart;

interface Writing {
  readonly running: RunningOperation;
  readonly remote: Remote;
  readonly body: Readable;
  /** Call before the first byte is sent. */
  readonly begun: () => void;
}

const TAG_BYTES = 16;

export class PartWork {
  readonly #options: UploadServiceOptions;
  readonly #request: UploadRequest;
  readonly #held: HeldPart;
  readonly #part: PartSource;
  readonly #hash: ContentHash | undefined;
  #sum: PartSum | undefined;
  /** Bytes of the body have been taken: nothing can be tried again. */
  hasBegun = false;

  constructor(options: UploadServiceOptions, request: UploadRequest, held: HeldPart, part: PartSource) {
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
    const { number, size, admit } = this.#part;
    this.#sum = await admit?.(held.upload);
    const ending = new Ending();
    const stopListening = onAbort(request.signal, (reason) => ending.abort(reason));
    held.lost = (reason) => ending.abort(reason);
    try {
      const running = await operations.begin({ ...request, signal: ending, job: uploadJobPart(held.id, () => false) });
      try {
        const path = parseRemotePath(held.upload.path, ROOT, 'path');
        running.locate(path, baseName(path));
        running.expectedSize = size;
        const stored = await this.#write(running);
        const part = await parts.store(held, {
          number,
          size,
          etag: `${randomBytes(TAG_BYTES).toString('hex')}-1`,
          place: held.place,
          start: held.start,
          digest: this.#hash?.value ?? null,
          storeEtag: stored?.etag ?? null,
          storeChecksum: stored?.checksum ?? null,
          checksum: this.#sum?.value() ?? null,
        });
        await running.drop();
        return part;
      } catch (thrown) {
        throw await running.fail(thrown);
      }
    } finally {
      stopListening();
    }
  }

  /** Two sessions are taken at once: copies that wait for each other's second one would never end. */
  #write(running: RunningOperation): Promise<StoredPart | undefined> {
    const part = this.#part;
    const begun = (attempt: Attempt) => (): void => {
      this.hasBegun = true;
      attempt.committed();
      running.mark('transfer');
    };
    if ('body' in part)
      return running.use((remote, attempt) => this.#store({ running, remote, body: part.body, begun: begun(attempt) }));
    const { connection, file, range } = part.source;
    return running.useBoth(connection, async (from, remote, attempt) => {
      const body = streamOf(await from.read(await file(from), range === undefined ? undefined : () => range));
      leaveErrorsToPump(body);
      try {
        return await this.#store({ running, remote, body, begun: begun(attempt) });
      } finally {
        body.destroy();
      }
    });
  }

  #store(writing: Writing): Promise<StoredPart | undefined> {
    if (this.#held.place !== null) return this.#writeAside(writing, this.#held.place);
    return this.#held.upload.layout === 'store' ? this.#send(writing) : this.#writeInPlace(writing);
  }

  async #writeInPlace(writing: Writing): Promise<undefined> {
    const { running, remote, begun } = writing;
    const { start, upload } = this.#held;
    const from = { offset: start, isUnproven: false };
    const isAmid = upload.layout === 'offsets';
    const writer = await piecesOf(remote).resume(this.#file, from, { isProven: true, isAmid });
    begun();
    try {
      await this.#pump(writing, writer, true);
    } catch (error) {
      await writer.settle(false).catch(() => undefined);
      throw error;
    }
    running.mark('verify');
    await writer.settle(true);
    return undefined;
  }

  async #writeAside(writing: Writing, place: string): Promise<undefined> {
    const { running, remote, begun } = writing;
    const { size } = this.#part;
    const writer = await remote.write(parseRemotePath(place, ROOT, 'path'), { size, isHidden: true });
    begun();
    await withWriter(writer, async () => {
      await this.#pump(writing, writer, false);
      running.mark('verify');
      await writer.commit({ size });
    });
    return undefined;
  }

  async #send(writing: Writing): Promise<StoredPart> {
    const { running, remote, begun } = writing;
    const pieces = piecesOf(remote);
    if (pieces.sendPart === undefined) throw new Error('a store without parts');
    const writer = await pieces.sendPart(this.#file, this.#part);
    begun();
    try {
      await this.#pump(writing, writer, true);
      running.mark('verify');
      return await writer.taken();
    } catch (error) {
      await writer.dropped(toGatewayError(error));
      throw error;
    }
  }

  async #pump({ running, body }: Writing, writer: Parameters<typeof pump>[1], isMoreToCome: boolean): Promise<void> {
    const part = this.#part;
    await pump(this.#sum?.pass(body) ?? body, writer, {
      signal: running.signal,
      size: part.size,
      digest: 'digest' in part ? part.digest : undefined,
      hash: this.#hash,
      isMoreToCome,
      onBytes: (bytes) => (running.fileSize = bytes),
    });
  }

  get #file() {
    return fileOf(this.#options.store, this.#held.upload, this.#held.writer);
  }
}
