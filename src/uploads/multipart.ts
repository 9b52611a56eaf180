/** Multipart uploads: parts arrive at once, in any order, on any node, and become one file. */
import { hasCode, refusal, unknown } from '../base/errors.js';
import { uuidv7 } from '../base/uuid.js';
import type { Caller } from '../base/caller.js';
import type { Connection } from '../connections/connection.js';
import type { MultipartPart, Upload } from '../contract/upload.js';
import type { PathReference } from '../operations/path-reference.js';
import { leaveErrorsToPump } from '../operations/pump.js';
import { baseName, parseRemotePath, ROOT, type RemotePath } from '../remotes/path.js';
import type { ListedUpload, UploadAddress } from '../storage/storage.js';
import { uploadAddressOf, beginUpload, keyIdOf, refuseFolder } from './begin.js';
import { type Completed, Completion } from './completion.js';
import { uploadJobPart, tooLarge, type UploadRequest, type UploadServiceOptions } from './file.js';
import { chosenOf, joinedTag, type ListedPart, MOST_PARTS, requireOrder } from './part-list.js';
import { type HeldPart, PartWriters } from './part-writers.js';
import { type PartSource, PartWork } from './part-work.js';
import type { UploadService } from './service.js';
import { Writers } from './writers.js';

interface MultipartOrder {
  readonly file: PathReference;
  readonly modifiedAt?: Date | undefined;
  /** As Upload.checksum has it. */
  readonly checksum?: string | undefined;
}

interface CompleteOptions {
  /** Refuse to replace a file. */
  readonly exclusive: boolean;
  /** All parts but the last have this many bytes or more; absent = as S3 has it. */
  readonly leastPartBytes?: number;
  /** Called with the parts before they become the file; rejects if they must not. */
  readonly admit?: (upload: Upload, parts: readonly MultipartPart[]) => Promise<void>;
}

type WrittenPart = Pick<MultipartPart, 'number' | 'size' | 'etag' | 'checksum' | 'storedAt'>;

const LEAST_PART_BYTES = 5 * 1024 * 1024;

export class MultipartUploads {
  readonly #options: UploadServiceOptions;
  readonly #service: Pick<UploadService, 'end'>;
  readonly #writers: Writers;
  readonly #partWriters: PartWriters;

  constructor(options: UploadServiceOptions, service: Pick<UploadService, 'end'>) {
    this.#options = options;
    this.#service = service;

    const { store, parts, limits, maxBytes } = options;
    this.#writers = new Writers(store, limits);
    this.#partWriters = new PartWriters({ parts, writers: this.#writers, limits, maxBytes });
  }

  /** Errors: resume_unsupported, share_exceeded, is_a_folder, quota_exceeded, and those of the remote. */
  async create(
    request: UploadRequest,
    { file, modifiedAt, checksum }: MultipartOrder,
  ): Promise<{ readonly id: string; readonly path: RemotePath }> {
    const writer = uuidv7();
    const running = await this.#options.operations.begin({ ...request, job: uploadJobPart('', () => false) });
    try {
      const { id, path } = await running.use(async (remote, attempt) => {
        const place = await file(remote);
        running.locate(place, baseName(place));
        await refuseFolder(remote, place);
        const isChecked = request.connection.verify === 'readback';
        const upload = await beginUpload(
          this.#options,
          { remote, attempt, writer, isChecked },
          {
            ...uploadAddressOf(request, uuidv7()),
            isMultipart: true,
            keyId: keyIdOf(request),
            path: place,
            metadata: '',
            overwrite: true,
            wantsDigest: false,
            checksum: checksum ?? null,
            modifiedAt: modifiedAt ?? null,
            length: null,
            hashStates: null,
          },
        );
        return { id: upload.id, path: place };
      });
      await this.#options.store.release(id, writer, true);
      await running.drop();
      return { id, path };
    } catch (error) {
      throw await running.fail(error);
    }
  }

