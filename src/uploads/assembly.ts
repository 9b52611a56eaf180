/**
 * Joins the parts of an upload in order in one hidden file. Most of them are already in place; others are read from the
 * server, and written there: one after the other, or all at once if the server cannot append.
 */
import { Readable } from 'node:stream';
import { sumOfSizes } from '../base/numbers.js';
import { GatewayError, hasCode, refusal } from '../base/errors.js';
import type { MultipartPart, Upload } from '../contract/upload.js';
import type { RunningOperation } from '../operations/operation.js';
import { leaveErrorsToPump, pump } from '../operations/pump.js';
import { withWriter } from '../operations/put.js';
import { piecesAreGone } from '../remotes/obstacles.js';
import { parseRemotePath, type RemotePath, ROOT } from '../remotes/path.js';
import type { UseOptions } from '../remotes/registry.js';
import type { PiecedFile, Remote, Settled } from '../remotes/remote.js';
import { streamOf } from '../remotes/whole.js';
import { hiddenNameBeside } from './begin.js';
import { fileOf, piecesOf, removeFile, type UploadRequest, type UploadServiceOptions } from './file.js';
import type { HeldUpload } from './writers.js';

interface AssemblyPlan {
  readonly held: HeldUpload;
  readonly running: RunningOperation;
  /** In the order of their numbers. */
  readonly chosen: readonly MultipartPart[];
}

export class Assembly {
  readonly #options: UploadServiceOptions;
  readonly #request: UploadRequest;
  readonly #plan: AssemblyPlan;

  constructor(options: UploadServiceOptions, request: UploadRequest, plan: AssemblyPlan) {
    this.#options = options;
    this.#request = request;
    this.#plan = plan;
  }

  /** Resolves when the file of the upload has the chosen parts, and nothing else. */
  async arrange(): Promise<Upload> {
    const { held, chosen } = this.#plan;
    const { upload } = held;
    if (upload.layout === 'store') return this.#record(upload.hidden, chosen);
    const placed = placedAtFront(chosen);
    const rest = chosen.slice(placed);
    const front = sumOfSizes(chosen.slice(0, placed));
    if (rest.length === 0 && (await this.#endsAt(sumOfSizes(chosen)))) return this.#record(upload.hidden, chosen);
    const isApart = upload.layout === 'apart';
    // Parts that lie further on in the file would be overwritten.
    const goesOn = !isApart && rest.length > 0 && rest.every(({ place }) => place !== null);
    if (goesOn && (await this.#write(upload, rest, front))) return this.#record(upload.hidden, chosen);
    const hidden = hiddenNameBeside(parseRemotePath(upload.path, ROOT, 'path'));
    await this.#options.parts.addFile(upload.id, hidden);
    if (isApart) await this.#join(hidden, chosen);
    else if (!(await this.#write({ ...upload, hidden }, chosen, undefined)))
      throw new GatewayError('size_mismatch', `${hidden} has bytes after its parts`, { step: 'verify' });
    return this.#record(hidden, chosen);
  }

  /** Removes the hidden files that are no longer needed. */
  async clean(remote: Remote): Promise<void> {
    const { parts, operations } = this.#options;
    const { upload } = this.#plan.held;
    const leftovers = operations.leftoversOf(this.#request.connection);
    for (const path of await parts.files(upload.id)) {
      const file = parseRemotePath(path, ROOT, 'path');
      await removeFile(remote, file).catch(() => leftovers.removeLater(file));
      await parts.forgetFile(upload.id, path);
    }
  }

  /** Truncates the file after the last part. false if the server cannot do that. */
  async #endsAt(size: number): Promise<boolean> {
    const { held, running } = this.#plan;
    const file = fileOf(this.#options.store, held.upload, held.writer);
    return running.use(async (remote) => {
      if (held.upload.layout !== 'offsets') return !(await isLonger(remote, file, size));
      const writer = await piecesOf(remote).resume(file, { offset: size, isUnproven: false }, { isProven: true });
      return (await writer.settle(true)).isClean;
    });
  }

  /**
   * Writes parts after the first `front` bytes of the upload's file; undefined: into a new one. false if other bytes
   * follow them, or the server cannot append there.
   */
  async #write(upload: Upload, parts: readonly MultipartPart[], front: number | undefined): Promise<boolean> {
    const file = fileOf(this.#options.store, upload, this.#plan.held.writer);
    let offset = front ?? 0;
    if (front === undefined)
      await this.#plan.running.use(async (remote, attempt) => {
        attempt.committed();
        await piecesOf(remote).begin(file, { modifiedAt: undefined, isChecked: false });
      });
    let isClean = true;
    for (const stretch of stretchesOf(parts)) {
      const canFail = offset === front;
      const written = await this.#copy(stretch, file, offset).catch((error: unknown) => {
        if (canFail && hasCode(error, 'resume_unsupported')) return undefined;
        throw error;
      });
      if (written === undefined) return false;
      offset += stretch.size;
      isClean = written.isClean;
    }
    return isClean;
  }

  /** Writes all of them into a new file, from its first byte to its last. */
  #join(hidden: RemotePath, parts: readonly MultipartPart[]): Promise<void> {
    const { signal } = this.#plan.running;
    const size = sumOfSizes(parts);
    return this.#useBoth(async (from, to) => {
      const body = Readable.from(this.#bytesOf(from, parts), { objectMode: false });
      leaveErrorsToPump(body);
      try {
        const writer = await to.write(hidden, { size, isHidden: true });
        await withWriter(writer, async () => {
          await pump(body, writer, { signal, size });
          await writer.commit({ size });
        });
      } finally {
        body.destroy();
      }
    });
  }

  async *#bytesOf(from: Remote, parts: readonly MultipartPart[]): AsyncGenerator<Buffer> {
    for (const stretch of stretchesOf(parts)) {
      const body = await this.#read(from, stretch);
      try {
        yield* body;
      } finally {
        body.destroy();
      }
    }
  }

