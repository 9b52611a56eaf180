/**
 * Copies the files of watched folders to the folder's destination. An event is sent when each of its files has been
 * copied, skipped or given up. Each copy is an operation like any other, except that only its end is recorded.
 */
import { GatewayError, type ErrorCode } from '../base/errors.js';
import { retryDelay, type RetrySchedule } from '../base/retry-schedule.js';
import type { Connection } from '../connections/connection.js';
import type { RouteCopy } from '../contract/delivery.js';
import type { CopyTo, WatchedFolder } from '../contract/watched-folder.js';
import { isLeftAlone, OntoItself, refuseOlder } from '../operations/conflicts.js';
import { closedUntil, nextLookMs, requireActive, requireConnection } from '../connections/require.js';
import { requireVerified } from '../operations/copy.js';
import type { Operations } from '../operations/operation.js';
import type { JobPart } from '../operations/part.js';
import { parseRemotePath, ROOT, withRawName, type RemotePath } from '../remotes/path.js';
import {
  type ClaimedTask,
  clockAt,
  type Connections,
  type CopyingEvent,
  isOtherCopyTo,
  type TaskOutcome,
  type Queue,
  QueueWorker,
  type Locks,
  type RouteCopies,
  type StorageOptions,
  type WatchedFolders,
  type WebhookEvents,
} from '../storage/storage.js';
import { withCopies } from '../watch/event-bodies.js';
import { copyPlace, refuseLoops } from '../watch/places.js';
import type { CopyTask, FileEngine, FileRequest } from './file-engine.js';
import { type FileList, type FileVerdict, runSlice } from './file-list.js';

interface RouteCopierOptions {
  readonly copies: RouteCopies;
  readonly events: Pick<WebhookEvents, 'postponeCopies' | 'settleCopies'>;
  readonly folders: Pick<WatchedFolders, 'findForDelivery' | 'routes'>;
  readonly connections: Pick<Connections, 'find'>;
  readonly operations: Pick<Operations, 'planOf' | 'remotes'>;
  readonly engine: FileEngine;
  readonly locks: Locks;
  readonly queue: Queue;
  /** The delay before each further round. */
  readonly retry: RetrySchedule;
  readonly log: StorageOptions['log'];
}

/** Concurrent events on this node, events of one folder, and files of one event. */
const CONCURRENCY = 16;
const EVENTS_OF_A_FOLDER = 2;
const PARALLEL_FILES = 4;
const LOCK_WAIT_MS = 2000;
/** After this time the copies of other folders get their turn. */
const TURN_MS = 30_000;
/** Errors that no retry can repair. */
const FOR_GOOD: ReadonlySet<ErrorCode> = new Set(['unknown_connection', 'plan_required']);

/** The connections and the destination of an event's files, as they are now. */
interface CopyPlan {
  readonly copyTo: CopyTo;
  readonly folder: WatchedFolder;
  readonly source: Connection;
  readonly target: Connection;
}

/** One round of copying the files of an event. */
interface CopyRound {
  readonly event: CopyingEvent;
  readonly plan: CopyPlan;
  /** The delay of the next round; undefined in the last one. */
  readonly delayMs: number | undefined;
  readonly signal: AbortSignal;
}

export class RouteCopier {
  readonly #options: RouteCopierOptions;
  readonly #worker: QueueWorker;

