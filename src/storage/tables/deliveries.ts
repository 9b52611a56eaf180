/** Deliveries for the owner of an account: filtered lists, the state of receivers, and replays of many at once. */
import type { QueueSender } from '../queue/queue.js';
import type { Database } from '../postgres/database.js';
import {
  type Delivery,
  type DeliveryDetail,
  deliveryFields,
  type DeliveryState,
  type Receiver,
} from '../../contract/delivery.js';
import { columnsOf, type Queryable, type Transaction } from '../postgres/sql.js';
import { signedBody } from './event-feeds.js';
import type { DeliveryFilter, FolderReceivers, SentDelivery, WebhookReceivers } from './webhook-event.js';
import { IS_UNDELIVERED, resendEvents } from './webhook-events.js';
import { targetGroup } from './webhook-targets.js';

export interface DeliveryPage {
  readonly limit: number;
  readonly offset: number;
}

/** A filter for ended deliveries of one state. */
export interface ReplayFilter extends DeliveryFilter {
  readonly state: Exclude<DeliveryState, 'pending'>;
}

/** The limit of one request. */
export const MOST_REPLAYED = 10_000;
const REPLAYED_AT_ONCE = 500;

export class Deliveries {
  readonly #database: Database;
  readonly #queue: QueueSender;
  readonly #folders: FolderReceivers;
  readonly #webhooks: Pick<WebhookReceivers, 'lock' | 'resumeDeliveries'>;

  constructor(
    database: Database,
    queue: QueueSender,
    folders: FolderReceivers,
    webhooks: Pick<WebhookReceivers, 'lock' | 'resumeDeliveries'>,
  ) {
    this.#database = database;
    this.#queue = queue;
    this.#folders = folders;
    this.#webhooks = webhooks;
  }

  /** Newest first. */
  async list(accountId: string, filter: DeliveryFilter, { limit, offset }: DeliveryPage): Promise<Delivery[]> {
    return this.#database.run(
      (sql) => sql<Delivery[]>`
        select ${columns(sql)} ${matching(sql, accountId, filter)}
        order by e.id desc limit ${limit} offset ${offset}`,
    );
  }

  /** With the signed body. */
  async find(accountId: string, id: string): Promise<DeliveryDetail | undefined> {
    const [row] = await this.#database.run(
      (sql) => sql<DeliveryDetail[]>`
        select ${columns(sql)}, ${signedBody(sql, 'e')} as body ${matching(sql, accountId, {})} and e.id = ${id}`,
    );
    return row;
  }

  /** The number of deliveries that `replay` would send, but at most MOST_REPLAYED + 1. */
  async countReplayable(accountId: string, filter: ReplayFilter): Promise<number> {
    const [row] = await this.#database.run(
      (sql) => sql<{ count: number }[]>`
        select count(*) as count from (
          select 1 ${matching(sql, accountId, filter)} and ${hasReceiver(sql)} limit ${MOST_REPLAYED + 1}) matching`,
    );
    return row?.count ?? 0;
  }

  /**
   * Sends deliveries again, oldest first, under their old ids and with all their attempts. If folders or webhooks had
   * ended their deliveries, they are resumed. Resolves with the number of sent deliveries.
   */
  async replay(accountId: string, filter: ReplayFilter): Promise<number> {
    let sent = 0;
    let after = '00000000-0000-0000-0000-000000000000';
    while (sent < MOST_REPLAYED) {
      const limit = Math.min(REPLAYED_AT_ONCE, MOST_REPLAYED - sent);
      const page = await this.#database.transaction((tx) => this.#replaySome(tx, accountId, filter, { after, limit }));
      sent += page.sent;
      if (page.last === undefined) break;
      after = page.last;
    }
    return sent;
  }

  /** The state of every folder with a webhook URL, and of every webhook. */
  async receivers(accountId: string): Promise<readonly Receiver[]> {
    return this.#database.run(
      (sql) => sql<Receiver[]>`
        with receivers as (
          select id as watched_folder_id, null::uuid as webhook_id from watched_folders
          where account_id = ${accountId} and deleted_at is null and webhook_url is not null
          union all select null, id from webhooks where account_id = ${accountId} and deleted_at is null
        ),
        undelivered as (
          select folder_id, webhook_id, count(*) filter (where state = 'dead') as dead,
            count(*) filter (where state = 'pending') as retrying, max(id::text)::uuid as last_id,
            min(created_at) as since
          from deliveries
          where account_id = ${accountId} and ${sql(IS_UNDELIVERED)} and (state = 'dead' or attempts > 0)
          group by folder_id, webhook_id
        )
        select r.watched_folder_id, r.webhook_id, coalesce(u.dead, 0) as dead,
          coalesce(u.retrying, 0) as retrying, delivered.at as last_delivered_at,
          case when tried.started_at > coalesce(delivered.at, '-infinity') then greatest(u.since, delivered.at) end
            as failing_since,
          tried.status as last_status, coalesce(tried.error_message, tried.error_code) as last_error_message,
          tried.error_code as last_error_code
        from receivers r
        left join undelivered u
          on u.folder_id is not distinct from r.watched_folder_id and u.webhook_id is not distinct from r.webhook_id
        left join lateral (
          select coalesce(
            (select delivered_at from deliveries
              where folder_id = r.watched_folder_id and state = 'delivered' order by id desc limit 1),
            (select delivered_at from deliveries
              where webhook_id = r.webhook_id and state = 'delivered' order by event_id desc limit 1)) as at
        ) delivered on true
        left join lateral (
          select started_at, status, error_message, error_code from webhook_attempts
          where event_id = u.last_id order by id desc limit 1
        ) tried on true`,
    );
  }

  async #replaySome(
    tx: Transaction,
    accountId: string,
    filter: ReplayFilter,
    { after, limit }: { readonly after: string; readonly limit: number },
  ): Promise<{ readonly sent: number; readonly last: string | undefined }> {
    const found = await tx<(Pick<Delivery, 'watchedFolderId' | 'webhookId'> & { readonly id: string })[]>`
      select e.id, e.folder_id as watched_folder_id, e.webhook_id
      ${matching(tx, accountId, filter)} and ${hasReceiver(tx)} and e.id > ${after} order by e.id limit ${limit}`;
    const last = found.length < limit ? undefined : found.at(-1)?.id;
    for (const id of foldersOf(found)) await this.#folders.lock(tx, id);
    for (const id of webhooksOf(found)) await this.#webhooks.lock(tx, id);
    // Asked again: they may have changed while their receivers were locked.
    const events = await tx<(SentDelivery & Pick<Delivery, 'watchedFolderId'>)[]>`
      select ${columns(tx)} ${matching(tx, accountId, filter)} and ${hasReceiver(tx)}
        and e.id = any (${tx.types.uuids(found.map(({ id }) => id))}) order by e.id for update of e skip locked`;
    const ids = events.map(({ id }) => id);
    if (ids.length === 0) return { sent: 0, last };
    await resendEvents(tx, ids);
    for (const id of foldersOf(events)) await this.#folders.endDeliveries(tx, id, false);
    for (const id of webhooksOf(events)) await this.#webhooks.resumeDeliveries(tx, id);
    const tasks = events.map(({ id, webhookId, url }) => {
      return { key: id, account: accountId, group: webhookId ?? targetGroup(url), data: {} };
    });
    // If the last task of a delivery is just ending, it keeps its key; recoverForgotten then sends a new task.
    await this.#queue.send('webhook-delivery', tasks, tx);
    return { sent: ids.length, last };
  }
}

