/**
 * One stage of the work on the files of events: copying them before the delivery, or moving or deleting them after it.
 * A task of the queue is one turn of one event. What fails waits for the next round, until the schedule ends. What is
 * done with a file belongs to the stage; everything around it is here.
 */
import { GatewayError } from '../base/errors.js';
import type { Connection } from '../connections/connection.js';
import { closedUntil, nextLookMs } from '../connections/require.js';
import type { WatchedFolder } from '../contract/watched-folder.js';
import type { JobPart } from '../operations/part.js';
import {
  type ClaimedTask,
  clockAt,
  type Locks,
  type Queue,
  QueueWorker,
  type StorageOptions,
  type TaskOutcome,
  type WatchedFolders,
} from '../storage/storage.js';
import { type FileList, type FileVerdict, runSlice } from './file-list.js';

/** An event in a stage, as it was read. */
interface StagedEvent {
  readonly id: string;
  readonly watchedFolderId: string | null;
  readonly readAt: Date;
}

/** Where the files of an event lead, as things are now. */
interface StagePlan {
  readonly folder: WatchedFolder;
  /** All that a file needs. */
  readonly connections: readonly Connection[];
}

/** One round: each waiting file of an event is tried once. */
export interface Round<Event, Plan> {
  readonly event: Event;
  readonly plan: Plan;
  /** The delay before the next round; undefined in the last one. */
  readonly delayMs: number | undefined;
  readonly signal: AbortSignal;
}

export interface EventStage<Event extends StagedEvent, Plan extends StagePlan, File> {
  readonly queue: 'route-copy' | 'after-delivery';
  /** The name of an event's lock begins with it. */
  readonly lock: string;
  /** Concurrent events on this node, and those of one folder. */
  readonly concurrency: number;
  readonly eventsOfAFolder: number;
  /** For the log: the files wait to be … */
  readonly done: string;
  /** undefined: the stage of this event has ended. */
  find(eventId: string): Promise<Event | undefined>;
  /** When its next round begins; null = at once. */
  dueAt(event: Event): Date | null;
  /** The delay before another round, should files fail in this one; undefined: this one is the last. */
  delayOf(event: Event): number | undefined;
  /**
   * An error: why nothing can be done now; undefined: nothing is to be done any more. Rejects while the database is
   * away.
   */
  plan(event: Event, folder: WatchedFolder): Promise<Plan | GatewayError | undefined>;
  /** Whether the change of the folder makes failures so far meaningless. */
  isOther(former: WatchedFolder, now: WatchedFolder): boolean;
  waiting(event: Event): Promise<readonly File[]>;
  run(round: Round<Event, Plan>, file: File, part: Pick<JobPart, 'passesOver' | 'worked'>): Promise<void>;
  /** Whether the file is left unchanged on purpose. */
  isLeftAlone(round: Round<Event, Plan>, error: GatewayError): boolean;
  /** Whether no later try can succeed unless something is changed. */
  isForGood(error: GatewayError): boolean;
  /** Whether such a file is tried again nevertheless. */
  readonly retriesAll: boolean;
  skip(round: Round<Event, Plan>, file: File, error: GatewayError): Promise<void>;
  /** Resolves with the file as the next round gets it. */
  retry(file: File, error: GatewayError): Promise<File>;
  fail(file: File, error: GatewayError): Promise<void>;
  /** `rest` are the files that have not ended. `until`: the next round begins then; absent = it is the same round. */
  interrupt(event: Event, rest: readonly File[], until?: Date): Promise<void>;
  /** Fails all waiting files. */
  endAll(event: Event, error: GatewayError): Promise<void>;
  /** The last file has ended. */
  settle(event: Event): Promise<void>;
}

interface StageOptions {
  readonly folders: Pick<WatchedFolders, 'findForDelivery'>;
  readonly locks: Locks;
  readonly queue: Queue;
  readonly log: StorageOptions['log'];
}

/** Files of one event. */
const PARALLEL_FILES = 4;
const LOCK_WAIT_MS = 2000;
/** After this time other events get their turn. */
const TURN_MS = 30_000;

