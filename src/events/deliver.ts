/** Delivers events to receivers: at least once, in no order, and stores each attempt. */
import { type GatewayError, toGatewayError } from '../base/errors.js';
import { Periodic } from '../base/periodic.js';
import { parseRetryAfter, type RetrySchedule } from '../base/retry-schedule.js';
import type { Span, SpanAttributes, Tracer } from '../base/span.js';
import {
  type AttemptVerdict,
  type ClaimedTask,
  clockAt,
  type EventStorage,
  type FolderSecrets,
  type TaskOutcome,
  QueueWorker,
  type StorageOptions,
  type WatchedFolders,
  withLogin,
} from '../storage/storage.js';
import type { OutgoingDelivery } from '../contract/delivery.js';
import type { Webhook } from '../contract/webhook.js';
import { inFormat } from './format.js';
import type { Sender } from './send.js';
import { type Tried, trySending } from './try.js';
import { verdictOf } from './verdict.js';

interface DelivererOptions extends Pick<EventStorage, 'accountSecret' | 'outgoing' | 'queue' | 'webhooks'> {
  /** The number of ended deliveries that are kept for each account. */
  readonly perAccount: number;
  readonly folders: Pick<WatchedFolders, 'findForDelivery'>;
  readonly secrets: Pick<FolderSecrets, 'current' | 'login'>;
  readonly sender: Sender;
  readonly concurrency: number;
  readonly retry: RetrySchedule;
  readonly tracer: Tracer;
  readonly log: StorageOptions['log'];
  onAttempt(facts: AttemptFacts): void;
}

export interface AttemptFacts {
  readonly event: OutgoingDelivery;
  readonly verdict: AttemptVerdict['kind'];
  readonly status: number | undefined;
  readonly durationMs: number;
  /** From the detection to this attempt. */
  readonly ageMs: number;
  readonly error: GatewayError | undefined;
  readonly traceId: string | undefined;
}

/** The receiver of a delivery. Only webhooks choose a format. */
interface DeliveryTarget {
  readonly url: string;
  readonly secrets: readonly string[];
  readonly format?: Webhook['format'];
}

/** The most concurrent requests to one receiver on this node. */
const PER_TARGET = 4;
const RECOVER_EVERY_MS = 30_000;
/** Rounds of recovery between two deletions of surplus deliveries. */
const COUNT_EVERY_ROUNDS = 10;
/** Attempts that are running when the gateway stops may still succeed. */
const STOP_GRACE_MS = 5000;

export class Deliverer {
  readonly #options: DelivererOptions;
  readonly #worker: QueueWorker;
  readonly #recovering = new Periodic(() => this.#recover(), RECOVER_EVERY_MS);
  #rounds = 0;
  #isStopped = false;

