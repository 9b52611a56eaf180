/** The part for the files of detections: their copies before the delivery, moves or deletions after it. */
import type { Budget } from '../budgets/budget.js';
import { keptBacklog } from '../base/kept-answer.js';
import type { RetrySchedule } from '../base/retry-schedule.js';
import type { Operations } from '../operations/operation.js';
import type { Storage, StorageOptions, WatchStorage } from '../storage/storage.js';
import { afterDelivery } from './after-delivery.js';
import { stageWorker } from './event-stage.js';
import { FileEngine } from './file-engine.js';
import { routeCopies } from './route-copies.js';

interface EventFilesOptions {
  readonly storage: Pick<Storage, 'connections' | 'locks'> & { readonly watching: WatchStorage };
  readonly operations: Operations;
  /** Shared by the streams of all operations. */
  readonly memoryBytes: Budget;
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

export function createEventFiles(options: EventFilesOptions): EventFiles {
  const { storage, operations, memoryBytes, retry, log } = options;
  const { connections, locks } = storage;
  const { copies, events, folders, queue } = storage.watching;
  const engine = new FileEngine(operations, memoryBytes);
  const shared = { folders, locks, queue, log };
  const copying = stageWorker(routeCopies({ copies, events, folders, connections, operations, engine, retry }), shared);
  const workers = [copying, stageWorker(afterDelivery({ events, connections, engine }), shared)];
  return {
    gauges: () => ({ copiesRunning: copying.gauge.running, copiesWaiting: copying.gauge.waiting }),
    backlog: keptBacklog(async () => ({ pendingCopies: await copies.countWaiting() })),
    start: () => workers.forEach((worker) => worker.start()),
    stop: async () => {
      await Promise.all(workers.map((worker) => worker.stop(0)));
    },
  };
}