  /**
   * Resolves when the part is durable on the server and recorded; it replaces the former part of its number. Errors:
   * unknown_upload, upload_locked, too_large, size_mismatch, digest_mismatch, and those of the remote.
   */
  async writePart(request: UploadRequest, id: string, part: PartSource): Promise<WrittenPart> {
    const { number, size } = part;
    if ('body' in part) leaveErrorsToPump(part.body);
    if (!Number.isInteger(number) || number < 1 || number > MOST_PARTS)
      throw refusal('bad_request', `the number of a part is from 1 to ${MOST_PARTS}`);
    const { maxBytes } = this.#options;
    if (maxBytes > 0 && size > maxBytes) throw tooLarge(maxBytes);
    const address = multipartAt(request, id);
    const path = parseRemotePath(request.path, ROOT, 'path');
    const { caller, signal } = request;
    const take = (mustGoAside: boolean): Promise<HeldPart> =>
      this.#partWriters.take(address, { path, number, size, mustGoAside }, { keyId: caller.keyId, signal });
    const write = async (held: HeldPart, canGoAside: boolean): Promise<MultipartPart | undefined> => {
      const work = new PartWork(this.#options, request, held, part);
      let isStored = false;
      try {
        const stored = await work.run();
        isStored = true;
        return stored;
      } catch (error) {
        // A server that can only append cannot continue after bytes that do not count.
        if (canGoAside && !work.hasBegun && hasCode(error, 'resume_unsupported')) return undefined;
        throw error;
      } finally {
        await held.release(isStored);
      }
    };
    const stored = (await write(await take(false), true)) ?? (await write(await take(true), false));
    if (stored === undefined) throw unknown('upload', id);
    const { etag, checksum, storedAt } = stored;
    return { number, size, etag, checksum, storedAt };
  }

  /** An unfinished upload and its stored parts, in the order of their numbers. @throws GatewayError unknown_upload */
  async parts(
    request: Pick<UploadRequest, 'caller' | 'connection'>,
    id: string,
    page: { readonly after: number; readonly limit: number },
  ): Promise<{ readonly upload: Upload; readonly parts: readonly MultipartPart[] }> {
    const upload = await this.#find(multipartAt(request, id));
    if (upload.state === 'done') throw unknown('upload', id);
    return { upload, parts: await this.#options.parts.list(id, page) };
  }

  /** Unfinished uploads of a connection, by path in code-point order, and by id. */
  async list(
    { accountId }: Pick<Caller, 'accountId'>,
    { id: connectionId }: Pick<Connection, 'id'>,
    page: {
      /** The beginning of their paths. */
      readonly prefix: string;
      readonly after?: { readonly path: string; readonly id: string };
      readonly limit: number;
    },
  ): Promise<readonly ListedUpload[]> {
    const { prefix, after, limit } = page;
    return this.#options.parts.unfinished({ accountId, connectionId }, { prefix, after }, limit);
  }

  /**
   * Makes the file of the listed parts; others are dropped, and those that still arrive are ended. A repeated completion
   * waits while another one runs, on any node, and has the same result. Errors: unknown_upload, upload_locked,
   * invalid_part_order, invalid_part, part_too_small, already_exists, and those of the remote.
   */
  async complete(
    request: UploadRequest,
    id: string,
    listed: readonly ListedPart[],
    { exclusive, leastPartBytes = LEAST_PART_BYTES, admit }: CompleteOptions,
  ): Promise<Completed> {
    requireOrder(listed);
    const address = multipartAt(request, id);
    const before = await this.#find(address);
    const stored = await this.#options.parts.list(id, { after: 0, limit: MOST_PARTS });
    // A list that is wrong ends no part that still arrives.
    await admit?.(before, chosenOf(listed, stored, leastPartBytes));
    const completion = new Completion(this.#options, request, { exclusive, listed, leastPartBytes });
    if (before.state === 'done') return completion.resultOf(before, stored);
    const { caller, signal } = request;
    const held = await this.#writers.take(address, { keyId: caller.keyId, signal, completing: joinedTag(listed) });
    try {
      await this.#partWriters.clear(id, request.signal);
      return await completion.run(held);
    } finally {
      await held.release(true);
    }
  }

  /** Leaves nothing of the upload behind. Errors: unknown_upload; upload_locked while it is being completed. */
  async abort(request: UploadRequest, id: string): Promise<void> {
    const { caller, signal } = request;
    const held = await this.#writers.take(multipartAt(request, id), { keyId: caller.keyId, signal });
    try {
      if (held.upload.state === 'done') throw unknown('upload', id);
      await this.#partWriters.clear(id, request.signal);
      await this.#service.end(request.connection, held, request);
    } finally {
      await held.release(true);
    }
  }

  /** @throws GatewayError unknown_upload, even if it is the upload of another file */
  async requireFor(request: Pick<UploadRequest, 'caller' | 'connection' | 'path'>, id: string): Promise<void> {
    const { path } = await this.#find(multipartAt(request, id));
    if (path !== request.path) throw unknown('upload', id);
  }

  async #find(address: UploadAddress): Promise<Upload> {
    const upload = await this.#options.store.find(address);
    if (upload === undefined) throw unknown('upload', address.id);
    return upload;
  }
}

const multipartAt = (request: Pick<UploadRequest, 'caller' | 'connection'>, id: string): UploadAddress => ({
  ...uploadAddressOf(request, id),
  isMultipart: true,
});
