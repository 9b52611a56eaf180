/**
 * Resumable uploads: created, written piece by piece, and published by the request that brings, or finds, the last
 * byte.
 */
import { pause, within } from '../base/deadline.js';
import { hasCode, unknown } from '../base/errors.js';
import { uuidv7 } from '../base/uuid.js';
import type { Connection } from '../connections/connection.js';
import { applyTemplate, templateFacts } from '../operations/names.js';
import type { OperationRequest, RunningOperation } from '../operations/operation.js';
import type { PathReference } from '../operations/path-reference.js';
import { refuseExisting } from '../operations/put.js';
import { joinPath, parseRemotePath, ROOT } from '../remotes/path.js';
import type { Attempt } from '../remotes/registry.js';
import type { Remote } from '../remotes/remote.js';
import type { Upload } from '../contract/upload.js';
import { uploadAddressOf, beginUpload, keyIdOf, refuseFolder } from './begin.js';
import {
  fileOf,
  mostBytes,
  uploadJobPart,
  removeFile,
  tooLarge,
  type UploadRequest,
  type UploadServiceOptions,
} from './file.js';
import { NO_BYTES, type Piece, PieceWork } from './piece-work.js';
import { type HeldUpload, Writers } from './writers.js';

/** For a connection that is about to be deleted: its owner does not wait longer. */
const END_ALL_MS = 5_000;
/** Time for the work that continues after that, on a slow server. */
const END_LATE_MS = 60_000;
const END_AT_ONCE = 4;
/** By then a writer has noticed that it no longer owns the upload. */
const WRITER_HEARS_MS = 1_500;

export interface UploadOrder {
  readonly folder: PathReference;
  readonly filename: string;
  readonly template: string | undefined;
  readonly overwrite: boolean;
  readonly modifiedAt: Date | undefined;
  /** Undefined: announced later. */
  readonly length: number | undefined;
  /** As the client wrote them. */
  readonly metadata: string;
}

export class UploadService {
  readonly #options: UploadServiceOptions;
  readonly #writers: Writers;

  constructor(options: UploadServiceOptions) {
    this.#options = options;

    this.#writers = new Writers(options.store, options.limits);
  }

  /** 0 = no limit. */
  get maxBytes(): number {
    return this.#options.maxBytes;
  }

  /** Errors: resume_unsupported, share_exceeded, already_exists, too_large, quota_exceeded, and those of the remote. */
  async create(request: UploadRequest, order: UploadOrder): Promise<HeldUpload> {
    this.#refuseLength(order.length, mostBytes(this.#options, request));
    const [id, writer] = [uuidv7(), uuidv7()];
    const running = await this.#options.operations.begin({ ...request, job: uploadJobPart(id, () => false) });
    try {
      const upload = await running.use((remote, attempt) =>
        this.#begin(request, order, { running, remote, attempt, id, writer }),
      );
      await running.drop();
      return this.#writers.hold(upload, writer);
    } catch (error) {
      throw await running.fail(error);
    }
  }