  constructor(options: RouteCopierOptions) {
    this.#options = options;
    this.#worker = new QueueWorker({
      claims: options.queue,
      queue: 'route-copy',
      concurrency: CONCURRENCY,
      groupConcurrency: EVENTS_OF_A_FOLDER,
      run: (task, signal) => this.#run(task, signal),
      log: options.log,
    });
  }

  get gauge(): QueueWorker['gauge'] {
    return this.#worker.gauge;
  }

  start(): void {
    this.#worker.start();
  }

  stop(): Promise<void> {
    return this.#worker.stop(0);
  }

  async #run(task: ClaimedTask, signal: AbortSignal): Promise<TaskOutcome> {
    const patience = AbortSignal.timeout(LOCK_WAIT_MS);
    // The queue gives an event to one node; the lock holds even if the queue has released a claim too early.
    const until = AbortSignal.any([signal, patience]);
    return this.#options.locks.withLock(`route ${task.key}`, until, async (lost) => {
      const event = await this.#options.copies.find(task.key);
      if (event === undefined) return 'done';
      if (event.nextAttemptAt !== null && event.nextAttemptAt > event.readAt) return { again: event.nextAttemptAt };
      return this.#round(event, AbortSignal.any([signal, lost]));
    });
  }

  async #round(event: CopyingEvent, signal: AbortSignal): Promise<TaskOutcome> {
    const { copies, events, folders, retry, log } = this.#options;
    const folder = await folders.findForDelivery(event.watchedFolderId);
    if (folder === undefined) return 'done';
    const delayMs = retryDelay(retry, event.rounds + 1);
    const plan = await this.#planOf(event, folder);
    let trouble: GatewayError | undefined;
    if (plan instanceof GatewayError) trouble = plan;
    else {
      const closed = closedUntil(plan.source, plan.target);
      if (closed !== undefined) return { again: nextLookMs(closed) };
      const files = new EventCopies(this.#options, { event, plan, delayMs, signal }, await copies.waiting(event.id));
      const { isUnsuccessful, passing } = await runSlice(files, {
        parallelFiles: PARALLEL_FILES,
        turnMs: TURN_MS,
        signal,
      });
      if (!files.isOver && !isUnsuccessful) return { again: 0 };
      trouble = passing;
    }
    if (trouble !== undefined) {
      const now = await folders.findForDelivery(event.watchedFolderId);
      // The destination was changed meanwhile: the error concerns the former one.
      if (now !== undefined && isOtherCopyTo(folder.copyTo, now.copyTo)) return { again: 0 };
      const { code, clientText: message } = trouble;
      const isLost = trouble === plan && (delayMs === undefined || isForGood(trouble));
      const what = isLost ? 'are not copied' : 'wait to be copied';
      log('warn', `files of a watched folder ${what}`, { watchedFolderId: folder.id, reason: message });
      if (!isLost) {
        const until = new Date(clockAt(event.readAt).earliestMs() + (delayMs ?? 0));
        await events.postponeCopies(event.id, until);
        return { again: until };
      }
      await copies.endAll(event.id, { code, message });
    }
    await events.settleCopies(event, withCopies);
    return 'done';
  }

  /** Returns the reason if nothing can be copied now. Rejects while the database is away. */
  async #planOf(event: CopyingEvent, folder: WatchedFolder): Promise<CopyPlan | GatewayError> {
    const { connections, operations, folders } = this.#options;
    const { copyTo, accountId } = folder;
    try {
      if (copyTo === null) {
        throw new GatewayError('cancelled', 'copyTo was taken from the watched folder before the file was copied');
      }
      if (operations.planOf(event).connections === 1) {
        throw new GatewayError('plan_required', 'copies between connections need a plan with more than one');
      }
      const [source, target] = await Promise.all([
        requireConnection(connections, accountId, folder.connectionId),
        requireConnection(connections, accountId, copyTo.connectionId),
      ]);
      requireActive(source);
      requireActive(target);
      // Checked again: the connections may have changed since the folder was created.
      await refuseLoops(folder, await folders.routes(accountId), {
        remotes: operations.remotes,
        find: (id) => connections.find(accountId, id),
      });
      return { copyTo, folder, source, target };
    } catch (error) {
      if (error instanceof GatewayError && error.inJobs !== 'again') return error;
      throw error;
    }
  }
}

/** The waiting files of an event, each tried once. */
class EventCopies implements FileList<RouteCopy> {
  readonly #options: Pick<RouteCopierOptions, 'copies' | 'engine'>;
  readonly #round: CopyRound;
  readonly #waiting: RouteCopy[];
  /** An error that the other files would also meet: they wait for the next round. */
  #isStuck = false;

  constructor(options: Pick<RouteCopierOptions, 'copies' | 'engine'>, round: CopyRound, waiting: readonly RouteCopy[]) {
    this.#options = options;
    this.#round = round;
    this.#waiting = [...waiting];
  }

