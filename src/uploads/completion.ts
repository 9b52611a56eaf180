/** The end of a multipart upload: its parts are joined in order, and become a file. */
import { sumOfSizes } from '../base/numbers.js';
import { onAbort } from '../base/deadline.js';
import { Ending } from '../base/ending.js';
import { type ErrorCode, type GatewayError, refusal } from '../base/errors.js';
import type { MultipartPart, Upload } from '../contract/upload.js';
import type { RunningOperation } from '../operations/operation.js';
import { publish } from '../operations/put.js';
import { cannotResume } from '../remotes/obstacles.js';
import { baseName, parseRemotePath, ROOT } from '../remotes/path.js';
import type { FileInfo, PieceCommit, StoredPart } from '../remotes/remote.js';
import type { Uploads } from '../storage/storage.js';
import { Assembly } from './assembly.js';
import { fileOf, uploadJobPart, piecesOf, tooLarge, type UploadRequest, type UploadServiceOptions } from './file.js';
import { chosenOf, joinedTag, type ListedPart, MOST_PARTS } from './part-list.js';
import { checkParts } from './part-check.js';
import { FINAL } from './piece-work.js';
import type { HeldUpload } from './writers.js';

export interface Completed {
  readonly info: FileInfo;
  readonly transferId: string;
  readonly etag: string;
  /** Their number. */
  readonly parts: number;
  /** A former request has made the file; `info` is what is known of it without a look. */
  readonly isRepeated: boolean;
}

interface CompletionOrder {
  readonly exclusive: boolean;
  readonly listed: readonly ListedPart[];
  readonly leastPartBytes: number;
}

/** The file was not published, and may be, later or in another way. */
const REFUSED: readonly ErrorCode[] = [
  ...FINAL,
  ...(['resume_unsupported', 'invalid_part', 'part_too_small'] as const),
];

export class Completion {
  readonly #options: UploadServiceOptions;
  readonly #request: UploadRequest;
  readonly #order: CompletionOrder;
  #isPublishing = false;

  constructor(options: UploadServiceOptions, request: UploadRequest, order: CompletionOrder) {
    this.#options = options;
    this.#request = request;
    this.#order = order;
  }

  /** The result of a completion that was successful before. @throws GatewayError upload_locked if it had other parts */
  resultOf({ path, length, modifiedAt, expiresAt, transferId }: Upload, stored: readonly MultipartPart[]): Completed {
    if (joinedTag(this.#order.listed) !== joinedTag(stored)) throw otherParts();
    const place = parseRemotePath(path, ROOT, 'path');
    const latest = Math.max(...stored.map(({ storedAt }) => storedAt.getTime()), 0);
    return {
      info: {
        name: baseName(place),
        path: place,
        size: length ?? 0,
        isDirectory: false,
        modifiedAt: modifiedAt ?? new Date(latest === 0 ? expiresAt : latest),
      },
      transferId: transferId ?? '',
      etag: joinedTag(stored),
      parts: stored.length,
      isRepeated: true,
    };
  }

  async run(held: HeldUpload): Promise<Completed> {
    const { parts, operations, maxBytes } = this.#options;
    const request = this.#request;
    const { listed, leastPartBytes } = this.#order;
    const { upload } = held;
    const stored = await parts.list(upload.id, { after: 0, limit: MOST_PARTS });
    const chosen = chosenOf(listed, stored, leastPartBytes);
    if (upload.state === 'done') return this.resultOf(upload, stored);
    const size = sumOfSizes(chosen);
    if (maxBytes > 0 && size > maxBytes) throw tooLarge(maxBytes);
    const isAgain = upload.state === 'publishing';
    if (isAgain && (chosen.length !== stored.length || size !== upload.length)) throw undecided();
    const ending = new Ending();
    const stopListening = onAbort(request.signal, (reason) => ending.abort(reason));
    held.progress = () => ({ storedBytes: size });
    held.lost = (reason) => ending.abort(reason);
    try {
      const job = uploadJobPart(upload.id, (error) => !this.#isPublishing || !REFUSED.includes(error.code));
      const running = await operations.begin({ ...request, signal: ending, job });
      try {
        const info = await this.#complete(running, held, chosen, size);
        await running.succeed();
        const { transferId } = running;
        return { info, transferId, etag: joinedTag(chosen), parts: chosen.length, isRepeated: false };
      } catch (thrown) {
        throw await this.#failed(held, await running.fail(thrown));
      }
    } finally {
      stopListening();
    }
  }

  async #complete(
    running: RunningOperation,
    held: HeldUpload,
    chosen: readonly MultipartPart[],
    size: number,
  ): Promise<FileInfo> {
    const { operations } = this.#options;
    const request = this.#request;
    const path = parseRemotePath(held.upload.path, ROOT, 'path');
    running.locate(path, baseName(path));
    running.expectedSize = size;
    running.evidence.undigested('pieces');
    const check = this.#checkOf(running, chosen);
    const isAgain = held.upload.state === 'publishing';
    const assembly = new Assembly(this.#options, request, { held, running, chosen });
    const arranged = isAgain ? held.upload : await assembly.arrange();
    return running.use(async (remote, attempt) => {
      attempt.committed();
      const pieces = piecesOf(remote);
      if (!isAgain) await assembly.clean(remote);
      await this.#note(held, { state: 'publishing', length: size, storedBytes: size, isExact: true });
      this.#isPublishing = true;
      running.fileSize = size;
      running.mark('verify');
      const { exclusive } = this.#order;
      const modifiedAt = arranged.modifiedAt ?? undefined;
      const sent = arranged.layout === 'store' ? chosen.map(storedPartOf) : undefined;
      const commit: PieceCommit = { size, exclusive, modifiedAt, isAgain, check, parts: sent };
      const file = fileOf(this.#options.store, { ...arranged, length: size }, held.writer);
      const publication = { connection: request.connection, remote, place: path, exclusive, modifiedAt };
      return publish(operations, { ...publication, operation: running }, () => pieces.publish(file, commit));
    });
  }

  /** A failed publication leaves the upload open; without its bytes it has expired. */
  async #failed(held: HeldUpload, error: GatewayError): Promise<GatewayError> {
    const { store } = this.#options;
    if (error.code === 'unknown_upload') await store.expire(held.upload.id, held.writer).catch(() => undefined);
    else if (this.#isPublishing && REFUSED.includes(error.code))
      await this.#note(held, { state: 'open' }).catch(() => undefined);
    return error;
  }

  /** The check of the file before it is published. @throws GatewayError resume_unsupported */
  #checkOf(running: RunningOperation, chosen: readonly MultipartPart[]): PieceCommit['check'] {
    if (this.#request.connection.verify !== 'readback') return undefined;
    if (chosen.some(({ digest }) => digest === null))
      throw cannotResume('what is known of this one is too little to read it back; begin it again');
    return checkParts(running, chosen);
  }

  async #note({ upload, writer }: HeldUpload, changes: Parameters<Uploads['note']>[1]): Promise<void> {
    await this.#options.store.note({ id: upload.id, writer }, changes);
  }
}

const storedPartOf = ({ number, size, storeEtag, storeChecksum }: MultipartPart): StoredPart => ({
  number,
  size,
  etag: storeEtag ?? '',
  checksum: storeChecksum,
});

const otherParts = (): GatewayError => refusal('upload_locked', 'the upload was completed with other parts');

const undecided = (): GatewayError =>
  refusal('upload_locked', 'how a completion with other parts has ended is not known yet');