export function stageWorker<Event extends StagedEvent, Plan extends StagePlan, File>(
  stage: EventStage<Event, Plan, File>,
  { folders, locks, queue, log }: StageOptions,
): QueueWorker {
  const run = async ({ key }: ClaimedTask, signal: AbortSignal): Promise<TaskOutcome> => {
    const patience = AbortSignal.timeout(LOCK_WAIT_MS);
    // The queue gives an event to one node; the lock holds even if the queue has released a claim too early.
    return locks.withLock(`${stage.lock} ${key}`, AbortSignal.any([signal, patience]), async (lost) => {
      const event = await stage.find(key);
      if (event === undefined) return 'done';
      const dueAt = stage.dueAt(event);
      if (dueAt !== null && dueAt > event.readAt) return { again: dueAt };
      return round(event, AbortSignal.any([signal, lost]));
    });
  };

  const round = async (event: Event, signal: AbortSignal): Promise<TaskOutcome> => {
    const clock = clockAt(event.readAt);
    const folder = event.watchedFolderId === null ? undefined : await folders.findForDelivery(event.watchedFolderId);
    const plan = folder && (await stage.plan(event, folder));
    if (folder === undefined || plan === undefined) return settled(event);
    const delayMs = stage.delayOf(event);
    let trouble: GatewayError | undefined;
    let rest: readonly File[] = [];
    if (plan instanceof GatewayError) trouble = plan;
    else {
      const closed = closedUntil(...plan.connections);
      if (closed !== undefined) return { again: nextLookMs(closed) };
      const files = new RoundFiles(stage, { event, plan, delayMs, signal }, await stage.waiting(event));
      const { isUnsuccessful } = await runSlice(files, { parallelFiles: PARALLEL_FILES, turnMs: TURN_MS, signal });
      ({ trouble, rest } = files);
      if (!files.isOver && !isUnsuccessful) {
        await stage.interrupt(event, rest);
        return { again: 0 };
      }
    }
    if (trouble === undefined) return settled(event);
    const now = await folders.findForDelivery(folder.id);
    // The folder was changed meanwhile: the error concerns what it was.
    if (now !== undefined && stage.isOther(folder, now)) return { again: 0 };
    const isLost = trouble === plan && (delayMs === undefined || stage.isForGood(trouble));
    const what = `files of a watched folder ${isLost ? 'are not' : 'wait to be'} ${stage.done}`;
    log('warn', what, { watchedFolderId: folder.id, reason: trouble.clientText });
    if (isLost) {
      await stage.endAll(event, trouble);
      return settled(event);
    }
    const until = new Date(clock.earliestMs() + (delayMs ?? 0));
    await stage.interrupt(event, rest, until);
    return { again: until };
  };

  const settled = async (event: Event): Promise<TaskOutcome> => {
    await stage.settle(event);
    return 'done';
  };

  const { concurrency, eventsOfAFolder: groupConcurrency } = stage;
  return new QueueWorker({ claims: queue, queue: stage.queue, concurrency, groupConcurrency, run, log });
}

/** Whether the error does not concern the file: the task is given back, and nothing is recorded. */
export function isOfGateway({ inJobs }: GatewayError, signal: AbortSignal): boolean {
  return signal.aborted || inJobs === 'again';
}

class RoundFiles<Event extends StagedEvent, Plan extends StagePlan, File> implements FileList<File> {
  readonly #stage: EventStage<Event, Plan, File>;
  readonly #round: Round<Event, Plan>;
  readonly #waiting: File[];
  readonly #retried: File[] = [];
  /** The error of the last file that is tried again. */
  trouble: GatewayError | undefined;
  /** An error that the other files would also meet: they wait for the next round. */
  #isStuck = false;

  constructor(stage: EventStage<Event, Plan, File>, round: Round<Event, Plan>, waiting: readonly File[]) {
    this.#stage = stage;
    this.#round = round;
    this.#waiting = [...waiting];
  }

  /** Whether no further file is tried in this round. */
  get isOver(): boolean {
    return this.#isStuck || this.#waiting.length === 0;
  }

  /** The files that have not ended, those without a try first. */
  get rest(): readonly File[] {
    return [...this.#waiting, ...this.#retried];
  }

  async next(mayClaim: () => boolean): Promise<File | undefined> {
    return this.#isStuck || !mayClaim() ? undefined : this.#waiting.shift();
  }

  run(file: File, part: Pick<JobPart, 'passesOver' | 'worked'>): Promise<void> {
    return this.#stage.run(this.#round, file, part);
  }

  verdictOn(error: GatewayError): FileVerdict {
    const { delayMs, signal } = this.#round;
    if (isOfGateway(error, signal)) return { kind: 'stop', isFatal: false };
    if (this.#stage.isLeftAlone(this.#round, error)) return { kind: 'skipped' };
    const isFailed = delayMs === undefined || this.#stage.isForGood(error);
    return isFailed ? { kind: 'failed' } : { kind: 'again', afterMs: delayMs };
  }

  skip(file: File, error: GatewayError): Promise<void> {
    return this.#stage.skip(this.#round, file, error);
  }

  async retry(file: File, error: GatewayError): Promise<void> {
    this.#isStuck ||= error.inJobs === 'stop';
    this.trouble = error;
    this.#retried.push(await this.#stage.retry(file, error));
  }

  fail(file: File, error: GatewayError): Promise<void> {
    const isLast = this.#round.delayMs === undefined || !this.#stage.retriesAll;
    return isLast ? this.#stage.fail(file, error) : this.retry(file, error);
  }
}
