/** Those who watch jobs: each is told how its job is, and of its files as they end, from whichever node does them. */
import type { Readable } from 'node:stream';
import { refusal } from '../../base/errors.js';
import { Periodic } from '../../base/periodic.js';
import { EventStream } from '../../http/event-stream.js';
import type { Job, JobStorage } from '../../storage/storage.js';
import { jobFileOf, jobOf } from './job.js';

const LOOK_EVERY_MS = 500;
const PING_EVERY_LOOKS = 10;
const STREAMS_PER_ACCOUNT = 10;
const STREAMS = 200;
/** Of more than this in one look the others are passed over: a stream shows what goes on, the list of files tells all. */
const FILES_A_LOOK = 100;

const ENDED = new Set<Job['state']>(['succeeded', 'partly_failed', 'failed', 'cancelled']);

interface Watcher {
  readonly stream: EventStream;
  readonly stillAllowed: () => Promise<boolean>;
  readonly viewOf: (job: Job) => object;
  shown: string;
}

/** A job that somebody watches: asked for once, however many there are. */
interface Watched {
  readonly jobId: string;
  readonly accountId: string;
  readonly watchers: Set<Watcher>;
  lastEnd: number | undefined;
  isLooking: boolean;
}

export class JobEvents {
  private readonly jobs = new Map<string, Watched>();
  private readonly looking = new Periodic(() => this.lookAtAll(), LOOK_EVERY_MS);
  private looks = 0;

  constructor(private readonly rows: Pick<JobStorage['rows'], 'find' | 'ends' | 'lastEnd'>) {}

  /** Begins with the job as it is given, and ends with it, or once `stillAllowed` says no. @throws GatewayError rate_limited */
  watch(job: Job, stillAllowed: () => Promise<boolean>, viewOf: (job: Job) => object = jobOf): Readable {
    const { id: jobId, accountId } = job;
    if (this.countOf(accountId) >= STREAMS_PER_ACCOUNT || this.countOf() >= STREAMS) {
      throw refusal('rate_limited', 'too many event streams are open; close one');
    }
    const stream = new EventStream();
    stream.say('retry: 2000\n\n');
    const watcher: Watcher = { stream, stillAllowed, viewOf, shown: '' };
    show(watcher, job);
    if (ENDED.has(job.state)) return stream;
    const known = this.jobs.get(jobId);
    const watched = known ?? { jobId, accountId, watchers: new Set(), lastEnd: undefined, isLooking: false };
    watched.watchers.add(watcher);
    stream.once('close', () => this.forget(watched, watcher));
    if (known !== undefined) return stream;
    this.jobs.set(jobId, watched);
    this.looking.start();
    void this.look(watched);
    return stream;
  }

  /** Streams need not end by themselves: a gateway that stops need not wait for them. */
  close(): void {
    for (const { watchers } of this.jobs.values()) finish(watchers);
  }

  private countOf(accountId?: string): number {
    let count = 0;
    for (const { accountId: owner, watchers } of this.jobs.values()) {
      if (accountId === undefined || owner === accountId) count += watchers.size;
    }
    return count;
  }

  private forget(watched: Watched, watcher: Watcher): void {
    watched.watchers.delete(watcher);
    if (watched.watchers.size > 0) return;
    if (this.jobs.get(watched.jobId) === watched) this.jobs.delete(watched.jobId);
    if (this.jobs.size === 0) void this.looking.stop();
  }

  private lookAtAll(): void {
    this.looks += 1;
    for (const watched of this.jobs.values()) void this.look(watched);
  }

  /** Never rejects: without the database nothing is shown for a while; the jobs wait for it too. */
  private async look(watched: Watched): Promise<void> {
    if (watched.isLooking) return;
    watched.isLooking = true;
    await this.tell(watched).catch(() => undefined);
    watched.isLooking = false;
  }

  private async tell(watched: Watched): Promise<void> {
    // Whoever comes meanwhile may have seen a newer one.
    const present = [...watched.watchers];
    const allowed = await Promise.all(present.map(({ stillAllowed }) => stillAllowed().catch(() => true)));
    finish(present.filter((_, number) => allowed[number] !== true));
    const watchers = present.filter((_, number) => allowed[number] === true);
    if (watchers.length === 0) return;
    const job = await this.rows.find(watched.accountId, watched.jobId);
    if (job === undefined) return finish(watched.watchers);
    const files = await this.filesOf(watched);
    for (const watcher of watchers) {
      for (const file of files) watcher.stream.tell('file', file);
      const isNews = show(watcher, job);
      if (!isNews && this.looks % PING_EVERY_LOOKS === 0) watcher.stream.say(': ping\n\n');
    }
  }

  /** Those that have ended since the last look. */
  private async filesOf(watched: Watched): Promise<readonly object[]> {
    const { jobId, lastEnd } = watched;
    const { files, last } = lastEnd === undefined ? NONE : await this.rows.ends(jobId, lastEnd, FILES_A_LOOK);
    const isAll = lastEnd !== undefined && files.length < FILES_A_LOOK;
    watched.lastEnd = isAll ? last : await this.rows.lastEnd(jobId);
    return files.map(jobFileOf);
  }
}

const NONE = { files: [], last: 0 };

/** Whether that is news; that only time has passed is none. */
function show(watcher: Watcher, job: Job): boolean {
  const key = JSON.stringify([{ ...job, activeMs: 0, sample: null }, jobOf(job).bytesPerSecond]);
  const isNews = key !== watcher.shown;
  watcher.shown = key;
  if (isNews) watcher.stream.tell('job', watcher.viewOf(job));
  if (ENDED.has(job.state)) watcher.stream.finish();
  return isNews;
}

function finish(watchers: Iterable<Watcher>): void {
  for (const { stream } of watchers) stream.finish();
}
