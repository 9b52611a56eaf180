/** Assembles the parts of jobs; the work is started and stopped as one. */
import type { Budget } from '../budgets/budget.js';
import { keptBacklog } from '../base/kept-answer.js';
import type { Config } from '../config/schema.js';
import type { Connection } from '../connections/connection.js';
import type { UrlFetcher } from '../operations/fetch-url.js';
import type { Operations } from '../operations/operation.js';
import type { Leftovers } from '../remotes/leftovers.js';
import type { Storage, StorageOptions } from '../storage/storage.js';
import { JobEngine } from './engine.js';
import { FileEngine } from './file-engine.js';
import { FileSlices } from './file-slices.js';
import { FileWork } from './file-work.js';
import { HiddenLinks } from './hidden-links.js';
import { Listings } from './listings.js';
import { Removals } from './removals.js';
import { RowBudget } from './row-budget.js';
import { RunningJobs } from './running-jobs.js';
import { ScheduleService } from './schedules.js';
import { JobService, type JobServiceOptions } from './service.js';
import { finishedEvent } from './view.js';

interface JobsOptions {
  readonly storage: Pick<Storage, 'connections' | 'jobs'>;
  readonly operations: Operations;
  /** Shared by the streams of all operations. */
  readonly memoryBytes: Budget;
  readonly urls: UrlFetcher;
  /** For one upload; 0 = no limit. */
  readonly uploadBytes: number;
  readonly config: Config['jobs'];
  readonly checkTarget: JobServiceOptions['checkTarget'];
  /** Free bytes of the disk that holds the database; NaN = unknown. */
  readonly freeBytes: () => Promise<number>;
  readonly log: StorageOptions['log'];
}

export interface JobsPart {
  readonly service: JobService;
  readonly schedules: ScheduleService;
  /** For all nodes; undefined while the database does not answer. */
  readonly backlog: () => Promise<JobsBacklog | undefined>;
  start(): void;
  stop(): Promise<void>;
}

interface JobsBacklog {
  readonly runningJobs: number;
  readonly waitingJobs: number;
  readonly failedJobs: number;
  /** Delays in seconds: `lateRuns` of the latest run of the last hour, `overdueRuns` of one that is due and has not begun. */
  readonly lateRuns: number;
  readonly overdueRuns: number;
  readonly stoppedSchedules: number;
}

export function createJobs(options: JobsOptions): JobsPart {
  const { storage, operations, memoryBytes, urls, uploadBytes: maxBytes, config, checkTarget, log } = options;
  const { connections, jobs } = storage;
  const { remotes } = operations;
  const { tree } = jobs;
  const limits = { running: config.runningPerAccount, waiting: config.waitingPerAccount, eventOf: finishedEvent };
  const leftovers = (connection: Connection): Leftovers => operations.leftoversOf(connection);
  const budget = new RowBudget({
    rows: jobs.rows,
    limits: config,
    pauseBelowFreeBytes: config.pauseBelowFreeBytes,
    freeBytes: options.freeBytes,
    log,
  });
  const running = new RunningJobs(jobs.rows);
  const work = new FileWork(new FileEngine(operations, memoryBytes), operations, tree, {
    urls,
    urlOf: (id) => jobs.rows.urlOf(id),
    maxBytes,
  });
  const engine = new JobEngine({
    storage: jobs,
    connections,
    running,
    limits,
    concurrency: config.concurrency,
    log,
    retentionDays: config.retentionDays,
    checkHolder: (holder, ends) => service.checkHolder(holder, ends, 'retry it with another key'),
    list: new Listings({
      tree,
      remotes,
      leftovers,
      budget,
      links: new HiddenLinks(remotes, leftovers, work),
    }),
    remove: new Removals({ tree, remotes, leftovers }),
    files: new FileSlices({
      tree,
      work,
      parallelFiles: config.parallelFiles,
    }),
  });
  const service = new JobService({ rows: jobs.rows, operations, running, limits, budget, checkTarget });
  const schedules = new ScheduleService({
    rows: jobs.schedules,
    agenda: jobs.agenda,
    jobs: service,
    limits,
    most: config.schedulesPerAccount,
    log,
  });
  return {
    service,
    schedules,
    backlog: backlogOf(jobs),
    start: () => {
      engine.start();
      schedules.start();
    },
    stop: async () => {
      await schedules.stop();
      await engine.stop();
    },
  };
}

function backlogOf({ rows, schedules }: JobsOptions['storage']['jobs']): JobsPart['backlog'] {
  const ask = async (): Promise<JobsBacklog> => {
    const [{ running, waiting, failed }, { late, overdue, stopped }] = await Promise.all([
      rows.counts(),
      schedules.figures(),
    ]);
    return {
      runningJobs: running,
      waitingJobs: waiting,
      failedJobs: failed,
      lateRuns: late,
      overdueRuns: overdue,
      stoppedSchedules: stopped,
    };
  };
  return keptBacklog(ask);
}
