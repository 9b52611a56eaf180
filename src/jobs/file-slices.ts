/**
 * A slot's slice of a job's files: some are claimed at a time, some run concurrently, and each is recorded when it
 * ends.
 */
import { GatewayError, toGatewayError } from '../base/errors.js';
import { retryDelay } from '../base/retry-schedule.js';
import { isLeftAlone, OntoItself } from '../operations/conflicts.js';
import { KnownPlaces } from '../remotes/known-places.js';
import type { JobFile, JobFileEnd, JobTree, RunningJob, WorkerSlot } from '../storage/storage.js';
import { FileQueue } from './file-queue.js';
import type { FileWork, JobPlaces } from './file-work.js';
import { createPace } from './pace.js';
import { JOB_RETRIES, verdictOn, type Verdict } from './retry.js';
import type { ActiveRun } from './running-jobs.js';

interface FileSlicesOptions {
  readonly tree: Pick<JobTree, 'claimFiles' | 'end' | 'retryFile'>;
  readonly work: Pick<FileWork, 'run'>;
  /** Concurrent files of one slice. */
  readonly parallelFiles: number;
}

/** Then the slot is released: others wait for their turn, and the known facts about the target become old. */
const TURN_MS = 2000;
/**
 * Files of each worker whose end is being recorded while it has begun another one. After a node's death, FileWork
 * recognises them.
 */
const RECORDED_BEHIND = 4;

/** The result of a slice. */
export type SliceEnd =
  /** There was nothing to do. */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'done'; readonly afterMs: number }
  /** The whole job ends. */
  | { readonly kind: 'fatal'; readonly error: GatewayError };

interface Tally {
  good: number;
  passing: number;
  last: GatewayError | undefined;
  fatal: GatewayError | undefined;
  gatewayFault: GatewayError | undefined;
}

/** What the files of one slice share. */
interface SliceContext {
  readonly job: RunningJob;
  readonly places: JobPlaces;
  readonly known: KnownPlaces;
  readonly activeRun: ActiveRun;
  readonly tally: Tally;
}

type Pace = ReturnType<typeof createPace>;

export class FileSlices {
  readonly #options: FileSlicesOptions;
  /** Consecutive slices without success, by slot: a server that is away is not tried for every file in turn. */
  readonly #consecutiveFailures = new Map<string, number>();
  readonly #paces = new Map<string, Pace>();

  constructor(options: FileSlicesOptions) {
    this.#options = options;
  }

