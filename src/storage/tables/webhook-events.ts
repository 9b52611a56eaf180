/** The outbox of webhooks: events, tries, and what follows a delivery. */
import { uuidv7 } from '../../base/uuid.js';
import type { JobSender, NewJob } from '../cluster/jobs.js';
import { firstIdAt, idsAt } from '../postgres/clock.js';
import type { Database } from '../postgres/database.js';
import { type Queryable, storable, type Transaction } from '../postgres/sql.js';
import { copiesOf, type CopyingEvent, insertCopies, type NewCopy, type RouteCopy } from './route-copies.js';

/** A file as it was when it was reported. */
export interface DeliveredFile {
  readonly path: string;
  readonly size: number;
  readonly modifiedMs: number;
  /** The store's own tag, where it has one. */
  readonly etag?: string;
  /** Whether a file that replaced it would show; absent in events of version 1.0. */
  readonly isExact?: boolean;
}

export interface NewEvent {
  /** UUIDv7; the `webhook-id` of every try. */
  readonly id: string;
  readonly type: string;
  readonly body: string;
  readonly fileCount: number;
  /** What is moved or deleted after the delivery; empty = kept. */
  readonly files: readonly DeliveredFile[];
  /** Of each of its files, where they are copied before anybody is told of them. */
  readonly copies?: readonly NewCopy[];
  readonly createdAt: Date;
}

export type EventState = 'pending' | 'delivered' | 'dead' | 'cancelled';

export interface WebhookEvent {
  readonly id: string;
  /** null of a job's. */
  readonly folderId: string | null;
  readonly jobId: string | null;
  /** Of a job's; a folder has its own. */
  readonly webhookUrl: string | null;
  readonly accountId: string;
  readonly type: string;
  readonly body: string;
  readonly fileCount: number;
  readonly files: readonly DeliveredFile[];
  readonly state: EventState;
  readonly attempts: number;
  readonly nextAttemptAt: Date | null;
  /** Nothing is sent while copies are pending. */
  readonly copyState: 'none' | 'pending' | 'done';
  readonly copiesFailed: number;
  readonly afterAction: 'none' | 'pending' | 'done';
  readonly deliveredAt: Date | null;
  readonly createdAt: Date;
  /** When this was read, by the database's clock. */
  readonly readAt: Date;
}

export interface NewAttempt {
  readonly startedAt: Date;
  readonly durationMs: number;
  /** Of the answer; null when there was none. */
  readonly status: number | null;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  /** The first 4 kB. */
  readonly answer: string | null;
}

export interface Attempt extends NewAttempt {
  readonly id: string;
}

/** What a try led to. `gone`: the receiver wants nothing of this folder any more (410). */
export type AttemptVerdict =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'retry'; readonly at: Date }
  | { readonly kind: 'dead' }
  | { readonly kind: 'gone' };

export interface EventFilter {
  readonly folderId?: string;
  readonly state?: EventState;
  readonly limit: number;
  readonly offset: number;
}

/** Events that should have been tried this long ago and were not have lost their job, whatever the cause. */
const FORGOTTEN_AFTER_SECONDS = 60;
const RECOVER_AT_ONCE = 1000;
const KEPT_DAYS = 30;
const DAY_MS = 86_400_000;
const PURGE_AT_ONCE = 1000;

export class WebhookEvents {
  constructor(
    private readonly database: Database,
    private readonly jobs: JobSender,
    private readonly folders: {
      endDeliveries(tx: Transaction, folderId: string, areEnded: boolean): Promise<void>;
    },
  ) {}

  async find(id: string): Promise<WebhookEvent | undefined> {
    return this.database.first<WebhookEvent>`select ${columns} from webhook_events where id = ${id}`;
  }

  /** Asked with the account, so that another one's event takes no longer than one that never was. */
  async findOf(accountId: string, id: string): Promise<WebhookEvent | undefined> {
    return this.database.first<WebhookEvent>`
      select ${columns} from webhook_events where id = ${id} and account_id = ${accountId}`;
  }

  async list(accountId: string, filter: EventFilter): Promise<readonly WebhookEvent[]> {
    const { folderId, state, limit, offset } = filter;
    return this.database.run(
      (sql) => sql<WebhookEvent[]>`
        select ${columns(sql)} from webhook_events
        where account_id = ${accountId}
          and ${folderId === undefined ? sql`true` : sql`folder_id = ${folderId}`}
          and ${state === undefined ? sql`true` : sql`state = ${state}`}
        order by id desc limit ${limit} offset ${offset}`,
    );
  }

