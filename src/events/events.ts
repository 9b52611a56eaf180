/** The part of events: numbers them, delivers them, shows the feed, and keeps the webhooks that subscribe to them. */
import { keptBacklog } from '../base/kept-answer.js';
import type { RetrySchedule } from '../base/retry-schedule.js';
import { PASSING_ON, type Tracer } from '../base/span.js';
import type { Config } from '../config/schema.js';
import type { Dialer } from '../remotes/dial/dial.js';
import type { Storage, StorageOptions } from '../storage/storage.js';
import { type AttemptFacts, Deliverer } from './deliver.js';
import { DeliveryService } from './deliveries.js';
import { FeedReaders } from './feed-readers.js';
import { createSender } from './send.js';
import { Sequencer } from './sequencer.js';
import { Subscriptions } from './subscriptions.js';
import { type CheckTarget, checkTarget } from './target.js';
import { scheduleOf } from './verdict.js';

interface EventsOptions {
  readonly storage: Pick<Storage, 'connections' | 'events' | 'watching'>;
  readonly dialer: Pick<Dialer, 'agents' | 'check'>;
  readonly events: Config['events'];
  readonly webhooks: Config['webhooks'];
  readonly requireHttps: boolean;
  /** For the attempts; absent = none. */
  readonly tracer?: Tracer;
  readonly log: StorageOptions['log'];
  onAttempt(facts: AttemptFacts): void;
}

export interface EventsPart {
  readonly readers: FeedReaders;
  readonly subscriptions: Subscriptions;
  readonly deliveries: DeliveryService;
  readonly checkTarget: CheckTarget;
  /** When failed deliveries are tried again, and work on which a delivery waits. */
  readonly retry: RetrySchedule;
  readonly gauges: () => EventsGauges;
  /** For all nodes; undefined while the database does not answer. */
  readonly backlog: () => Promise<EventsBacklog | undefined>;
  /** Also without it, the events of this thread get their numbers. */
  start(): void;
  stop(): Promise<void>;
}

export interface EventsGauges {
  readonly deliveriesRunning: number;
  readonly deliveriesWaiting: number;
}

interface EventsBacklog {
  readonly pendingEvents: number;
  readonly deadEvents: number;
}

export function createEvents(options: EventsOptions): EventsPart {
  const { storage, dialer, events, webhooks, requireHttps, log } = options;
  const { feeds, outgoing, webhooks: rows } = storage.events;
  const { folders, secrets, copies } = storage.watching;
  const retry = scheduleOf(webhooks.retryMs);
  const check: CheckTarget = (url, owner, signal, field) =>
    checkTarget({ dialer, requireHttps }, url, { owner, signal, field });
  const sender = createSender({ dialer, timeoutMs: webhooks.timeoutMs, requireHttps });
  const sequencer = new Sequencer({ ...storage.events, ...events, log });
  const deliverer = new Deliverer({
    ...storage.events,
    perAccount: events.perAccount,
    folders,
    secrets,
    sender,
    concurrency: webhooks.concurrency,
    retry,
    tracer: options.tracer ?? PASSING_ON,
    log,
    onAttempt: (facts) => options.onAttempt(facts),
  });
  return {
    readers: new FeedReaders({ feeds, log }),
    subscriptions: new Subscriptions({
      rows,
      connections: storage.connections,
      most: webhooks.perAccount,
      checkTarget: check,
      sender,
    }),
    deliveries: new DeliveryService({ ...storage.events, folders, copies }),
    checkTarget: check,
    retry,
    gauges: () => ({ deliveriesRunning: deliverer.gauge.running, deliveriesWaiting: deliverer.gauge.waiting }),
    backlog: keptBacklog(async () => {
      const { pending, dead } = await outgoing.counts();
      return { pendingEvents: pending, deadEvents: dead };
    }),
    start: () => {
      sequencer.start();
      deliverer.start();
    },
    stop: async () => {
      await Promise.all([sequencer.stop(), deliverer.stop()]);
    },
  };
}