  /** Rejects with the gateway's own failures: the rest of the slice is left to the next owner of the slot. */
  async run(
    job: RunningJob,
    slot: WorkerSlot,
    places: JobPlaces,
    activeRun: ActiveRun,
    findPlaces: () => Promise<JobPlaces | GatewayError>,
  ): Promise<SliceEnd> {
    const files = new FileQueue((limit, bytes) => this.#options.tree.claimFiles(job, slot, limit, bytes));
    await files.refill();
    const name = `${job.id} ${slot.number}`;
    if (files.isEmpty) {
      this.#consecutiveFailures.delete(name);
      this.#paces.delete(job.id);
      return { kind: 'nothing' };
    }
    const tally: Tally = { good: 0, passing: 0, last: undefined, fatal: undefined, gatewayFault: undefined };
    const known = new KnownPlaces();
    const isOver = (): boolean =>
      !activeRun.isWanted ||
      tally.fatal !== undefined ||
      tally.gatewayFault !== undefined ||
      this.#isUnsuccessful(tally);
    const until = performance.now() + TURN_MS;
    let recheckAt = until;
    // Claimed files may take long; a connection that was deleted meanwhile must not be used any more.
    const recheck = async (): Promise<void> => {
      if (performance.now() < recheckAt) return;
      recheckAt = performance.now() + TURN_MS;
      const found = await findPlaces();
      if (found instanceof GatewayError) tally.fatal ??= found;
    };
    const worker = async (): Promise<void> => {
      const behind: Promise<void>[] = [];
      for (;;) {
        const file = await files
          .next(() => !isOver() && performance.now() < until)
          .catch((error: unknown) => void (tally.gatewayFault ??= toGatewayError(error)));
        if (file === undefined) break;
        const { worked, ended } = this.#begin({ job, places, known, activeRun, tally }, file);
        behind.push(ended.then(() => files.done(file)));
        await worked;
        await recheck().catch((error: unknown) => (tally.gatewayFault ??= toGatewayError(error)));
        if (behind.length > RECORDED_BEHIND) await behind.shift();
        if (isOver()) break;
      }
      await Promise.all(behind);
    };
    if (!isOver()) await Promise.all(Array.from({ length: this.#options.parallelFiles }, worker));
    if (tally.fatal !== undefined) return { kind: 'fatal', error: tally.fatal };
    if (tally.gatewayFault !== undefined) throw tally.gatewayFault;
    if (!this.#isUnsuccessful(tally)) {
      this.#consecutiveFailures.delete(name);
      // No more files can be found: another slice is not needed to learn that all are done.
      return files.isExhausted && job.isListed ? { kind: 'nothing' } : { kind: 'done', afterMs: 0 };
    }
    const times = (this.#consecutiveFailures.get(name) ?? 0) + 1;
    const afterMs = retryDelay(JOB_RETRIES, times);
    this.#consecutiveFailures.set(name, times);
    if (afterMs !== undefined) return { kind: 'done', afterMs };
    this.#consecutiveFailures.delete(name);
    return { kind: 'fatal', error: tally.last as GatewayError };
  }

  /** As many files as run concurrently have failed with errors that pass, and none was successful. */
  #isUnsuccessful({ good, passing }: Tally): boolean {
    return good === 0 && passing >= this.#options.parallelFiles;
  }

  /** `worked` resolves when only its record is still under way, `ended` after that. Neither rejects. */
  #begin(turn: SliceContext, file: JobFile): { readonly worked: Promise<void>; readonly ended: Promise<void> } {
    let worked = (): void => undefined;
    const working = new Promise<void>((resolve) => (worked = resolve));
    return { worked: working, ended: this.#one(turn, file, worked).finally(worked) };
  }

  async #one({ job, places, known, activeRun, tally }: SliceContext, file: JobFile, worked: () => void): Promise<void> {
    const { work } = this.#options;
    let verdict: Verdict | 'skipped' = FAILED;
    const part = {
      reference: { id: job.id, path: file.path.toString('hex') },
      places: known,
      worked,
      passesOver: (error: GatewayError): boolean => {
        verdict =
          error instanceof OntoItself
            ? ENDS_ALL
            : isLeftAlone(job.type === 'sync' ? 'replace' : job.definition.onConflict, error)
              ? 'skipped'
              : isOwn(file, error)
                ? FAILED
                : verdictOn(error, file.tries);
        return verdict === 'skipped' || verdict.kind !== 'failed';
      },
    };
    try {
      await work.run({ job, places, file, signal: activeRun.signal, pace: this.#paceOf(job, activeRun), part });
      tally.good += 1;
    } catch (thrown) {
      if (activeRun.signal.aborted) {
        // A cancelled file was recorded if it had begun; otherwise it is done again, also if it just failed by itself.
        const reason = toGatewayError(activeRun.signal.reason);
        if (reason.code !== 'cancelled') tally.gatewayFault ??= reason;
        return;
      }
      const error = toGatewayError(thrown);
      // A failure before the operation began has used no server.
      part.passesOver(error);
      await this.#settle(job, file, verdict, error, tally).catch((reason: unknown) => {
        tally.gatewayFault = toGatewayError(reason);
      });
    }
  }

  async #settle(
    job: RunningJob,
    file: JobFile,
    verdict: Verdict | 'skipped',
    error: GatewayError,
    tally: Tally,
  ): Promise<void> {
    const { tree } = this.#options;
    if (verdict === 'skipped') {
      tally.good += 1;
      await tree.end(job, [{ path: file.path, state: 'skipped', errorCode: null, errorMessage: error.clientText }]);
      return;
    }
    switch (verdict.kind) {
      case 'again':
        tally.passing += 1;
        tally.last = error;
        await tree.retryFile(job.id, file.path, verdict.afterMs, { code: error.code, message: error.clientText });
        return;
      case 'stop':
        if (verdict.isFatal) tally.fatal ??= error;
        else tally.gatewayFault ??= error;
        return;
      case 'failed':
        tally.good += 1;
        // A failure before the operation began is not recorded yet.
        await tree.end(job, [failure(file, error)]);
    }
  }

  /** One for all files of a job on this node: with a limit there is only one slot. */
  #paceOf(job: RunningJob, { signal }: ActiveRun): ((bytes: number) => Promise<void>) | undefined {
    const { bytesPerSecond } = job.definition;
    if (bytesPerSecond === 0) return undefined;
    const pace = this.#paces.get(job.id) ?? createPace(bytesPerSecond);
    this.#paces.set(job.id, pace);
    return (bytes) => pace(bytes, signal);
  }
}

function failure({ path }: JobFile, { code, clientText }: GatewayError): JobFileEnd {
  return { path, state: 'failed', errorCode: code, errorMessage: clientText };
}

const FAILED: Verdict = { kind: 'failed' };
/** The error would also hit its other files. */
const ENDS_ALL: Verdict = { kind: 'stop', isFatal: true };

/** A refused address may be that of the file's url, and is recorded in the history like that of any upload. */
function isOwn({ action }: JobFile, error: GatewayError): boolean {
  return action === 'upload' && error.code === 'address_denied';
}
