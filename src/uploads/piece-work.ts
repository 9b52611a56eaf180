/** What one request does for an upload: it adds bytes, and with the last ones the upload becomes a file. */
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { onAbort } from '../base/deadline.js';
import { Ending } from '../base/ending.js';
import { GatewayError, hasCode, refusal, toGatewayError, type ErrorCode } from '../base/errors.js';
import type { Connection } from '../connections/connection.js';
import type { RunningOperation } from '../operations/operation.js';
import { pump, requireDigest, type ExpectedDigest } from '../operations/pump.js';
import { publish } from '../operations/put.js';
import { checkAgainst } from '../operations/read-back.js';
import { cannotResume, piecesAreGone } from '../remotes/obstacles.js';
import { baseName, parseRemotePath, ROOT, type RemotePath } from '../remotes/path.js';
import type { Attempt } from '../remotes/registry.js';
import type { FileInfo, PieceCommit, PiecedFile, Pieces, Remote } from '../remotes/remote.js';
import { streamOf } from '../remotes/whole.js';
import type { Upload } from '../contract/upload.js';
import type { Uploads } from '../storage/storage.js';
import {
  fileOf,
  mostBytes,
  uploadJobPart,
  piecesOf,
  tooLarge,
  type UploadRequest,
  type UploadServiceOptions,
} from './file.js';
import { PieceHash } from './piece-hash.js';
import type { HeldUpload, Progress } from './writers.js';

export interface Piece {
  /** Undefined: the upload's current offset. */
  readonly offset: number | undefined;
  /** Length of the whole upload, if it is announced now. */
  readonly length: number | undefined;
  /** Undefined: no bytes arrive. Ends when it is cut or stopped, after the bytes that have arrived. */
  readonly body: { readonly stream: Readable; readonly stop: (reason: GatewayError) => void } | undefined;
  /** Bytes to come, when known. */
  readonly size: number | undefined;
  readonly digest: ExpectedDigest | undefined;
}

export const NO_BYTES: Piece = {
  offset: undefined,
  length: undefined,
  body: undefined,
  size: undefined,
  digest: undefined,
};

/**
 * Time for received bytes to reach the remote after the reading has ended: the client left, or the writer was asked to
 * end.
 */
const SETTLE_MS = 20_000;

/**
 * The owner has ended it or its link, its stored bytes are gone, the server can no longer continue any file, or it is
 * not the file that its link is for.
 */
const ENDING: readonly ErrorCode[] = ['cancelled', 'unknown_upload', 'resume_unsupported', 'gone', 'digest_mismatch'];

/** Errors that end its publication for good. */
export const FINAL: readonly ErrorCode[] = [
  ...(['already_exists', 'is_a_folder', 'not_a_folder', 'permission_denied', 'bad_path', 'size_mismatch'] as const),
  'readback_mismatch',
];

interface Writing {
  readonly remote: Remote;
  readonly pieces: Pieces;
  readonly running: RunningOperation;
  readonly attempt: Attempt;
}

/** One request's part of an upload. */
export class PieceWork {
  readonly #options: UploadServiceOptions;
  readonly #request: UploadRequest;
  readonly #held: HeldUpload;
  readonly #piece: Piece;
  /** It is known how many bytes are stored. */
  isExact: boolean;
  #upload: Upload;
  readonly #ending = new Ending();
  /** While bytes arrive: the received ones are kept, even if the request is ended. */
  #isWriting = false;
  #isPublishing = false;
  /** The digest of all stored bytes, if it is wanted and known. */
  #hash: PieceHash | undefined;
  /** The reason to stop reading. */
  #stopped: Error | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: UploadServiceOptions, request: UploadRequest, held: HeldUpload, piece: Piece) {
    this.#options = options;
    this.#request = request;
    this.#held = held;
    this.#piece = piece;

