/** The part for the files of detections: their copies before the delivery, moves or deletions after it. */
import type { Budget } from '../budgets/budget.js';
import { keptAnswer } from '../base/kept-answer.js';
import type { RetrySchedule } from '../base/retry-schedule.js';
import type { Config } from '../config/schema.js';
import type { Operations } from '../operations/operation.js';
import type { Storage, StorageOptions, WatchStorage } from '../storage/storage.js';
import { AfterDelivery } from './after-delivery.js';
import { FileEngine } from './file-engine.js';
import { RouteCopier } from './route-copies.js';

interface EventFilesOptions {
  readonly storage: Pick<Storage, 'connections' | 'locks'> & { readonly watching: WatchStorage };
  readonly operations: Operations;
  /** Shared by the streams of all operations. */
  readonly memoryBytes: Budget;
  readonly watcher: Pick<Config['watcher'], 'checkTimeoutMs'>;
  /** For failed copies. */
  readonly retry: RetrySchedule;
  readonly log: StorageOptions['log'];
}

export interface EventFiles {
  readonly gauges: () => { readonly copiesRunning: number; readonly copiesWaiting: number };
  /** Counts of all nodes; undefined while the database is away. */
  readonly backlog: () => Promise<{ readonly pendingCopies: number } | undefined>;
  start(): void;
  stop(): Promise<void>;
}

const BACKLOG_KEPT_MS = 2000;

export function createEventFiles(options: EventFilesOptions): EventFiles {
  const { storage, operations, memoryBytes, watcher, retry, log } = options;
  const { connections, locks } = storage;
  const { copies, events, folders, queue } = storage.watching;
  const engine = new FileEngine(operations, memoryBytes);
  const copier = new RouteCopier({
    copies,
    events,
    folders,
    connections,
    operations,
    engine,
    locks,
    queue,
    retry,
    log,
  });
  const timeoutMs = watcher.checkTimeoutMs;
  const after = new AfterDelivery({ events, folders, connections, operations, queue, timeoutMs, log });
  return {
    gauges: () => ({ copiesRunning: copier.gauge.running, copiesWaiting: copier.gauge.waiting }),
    backlog: keptAnswer(BACKLOG_KEPT_MS, () =>
      copies.countWaiting().then(
        (pendingCopies) => ({ pendingCopies }),
        () => undefined,
      ),
    ),
    start: () => {
      copier.start();
      after.start();
    },
    stop: async () => {
      await Promise.all([copier.stop(), after.stop()]);
    },
  };
}
