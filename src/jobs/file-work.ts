/** Runs one file of a job: an operation like any other, except that only its end is recorded. */
import type { Budget } from '../budgets/budget.js';
import { Memory } from '../budgets/memory.js';
import { GatewayError, hasCode } from '../base/errors.js';
import type { Connection } from '../connections/connection.js';
import { definitionOf } from '../contract/connection/types.js';
import { deleteFile, moveFile } from '../operations/change.js';
import { find, freeName, LeftAlone, namesFor, refuseOlder, replaces, underFreeName } from '../operations/conflicts.js';
import { copyFile, type CopyRequest, requireVerified } from '../operations/copy.js';
import { parseHttpUrl, type UrlFetcher } from '../operations/fetch-url.js';
import { requireName } from '../operations/names.js';
import type { EndPaces } from '../operations/end-paces.js';
import type { OpenEnds, ProofScope } from '../operations/onto-itself.js';
import { putUrl } from '../operations/put-url.js';
import { type Operation, type Operations, type OperationRequest } from '../operations/operation.js';
import { fixed, type PathReference } from '../operations/path-reference.js';
import type { JobPart } from '../operations/part.js';
import { findCopy, holdSame } from '../operations/same-bytes.js';
import { baseName, pathBelow, type RemotePath } from '../remotes/path.js';
import type { FileInfo } from '../remotes/remote.js';
import type { TransferType } from '../contract/transfer.js';
import type { JobFile, JobTree, RunningJob } from '../storage/storage.js';

/** The connections of a job, as they are now. */
export interface JobPlaces {
  readonly source: Connection;
  readonly sourceRoot: RemotePath;
  /** For a deletion it is the source. */
  readonly target: Connection;
  readonly targetRoot: RemotePath;
}

interface FileTask {
  readonly job: RunningJob;
  readonly places: JobPlaces;
  readonly file: JobFile;
  readonly signal: AbortSignal;
  readonly pace: ((bytes: number) => Promise<void>) | undefined;
  readonly part: JobPart;
  /** Counts what its streams hold. */
  readonly memory: Memory;
}

interface UploadOptions {
  readonly urls: Pick<UrlFetcher, 'fetch'>;
  readonly urlOf: (jobId: string) => Promise<string | undefined>;
  /** 0 = no limit. */
  readonly maxBytes: number;
}

export class FileWork {
  readonly #operations: Operations;
  readonly #tree: Pick<JobTree, 'markCopied'>;
  readonly #memoryBytes: Budget;
  readonly #uploads: UploadOptions;

  constructor(operations: Operations, tree: Pick<JobTree, 'markCopied'>, memoryBytes: Budget, uploads: UploadOptions) {
    this.#operations = operations;
    this.#tree = tree;
    this.#memoryBytes = memoryBytes;
    this.#uploads = uploads;
  }

  /** Errors: those of the operation; LeftAlone. */
  async run(asked: Omit<FileTask, 'memory'>): Promise<void> {
    const memory = new Memory(this.#memoryBytes, asked.job.accountId);
    try {
      await this.#act({ ...asked, memory });
    } finally {
      memory.release();
    }
  }

  async #act(task: FileTask): Promise<void> {
    const { file, places } = task;
    if (file.action === 'delete') return this.#delete(task);
    if (file.action === 'upload') return this.#upload(task);
    if (file.action === 'move' && places.source.id === places.target.id) return this.#rename(task);
    return this.#copy(task);
  }

