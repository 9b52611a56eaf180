/** The actions of a job on its files: copies, moves, deletions, and uploads from a url. */
import { LRUCache } from 'lru-cache';
import type { EndSignal } from '../base/ending.js';
import { GatewayError, hasCode } from '../base/errors.js';
import type { Connection } from '../connections/connection.js';
import { requireOpen } from '../connections/require.js';
import { definitionOf } from '../contract/connection/types.js';
import { deleteFile } from '../operations/change.js';
import { find, LeftAlone, namesFor, refuseOlder, replaces, underFreeName } from '../operations/conflicts.js';
import { type CopyRequest, requireVerified } from '../operations/copy.js';
import { parseHttpUrl, type UrlFetcher } from '../operations/fetch-url.js';
import { requireName } from '../operations/names.js';
import type { EndPaces } from '../operations/end-paces.js';
import type { OpenEnds, ProofScope } from '../operations/onto-itself.js';
import { putUrl } from '../operations/put-url.js';
import type { Operation, Operations } from '../operations/operation.js';
import { fixedPath } from '../operations/path-reference.js';
import type { JobPart } from '../operations/part.js';
import { holdSame } from '../operations/same-bytes.js';
import { KnownPlaces } from '../remotes/known-places.js';
import { baseName, pathBelow, type RemotePath } from '../remotes/path.js';
import type { FileInfo } from '../remotes/remote.js';
import type { ConflictRule } from '../contract/job.js';
import type { TransferType } from '../contract/transfer.js';
import type { JobFile, JobTree, RunningJob } from '../storage/storage.js';
import { type CopyTask, type FileEngine, type FileRequest, conflictTargetOf } from './file-engine.js';

/** The connections of a job, as they are now. */
export interface JobPlaces {
  readonly source: Connection;
  readonly sourceRoot: RemotePath;
  /** For a deletion it is the source. */
  readonly target: Connection;
  readonly targetRoot: RemotePath;
}

/** Both must be open for the next file. @throws GatewayError outside_hours */
export function requireOpenPlaces({ source, target }: JobPlaces): void {
  requireOpen(source);
  requireOpen(target);
}

interface FileTask {
  readonly job: RunningJob;
  readonly places: JobPlaces;
  readonly file: JobFile;
  readonly signal: EndSignal;
  readonly part: JobPart;
  readonly pace: CopyRequest['pace'];
}

interface UploadOptions {
  readonly urls: Pick<UrlFetcher, 'fetch'>;
  readonly urlOf: (jobId: string) => Promise<string | undefined>;
  /** 0 = no limit. */
  readonly maxBytes: number;
}

const MOST_JOBS = 64;
const KNOWN_FOR_MS = 60_000;

export class FileWork {
  readonly #engine: FileEngine;
  readonly #operations: Operations;
  readonly #tree: Pick<JobTree, 'markCopied'>;
  readonly #uploads: UploadOptions;
  /** By job and target. They become stale: other clients also change folders. */
  readonly #known = new LRUCache<string, KnownPlaces>({ max: MOST_JOBS, ttl: KNOWN_FOR_MS });

  constructor(engine: FileEngine, operations: Operations, tree: Pick<JobTree, 'markCopied'>, uploads: UploadOptions) {
    this.#engine = engine;
    this.#operations = operations;
    this.#tree = tree;
    this.#uploads = uploads;
  }

