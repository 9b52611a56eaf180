/**
 * Copies the files of watched folders to the folder's destination. An event is sent when each of its files has been
 * copied, skipped or given up. Each copy is an operation like any other, except that only its end is recorded.
 */
import { Memory } from '../budgets/memory.js';
import type { Budget } from '../budgets/budget.js';
import { GatewayError, type ErrorCode, toGatewayError } from '../base/errors.js';
import { retryDelay, type RetrySchedule } from '../base/retry-schedule.js';
import type { Connection } from '../connections/connection.js';
import type { RouteCopy } from '../contract/delivery.js';
import type { CopyTo, WatchedFolder } from '../contract/watched-folder.js';
import { freeName, isLeftAlone, OntoItself, refuseOlder, replaces } from '../operations/conflicts.js';
import { copyFile, requireVerified } from '../operations/copy.js';
import { requireActive, requireConnection } from '../connections/require.js';
import type { Operation, OperationRequest, Operations } from '../operations/operation.js';
import { fixed } from '../operations/path-reference.js';
import { findCopy } from '../operations/same-bytes.js';
import { baseName, parseRemotePath, ROOT, withRawName, type RemotePath } from '../remotes/path.js';
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
import { withCopies } from './event-bodies.js';
import { copyPlace, refuseLoops } from './places.js';

interface RouteCopierOptions {
  readonly copies: RouteCopies;
  readonly events: Pick<WebhookEvents, 'postponeCopies' | 'settleCopies'>;
  readonly folders: Pick<WatchedFolders, 'findForDelivery' | 'routes'>;
  readonly connections: Pick<Connections, 'find'>;
  readonly operations: Operations;
  /** The memory of the streams of all operations. */
  readonly memoryBytes: Budget;
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
/** After this many consecutive failures that may pass, the other files wait for the next round. */
const MOST_CONSECUTIVE_FAILURES = PARALLEL_FILES;
/** Errors that no retry can repair. */
const FOR_GOOD: ReadonlySet<ErrorCode> = new Set(['unknown_connection', 'plan_required']);

/** The connections and the destination of an event's files, as they are now. */
interface CopyPlan {
  readonly caller: OperationRequest['caller'];
  readonly copyTo: CopyTo;
  readonly folder: WatchedFolder;
  readonly source: Connection;
  readonly target: Connection;
}

/** One round of copying the files of an event. */
interface CopyRound {
  readonly event: CopyingEvent;
  readonly plan: CopyPlan;
  readonly isLast: boolean;
  readonly signal: AbortSignal;
  /** Consecutive files that failed with an error that may pass. */
  consecutiveFailures: number;
  /** The reason why the remaining files wait for another round. */
  trouble: GatewayError | undefined;
  isStuck: boolean;
  gatewayFault: GatewayError | undefined;
}

type Verdict = 'gateway' | 'skipped' | 'later' | 'failed';

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
      run: (job, signal) => this.#run(job, signal),
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

  async #run(job: ClaimedTask, signal: AbortSignal): Promise<TaskOutcome> {
    const patience = AbortSignal.timeout(LOCK_WAIT_MS);
    // The queue gives an event to one node; the lock holds even if the queue has released a claim too early.
    const until = AbortSignal.any([signal, patience]);
    return this.#options.locks.withLock(`route ${job.key}`, until, async (lost) => {
      const event = await this.#options.copies.find(job.key);
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
      const isLast = delayMs === undefined;
      const round: CopyRound = {
        event,
        plan,
        isLast,
        signal,
        consecutiveFailures: 0,
        trouble: undefined,
        isStuck: false,
        gatewayFault: undefined,
      };
      if (!(await this.#files(round))) return { again: 0 };
      ({ trouble } = round);
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
    const caller = { accountId, plan: event.plan, keyId: '' };
    try {
      if (copyTo === null) {
        throw new GatewayError('cancelled', 'copyTo was taken from the watched folder before the file was copied');
      }
      if (operations.planOf(caller).connections === 1) {
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
      return { caller, copyTo, folder, source, target };
    } catch (error) {
      if (error instanceof GatewayError && error.inJobs !== 'again') return error;
      throw error;
    }
  }

  /** Whether every waiting file was tried in this round. Rejects with a fault of the gateway. */
  async #files(round: CopyRound): Promise<boolean> {
    const { copies } = this.#options;
    const files = [...(await copies.waiting(round.event.id))];
    const until = performance.now() + TURN_MS;
    const worker = async (): Promise<void> => {
      while (!round.isStuck && round.gatewayFault === undefined && performance.now() < until) {
        const file = files.shift();
        if (file === undefined) return;
        await this.#one(round, file).catch((error: unknown) => void (round.gatewayFault ??= toGatewayError(error)));
      }
    };
    await Promise.all(Array.from({ length: PARALLEL_FILES }, worker));
    if (round.gatewayFault !== undefined) throw round.gatewayFault;
    return round.isStuck || files.length === 0;
  }

  async #one(round: CopyRound, file: RouteCopy): Promise<void> {
    const { copies } = this.#options;
    const place: { path?: RemotePath } = {};
    const verdictOn = (error: GatewayError): Verdict => verdict(round, error);
    try {
      await this.#copy(round, file, verdictOn, place);
      round.consecutiveFailures = 0;
    } catch (thrown) {
      const error = toGatewayError(thrown);
      const reason = { code: error.code, message: error.clientText };
      switch (verdictOn(error)) {
        case 'gateway':
          round.gatewayFault ??= error;
          return;
        case 'later':
          round.consecutiveFailures += 1;
          round.trouble = error;
          round.isStuck ||= error.inJobs === 'stop' || round.consecutiveFailures >= MOST_CONSECUTIVE_FAILURES;
          return copies.retry(file.id, reason);
        case 'skipped': {
          round.consecutiveFailures = 0;
          const { copyTo, target } = round.plan;
          const path = place.path?.toWellFormed() ?? copyTo.path;
          return copies.end(file.id, 'skipped', reason, { connectionId: target.id, path });
        }
        case 'failed':
          if (error.inJobs !== 'retry') round.consecutiveFailures = 0;
          // A failure before the operation began is not recorded yet.
          return copies.end(file.id, 'failed', reason);
      }
    }
  }