  /** A missing file is the wanted result. */
  async #delete({ job, ...task }: FileTask): Promise<void> {
    const { file, places } = task;
    const isExtra = job.type === 'sync';
    const [connection, root] = isExtra ? [places.target, places.targetRoot] : [places.source, places.sourceRoot];
    const path = pathBelow(root, file.path);
    if (isExtra) await this.#refuseIfBack(task);
    await this.#operations.run(requestOf({ job, ...task }, 'delete', connection, path), async (operation) => {
      await unlessGone(deleteFile(operation, fixed(path)));
    });
  }

  /** Listings do not show everything, so the source is asked for this very file. @throws LeftAlone */
  async #refuseIfBack({ file, places, signal }: Pick<FileTask, 'file' | 'places' | 'signal'>): Promise<void> {
    const inSource = pathBelow(places.sourceRoot, file.path);
    const use = {
      signal,
      leftovers: (one: Connection) => this.#operations.leftoversOf(one),
      priority: 'background' as const,
    };
    const found = await this.#operations.remotes.use(places.source, use, (remote) => find(remote, inSource));
    if (found !== undefined) throw new LeftAlone(`the source has ${inSource} although it was not listed`);
  }

  /** Removes an entry that seems to be a folder and may be a link to one. @throws GatewayError is_a_folder */
  async removeLink(
    job: RunningJob,
    connection: Connection,
    place: RemotePath,
    path: Buffer,
    signal: AbortSignal,
  ): Promise<void> {
    const part: JobPart = {
      reference: { id: job.id, path: path.toString('hex') },
      // Then it is listed, and any other error shows there.
      passesOver: () => true,
      worked: () => undefined,
    };
    const memory = new Memory(this.#memoryBytes, job.accountId);
    const request = requestOf({ job, signal, part, memory }, 'delete', connection, place);
    try {
      await this.#operations.run(request, async (operation) => {
        await unlessGone(deleteFile(operation, fixed(place)));
      });
    } finally {
      memory.release();
    }
  }

  /** The former checks of the request apply again, with their original values. */
  async #upload(task: FileTask): Promise<void> {
    const { urls, urlOf, maxBytes } = this.#uploads;
    const { job, places } = task;
    const { upload } = job.definition;
    const text = await urlOf(job.id);
    if (upload === undefined || text === undefined) throw new GatewayError('internal', `job ${job.id} has no url`);
    const { filename, template, mtime, now, uuid } = upload;
    const request = requestOf(task, 'upload', places.target, places.targetRoot);
    await this.#operations.run({ ...request, filename: filename ?? '' }, async (operation) => {
      await putUrl(this.#operations, operation, {
        connection: places.target,
        urls,
        url: parseHttpUrl(text, 'url'),
        isSecret: true,
        maxBytes,
        facts: { now: new Date(now), uuid },
        mayStand: task.file.wasTaken && !overwrites(job),
        targetOf: (offered) => ({
          folder: fixed(places.targetRoot),
          filename: requireName(filename ?? offered),
          template,
          overwrite: overwrites(job),
          modifiedAt: mtime === undefined ? undefined : new Date(mtime),
        }),
      });
    });
  }

  async #rename(task: FileTask): Promise<void> {
    const { job, file, places } = task;
    const from = pathBelow(places.sourceRoot, file.path);
    const wanted = pathBelow(places.targetRoot, file.path);
    const to = this.#targetOf(job, wanted);
    const overwrite = overwrites(job);
    await this.#operations.run(requestOf(task, 'move', places.target, wanted), async (operation) => {
      operation.evidence.moves(from, wanted);
      if (file.isCopied && (await this.#hasMoved(task, operation, from, wanted))) return;
      if (job.definition.onConflict === 'newer')
        await operation.use((remote) => refuseOlder(remote, wanted, file.modifiedMs));
      await this.#tree.markCopied(job.id, file.path, file.size, file.modifiedMs);
      const move = (): Promise<unknown> => moveFile(operation, fixed(from), to, { replace: overwrite });
      await (renames(job) ? underFreeName(move) : move());
    });
  }

  /** Whether a node that died had renamed it: the source is gone, and the target has the same size. */
  #hasMoved({ job, file }: FileTask, operation: Operation, from: RemotePath, wanted: RemotePath): Promise<boolean> {
    return operation.use(async (remote) => {
      if ((await find(remote, from)) !== undefined) return false;
      let last: FileInfo | undefined;
      for (const place of renames(job) ? namesFor(wanted) : [wanted]) {
        const found = await find(remote, place);
        if (found === undefined) break;
        last = found;
        // The last name that is taken, of those with numbers.
        operation.locate(place, baseName(place));
        operation.evidence.moves(from, place);
      }
      if (last?.size !== file.size) return false;
      operation.fileSize = last.size;
      return true;
    });
  }

  async #copy(task: FileTask): Promise<void> {
    const { job, file, places, pace } = task;
    const { source, target } = places;
    const from = pathBelow(places.sourceRoot, file.path);
    const wanted = pathBelow(places.targetRoot, file.path);
    const isMove = file.action === 'move';
    const request: CopyRequest = {
      source,
      target,
      from: fixed(from),
      to: this.#targetOf(job, wanted),
      template: undefined,
      pace,
      overwrite: overwrites(job),
      scope: scopeOf(task),
      // The next listing of a store shows the time of the upload: a sync recognises the copy by it.
      modifiedAt: job.type === 'sync' && definitionOf(source).can.isObjectStore ? new Date(file.modifiedMs) : undefined,
      check: (ends, _from, to, paces) => this.#check(task, ends, from, to, paces),
    };
    await this.#operations.run(requestOf(task, isMove ? 'move' : 'copy', target, wanted), async (operation) => {
      operation.evidence.readFrom(from, source);
      if (isMove) return this.#moveAcross(task, operation, from, request);
      if (!(await this.#isAlreadyCopied(task, operation, from, request))) await this.#copyOnce(job, operation, request);
    });
  }

  /** After a crash: is the copy already complete, with the same bytes and time? */
  async #isAlreadyCopied(
    { job, file, places }: FileTask,
    operation: Operation,
    from: RemotePath,
    request: CopyRequest,
  ): Promise<boolean> {
    if (!file.wasTaken) return false;
    const wanted = pathBelow(places.targetRoot, file.path);
    const search = { ...request, from, to: wanted, isRenamed: renames(job) };
    const comparison = findCopy(this.#operations, operation, search).then((found) => found !== undefined);
    return comparison.catch((error: unknown) => {
      // If the login may not read the folder, the file is copied again.
      if (hasCode(error, 'permission_denied')) return false;
      throw error;
    });
  }

  /** The source is removed after the copy exists, and only if it has not changed meanwhile. */
  async #moveAcross(task: FileTask, operation: Operation, from: RemotePath, request: CopyRequest): Promise<void> {
    const { job, file, places, signal } = task;
    const { source } = places;
    const use = {
      signal,
      leftovers: (one: Connection) => this.#operations.leftoversOf(one),
      priority: 'background' as const,
    };
    const statSource = (): Promise<FileInfo | undefined> =>
      this.#operations.remotes.use(source, use, (remote) => find(remote, from));
    let copied: { readonly size: number; readonly modifiedMs: number } | undefined = file.isCopied ? file : undefined;
    if (copied === undefined) {
      const before = await statSource();
      if (before === undefined) throw new GatewayError('not_found', `${from} does not exist`, { step: 'open' });
      const isComplete = await this.#isAlreadyCopied(task, operation, from, request);
      const { size } = isComplete ? before : await this.#copyOnce(job, operation, request);
      requireVerified(operation, from);
      // As its server reports it, which may differ from what was copied: it only shows whether the source has changed.
      copied = { size: before.size, modifiedMs: Math.trunc(before.modifiedAt.getTime()) };
      await this.#tree.markCopied(job.id, file.path, size, copied.modifiedMs);
    } else {
      operation.evidence.undigested('earlier_try');
      operation.fileSize = file.size;
      const wanted = pathBelow(places.targetRoot, file.path);
      await operation.useBoth(source, (reading, writing) =>
        operation.leavingNothing(() =>
          this.#operations.folderProofs.refuseOntoItself(
            ...([request, { source: reading, target: writing }, from, wanted, request.scope] as const),
          ),
        ),
      );
    }
    const now = await statSource();
    if (now === undefined) return;
    if (now.size !== copied.size || Math.trunc(now.modifiedAt.getTime()) !== copied.modifiedMs) {
      throw new GatewayError('in_use', `${from} was copied and has changed since; it was not deleted`, {
        step: 'verify',
      });
    }
    const expected = now.etag === undefined ? {} : { etag: now.etag };
    await this.#operations.remotes.use(source, use, (remote) => unlessGone(remote.remove(from, expected)));
  }

  async #check(
    { job, file }: FileTask,
    ends: OpenEnds,
    from: RemotePath,
    to: RemotePath,
    paces: EndPaces,
  ): Promise<void> {
    const { onConflict, compare } = job.definition;
    if (job.type === 'sync') {
      if (compare === 'digest') await refuseSame(ends, from, to, paces);
    } else if (onConflict === 'newer') await refuseOlder(ends.target, to, file.modifiedMs);
  }

  /** Copies it under one name, given or free. */
  #copyOnce(job: RunningJob, operation: Operation, request: CopyRequest): Promise<{ readonly size: number }> {
    const copy = (): Promise<{ readonly size: number }> => copyFile(this.#operations, operation, request);
    return renames(job) ? underFreeName(copy) : copy();
  }

  /** The path itself, or the first free name beside it. */
  #targetOf(job: RunningJob, wanted: RemotePath): PathReference {
    if (!renames(job)) return fixed(wanted);
    return freeName(wanted);
  }
}