    this.#upload = held.upload;
    this.isExact = held.upload.isExact;
  }

  async run(): Promise<Upload> {
    if (this.#upload.state === 'done') return this.#refuseMore();
    const request = this.#request;
    const held = this.#held;
    const piece = this.#piece;
    if (this.isExact) this.#refuseOtherOffset();
    const stopListening = onAbort(request.signal, (reason) => this.#stop(reason));
    held.asked = (reason) => this.#stop(reason);
    held.lost = (reason) => {
      this.isExact = false;
      this.#ending.abort(reason);
    };
    // A failure before the pump begins is reported by the pump then.
    piece.body?.stream.on('error', () => undefined);
    try {
      return await this.#operate(stopListening);
    } finally {
      stopListening();
      clearTimeout(this.#timer);
    }
  }

  async #operate(stopListening: () => void): Promise<Upload> {
    const request = this.#request;
    const ending = this.#ending;
    const upload = this.#upload;
    const { operations } = this.#options;
    const part = uploadJobPart(upload.id, (error) => this.#isFinal(error));
    const giveWay = (reason: Error): void => this.#stop(reason);
    const running = await operations.begin({ ...request, signal: ending, job: part, giveWay });
    if (upload.wantsDigest) running.evidence.ask();
    const path = parseRemotePath(upload.path, ROOT, 'path');
    running.locate(path, baseName(path));
    running.expectedSize = upload.length ?? undefined;
    try {
      const isDone = await running.use(async (remote, attempt) => {
        const pieces = piecesOf(remote);
        await this.#takeUpHash(running);
        if (!this.isExact) await this.#measure(pieces);
        this.#refuseOtherOffset();
        await this.#takeLength();
        if (this.#piece.body !== undefined)
          await this.#takeBytes({ remote, pieces, running, attempt }, this.#piece.body.stream);
        if (this.#upload.storedBytes !== this.#upload.length) return false;
        // All bytes are here: the upload becomes a file, even if its client has left or others wait.
        stopListening();
        this.#held.asked = () => undefined;
        attempt.committed();
        await this.#publish(remote, pieces, running, path);
        return true;
      });
      if (!isDone) {
        await running.drop();
        return this.#upload;
      }
      await running.succeed();
      const { digest = null } = running.evidence;
      return { ...this.#upload, state: 'done', transferId: running.transferId, digest };
    } catch (thrown) {
      throw await this.#failed(await running.fail(thrown));
    }
  }

  /** An upload that can never be published is removed, with its stored bytes. */
  async #failed(error: GatewayError): Promise<GatewayError> {
    if (!this.#isFinal(error)) return error;
    const { store, operations } = this.#options;
    const { connection } = this.#request;
    const signal = AbortSignal.timeout(SETTLE_MS);
    const leftovers = (of: Connection) => operations.leftoversOf(of);
    const file = fileOf(store, this.#upload, this.#held.writer);
    await operations.remotes
      .use(connection, { signal, leftovers }, async (remote) => piecesOf(remote).discard(file))
      .then(() => store.remove(this.#upload.id, this.#held.writer))
      .catch(() => store.expire(this.#upload.id, this.#held.writer).catch(() => undefined));
    return error;
  }

  /** It cannot be continued, or could not be published later either: the history shows the failure as final. */
  #isFinal({ code }: GatewayError): boolean {
    return ENDING.includes(code) || (this.#isPublishing && FINAL.includes(code));
  }

  async #measure(pieces: Pieces): Promise<void> {
    const { storedBytes: offset, isUnproven, state, length } = this.#upload;
    const measured = await pieces.measure(this.#file, { offset, isUnproven });
    // An earlier request published it without a chance to record that.
    const isPublished = measured === undefined && state === 'publishing' && offset === length;
    if (measured === undefined && !isPublished) throw piecesAreGone(this.#file.path);
    if (measured !== undefined && length !== null && measured > length) {
      throw new GatewayError('size_mismatch', `${this.#upload.path}: ${measured} of ${length} bytes are there`, {
        step: 'verify',
      });
    }
    this.#hash?.rewindTo(measured ?? offset);
    await this.#note({ storedBytes: measured ?? offset, isExact: true, ...this.#hashStates });
    this.isExact = true;
  }

  /** @throws GatewayError offset_mismatch */
  #refuseOtherOffset(): void {
    const { offset } = this.#piece;
    const { storedBytes } = this.#upload;
    if (offset === undefined || offset === storedBytes) return;
    throw refusal('offset_mismatch', `Upload-Offset is ${offset}, but the gateway has ${storedBytes} bytes`);
  }

  async #takeLength(): Promise<void> {
    const { length } = this.#piece;
    if (length === undefined || length === this.#upload.length) return;
    const maxBytes = mostBytes(this.#options, this.#request);
    if (this.#upload.length !== null)
      throw refusal('bad_request', `Upload-Length was sent before: ${this.#upload.length}`);
    if (length < this.#upload.storedBytes)
      throw refusal('bad_request', `Upload-Length is ${length}, but the gateway has ${this.#upload.storedBytes} bytes`);
    if (maxBytes > 0 && length > maxBytes) throw tooLarge(maxBytes);
    await this.#note({ length });
  }

  async #takeBytes({ remote, pieces, running, attempt }: Writing, body: Readable): Promise<void> {
    const { digest, size } = this.#piece;
    const { storedBytes: offset, isUnproven } = this.#upload;
    const maxBytes = mostBytes(this.#options, this.#request);
    const end = this.#upload.length ?? (maxBytes > 0 ? maxBytes : undefined);
    const most = end === undefined ? undefined : end - offset;
    if (most !== undefined && (size ?? 0) > most) throw tooLarge(end);
    // No bytes are allowed, and none are announced.
    if (most === 0) return;
    const isProven = digest === undefined;
    await this.#bringHashForward(remote, pieces, running);
    const hash = this.#hash;
    hash?.keep();
    if (!isProven) await this.#note({ isUnproven: true });
    // If the server has other bytes than recorded, it is asked before the next piece.
    this.isExact = false;
    const writer = await pieces.resume(this.#file, { offset, isUnproven }, { isProven, hash });
    attempt.committed();
    running.mark('transfer');
    running.fileSize = offset;
    this.#isWriting = true;
    if (isProven) this.#held.progress = () => this.#progress(pieces, writer.safeOffset);
    let failure: unknown;
    try {
      await pump(body, writer, {
        signal: running.signal,
        maxBytes: most ?? 0,
        digest,
        isMoreToCome: true,
        onBytes: (bytes) => (running.fileSize = offset + bytes),
      });
    } catch (error) {
      failure = hasCode(error, 'digest_mismatch') ? checksumMismatch(digest) : error;
    }
    // The digest of a cut piece cannot match.
    failure = this.#stopped ?? failure;
    running.mark('verify');
    try {
      const settled = await writer.settle(isProven || failure === undefined);
      hash?.rewindTo(settled.offset);
      await this.#note({
        storedBytes: settled.offset,
        isExact: true,
        isUnproven: !settled.isClean,
        ...this.#hashStates,
      });
      this.isExact = true;
    } catch (error) {
      throw toGatewayError(failure ?? error);
    } finally {
      this.#isWriting = false;
      this.#held.progress = () => ({ storedBytes: this.#upload.storedBytes });
    }
    // With its last byte stored, the upload becomes a file even without a client that waits for it.
    const isComplete = this.#upload.storedBytes === this.#upload.length && failure === this.#stopped;
    if (failure !== undefined && !isComplete) throw toGatewayError(failure);
  }

  async #publish(remote: Remote, pieces: Pieces, running: RunningOperation, place: RemotePath): Promise<void> {
    const { operations } = this.#options;
    const { connection } = this.#request;
    const { overwrite, storedBytes: size, state, modifiedAt: time } = this.#upload;
    const exclusive = !overwrite;
    const modifiedAt = time ?? undefined;
    running.fileSize = size;
    running.mark('verify');
    await this.#bringHashForward(remote, pieces, running);
    const check = this.#concludeHash(running);
    await this.#request.terms?.permit();
    await this.#note({ state: 'publishing' });
    this.#isPublishing = true;
    const commit = { size, exclusive, modifiedAt, isAgain: state === 'publishing', check };
    await publish(
      operations,
      { connection, remote, place, exclusive, modifiedAt, operation: running },
      (): Promise<FileInfo> => pieces.publish(this.#file, commit),
    );
  }

  /** Continues the hash; a hash that is wanted from the first byte begins here. */
  async #takeUpHash({ evidence }: RunningOperation): Promise<void> {
    const { hashStates, storedBytes, wantsDigest } = this.#upload;
    const begins = storedBytes === 0 && this.isExact && evidence.isAsked;
    if (begins && (hashStates === null || !wantsDigest))
      await this.#note({ wantsDigest: true, hashStates: hashStates ?? Buffer.alloc(0) });
    if (this.#upload.hashStates !== null) this.#hash = await PieceHash.of(this.#upload.hashStates);
  }

  /** Stored bytes that the hash lacks are read from the server; if that is impossible, there is no hash. */
  async #bringHashForward(remote: Remote, pieces: Pieces, running: RunningOperation): Promise<void> {
    const hash = this.#hash;
    const { storedBytes, hidden } = this.#upload;
    if (hash === undefined || hash.offset === storedBytes) return;
    if (!pieces.canBeRead) {
      this.#hash = undefined;
      return;
    }
    this.#held.progress = () => this.#progress(pieces, storedBytes);
    try {
      const range = { start: hash.offset, end: storedBytes - 1 };
      const file = await remote.read(parseRemotePath(hidden, ROOT, 'path'), () => range);
      if (file.range === undefined) {
        throw new GatewayError('size_mismatch', `${hidden} has more bytes than the server reports`, { step: 'verify' });
      }
      await pipeline(
        streamOf(file),
        async (chunks: AsyncIterable<Buffer>) => {
          for await (const chunk of chunks) hash.updateByRead(chunk);
        },
        { signal: running.signal },
      );
    } finally {
      this.#held.progress = () => ({ storedBytes: this.#upload.storedBytes });
    }
  }

  #progress({ canBeRead }: Pieces, storedBytes: number): Progress {
    if (canBeRead) this.#hash?.keepSpaced(storedBytes);
    return { storedBytes, hashStates: this.#hash?.saved };
  }

  /** The check of the file before it is published. @throws GatewayError resume_unsupported */
  #concludeHash(running: RunningOperation): PieceCommit['check'] {
    const hash = this.#hash;
    const { connection, terms } = this.#request;
    const isReadBack = connection.verify === 'readback';
    if (hash === undefined) {
      running.evidence.undigested('pieces');
      if (isReadBack || terms?.digest !== undefined) {
        throw cannotResume('what is known of this one is too little to check it; begin it again');
      }
      return undefined;
    }
    if (terms?.digest !== undefined) requireDigest(terms.digest, hash.value);
    running.evidence.taken(hash.value, hash.readBytes);
    return isReadBack ? checkAgainst(running, hash) : undefined;
  }

  get #hashStates(): { readonly hashStates?: Buffer } {
    return this.#hash === undefined ? {} : { hashStates: this.#hash.saved };
  }

  /** @throws GatewayError offset_mismatch, too_large */
  #refuseMore(): Upload {
    this.#refuseOtherOffset();
    if ((this.#piece.size ?? 0) > 0) throw tooLarge(this.#upload.storedBytes);
    return this.#upload;
  }

  /** Stops reading; bytes under way get a moment. */
  #stop(reason: Error): void {
    this.#stopped ??= reason;
    const { body } = this.#piece;
    body?.stop(toGatewayError(reason));
    if (!this.#isWriting && (body?.stream.readableLength ?? 0) === 0) return this.#ending.abort(reason);
    this.#timer ??= setTimeout(() => this.#ending.abort(reason), SETTLE_MS);
  }

  async #note(changes: Parameters<Uploads['note']>[1]): Promise<void> {
    const { writer } = this.#held;
    this.#upload = await this.#options.store.note({ id: this.#upload.id, writer }, changes);
  }

  get #file(): PiecedFile {
    return fileOf(this.#options.store, this.#upload, this.#held.writer, this.#hash);
  }
}

function checksumMismatch(digest: ExpectedDigest | undefined): GatewayError {
  const text = `the body does not match its Upload-Checksum (${digest?.algorithm ?? ''})`;
  return new GatewayError('checksum_mismatch', text, { step: 'verify' });
}