  /** Whether no further file is tried in this round. */
  get isOver(): boolean {
    return this.#isStuck || this.#waiting.length === 0;
  }

  async next(mayClaim: () => boolean): Promise<RouteCopy | undefined> {
    return this.#isStuck || !mayClaim() ? undefined : this.#waiting.shift();
  }

  run(file: RouteCopy, { passesOver, worked }: Pick<JobPart, 'passesOver' | 'worked'>): Promise<void> {
    const { event, plan, signal } = this.#round;
    const { source, target, copyTo, folder } = plan;
    const { onConflict: rule } = copyTo;
    const from = pathOf(file);
    const to = this.#placeOf(file);
    const copy: CopyTask = {
      source,
      target,
      from,
      to,
      rule,
      scope: { id: folder.id },
      former: formerCopy(file, target),
      check: async ({ source: reading, target: writing }, _from, place) => {
        // With `replace` a copy can be repeated; otherwise its path is recorded, to recognize it after a crash.
        if (rule === 'replace') return;
        const { size, modifiedAt } = await reading.stat(from);
        if (rule === 'newer') await refuseOlder(writing, place, modifiedAt.getTime());
        await this.#options.copies.intend(file.id, target.id, place, size);
      },
    };
    const owner = { id: event.id, accountId: event.accountId, plan: event.plan, keyId: null };
    const part = { reference: { copyId: file.id }, passesOver, worked };
    const request: FileRequest = { owner, type: 'copy', connection: target, path: to, signal, part };
    return this.#options.engine.run(request, async (operation) => {
      operation.evidence.readFrom(from, source);
      await this.#options.engine.copyUnlessCopied(operation, copy);
      if (folder.afterDelivery !== 'keep') requireVerified(operation, from);
    });
  }

  verdictOn(error: GatewayError): FileVerdict {
    const { plan, delayMs, signal } = this.#round;
    if (signal.aborted || error.inJobs === 'again') return { kind: 'stop', isFatal: false };
    if (error instanceof OntoItself) return { kind: 'failed' };
    if (isLeftAlone(plan.copyTo.onConflict, error)) return { kind: 'skipped' };
    return delayMs === undefined || isForGood(error) ? { kind: 'failed' } : { kind: 'again', afterMs: delayMs };
  }

  skip(file: RouteCopy, error: GatewayError): Promise<void> {
    const place = { connectionId: this.#round.plan.target.id, path: this.#placeOf(file).toWellFormed() };
    return this.#options.copies.end(file.id, 'skipped', reasonOf(error), place);
  }

  retry(file: RouteCopy, error: GatewayError): Promise<void> {
    this.#isStuck ||= error.inJobs === 'stop';
    return this.#options.copies.retry(file.id, reasonOf(error));
  }

  fail(file: RouteCopy, error: GatewayError): Promise<void> {
    return this.#options.copies.end(file.id, 'failed', reasonOf(error));
  }

  /** The same path in every try, so that a copy left by a crash is found or replaced by its name. */
  #placeOf(file: RouteCopy): RemotePath {
    const { event, plan } = this.#round;
    return copyPlace(plan.folder.path, plan.copyTo, pathOf(file), { now: event.createdAt, uuid: file.id });
  }
}

function pathOf({ path, rawName }: RouteCopy): RemotePath {
  const shown = parseRemotePath(path, ROOT, 'path');
  return rawName === null ? shown : withRawName(shown, rawName, 'rawName');
}

/** The path that an earlier try, which ended without a known result, has recorded. */
function formerCopy({ connectionId, targetPath }: RouteCopy, target: Connection) {
  if (targetPath === null || connectionId !== target.id) return undefined;
  return { to: parseRemotePath(targetPath, ROOT, 'path'), isRenamed: false };
}

function reasonOf({ code, clientText: message }: GatewayError) {
  return { code, message };
}

function isForGood({ code, inJobs }: GatewayError): boolean {
  return FOR_GOOD.has(code) || !(inJobs === 'retry' || inJobs === 'stop');
}
