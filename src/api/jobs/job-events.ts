/** Event streams of jobs: each watcher gets the state of its job, and its files as they end, from all nodes. */
import type { Readable } from 'node:stream';
import { Periodic } from '../../base/periodic.js';
import type { EventHub, EventStream } from '../../http/event-hub.js';
import type { Job, JobStorage } from '../../storage/storage.js';
import { jobFileOf, jobOf } from './job.js';
import { hasEnded } from '../../contract/job-states.js';

const POLL_EVERY_MS = 500;
/**
 * If more files end between two polls, the others are left out: a stream shows progress, the list of files is complete.
 */
const FILES_PER_POLL = 100;

interface Watcher {
  readonly stream: EventStream;
  readonly viewOf: (job: Job) => object;
  shown: string;
}

/** A watched job: polled once, however many watchers it has. */
interface Watched {
  readonly jobId: string;
  readonly accountId: string;
  readonly watchers: Set<Watcher>;
  lastEnd: number | undefined;
  isPolling: boolean;
}

export class JobEvents {
  readonly #rows: Pick<JobStorage['rows'], 'find' | 'ends' | 'lastEnd'>;
  readonly #hub: EventHub;
  readonly #jobs = new Map<string, Watched>();
  readonly #polling = new Periodic(() => this.#pollAll(), POLL_EVERY_MS);

  constructor(rows: Pick<JobStorage['rows'], 'find' | 'ends' | 'lastEnd'>, hub: EventHub) {
    this.#rows = rows;
    this.#hub = hub;
  }

  /**
   * Begins with the given job, and ends with the job, or when `stillOpens` resolves to false. @throws GatewayError
   * rate_limited
   */
  watch(job: Job, stillOpens: () => Promise<boolean>, viewOf: (job: Job) => object = jobOf): Readable {
    const { id: jobId, accountId } = job;
    const stream = this.#hub.open('job', accountId, stillOpens);
    const watcher: Watcher = { stream, viewOf, shown: '' };
    show(watcher, job);
    if (hasEnded(job)) return stream;
    const known = this.#jobs.get(jobId);
    const watched = known ?? { jobId, accountId, watchers: new Set(), lastEnd: undefined, isPolling: false };
    watched.watchers.add(watcher);
    stream.once('close', () => this.#forget(watched, watcher));
    if (known !== undefined) return stream;
    this.#jobs.set(jobId, watched);
    this.#polling.start();
    void this.#poll(watched);
    return stream;
  }

  #forget(watched: Watched, watcher: Watcher): void {
    watched.watchers.delete(watcher);
    if (watched.watchers.size > 0) return;
    if (this.#jobs.get(watched.jobId) === watched) this.#jobs.delete(watched.jobId);
    if (this.#jobs.size === 0) void this.#polling.stop();
  }

  #pollAll(): void {
    for (const watched of this.#jobs.values()) void this.#poll(watched);
  }

  /** Never rejects: without the database nothing is shown for a while; the jobs wait for it, too. */
  async #poll(watched: Watched): Promise<void> {
    if (watched.isPolling) return;
    watched.isPolling = true;
    await this.#sendChanges(watched).catch(() => undefined);
    watched.isPolling = false;
  }

  async #sendChanges(watched: Watched): Promise<void> {
    // A watcher that joins meanwhile may have seen a newer state.
    const present = [...watched.watchers];
    await Promise.all(present.map(({ stream }) => stream.goesOn()));
    const watchers = present.filter(({ stream }) => !stream.ending.aborted);
    if (watchers.length === 0) return;
    const job = await this.#rows.find(watched.accountId, watched.jobId);
    if (job === undefined) {
      for (const { stream } of watched.watchers) stream.finish();
      return;
    }
    const files = await this.#filesOf(watched);
    for (const watcher of watchers) {
      for (const file of files) watcher.stream.send('file', file);
      show(watcher, job);
    }
  }

  /** Files that have ended since the last poll. */
  async #filesOf(watched: Watched): Promise<readonly object[]> {
    const { jobId, lastEnd } = watched;
    const { files, last } = lastEnd === undefined ? NONE : await this.#rows.ends(jobId, lastEnd, FILES_PER_POLL);
    const isAll = lastEnd !== undefined && files.length < FILES_PER_POLL;
    watched.lastEnd = isAll ? last : await this.#rows.lastEnd(jobId);
    return files.map(jobFileOf);
  }
}

const NONE = { files: [], last: 0 };

/** A change of only the time is not sent. */
function show(watcher: Watcher, job: Job): void {
  const key = JSON.stringify([{ ...job, activeMs: 0, sample: null }, jobOf(job).bytesPerSecond]);
  if (key !== watcher.shown) watcher.stream.send('job', watcher.viewOf(job));
  watcher.shown = key;
  if (hasEnded(job)) watcher.stream.finish();
}