function requestOf(
  { job, signal, part, memory }: Pick<FileTask, 'job' | 'signal' | 'part' | 'memory'>,
  type: TransferType,
  connection: Connection,
  path: RemotePath,
): OperationRequest {
  const { accountId, plan, keyId } = job;
  const shown = path.toWellFormed();
  return {
    caller: { accountId, plan, keyId: keyId ?? '' },
    connection,
    type,
    path: shown,
    filename: baseName(path).toWellFormed(),
    requestId: job.id,
    signal,
    job: part,
    memory,
    priority: 'background',
  };
}

/** A single file may get another name in its own folder. */
function scopeOf({ job, file }: FileTask): ProofScope | undefined {
  return file.path.length === 0 ? undefined : { id: job.id };
}

const renames = ({ type, definition }: RunningJob): boolean => type !== 'sync' && definition.onConflict === 'rename';

const overwrites = ({ type, definition }: RunningJob): boolean => type === 'sync' || replaces(definition.onConflict);

async function unlessGone(work: Promise<unknown>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!hasCode(error, 'not_found')) throw error;
  });
}

/** @throws LeftAlone if both have the same bytes, which are read for it */
async function refuseSame(ends: OpenEnds, from: RemotePath, to: RemotePath, paces: EndPaces): Promise<void> {
  if (await holdSame(ends, from, to, paces)) throw new LeftAlone(`${to} holds the same bytes`);
}