  /** Errors: those of the operation; LeftAlone. */
  async run(given: Omit<FileTask, 'part'> & { readonly part: Omit<JobPart, 'places'> }): Promise<void> {
    const { job, file, places } = given;
    const task = { ...given, part: { ...given.part, places: this.#knownOf(job, places) } };
    if (file.action === 'delete') return this.#delete(task);
    if (file.action === 'upload') return this.#upload(task);
    if (file.action === 'move' && places.source.id === places.target.id) return this.#rename(task);
    return this.#copy(task);
  }

  /** An edited connection may lead elsewhere. */
  #knownOf({ id }: RunningJob, { target, targetRoot }: JobPlaces): KnownPlaces {
    const place = `${id} ${this.#operations.remotes.place(target, targetRoot)}`;
    const known = this.#known.get(place);
    if (known !== undefined) return known;
    const fresh = new KnownPlaces();
    this.#known.set(place, fresh);
    return fresh;
  }

  /** A missing file is the wanted result. */
  async #delete(task: FileTask): Promise<void> {
    const { job, file, places } = task;
    const isExtra = job.type === 'sync';
    const [connection, root] = isExtra ? [places.target, places.targetRoot] : [places.source, places.sourceRoot];
    const path = pathBelow(root, file.path);
    if (isExtra) await this.#refuseIfBack(task);
    await this.#engine.run(ask(task, 'delete', connection, path), async (operation) => {
      await unlessGone(deleteFile(operation, fixedPath(path)));
    });
  }

  /** Listings do not show everything, so the source is asked for this very file. @throws LeftAlone */
  async #refuseIfBack({ file, places, signal }: FileTask): Promise<void> {
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
    signal: EndSignal,
  ): Promise<void> {
    const part: JobPart = {
      reference: { id: job.id, path: path.toString('hex') },
      // Then it is listed, and any other error shows there.
      passesOver: () => true,
      worked: () => undefined,
    };
    await this.#engine.run({ owner: job, type: 'delete', connection, path: place, signal, part }, async (operation) => {
      await unlessGone(deleteFile(operation, fixedPath(place)));
    });
  }

  /** The former checks of the request apply again, with their original values. */
  async #upload(task: FileTask): Promise<void> {
    const { urls, urlOf, maxBytes } = this.#uploads;
    const { job, places } = task;
    const { upload } = job.definition;
    const text = await urlOf(job.id);
    if (upload === undefined || text === undefined) throw new GatewayError('internal', `job ${job.id} has no url`);
    const { filename, template, mtime, now, uuid, readsBack } = upload;
    const request = ask(task, 'upload', places.target, places.targetRoot, filename ?? '');
    await this.#engine.run(request, async (operation) => {
      await putUrl(this.#operations, operation, {
        connection: places.target,
        urls,
        url: parseHttpUrl(text, 'url'),
        isSecret: true,
        maxBytes,
        facts: { now: new Date(now), uuid },
        readsBack,
        mayStand: task.file.wasTaken && !replaces(ruleOf(job)),
        targetOf: (offered) => ({
          folder: fixedPath(places.targetRoot),
          filename: requireName(filename ?? offered),
          template,
          overwrite: replaces(ruleOf(job)),
          modifiedAt: mtime === undefined ? undefined : new Date(mtime),
        }),
      });
    });
  }

  async #rename(task: FileTask): Promise<void> {
    const { job, file, places } = task;
    const from = pathBelow(places.sourceRoot, file.path);
    const wanted = pathBelow(places.targetRoot, file.path);
    const to = conflictTargetOf(ruleOf(job), wanted);
    const overwrite = replaces(ruleOf(job));
    await this.#engine.run(ask(task, 'move', places.target, wanted), async (operation) => {
      operation.evidence.moves(from, wanted);
      if (file.isCopied && (await this.#hasMoved(task, operation, from, wanted))) return;
      if (job.definition.onConflict === 'newer')
        await operation.use((remote) => refuseOlder(remote, wanted, file.modifiedMs));
      await this.#tree.markCopied(job.id, file.path, file.size, file.modifiedMs);
      const request = { connection: places.target, from: fixedPath(from), to, replace: overwrite };
      const move = (): Promise<unknown> => this.#engine.move(operation, request);
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
    const to = pathBelow(places.targetRoot, file.path);
    const isMove = file.action === 'move';
    const copy: CopyTask = {
      source,
      target,
      from,
      to,
      rule: ruleOf(job),
      pace,
      scope: scopeOf(task),
      // The next listing of a store shows the time of the upload: a sync recognises the copy by it.
      modifiedAt: job.type === 'sync' && definitionOf(source).can.isObjectStore ? new Date(file.modifiedMs) : undefined,
      check: (ends, _from, place, paces) => this.#check(task, ends, from, place, paces),
      former: file.wasTaken ? { to, isRenamed: renames(job) } : undefined,
    };
    await this.#engine.run(ask(task, isMove ? 'move' : 'copy', target, to), async (operation) => {
      operation.evidence.readFrom(from, source);
      await (isMove ? this.#moveAcross(task, operation, copy) : this.#engine.copyUnlessCopied(operation, copy));
    });
  }

  /** The source is removed after the copy exists, and only if it has not changed meanwhile. */
  async #moveAcross({ job, file }: FileTask, operation: Operation, copy: CopyTask): Promise<void> {
    const { source, from, to } = copy;
    const statSource = (): Promise<FileInfo | undefined> => operation.useSource(source, (remote) => find(remote, from));
    let copied: { readonly size: number; readonly modifiedMs: number } | undefined = file.isCopied ? file : undefined;
    if (copied === undefined) {
      const before = await statSource();
      if (before === undefined) throw new GatewayError('not_found', `${from} does not exist`, { step: 'open' });
      const isComplete = await this.#engine.isAlreadyCopied(operation, copy);
      const { size } = isComplete
        ? before
        : await operation.stayingEndable(() => this.#engine.copyOnce(operation, copy));
      requireVerified(operation, from);
      // As its server reports it, which may differ from what was copied: it only shows whether the source has changed.
      copied = { size: before.size, modifiedMs: Math.trunc(before.modifiedAt.getTime()) };
      await this.#tree.markCopied(job.id, file.path, size, copied.modifiedMs);
    } else {
      operation.evidence.undigested('earlier_try');
      operation.fileSize = file.size;
      await operation.useBoth(source, (reading, writing) =>
        operation.stayingEndable(() =>
          this.#operations.folderProofs.refuseOntoItself(
            copy,
            { source: reading, target: writing },
            from,
            to,
            copy.scope,
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
    await operation.useSource(source, (remote) => unlessGone(remote.remove(from, expected)));
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
}

function ask(
  { job, signal, part }: FileTask,
  type: TransferType,
  connection: Connection,
  path: RemotePath,
  filename?: string,
): FileRequest {
  return { owner: job, type, connection, path, signal, part, filename };
}

/** A single file may get another name in its own folder. */
function scopeOf({ job, file }: FileTask): ProofScope | undefined {
  return file.path.length === 0 ? undefined : { id: job.id };
}

/** A sync makes the target like the source. */
export const ruleOf = ({ type, definition }: RunningJob): ConflictRule =>
  type === 'sync' ? 'replace' : definition.onConflict;

const renames = (job: RunningJob): boolean => ruleOf(job) === 'rename';

async function unlessGone(work: Promise<unknown>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!hasCode(error, 'not_found')) throw error;
  });
}

/** @throws LeftAlone if both have the same bytes, which are read for it */
async function refuseSame(ends: OpenEnds, from: RemotePath, to: RemotePath, paces: EndPaces): Promise<void> {
  if (await holdSame(ends, from, to, paces)) throw new LeftAlone(`${to} holds the same bytes`);
}