  async attempts(eventId: string): Promise<readonly Attempt[]> {
    return this.database.all<Attempt>`
      select id, started_at as "startedAt", duration_ms as "durationMs", status, error_code as "errorCode",
        error_message as "errorMessage", answer
      from webhook_attempts where event_id = ${eventId} order by id`;
  }

  /** Stores a try and what follows from it. */
  async record(event: WebhookEvent, attempt: NewAttempt, verdict: AttemptVerdict): Promise<void> {
    await this.database.transaction(async (tx) => {
      await tx`
        insert into webhook_attempts (id, event_id, started_at, duration_ms, status, error_code, error_message, answer)
        select ${idsAt(attempt.startedAt)()}, id, ${attempt.startedAt}, ${attempt.durationMs}, ${attempt.status}, ${attempt.errorCode},
          ${storable(attempt.errorMessage)}, ${storable(attempt.answer)}
        from webhook_events where id = ${event.id}`;
      const isDelivered = verdict.kind === 'delivered';
      const state = { delivered: 'delivered', retry: 'pending', dead: 'dead', gone: 'cancelled' }[verdict.kind];
      const hasAfter = isDelivered && event.files.length > 0 && event.afterAction === 'none';
      // A folder deleted meanwhile has cancelled the event: that stands, unless it arrived after all.
      const rows = await tx`
        update webhook_events set attempts = attempts + 1, state = ${state},
          next_attempt_at = ${verdict.kind === 'retry' ? verdict.at : null},
          delivered_at = case when ${isDelivered} then now() end,
          after_action = case when ${hasAfter} then 'pending' else after_action end
        where id = ${event.id} and (state = 'pending' or ${isDelivered})`;
      if (rows.count === 0) return;
      if (hasAfter) await sendAfter(tx, this.jobs, event);
      if (verdict.kind !== 'gone' || event.folderId === null) return;
      await this.folders.endDeliveries(tx, event.folderId, true);
      await cancelDeliveries(tx, event.folderId);
    });
  }