  /** Errors: unknown_upload, upload_locked, offset_mismatch, too_large, checksum_mismatch, those of any upload. */
  async write(request: UploadRequest, id: string, piece: Piece): Promise<Upload> {
    return this.go(request, await this.#take(request, id), piece);
  }

  /** The offset; if its writer has died, the remote is asked. Publishes an upload that is complete. */
  async state(request: UploadRequest, id: string): Promise<Upload> {
    const upload = await this.#options.store.find(uploadAddressOf(request, id));
    if (upload === undefined) throw unknown('upload', id);
    const isAtRest = upload.writer === null && upload.isExact && upload.storedBytes !== upload.length;
    if (upload.state === 'done' || isAtRest) return upload;
    return this.write(request, id, NO_BYTES);
  }

  /** Removes the upload, but not the file that it has become. */
  async remove(request: UploadRequest, id: string): Promise<void> {
    const held = await this.#take(request, id);
    const { state, storedBytes } = held.upload;
    try {
      if (state !== 'done' && storedBytes > 0) await request.link?.countBroken?.();
      await this.end(request.connection, held, request);
    } finally {
      await held.release(true);
    }
  }

  /** Continues the upload, and releases the lease. */
  async go(request: UploadRequest, held: HeldUpload, piece: Piece): Promise<Upload> {
    const work = new PieceWork(this.#options, request, held, piece);
    try {
      return await work.run();
    } catch (error) {
      // Its bytes were dropped, and nothing ended: a client could send them again and again.
      if (hasCode(error, 'checksum_mismatch')) await request.link?.countBroken?.();
      throw error;
    } finally {
      await held.release(work.isExact);
    }
  }

  /** Removes everything of it, on the remote and here. */
  async end(
    connection: Connection,
    { upload, writer }: Pick<HeldUpload, 'upload' | 'writer'>,
    { signal, priority = 'request' }: Pick<OperationRequest, 'signal' | 'priority'>,
  ): Promise<void> {
    const { store, parts, operations } = this.#options;
    if (upload.state !== 'done') {
      const leftovers = (of: Connection) => operations.leftoversOf(of);
      const files = upload.layout === null ? [] : await parts.files(upload.id);
      await operations.remotes.use(connection, { signal, leftovers, priority }, async (remote) => {
        await remote.pieces?.discard(fileOf(store, upload, writer));
        for (const path of files) await removeFile(remote, parseRemotePath(path, ROOT, 'path'));
      });
    }
    await store.remove(upload.id, writer);
  }

  /**
   * Call before a connection is deleted: removes the stored bytes of its uploads from its server, as far as that can be
   * done in a moment. Resolves with how many are left. Never rejects.
   */
  async endAll(connection: Connection): Promise<number> {
    const { id: connectionId, accountId } = connection;
    const writer = uuidv7();
    let left = 0;
    const work = async (): Promise<void> => {
      const claimed = await this.#options.store.claimAll({ accountId, connectionId }, writer, END_LATE_MS / 1000);
      left = claimed.length;
      const signal = AbortSignal.timeout(END_LATE_MS);
      const heard = claimed.some(({ isHeld }) => isHeld) ? pause(WRITER_HEARS_MS) : undefined;
      const queue = [...claimed].sort((a, b) => Number(a.isHeld) - Number(b.isHeld)).values();
      const endNext = async (): Promise<void> => {
        for (const upload of queue) {
          try {
            if (upload.isHeld) await heard;
            await this.end(connection, { upload, writer }, { signal });
            left -= 1;
          } catch {
            // The others may succeed.
          }
        }
      };
      await Promise.all(Array.from({ length: END_AT_ONCE }, endNext));
    };
    await within(
      work().catch(() => undefined),
      END_ALL_MS,
      () => undefined,
    );
    return left;
  }

  #take(request: UploadRequest, id: string): Promise<HeldUpload> {
    return this.#writers.take(uploadAddressOf(request, id), { keyId: request.caller.keyId, signal: request.signal });
  }

  async #begin(
    request: UploadRequest,
    { folder, filename, template, overwrite, modifiedAt, length, metadata }: UploadOrder,
    {
      running,
      remote,
      attempt,
      id,
      writer,
    }: {
      readonly running: RunningOperation;
      readonly remote: Remote;
      readonly attempt: Attempt;
      readonly id: string;
      readonly writer: string;
    },
  ): Promise<Upload> {
    const { connection } = request;
    const name = template === undefined ? filename : applyTemplate(template, filename, templateFacts());
    const path = joinPath(await folder(remote), name);
    running.locate(path, name);
    if (overwrite) await refuseFolder(remote, path);
    else await refuseExisting(remote, path);
    const isChecked = connection.verify === 'readback';
    const wantsDigest = running.evidence.isAsked || request.terms?.digest !== undefined;
    return beginUpload(
      this.#options,
      { remote, attempt, writer, isChecked },
      {
        ...uploadAddressOf(request, id),
        keyId: keyIdOf(request),
        path,
        metadata,
        overwrite,
        wantsDigest,
        checksum: null,
        modifiedAt: modifiedAt ?? null,
        length: length ?? null,
        hashStates: isChecked || wantsDigest ? Buffer.alloc(0) : null,
      },
    );
  }

  #refuseLength(length: number | undefined, maxBytes: number): void {
    if (length !== undefined && maxBytes > 0 && length > maxBytes) throw tooLarge(maxBytes);
  }
}