  /** Reads bytes from one hidden file, and writes them at `offset` of another. */
  #copy(stretch: Stretch, target: PiecedFile, offset: number): Promise<Settled> {
    const { signal } = this.#plan.running;
    const { size } = stretch;
    return this.#useBoth(async (from, to) => {
      const body = await this.#read(from, stretch);
      try {
        const at = { offset, isUnproven: false };
        const writer = await piecesOf(to).resume(target, at, { isProven: true });
        try {
          await pump(body, writer, { signal, size, isMoreToCome: true });
        } catch (error) {
          await writer.settle(false).catch(() => undefined);
          throw error;
        }
        return await writer.settle(true);
      } finally {
        body.destroy();
      }
    });
  }

  /** New sessions for each call: an FTP server must close a session whose transfer stops within a file. */
  #useBoth<T>(work: (from: Remote, to: Remote) => Promise<T>): Promise<T> {
    const { operations } = this.#options;
    const { connection, memory } = this.#request;
    const { running } = this.#plan;
    const leftovers: UseOptions['leftovers'] = () => operations.leftoversOf(connection);
    const use = { signal: running.signal, leftovers, memory, yielding: running };
    return operations.remotes.useBoth(connection, connection, use, (from, to, attempt) => {
      attempt.committed();
      running.mark('transfer');
      return work(from, to);
    });
  }

  async #read(from: Remote, { place, start, size }: Stretch): Promise<Readable> {
    const { path, hidden } = this.#plan.held.upload;
    const source = parseRemotePath(place ?? hidden, ROOT, 'path');
    const range = { start, end: start + size - 1 };
    const opened = await from
      .read(source, () => range)
      .catch((error: unknown) => {
        if (!hasCode(error, 'not_found')) throw error;
        if (place === null) throw piecesAreGone(parseRemotePath(path, ROOT, 'path'), error);
        throw refusal('invalid_part', `${source}, which held a part, is gone from the server; send the part again`);
      });
    const body = streamOf(opened);
    leaveErrorsToPump(body);
    if (opened.range !== undefined) return body;
    body.destroy();
    throw new GatewayError('size_mismatch', `${source} has other bytes than were stored`, { step: 'verify' });
  }

  #record(hidden: string, chosen: readonly MultipartPart[]): Promise<Upload> {
    const { upload, writer } = this.#plan.held;
    let start = 0;
    const parts = chosen.map(({ number, size }) => {
      const at = { number, start };
      start += size;
      return at;
    });
    return this.#options.parts.arrange({ id: upload.id, writer, hidden }, parts);
  }
}

async function isLonger(remote: Remote, { hidden }: PiecedFile, size: number): Promise<boolean> {
  const found = await remote.stat(hidden).catch((error: unknown) => {
    // The publication finds out what is there.
    if (hasCode(error, 'not_found', 'permission_denied')) return undefined;
    throw error;
  });
  return found !== undefined && found.size > size;
}

/** The number of parts that are where they belong, before the first that is not. */
function placedAtFront(parts: readonly MultipartPart[]): number {
  let end = 0;
  const misplaced = parts.findIndex(({ place, start, size }) => {
    if (place !== null || start !== end) return true;
    end += size;
    return false;
  });
  return misplaced === -1 ? parts.length : misplaced;
}

/** Bytes of one hidden file; null: that of the upload. */
interface Stretch {
  readonly place: string | null;
  readonly start: number;
  readonly size: number;
}

/** Parts that follow each other in a file are read at once. */
function stretchesOf(parts: readonly MultipartPart[]): readonly Stretch[] {
  const stretches: Stretch[] = [];
  for (const { place, start, size } of parts) {
    if (size === 0) continue;
    const last = stretches.at(-1);
    if (last !== undefined && last.place === place && last.start + last.size === start)
      stretches[stretches.length - 1] = { ...last, size: last.size + size };
    else stretches.push({ place, start, size });
  }
  return stretches;
}