  /**
   * Sends an event again, under its old id and with a fresh row of tries; a folder that had ended its deliveries takes
   * them up again. False when it is still under way.
   */
  async replay(event: WebhookEvent, group: string): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      const rows = await tx`
        update webhook_events set state = 'pending', attempts = 0, replays = replays + 1, next_attempt_at = now()
        where id = ${event.id} and state <> 'pending'`;
      if (rows.count === 0) return false;
      if (event.folderId !== null) await this.folders.endDeliveries(tx, event.folderId, false);
      await this.jobs.send('webhook-delivery', [{ key: event.id, account: event.accountId, group, data: {} }], tx);
      return true;
    });
  }

  /** Some copies of an event wait for another round, which begins then. */
  async postponeCopies(id: string, until: Date): Promise<void> {
    await this.database.all`
      update webhook_events set copy_rounds = copy_rounds + 1, next_attempt_at = ${until}
      where id = ${id} and state = 'pending' and copy_state = 'pending'`;
  }

  /**
   * All copies of an event have ended: it goes on its way, with the body that `rewrite` makes. What was not copied is
   * neither moved nor deleted afterwards. Where there is no webhook to be told, that follows at once.
   */
  async settleCopies(
    event: CopyingEvent,
    rewrite: (body: string, copies: readonly RouteCopy[]) => string,
  ): Promise<void> {
    await this.database.transaction(async (tx) => {
      // The folder before its events, as whoever changes it.
      const [folder] = await tx<{ webhookUrl: string | null; areEnded: boolean }[]>`
        select webhook_url as "webhookUrl", deliveries_ended_at is not null as "areEnded" from watched_folders
        where id = ${event.folderId} and deleted_at is null for share`;
      const [row] = await tx<Pick<WebhookEvent, 'body' | 'files'>[]>`
        select body, files from webhook_events
        where id = ${event.id} and state = 'pending' and copy_state = 'pending' for update`;
      if (folder === undefined || row === undefined) return;
      const copies = await copiesOf(tx, event.id);
      const copied = new Set(copies.filter(({ state }) => state === 'done').map(({ path }) => path));
      const files = row.files.filter(({ path }) => copied.has(path));
      const isTold = folder.webhookUrl === null;
      const state: EventState = isTold ? 'delivered' : folder.areEnded ? 'cancelled' : 'pending';
      const hasAfter = isTold && files.length > 0;
      await tx`
        update webhook_events set body = ${rewrite(row.body, copies)}, files = ${tx.json(files as never)},
          copy_state = 'done', copies_failed = ${copies.filter((copy) => copy.state === 'failed').length},
          state = ${state}, next_attempt_at = case when ${state === 'pending'} then now() end,
          delivered_at = case when ${isTold} then now() end,
          after_action = case when ${hasAfter} then 'pending' else after_action end
        where id = ${event.id}`;
      if (hasAfter) await sendAfter(tx, this.jobs, event);
      if (state !== 'pending') return;
      const job = { key: event.id, account: event.accountId, group: targetGroup(folder.webhookUrl), data: {} };
      await this.jobs.send('webhook-delivery', [job], tx);
    });
  }

  async finishAfter(id: string): Promise<void> {
    await this.database.all`update webhook_events set after_action = 'done' where id = ${id}`;
  }

  /** Puts an event of its own into the outbox (a test). */
  async add(folder: EventOwner, event: NewEvent): Promise<void> {
    await this.database.transaction((tx) => insertEvents(tx, this.jobs, folder, [event]));
  }

  /** Gives every event that waits for longer than it should a job again; one that has its job keeps it. */
  async recoverForgotten(): Promise<number> {
    return this.database.transaction(async (tx) => {
      const late = `${FORGOTTEN_AFTER_SECONDS} seconds`;
      const events = await tx<{ id: string; account: string; url: string | null }[]>`
        select e.id, e.account_id as account, coalesce(e.webhook_url, f.webhook_url) as url
        from webhook_events e left join watched_folders f on f.id = e.folder_id
        where e.state = 'pending' and e.copy_state <> 'pending' and e.next_attempt_at < now() - ${late}::interval
        order by e.next_attempt_at limit ${RECOVER_AT_ONCE}`;
      const jobs = events.map(({ id, account, url }) => ({ key: id, account, group: targetGroup(url), data: {} }));
      const taken = await this.jobs.send('webhook-delivery', jobs, tx);
      const after = await tx<{ key: string; account: string; group: string }[]>`
        select id as key, account_id as account, folder_id as "group" from webhook_events
        where after_action = 'pending' and delivered_at < now() - ${late}::interval
        order by delivered_at limit ${RECOVER_AT_ONCE}`;
      const actions = after.map((job) => ({ ...job, data: {} }));
      const copying = await tx<{ key: string; account: string; group: string }[]>`
        select id as key, account_id as account, folder_id as "group" from webhook_events
        where state = 'pending' and copy_state = 'pending' and next_attempt_at < now() - ${late}::interval
        order by next_attempt_at limit ${RECOVER_AT_ONCE}`;
      const copies = copying.map((job) => ({ ...job, data: {} }));
      const sent = [
        await this.jobs.send('after-delivery', actions, tx),
        await this.jobs.send('route-copy', copies, tx),
      ];
      return sent.reduce((sum, { size }) => sum + size, taken.size);
    });
  }

  /** Deletes events that ended long ago, with their tries; dead letters stay. Resolves to how many. */
  async purge(): Promise<number> {
    const before = firstIdAt(new Date(Date.now() - KEPT_DAYS * DAY_MS));
    const rows = await this.database.all`
      delete from webhook_events where id in (
        select id from webhook_events
        where id < ${before} and state in ('delivered', 'cancelled') and after_action <> 'pending' limit ${PURGE_AT_ONCE})`;
    return rows.count;
  }

  /** Events by state, for the metrics: those that wait and those given up. */
  async counts(): Promise<{ readonly pending: number; readonly dead: number }> {
    const row = await this.database.first<{ pending: number; dead: number }>`
      select count(*) filter (where state = 'pending') as pending, count(*) filter (where state = 'dead') as dead
      from webhook_events where state in ('pending', 'dead')`;
    return row ?? { pending: 0, dead: 0 };
  }
}

export interface EventOwner {
  readonly id: string;
  readonly accountId: string;
  readonly webhookUrl: string | null;
}

/** Events and the jobs that deliver them, as part of the transaction that they belong to. */
export async function insertEvents(
  tx: Transaction,
  jobs: JobSender,
  folder: EventOwner,
  events: readonly NewEvent[],
): Promise<void> {
  for (const { id, type, body, fileCount, files, copies = [], createdAt } of events) {
    await tx`
      insert into webhook_events (id, folder_id, account_id, type, body, file_count, files, state, next_attempt_at,
        copy_state, created_at)
      values (${id}, ${folder.id}, ${folder.accountId}, ${type}, ${body}, ${fileCount}, ${tx.json(files as never)},
        'pending', now(), ${copies.length > 0 ? 'pending' : 'none'}, ${createdAt})`;
    if (copies.length > 0) await insertCopies(tx, id, copies);
  }
  const jobsOf = (own: readonly NewEvent[], group: string): readonly NewJob[] =>
    own.map(({ id }) => ({ key: id, account: folder.accountId, group, data: {} }));
  const isCopied = ({ copies = [] }: NewEvent): boolean => copies.length > 0;
  await jobs.send('route-copy', jobsOf(events.filter(isCopied), folder.id), tx);
  const others = events.filter((event) => !isCopied(event));
  await jobs.send('webhook-delivery', jobsOf(others, targetGroup(folder.webhookUrl)), tx);
}