  async #copy(
    round: CopyRound,
    file: RouteCopy,
    verdictOn: (error: GatewayError) => Verdict,
    place: { path?: RemotePath },
  ): Promise<void> {
    const { operations, memoryBytes } = this.#options;
    const { event, plan, signal } = round;
    const { source, target, copyTo, folder } = plan;
    const shown = parseRemotePath(file.path, ROOT, 'path');
    const from = file.rawName === null ? shown : withRawName(shown, file.rawName, 'rawName');
    // The same path in every try, so that a copy left by a crash is found or replaced by its name.
    const wanted = copyPlace(folder.path, copyTo, from, { now: event.createdAt, uuid: file.id });
    const memory = new Memory(memoryBytes, event.accountId);
    const part = {
      reference: { copyId: file.id },
      worked: () => undefined,
      passesOver: (error: GatewayError) => verdictOn(error) !== 'failed',
    };
    const request: OperationRequest = {
      caller: plan.caller,
      connection: target,
      type: 'copy',
      requestId: event.id,
      signal,
      memory,
      path: wanted.toWellFormed(),
      filename: baseName(wanted).toWellFormed(),
      job: part,
      priority: 'background',
    };
    try {
      await operations.run(request, async (operation) => {
        operation.evidence.readFrom(from, source);
        if (await this.#isAlreadyCopied(operation, plan, file, from)) return;
        const rule = copyTo.onConflict;
        await copyFile(operations, operation, {
          source,
          target,
          from: fixed(from),
          template: undefined,
          overwrite: replaces(rule),
          scope: { id: folder.id },
          to: async (remote) => (place.path = rule === 'rename' ? await freeName(wanted)(remote) : wanted),
          check: async ({ source: reading, target: writing }, _from, to) => {
            // With `replace` a copy can be repeated; otherwise its path is recorded, to recognize it after a crash.
            if (rule === 'replace') return;
            const { size, modifiedAt } = await reading.stat(from);
            if (rule === 'newer') await refuseOlder(writing, to, modifiedAt.getTime());
            await this.#options.copies.intend(file.id, target.id, to, size);
          },
        });
        if (folder.afterDelivery !== 'keep') requireVerified(operation, from);
      });
    } finally {
      memory.release();
    }
  }

  /** Whether an earlier try, which ended without a known result, has completed the copy. */
  async #isAlreadyCopied(operation: Operation, plan: CopyPlan, file: RouteCopy, from: RemotePath): Promise<boolean> {
    const { source, target, folder } = plan;
    const { connectionId, targetPath } = file;
    if (targetPath === null || connectionId !== target.id) return false;
    const to = parseRemotePath(targetPath, ROOT, 'path');
    const search = { source, target, from, to, scope: { id: folder.id } };
    return (await findCopy(this.#options.operations, operation, search)) !== undefined;
  }
}

/** `later` only if another round follows. */
function verdict({ signal, plan, isLast }: CopyRound, error: GatewayError): Verdict {
  if (signal.aborted || error.inJobs === 'again') return 'gateway';
  const rule = plan.copyTo.onConflict;
  if (error instanceof OntoItself) return 'failed';
  if (isLeftAlone(rule, error)) return 'skipped';
  // Another client took the free name meanwhile.
  const isTaken = rule === 'rename' && error.code === 'already_exists';
  const mayPass = isTaken || !isForGood(error);
  return mayPass && !isLast ? 'later' : 'failed';
}

function isForGood({ code, inJobs }: GatewayError): boolean {
  return FOR_GOOD.has(code) || !(inJobs === 'retry' || inJobs === 'stop');
}
