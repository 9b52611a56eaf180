/** The part for watched folders and their checks. */
import type { Config } from '../config/schema.js';
import type { Leftovers } from '../remotes/leftovers.js';
import type { Connection } from '../connections/connection.js';
import type { Operations } from '../operations/operation.js';
import { keptBacklog } from '../base/kept-answer.js';
import type { Storage, StorageOptions, WatchStorage } from '../storage/storage.js';
import { FolderChecks } from './check.js';
import type { EventLimits } from './event-bodies.js';
import { FolderScanner } from './scan.js';
import { Scheduler, type CheckFacts } from './scheduler.js';
import { WatchService, type WatchServiceOptions } from './service.js';

interface WatchingOptions {
  readonly storage: Pick<Storage, 'connections' | 'locks'> & { readonly watching: WatchStorage };
  readonly operations: Operations;
  readonly watcher: Config['watcher'];
  readonly limits: EventLimits;
  readonly checkTarget: WatchServiceOptions['checkTarget'];
  /** Files that one check reports; absent = the documented number. */
  readonly maxReports?: number;
  readonly log: StorageOptions['log'];
  onCheck(facts: CheckFacts): void;
}

export interface Watching {
  readonly service: WatchService;
  readonly gauges: () => WatchGauges;
  /** Counts of all nodes; undefined while the database is away. */
  readonly backlog: () => Promise<WatchBacklog | undefined>;
  start(): void;
  stop(): Promise<void>;
}

export interface WatchGauges {
  readonly checksRunning: number;
  readonly checksWaiting: number;
}

interface WatchBacklog {
  readonly failingFolders: number;
}

export function createWatching(options: WatchingOptions): Watching {
  const { storage, operations, watcher, log } = options;
  const { folders, files, queue, agenda } = storage.watching;
  const { remotes } = operations;
  const leftovers = (connection: Connection): Leftovers => operations.leftoversOf(connection);
  const { connections, locks } = storage;
  const scanner = new FolderScanner({
    files,
    remotes,
    leftovers,
    settleMs: watcher.settleMs,
    timeoutMs: watcher.checkTimeoutMs,
    skipNames: watcher.skipNames,
    filesPerAccount: watcher.filesPerAccount,
    ...(options.maxReports === undefined ? {} : { maxReports: options.maxReports }),
  });
  const checks = new FolderChecks({ folders, scanner, files, connections, locks, limits: options.limits });
  const scheduler = new Scheduler({
    folders,
    queue,
    agenda,
    checks,
    concurrency: watcher.concurrency,
    perHostConcurrency: watcher.perHostConcurrency,
    log,
    onCheck: (facts) => options.onCheck(facts),
  });
  const service = new WatchService({
    storage: storage.watching,
    connections,
    remotes,
    leftovers,
    locks,
    scanner,
    skipNames: watcher.skipNames,
    checkTarget: options.checkTarget,
  });
  return {
    service,
    gauges: () => ({
      checksRunning: scheduler.gauge.running,
      checksWaiting: scheduler.gauge.waiting,
    }),
    backlog: keptBacklog(async () => ({ failingFolders: await folders.countFailing() })),
    start: () => scheduler.start(),
    stop: () => scheduler.stop(),
  };
}