/** The same of a job that has ended. */
export async function insertJobEvent(
  tx: Transaction,
  queue: JobSender,
  { id: jobId, accountId, webhookUrl }: EventOwner & { readonly webhookUrl: string },
  { type, body }: Pick<NewEvent, 'type' | 'body'>,
): Promise<void> {
  const id = uuidv7();
  await tx`
    insert into webhook_events (id, job_id, webhook_url, account_id, type, body, file_count, state, next_attempt_at,
      created_at)
    values (${id}, ${jobId}, ${webhookUrl}, ${accountId}, ${type}, ${body}, 0, 'pending', now(), now())`;
  await queue.send('webhook-delivery', [{ key: id, account: accountId, group: targetGroup(webhookUrl), data: {} }], tx);
}

/** What waits for delivery is not delivered any more; what is being copied still is. */
export async function cancelDeliveries(tx: Transaction, folderId: string): Promise<void> {
  await tx`
    update webhook_events set state = 'cancelled', next_attempt_at = null
    where folder_id = ${folderId} and state = 'pending' and copy_state <> 'pending'`;
}

/** Copies that wait for another round are to be tried at once, as those of a new event. */
export async function hastenCopies(tx: Transaction, queue: JobSender, folderId: string): Promise<void> {
  const events = await tx<{ key: string; account: string; group: string }[]>`
    update webhook_events set copy_rounds = 0, next_attempt_at = now()
    where folder_id = ${folderId} and state = 'pending' and copy_state = 'pending'
    returning id as key, account_id as account, folder_id as "group"`;
  const jobs = events.map((event) => ({ ...event, data: {} }));
  await queue.hasten('route-copy', jobs, tx);
}

/** Neither is anything copied any more. */
export async function cancelEvents(tx: Transaction, folderId: string): Promise<void> {
  await tx`
    update webhook_events set state = 'cancelled', next_attempt_at = null
    where folder_id = ${folderId} and state = 'pending'`;
}

/** Takes away up to `limit` of a folder; resolves to how many. */
export async function purgeEvents(tx: Transaction, folderId: string, limit: number): Promise<number> {
  const { count } = await tx`
    delete from webhook_events where id in (select id from webhook_events where folder_id = ${folderId} limit ${limit})`;
  return count;
}

async function sendAfter(
  tx: Transaction,
  jobs: JobSender,
  event: Pick<WebhookEvent, 'id' | 'accountId' | 'folderId'>,
): Promise<void> {
  await jobs.send(
    'after-delivery',
    [{ key: event.id, account: event.accountId, group: event.folderId ?? '', data: {} }],
    tx,
  );
}

export interface WebhookTarget {
  readonly url: string;
  readonly login: string | undefined;
}

/** A URL and what stood before its `@`. */
export function withoutLogin(text: string): WebhookTarget {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.username === '' && url.password === '')) return { url: text, login: undefined };
  const login = `${url.username}:${url.password}`;
  url.username = '';
  url.password = '';
  return { url: url.href, login };
}

export function withLogin(text: string, login: string | undefined): string {
  if (login === undefined) return text;
  const url = new URL(text);
  const colon = login.indexOf(':');
  url.username = login.slice(0, colon);
  url.password = login.slice(colon + 1);
  return url.href;
}

/** The receiver that an event's delivery shares with others: scheme, host and port. */
export function targetGroup(url: string | null): string {
  return url !== null && URL.canParse(url) ? new URL(url).origin : '';
}

function columns(sql: Queryable) {
  return sql`
    id, folder_id as "folderId", job_id as "jobId", webhook_url as "webhookUrl", account_id as "accountId", type, body, file_count as "fileCount", files, state,
    attempts, next_attempt_at as "nextAttemptAt", copy_state as "copyState", copies_failed as "copiesFailed",
    after_action as "afterAction", delivered_at as "deliveredAt",
    created_at as "createdAt", now() as "readAt"`;
}
