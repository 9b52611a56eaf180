/** Those who watch jobs: each is told how its job is, and of its files as they end, from whichever node does them. */
import type { Readable } from 'node:stream';
import { refusal } from '../../base/errors.js';
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
  readonly accountId: string;
  readonly jobId: string;
  readonly stillAllowed: () => Promise<boolean>;
  readonly viewOf: (job: Job) => object;
  shown: string;
  lastEnd: number | undefined;
}

export class JobEvents {
  private readonly watchers = new Set<Watcher>();
  private timer: NodeJS.Timeout | undefined;
  private looks = 0;
  private isLooking = false;

  constructor(private readonly rows: Pick<JobStorage['rows'], 'find' | 'ends' | 'lastEnd'>) {}

  /** Ends with the job, or once `stillAllowed` says no. @throws GatewayError rate_limited */
  watch(
    { id: jobId, accountId }: Job,
    stillAllowed: () => Promise<boolean>,
    viewOf: (job: Job) => object = jobOf,
  ): Readable {
    const own = [...this.watchers].filter((watcher) => watcher.accountId === accountId).length;
    if (own >= STREAMS_PER_ACCOUNT || this.watchers.size >= STREAMS) {
      throw refusal('rate_limited', 'too many event streams are open; close one');
    }
    const stream = new EventStream();
    const watcher: Watcher = { stream, accountId, jobId, stillAllowed, viewOf, shown: '', lastEnd: undefined };
    this.watchers.add(watcher);
    stream.once('close', () => this.forget(watcher));
    stream.say('retry: 2000\n\n');
    this.timer ??= setInterval(() => void this.look(), LOOK_EVERY_MS).unref();
    void this.tell(watcher).catch(() => undefined);
    return stream;
  }

  /** Streams need not end by themselves: a gateway that stops need not wait for them. */
  close(): void {
    for (const { stream } of this.watchers) stream.finish();
  }

  private forget(watcher: Watcher): void {
    this.watchers.delete(watcher);
    if (this.watchers.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private async look(): Promise<void> {
    if (this.isLooking) return;
    this.isLooking = true;
    this.looks += 1;
    // Without the database nothing is shown for a while; the jobs wait for it too.
    await Promise.all([...this.watchers].map((watcher) => this.tell(watcher).catch(() => undefined)));
    this.isLooking = false;
  }

  private async tell(watcher: Watcher): Promise<void> {
    const { stream, accountId, jobId } = watcher;
    if (!(await watcher.stillAllowed().catch(() => true))) return stream.finish();
    const job = await this.rows.find(accountId, jobId);
    if (job === undefined) return stream.finish();
    if (watcher.lastEnd === undefined) watcher.lastEnd = await this.rows.lastEnd(jobId);
    else await this.tellFiles(watcher, watcher.lastEnd);
    // That only time has passed is no news.
    const key = JSON.stringify([{ ...job, activeMs: 0, sample: null }, jobOf(job).bytesPerSecond]);
    if (key !== watcher.shown) stream.tell('job', watcher.viewOf(job));
    else if (this.looks % PING_EVERY_LOOKS === 0) stream.say(': ping\n\n');
    watcher.shown = key;
    if (ENDED.has(job.state)) stream.finish();
  }

  private async tellFiles(watcher: Watcher, after: number): Promise<void> {
    const { files, last } = await this.rows.ends(watcher.jobId, after, FILES_A_LOOK);
    for (const file of files) watcher.stream.tell('file', jobFileOf(file));
    watcher.lastEnd = files.length < FILES_A_LOOK ? last : await this.rows.lastEnd(watcher.jobId);
  }
}
