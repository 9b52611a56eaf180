/** The parts of watched folders, put together: checks, deliveries and what follows them, started and stopped as one. */
import type { Config } from '../config/schema.js';
import type { Budget } from '../budgets/budget.js';
import type { Leftovers } from '../remotes/leftovers.js';
import type { Dialer } from '../remotes/dial/dial.js';
import type { Connection } from '../connections/connection.js';
import type { Operations } from '../operations/operation.js';
import { PASSING_ON, type Tracer } from '../base/span.js';
import type {
  RouteCopies,
  Storage,
  StorageOptions,
  WatchedFolders,
  WatchStorage,
  WebhookEvents,
} from '../storage/storage.js';
import { type AttemptFacts, Deliverer } from '../events/deliver.js';
import { createSender, type Sender } from '../events/send.js';
import { Sequencer } from '../events/sequencer.js';
import { AfterDelivery } from './after-delivery.js';
import { FolderChecks } from './check.js';
import { FolderLooks } from './look.js';
import { RouteCopier } from './route-copies.js';
import { Scheduler, type CheckFacts } from './scheduler.js';
import { WatchService } from './service.js';

interface WatchingOptions {
  readonly storage: Pick<Storage, 'connections' | 'locks' | 'history'> & { readonly watching: WatchStorage };
  readonly operations: Operations;
  /** What the streams of all operations may hold together. */
  readonly memoryBytes: Budget;
  readonly dialer: Dialer;
  readonly watcher: Config['watcher'];
  readonly webhooks: Config['webhooks'];
  readonly events: Config['events'];
  readonly requireHttps: boolean;
  /** Files that one check reports; absent = as many as documented. */
  readonly maxReports?: number;
  /** Of the tries to deliver; absent = none. */
  readonly tracer?: Tracer;
  readonly log: StorageOptions['log'];
  onCheck(facts: CheckFacts): void;
  onAttempt(facts: AttemptFacts): void;
}

export interface Watching {
  readonly service: WatchService;
  /** Ends with `stop`. */
  readonly sender: Sender;
  readonly gauges: () => WatchGauges;
  /** What waits and what fails on all nodes; undefined while the database cannot tell. */
  readonly backlog: () => Promise<WatchBacklog | undefined>;
  start(): void;
  stop(): Promise<void>;
}

interface WatchGauges {
  readonly checksRunning: number;
  readonly checksWaiting: number;
  readonly copiesRunning: number;
  readonly copiesWaiting: number;
  readonly deliveriesRunning: number;
  readonly deliveriesWaiting: number;
}

interface WatchBacklog {
  readonly failingFolders: number;
  readonly pendingEvents: number;
  readonly deadEvents: number;
  readonly pendingCopies: number;
}

/** Many gauges ask at once, and scrapers ask often. */
const BACKLOG_FRESH_MS = 2000;

export function createWatching(options: WatchingOptions): Watching {
  const { storage, operations, dialer, watcher, webhooks, requireHttps, log } = options;
  const {
    folders,
    files,
    secrets,
    accountSecret,
    webhooks: receivers,
    events,
    feeds,
    numbers,
    copies,
    queue,
    agenda,
  } = storage.watching;
  const { remotes } = operations;
  const leftovers = (connection: Connection): Leftovers => operations.leftoversOf(connection);
  const { connections, locks, history } = storage;
  const looks = new FolderLooks({
    files,
    remotes,
    leftovers,
    settleMs: watcher.settleMs,
    timeoutMs: watcher.checkTimeoutMs,
    skipNames: watcher.skipNames,
    filesPerAccount: watcher.filesPerAccount,
    ...(options.maxReports === undefined ? {} : { maxReports: options.maxReports }),
  });
  const checks = new FolderChecks({ folders, looks, files, connections, locks, limits: webhooks });
  const after = new AfterDelivery({
    events,
    folders,
    connections,
    history,
    remotes,
    leftovers,
    queue,
    log,
    timeoutMs: watcher.checkTimeoutMs,
  });
  const sender = createSender({ dialer, timeoutMs: webhooks.timeoutMs, requireHttps });
  const deliverer = new Deliverer({
    events,
    perAccount: options.events.perAccount,
    folders,
    secrets,
    accountSecret,
    webhooks: receivers,
    queue,
    sender,
    concurrency: webhooks.concurrency,
    retryMs: webhooks.retryMs,
    tracer: options.tracer ?? PASSING_ON,
    log,
    onAttempt: (facts) => options.onAttempt(facts),
    onAfterDelivery: () => after.wake(),
  });
  const sequencer = new Sequencer({ feeds, numbers, agenda, ...options.events, log });
  // What has its number has its deliveries.
  feeds.on('numbered', () => deliverer.wake());
  const copier = new RouteCopier({
    copies,
    events,
    folders,
    connections,
    operations,
    locks,
    queue,
    log,
    memoryBytes: options.memoryBytes,
    retryMs: webhooks.retryMs,
    onSettled: () => after.wake(),
  });
  const scheduler = new Scheduler({
    folders,
    queue,
    agenda,
    checks,
    concurrency: watcher.concurrency,
    perHostConcurrency: watcher.perHostConcurrency,
    log,
    onEvents: () => copier.wake(),
    onCheck: (facts) => options.onCheck(facts),
  });
  const service = new WatchService({
    storage: storage.watching,
    connections,
    remotes,
    leftovers,
    locks,
    dialer,
    looks,
    skipNames: watcher.skipNames,
    requireHttps,
    wake: () => {
      scheduler.wake();
      deliverer.wake();
    },
  });
  return {
    service,
    sender,
    gauges: () => ({
      checksRunning: scheduler.gauge.running,
      checksWaiting: scheduler.gauge.waiting,
      copiesRunning: copier.gauge.running,
      copiesWaiting: copier.gauge.waiting,
      deliveriesRunning: deliverer.gauge.running,
      deliveriesWaiting: deliverer.gauge.waiting,
    }),
    backlog: backlogOf(folders, events, copies),
    start: () => {
      scheduler.start();
      copier.start();
      sequencer.start();
      deliverer.start();
      after.start();
    },
    stop: async () => {
      // Checks first: what they still commit is delivered by whoever comes next.
      await scheduler.stop();
      await Promise.all([copier.stop(), sequencer.stop(), deliverer.stop(), after.stop()]);
    },
  };
}

function backlogOf(
  folders: WatchedFolders,
  events: WebhookEvents,
  copies: RouteCopies,
): () => Promise<WatchBacklog | undefined> {
  let asked: { readonly at: number; readonly answer: Promise<WatchBacklog | undefined> } | undefined;
  return () => {
    if (asked === undefined || Date.now() - asked.at > BACKLOG_FRESH_MS) {
      const answer = Promise.all([folders.countFailing(), events.counts(), copies.countWaiting()]).then(
        ([failingFolders, { pending, dead }, pendingCopies]) => ({
          failingFolders,
          pendingEvents: pending,
          deadEvents: dead,
          pendingCopies,
        }),
        () => undefined,
      );
      asked = { at: Date.now(), answer };
    }
    return asked.answer;
  };
}
