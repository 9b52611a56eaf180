/** A slice of a job's files: taken, done some at a time, and each written down as it ends. */
import { type GatewayError, toGatewayError } from '../base/errors.js';
import type { JobFile, JobFileEnd, JobTree, RunningJob, Seat } from '../storage/storage.js';
import type { FileWork } from './file-work.js';
import { type JobPlaces, LeftAlone } from './file-work.js';
import { createPace } from './pace.js';
import { RETRY_AFTER_MS, verdictOn, type Verdict } from './retry.js';
import type { Stay } from './running-jobs.js';

export interface FileSlicesOptions {
  readonly tree: Pick<JobTree, 'claimFiles' | 'end' | 'retryFile'>;
  readonly work: Pick<FileWork, 'run'>;
  /** Of one slice, at once. */
  readonly parallelFiles: number;
}

const SLICE_FILES = 100;
const SLICE_BYTES = 256 * 1024 * 1024;

/** How a slice went. */
export type SliceEnd =
  /** There was nothing to do. */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'done'; readonly afterMs: number }
  /** All of the job ends. */
  | { readonly kind: 'fatal'; readonly error: GatewayError };

interface Tally {
  good: number;
  passing: number;
  last: GatewayError | undefined;
  fatal: GatewayError | undefined;
  ours: GatewayError | undefined;
}

type Pace = ReturnType<typeof createPace>;

export class FileSlices {
  /** Slices one after the other that nothing came of, by seat: a server that is away is not asked for every file in turn. */
  readonly #barren = new Map<string, number>();
  readonly #paces = new Map<string, Pace>();

  constructor(private readonly options: FileSlicesOptions) {}

  /** Rejects with what is the gateway's own trouble: the rest of the slice is left to whoever takes the seat. */
  async run(job: RunningJob, seat: Seat, places: JobPlaces, stay: Stay): Promise<SliceEnd> {
    const files = await this.options.tree.claimFiles(job, seat, SLICE_FILES, SLICE_BYTES);
    const name = `${job.id} ${seat.number}`;
    if (files.length === 0) {
      this.#barren.delete(name);
      this.#paces.delete(job.id);
      return { kind: 'nothing' };
    }
    const tally: Tally = { good: 0, passing: 0, last: undefined, fatal: undefined, ours: undefined };
    const queue = files.values();
    const isOver = (): boolean =>
      !stay.isWanted || tally.fatal !== undefined || tally.ours !== undefined || this.isBarren(tally);
    const worker = async (): Promise<void> => {
      for (const file of queue) {
        await this.one(job, places, file, stay, tally);
        if (isOver()) return;
      }
    };
    if (!isOver()) await Promise.all(Array.from({ length: this.options.parallelFiles }, worker));
    if (tally.fatal !== undefined) return { kind: 'fatal', error: tally.fatal };
    if (tally.ours !== undefined) throw tally.ours;
    if (!this.isBarren(tally)) {
      this.#barren.delete(name);
      return { kind: 'done', afterMs: 0 };
    }
    const times = this.#barren.get(name) ?? 0;
    const afterMs = RETRY_AFTER_MS[times];
    this.#barren.set(name, times + 1);
    if (afterMs !== undefined) return { kind: 'done', afterMs };
    this.#barren.delete(name);
    return { kind: 'fatal', error: tally.last as GatewayError };
  }

  /** As many as run at once have failed of what passes, and nothing else has come of it. */
  private isBarren({ good, passing }: Tally): boolean {
    return good === 0 && passing >= this.options.parallelFiles;
  }

  /** Never rejects. */
  private async one(job: RunningJob, places: JobPlaces, file: JobFile, stay: Stay, tally: Tally): Promise<void> {
    const { work } = this.options;
    let verdict: Verdict | 'skipped' = { kind: 'failed' };
    const part = {
      reference: { id: job.id, path: file.path.toString('hex') },
      passesOver: (error: GatewayError): boolean => {
        verdict = isLeftAlone(job, error) ? 'skipped' : verdictOn(error, file.tries);
        return verdict === 'skipped' || verdict.kind !== 'failed';
      },
    };
    try {
      await work.run({ job, places, file, signal: stay.signal, pace: this.paceOf(job, stay), part });
      tally.good += 1;
    } catch (thrown) {
      const error = toGatewayError(thrown);
      if (stay.signal.aborted) {
        // Cancelled, it has been recorded as far as it had begun; else it is done again.
        if (error.code !== 'cancelled') tally.ours ??= error;
        return;
      }
      // What failed before there was an operation has asked nobody.
      part.passesOver(error);
      await this.settle(job, file, verdict, error, tally).catch((reason: unknown) => {
        tally.ours = toGatewayError(reason);
      });
    }
  }

  private async settle(
    job: RunningJob,
    file: JobFile,
    verdict: Verdict | 'skipped',
    error: GatewayError,
    tally: Tally,
  ): Promise<void> {
    const { tree } = this.options;
    if (verdict === 'skipped') {
      tally.good += 1;
      await tree.end(job.id, [{ path: file.path, state: 'skipped', errorCode: null, errorMessage: error.clientText }]);
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
        else tally.ours ??= error;
        return;
      case 'failed':
        tally.good += 1;
        // Of what failed before there was an operation nothing is recorded yet.
        await tree.end(job.id, [failure(file, error)]);
    }
  }

  /** One for all files of a job on this node: with a limit there is one seat. */
  private paceOf(job: RunningJob, { signal }: Stay): ((bytes: number) => Promise<void>) | undefined {
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

/** What already stands there is what the job was told to leave. */
function isLeftAlone({ type, definition }: RunningJob, error: GatewayError): boolean {
  if (error instanceof LeftAlone) return true;
  return type !== 'sync' && definition.onConflict === 'skip' && error.code === 'already_exists';
}
