/**
 * Files of watched folders on their way to where the folder copies them. An event is sent when all of its files have come
 * there, or never will; each is an operation as every other, but that only its end is recorded.
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
  /** What the streams of all operations may hold together. */
  readonly memoryBytes: Budget;
  readonly locks: Locks;
  readonly queue: Queue;
  /** Before each further round. */
  readonly retry: RetrySchedule;
  readonly log: StorageOptions['log'];
}

/** Events at once on this node, of one folder, and files of one event. */
const CONCURRENCY = 16;
const EVENTS_OF_A_FOLDER = 2;
const PARALLEL_FILES = 4;
const LOCK_WAIT_MS = 2000;
/** Then the copies of other folders go on. */
const TURN_MS = 30_000;
/** So many files in a row that fail of what passes: the rest waits for the next round. */
const MOST_CONSECUTIVE_FAILURES = PARALLEL_FILES;
/** Nothing that time mends. */
const FOR_GOOD: ReadonlySet<ErrorCode> = new Set(['unknown_connection', 'plan_required']);

/** Where the files of an event go, as that is now. */
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
  /** Files in a row that failed of what passes. */
  consecutiveFailures: number;
  /** Why the files that are left wait for another round. */
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
    // The queue hands an event to one node; the lock holds even where it has freed a task wrongly.
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
      // What the trouble was of is wanted no more.
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

  /** The connections, found and allowed; else why nothing can be copied now. Rejects while the database is away. */
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
      // Once more: connections may lead elsewhere than when the folder was made.
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

  /** Whether each waiting file was tried in this round. Rejects with a fault of the gateway. */
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
      const told = { code: error.code, message: error.clientText };
      switch (verdictOn(error)) {
        case 'gateway':
          round.gatewayFault ??= error;
          return;
        case 'later':
          round.consecutiveFailures += 1;
          round.trouble = error;
          round.isStuck ||= error.inJobs === 'stop' || round.consecutiveFailures >= MOST_CONSECUTIVE_FAILURES;
          return copies.retry(file.id, told);
        case 'skipped': {
          round.consecutiveFailures = 0;
          const { copyTo, target } = round.plan;
          const path = place.path?.toWellFormed() ?? copyTo.path;
          return copies.end(file.id, 'skipped', told, { connectionId: target.id, path });
        }
        case 'failed':
          if (error.inJobs !== 'retry') round.consecutiveFailures = 0;
          // Of what failed before there was an operation nothing is recorded yet.
          return copies.end(file.id, 'failed', told);
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
    // The same for all tries of the file, so that a copy which a crash left behind is found, or replaced, by its name.
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
            // A copy that replaces whatever is there can be made once more; of all others it must be known whose they are.
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

  /** Whether the copy of a try that nobody knows the end of stands where it was to go. */
  async #isAlreadyCopied(operation: Operation, plan: CopyPlan, file: RouteCopy, from: RemotePath): Promise<boolean> {
    const { source, target, folder } = plan;
    const { connectionId, targetPath } = file;
    if (targetPath === null || connectionId !== target.id) return false;
    const to = parseRemotePath(targetPath, ROOT, 'path');
    const search = { source, target, from, to, scope: { id: folder.id } };
    return (await findCopy(this.#options.operations, operation, search)) !== undefined;
  }
}

/** `later` only while there is another round. */
function verdict({ signal, plan, isLast }: CopyRound, error: GatewayError): Verdict {
  if (signal.aborted || error.inJobs === 'again') return 'gateway';
  const rule = plan.copyTo.onConflict;
  if (error instanceof OntoItself) return 'failed';
  if (isLeftAlone(rule, error)) return 'skipped';
  // Another one took the name meanwhile.
  const isTaken = rule === 'rename' && error.code === 'already_exists';
  const mayPass = isTaken || !isForGood(error);
  return mayPass && !isLast ? 'later' : 'failed';
}

function isForGood({ code, inJobs }: GatewayError): boolean {
  return FOR_GOOD.has(code) || !(inJobs === 'retry' || inJobs === 'stop');
}