/** Always in the same order, for locks. */
function foldersOf(deliveries: readonly Pick<Delivery, 'watchedFolderId'>[]): readonly string[] {
  return [...new Set(deliveries.flatMap(({ watchedFolderId }) => watchedFolderId ?? []))].sort();
}

function webhooksOf(deliveries: readonly Pick<Delivery, 'webhookId'>[]): readonly string[] {
  return [...new Set(deliveries.flatMap(({ webhookId }) => webhookId ?? []))].sort();
}

function matching(sql: Queryable, accountId: string, filter: DeliveryFilter) {
  const { watchedFolderId, webhookId, jobId, connectionId, type, state, url, since, until } = filter;
  const given = <T>(value: T | undefined, condition: (value: T) => ReturnType<typeof sql>) =>
    value === undefined ? sql`` : sql`and ${condition(value)}`;
  return sql`
    from deliveries e left join watched_folders f on f.id = e.folder_id left join webhooks h on h.id = e.webhook_id
    where e.account_id = ${accountId}
      ${given(watchedFolderId, (id) => sql`e.folder_id = ${id}`)}
      ${given(webhookId, (id) => sql`e.webhook_id = ${id}`)}
      ${given(jobId, (id) => sql`e.job_id = ${id}`)}
      ${given(connectionId, (id) => sql`${id} = any (e.connection_ids)`)}
      ${given(type, (one) => sql`e.type = ${one}`)}
      ${given(state, (one) => sql`e.state = ${one}`)}
      ${given(url, (part) => sql`position(lower(${part}) in lower(coalesce(e.webhook_url, f.webhook_url, h.url))) > 0`)}
      ${given(since, (at) => sql`e.created_at >= ${at}`)}
      ${given(until, (at) => sql`e.created_at < ${at}`)}`;
}

/** The receiver is not deleted, and has a URL. */
function hasReceiver(sql: Queryable) {
  return sql`coalesce(f.deleted_at, h.deleted_at) is null and coalesce(e.webhook_url, f.webhook_url, h.url) is not null`;
}

function columns(sql: Queryable) {
  const made = { eventId: sql`coalesce(e.event_id, e.id)`, url: sql`coalesce(e.webhook_url, f.webhook_url, h.url)` };
  return columnsOf(sql, deliveryFields, { table: 'e', made });
}