  constructor(options: DelivererOptions) {
    this.#options = options;
    const { queue, concurrency, log } = options;
    this.#worker = new QueueWorker({
      claims: queue,
      queue: 'webhook-delivery',
      concurrency,
      // A slow receiver takes at most a quarter of the attempts.
      groupConcurrency: Math.max(1, Math.min(PER_TARGET, concurrency >> 2)),
      run: (task, signal, worked) => this.#deliver(task, signal, worked),
      log,
    });
  }

  get gauge(): QueueWorker['gauge'] {
    return this.#worker.gauge;
  }

  start(): void {
    this.#worker.start();
    this.#recovering.start();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all([this.#worker.stop(STOP_GRACE_MS), this.#recovering.stop()]);
    this.#options.sender.close();
  }

  async #recover(): Promise<void> {
    const { outgoing, webhooks, perAccount, log } = this.#options;
    try {
      const recovered = await outgoing.recoverForgotten();
      if (recovered > 0) log('warn', 'webhook events had lost their task and are sent now', { events: recovered });
      while (!this.#isStopped && (await outgoing.purge()));
      if (this.#rounds++ % COUNT_EVERY_ROUNDS === 0) {
        while (!this.#isStopped && (await outgoing.purgeSurplus(perAccount)));
      }
      await webhooks.purgeDeleted();
    } catch (error) {
      log('debug', 'looking after the events failed', { reason: toGatewayError(error).message });
    }
  }

  async #deliver(task: ClaimedTask, signal: AbortSignal, worked: () => void): Promise<TaskOutcome> {
    const event = await this.#options.outgoing.find(task.key);
    if (event === undefined || event.state !== 'pending') return 'done';
    // A node recorded the attempt, and died before it postponed the task.
    if (event.nextAttemptAt !== null && event.nextAttemptAt > event.readAt) {
      return { again: event.nextAttemptAt };
    }
    const target = await this.#targetOf(event);
    if (target !== undefined) return this.#try(event, target, signal, worked);
    await this.#options.outgoing.cancel(event.id);
    return 'done';
  }

  /** undefined = the receiver has been removed. */
  async #targetOf({
    watchedFolderId,
    webhookId,
    webhookUrl,
    accountId,
  }: OutgoingDelivery): Promise<DeliveryTarget | undefined> {
    const { folders, secrets, accountSecret, webhooks } = this.#options;
    if (webhookId !== null) return webhooks.targetOf(webhookId);
    if (watchedFolderId === null) {
      return webhookUrl === null ? undefined : { url: webhookUrl, secrets: await accountSecret.current(accountId) };
    }
    const folder = await folders.findForDelivery(watchedFolderId);
    if (folder === undefined || folder.webhookUrl === null) return undefined;
    const url = withLogin(folder.webhookUrl, await secrets.login(watchedFolderId));
    return { url, secrets: await secrets.current(watchedFolderId) };
  }

  async #try(
    event: OutgoingDelivery,
    { url, secrets, format = 'standard' }: DeliveryTarget,
    signal: AbortSignal,
    worked: () => void,
  ): Promise<TaskOutcome> {
    const { outgoing, sender, retry, tracer } = this.#options;
    const span = tracer.begin('POST', { kind: 'client', attributes: attributesOf(event, url) });
    const clock = clockAt(event.readAt);
    const startedAt = clock.now();
    const { eventId: id, accountId: owner } = event;
    const formatted = inFormat(format, event.body, owner);
    const message = { id, ...formatted, url, secrets, owner, startedAt, headers: span.headers };
    let tried: Tried;
    try {
      tried = await trySending(sender, message, signal);
    } catch (thrown) {
      // The gateway is stopping: this does not count as an attempt.
      span.end({ error: toGatewayError(thrown).code });
      throw thrown;
    }
    // The receiver is free for the next request while the database stores this one.
    worked();
    const { attempt, error } = tried;
    const { status, durationMs } = attempt;
    const now = clock.earliestMs();
    endSpan(span, status, error);
    const answer = { status, retryAfterMs: parseRetryAfter(tried.retryAfter, now) };
    const verdict = verdictOf(answer, event.attempts + 1, retry, now);
    await outgoing.record(event, attempt, verdict);
    this.#options.onAttempt({
      event,
      verdict: verdict.kind,
      status: status ?? undefined,
      durationMs,
      ageMs: startedAt.getTime() - event.createdAt.getTime(),
      error,
      traceId: span.traceId,
    });
    return verdict.kind === 'retry' ? { again: verdict.at } : 'done';
  }
}

/** Without the path and the query of the URL: they may contain secrets of the receiver. */
function attributesOf(event: OutgoingDelivery, url: string): SpanAttributes {
  const target = URL.canParse(url) ? new URL(url) : undefined;
  return {
    'http.request.method': 'POST',
    'server.address': target?.hostname,
    'server.port': target === undefined ? undefined : Number(target.port || (target.protocol === 'https:' ? 443 : 80)),
    'http.request.resend_count': event.attempts === 0 ? undefined : event.attempts,
    'ftg.webhook.event.id': event.eventId,
    'ftg.webhook.event.type': event.type,
    'ftg.watched_folder.id': event.watchedFolderId ?? undefined,
    'ftg.job.id': event.jobId ?? undefined,
    'ftg.webhook.id': event.webhookId ?? undefined,
  };
}

function endSpan(span: Span, status: number | null, error: GatewayError | undefined): void {
  const isRefused = status !== null && status >= 400;
  const code = error?.code ?? (isRefused ? String(status) : undefined);
  span.end({ error: code, attributes: { 'http.response.status_code': status ?? undefined } });
}
