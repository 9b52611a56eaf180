/** Jobs: the gateway copies, moves, deletes or syncs whole folders. */
import { changingOnce, pagesOf, reading } from './calls.js';
import { FtgError } from './errors.js';
import { eventsIn } from './event-stream.js';
import type { CallOptions, Transport } from './transport.js';
import type * as api from './types.js';
import { wait } from './wait.js';
import { hasEnded, type JobChange } from '../contract/job-states.js';

/** An event of a job's stream: the current job, or a file that has ended. */
export type JobEvent =
  { readonly type: 'job'; readonly job: api.Job } | { readonly type: 'file'; readonly file: api.JobFile };

type Answer = { readonly job: api.Job };

const ASK_EVERY_MS = 2_000;

export class Jobs {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  async create(job: api.NewJob, options: CallOptions = {}): Promise<api.Job> {
    return (await this.#transport.json<Answer>(changingOnce('/api/jobs', options, job))).job;
  }

  async get(id: string, options: CallOptions = {}): Promise<api.Job> {
    return (await this.#transport.json<Answer>(reading(at(id), options))).job;
  }

  /** All matching jobs, newest first, requested page by page while they are read; `limit` applies to a page. */
  async *list(query: api.JobsQuery = {}, options: CallOptions = {}): AsyncGenerator<api.Job, void> {
    const pages = pagesOf<api.JobsAnswer>(this.#transport, '/api/jobs', options, { limit: 100, ...query });
    for await (const { jobs } of pages) yield* jobs;
  }

  /**
   * The files in the order in which they were found, requested page by page while they are read; `limit` applies to a
   * page.
   */
  async *files(
    id: string,
    query: api.JobFilesQuery = {},
    options: CallOptions = {},
  ): AsyncGenerator<api.JobFile, void> {
    const all = { limit: 1_000, ...query };
    const pages = pagesOf<api.JobFilesAnswer>(this.#transport, at(id, 'files'), options, all);
    for await (const { files } of pages) yield* files;
  }

  /** Files in progress are completed; no other file begins. */
  pause(id: string, options: CallOptions = {}): Promise<api.Job> {
    return this.#change(id, 'pause', options);
  }

  resume(id: string, options: CallOptions = {}): Promise<api.Job> {
    return this.#change(id, 'resume', options);
  }

  /** Files in progress are undone; completed ones stay. */
  cancel(id: string, options: CallOptions = {}): Promise<api.Job> {
    return this.#change(id, 'cancel', options);
  }

  /** Creates a job for the files that failed or were not reached. */
  async retry(id: string, options: CallOptions = {}): Promise<api.Job> {
    return (await this.#transport.json<Answer>(changingOnce(at(id, 'retry'), options))).job;
  }

  /** Resolves with the job once it has ended, with any result; also waits for a paused job. */
  async wait(id: string, options: CallOptions = {}): Promise<api.Job> {
    for await (const event of this.events(id, options)) {
      if (event.type === 'job' && hasEnded(event.job)) return event.job;
    }
    return this.get(id, options);
  }

  /**
   * The job, at once and after each change, until it has ended; and files when they end. If many files end at once,
   * some are left out. If there is no stream, or it breaks, the job is requested every two seconds.
   */
  async *events(id: string, options: CallOptions = {}): AsyncGenerator<JobEvent, void> {
    for (;;) {
      try {
        for await (const event of this.#stream(id, options)) {
          yield event;
          if (event.type === 'job' && hasEnded(event.job)) return;
        }
      } catch (thrown) {
        options.signal?.throwIfAborted();
        if (!(thrown instanceof FtgError)) throw thrown;
      }
      // A permanent error is thrown here.
      const job = await this.get(id, options);
      yield { type: 'job', job };
      if (hasEnded(job)) return;
      await wait(ASK_EVERY_MS, options.signal);
    }
  }

  async *#stream(id: string, options: CallOptions): AsyncGenerator<JobEvent, void> {
    const call = { ...reading(at(id, 'events'), options), repetition: 'never' as const };
    const response = await this.#transport.send(call, async (answer) => answer);
    for await (const { type, data } of eventsIn(response, options.signal)) {
      if (type === 'job') yield { type, job: JSON.parse(data) as api.Job };
      if (type === 'file') yield { type, file: JSON.parse(data) as api.JobFile };
    }
  }

  async #change(id: string, change: JobChange, options: CallOptions): Promise<api.Job> {
    // A second run has no further effect.
    const call = { ...changingOnce(at(id, change), options), repetition: 'repeatable' as const };
    return (await this.#transport.json<Answer>(call)).job;
  }
}

function at(id: string, part?: string): string {
  return `/api/jobs/${encodeURIComponent(id)}${part === undefined ? '' : `/${part}`}`;
}
