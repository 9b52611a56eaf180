/** Deliveries of events: their attempts, their copies, and the actions after them. */
import { hasCode } from '../../base/errors.js';
import { retryingUntil } from '../../base/retry.js';
import type { RetrySchedule } from '../../base/retry-schedule.js';
import {
  type DeliveryAttempt,
  attemptFields,
  type DeliveredFile,
  type DeliveryState,
  type NewAttempt,
  newDeliveryFields,
  outgoingFields,
  type OutgoingDelivery,
  type RouteCopy,
  UNDELIVERED,
} from '../../contract/delivery.js';
import type { RowOf } from '../../contract/thing.js';
import type { NewTask, QueueSender } from '../queue/queue.js';
import { firstIdAt, idsAt } from '../postgres/clock.js';
import type { Database } from '../postgres/database.js';
import { inColumns } from '../postgres/column-names.js';
import { Gathered } from '../postgres/gathered.js';
import {
  columnsOf,
  isOneOf,
  jsonOf,
  listed,
  type Queryable,
  rowOf,
  selected,
  selecting,
  storable,
  tableColumns,
  tableOf,
  templateIn,
  type Transaction,
} from '../postgres/sql.js';
import { dropUnready, signedBody } from './event-feeds.js';
import { copiesOf, type CopyingEvent } from './route-copies.js';
import type {
  AttemptVerdict,
  DraftEvent,
  EventReceiver,
  FolderReceivers,
  NewEvent,
  WebhookReceivers,
} from './webhook-event.js';
import { targetGroup } from './webhook-targets.js';
import { DAY_MS } from '../../contract/units.js';

/** A delivery that is overdue by this time has lost its task, for any reason. */
const FORGOTTEN_AFTER_SECONDS = 60;
const RECOVER_AT_ONCE = 1000;
/** To send a task again whose key is still in use: for 5 seconds. */
const KEY_RETRIES: RetrySchedule = { delaysMs: Array.from({ length: 100 }, () => 50) };
const KEPT_DAYS = 30;
const PURGE_AT_ONCE = 1000;

const ATTEMPT_COLUMNS = tableColumns(attemptFields);
const COLUMNS = templateIn(listed(ATTEMPT_COLUMNS));
const OF_ATTEMPT = templateIn(listed(ATTEMPT_COLUMNS, 'a'));

/** In the form of its index. */
export const IS_UNDELIVERED = templateIn(isOneOf('state', UNDELIVERED));

/** The queue task of a delivery whose files are copied, moved or deleted. */
const FOLDER_TASK = templateIn('id as key, account_id as account, folder_id as "group"');
type FolderTask = Pick<NewTask, 'key' | 'account' | 'group'>;

/** The delivery of an event `n` to a webhook `h`. */
const ADDRESSED = templateIn(
  selected({
    // The time of the event and random bits: a UUIDv7 too.
    id: 'overlay(gen_random_uuid()::text placing left(n.id::text, 15) from 1 for 15)::uuid',
    eventId: 'n.id',
    webhookId: 'h.id',
    accountId: 'n.account_id',
    type: 'n.type',
    fileCount: '0',
    state: "'pending'",
    nextAttemptAt: 'now()',
    connectionIds: 'n.connection_ids',
    createdAt: 'now()',
  }),
);

/** The outbox, which numbers an event once its copies have ended. */
interface Completion {
  complete(tx: Transaction, event: DraftEvent): Promise<void>;
}

/** An attempt, its delivery and its verdict. */
interface Result {
  readonly event: OutgoingDelivery;
  readonly attempt: NewAttempt;
  readonly verdict: AttemptVerdict;
}

export class WebhookEvents {
  readonly #database: Database;
  readonly #queue: QueueSender;
  readonly #outbox: Completion;
  readonly #folders: FolderReceivers;
  readonly #webhooks: WebhookReceivers;
  readonly #finding = new Gathered((ids: readonly string[]) => this.#findAll(ids));
  readonly #recording = new Gathered((results: readonly Result[]) => this.#recordAll(results));

  constructor(
    database: Database,
    queue: QueueSender,
    outbox: Completion,
    folders: FolderReceivers,
    webhooks: WebhookReceivers,
  ) {
    this.#database = database;
    this.#queue = queue;
    this.#outbox = outbox;
    this.#folders = folders;
    this.#webhooks = webhooks;
  }

  find(id: string): Promise<OutgoingDelivery | undefined> {
    return this.#finding.answer(id);
  }

  async #findAll(ids: readonly string[]): Promise<readonly (OutgoingDelivery | undefined)[]> {
    const rows = await this.#database.all<OutgoingDelivery>`
      select ${columns} from deliveries d where id = any (${(sql) => sql.types.uuids(ids)})`;
    const found = new Map(rows.map((row) => [row.id, row]));
    return ids.map((id) => found.get(id));
  }

  /** Also selects by account, so that another account's event takes no longer than one that does not exist. */
  async findOf(accountId: string, id: string): Promise<OutgoingDelivery | undefined> {
    return this.#database.first<OutgoingDelivery>`
      select ${columns} from deliveries d where id = ${id} and account_id = ${accountId}`;
  }

  async attempts(eventId: string): Promise<readonly DeliveryAttempt[]> {
    return this.#database.all<DeliveryAttempt>`
      select ${(sql) => columnsOf(sql, attemptFields)} from webhook_attempts where event_id = ${eventId} order by id`;
  }

  /** Stores an attempt and its result. Those that change nothing but their delivery are stored together. */
  async record(event: OutgoingDelivery, attempt: NewAttempt, verdict: AttemptVerdict): Promise<void> {
    if (verdict.kind !== 'gone' && !hasAfterAction(event, verdict)) {
      const result = { event, attempt, verdict };
      const recorded = await this.#recording.answer(result).catch(async (error: unknown) => {
        if (hasCode(error, 'database_away')) throw error;
        // A value that the server refuses must not fail the results of others.
        return (await this.#recordAll([result]))[0];
      });
      if (recorded === true) return;
    }
    await this.#recordAlone(event, attempt, verdict);
  }

  /**
   * Resolves with those that were recorded. A delivery that another transaction has locked is left out: waiting for it
   * with others locked could block both.
   */
  async #recordAll(results: readonly Result[]): Promise<readonly boolean[]> {
    const rows = results.map(({ event: { id }, attempt, verdict }) => ({
      id,
      state: STATES[verdict.kind],
      nextAttemptAt: verdict.kind === 'retry' ? verdict.at : null,
      attempt: textOfAttempt(attempt),
    }));
    const types = { id: 'uuids', state: 'texts', nextAttemptAt: 'times', attempt: 'texts' } as const;
    // The ids once more as an array: otherwise the planner may read the whole table for a join with them.
    const isOne = (sql: Queryable) => sql`d.id = any (${sql.types.uuids(rows.map(({ id }) => id))})`;
    const recorded = await this.#database.all<{ id: string }>`
      with result as (select * from ${(sql) => tableOf(sql, rows, types)}),
      locked as (select id from deliveries d where ${isOne} for no key update skip locked),
      tried as (
        insert into webhook_attempts (event_id, ${(sql) => sql(COLUMNS)})
        select r.id, ${(sql) => sql(OF_ATTEMPT)}
        from result r join locked l on l.id = r.id, jsonb_populate_record(null::webhook_attempts, r.attempt::jsonb) a
      ),
      ended as (
        update deliveries d set attempts = d.attempts + 1, state = r.state, next_attempt_at = r.next_attempt_at,
          delivered_at = case when r.state = 'delivered' then now() end
        from result r join locked l on l.id = r.id
        where d.id = r.id and ${isOne} and (d.state = 'pending' or r.state = 'delivered')
      )
      select id from locked`;
    const ids = new Set(recorded.map(({ id }) => id));
    return results.map(({ event }) => ids.has(event.id));
  }

  async #recordAlone(event: OutgoingDelivery, attempt: NewAttempt, verdict: AttemptVerdict): Promise<void> {
    await this.#database.transaction(async (tx) => {
      if (verdict.kind === 'gone') await this.#lockReceivers(tx, event);
      const row = rowOf(tx, attemptFields, { id: idsAt(attempt.startedAt)(), ...attempt });
      await tx`
        insert into webhook_attempts ${selecting(tx, { eventId: tx`id`, ...row })} from deliveries
        where id = ${event.id}`;
      const isDelivered = verdict.kind === 'delivered';
      const state = STATES[verdict.kind];
      const hasAfter = hasAfterAction(event, verdict);
      // Deleting a folder cancels its events meanwhile; such an event stays cancelled unless it has been delivered.
      const rows = await tx`
        update deliveries set attempts = attempts + 1, state = ${state},
          next_attempt_at = ${verdict.kind === 'retry' ? verdict.at : null},
          delivered_at = case when ${isDelivered} then now() end,
          after_action = case when ${hasAfter} then 'pending' else after_action end
        where id = ${event.id} and (state = 'pending' or ${isDelivered})`;
      if (rows.count === 0) return;
      if (hasAfter) await sendAfter(tx, this.#queue, event);
      if (verdict.kind !== 'gone') return;
      if (event.webhookId !== null) await this.#webhooks.endDeliveries(tx, event.webhookId);
      if (event.watchedFolderId === null) return;
      await this.#folders.endDeliveries(tx, event.watchedFolderId, true);
      await cancelDeliveries(tx, event.watchedFolderId);
    });
  }

  /**
   * Sends an event again, under its old id and with all its attempts. If its folder or webhook had ended its
   * deliveries, they are resumed. False if the event is still pending.
   */
  async replay(event: OutgoingDelivery, group: string): Promise<boolean> {
    const { id, accountId: account, watchedFolderId, webhookId } = event;
    const send = async (tx?: Transaction): Promise<boolean> =>
      (await this.#queue.send('webhook-delivery', [{ key: id, account, group, data: {} }], tx)).has(id);
    const queued = await this.#database.transaction(async (tx) => {
      await this.#lockReceivers(tx, event);
      if ((await resendEvents(tx, [id])) === 0) return undefined;
      if (watchedFolderId !== null) await this.#folders.endDeliveries(tx, watchedFolderId, false);
      if (webhookId !== null) await this.#webhooks.resumeDeliveries(tx, webhookId);
      return send(tx);
    });
    // The task of the last attempt is about to end. If it stays longer, recoverForgotten sends the event.
    if (queued === false) await retryingUntil(KEY_RETRIES, async () => (await send()) || undefined);
    return queued !== undefined;
  }

  async #lockReceivers(tx: Transaction, { watchedFolderId, webhookId }: OutgoingDelivery): Promise<void> {
    if (watchedFolderId !== null) await this.#folders.lock(tx, watchedFolderId);
    if (webhookId !== null) await this.#webhooks.lock(tx, webhookId);
  }

  async cancel(id: string): Promise<void> {
    await this.#database.all`
      update deliveries set state = 'cancelled', next_attempt_at = null where id = ${id} and state = 'pending'`;
  }

  /** Some copies of an event wait for another round, which begins at `until`. */
  async postponeCopies(id: string, until: Date): Promise<void> {
    await this.#database.all`
      update deliveries set copy_rounds = copy_rounds + 1, next_attempt_at = ${until}
      where id = ${id} and state = 'pending' and copy_state = 'pending'`;
  }

  /**
   * The last copy of an event has ended: stores the body that `rewrite` makes, and passes the event to the outbox. Only
   * files that were copied are moved or deleted afterwards; without a webhook, that begins at once.
   */
  async settleCopies(
    event: CopyingEvent,
    rewrite: (body: string, copies: readonly RouteCopy[]) => string,
  ): Promise<void> {
    await this.#database.transaction(async (tx) => {
      // Locks the folder before its events, as all changes of a folder do.
      const [folder] = await tx<{ webhookUrl: string | null; areEnded: boolean; connectionIds: string[] }[]>`
        select webhook_url, deliveries_ended_at is not null as are_ended,
          array_remove(array[connection_id, copy_to->>'connectionId'], null) as connection_ids from watched_folders
        where id = ${event.watchedFolderId} and deleted_at is null for share`;
      const [row] = await tx<Pick<OutgoingDelivery, 'body' | 'files' | 'type'>[]>`
        select ${signedBody(tx, 'd')} as body, files, type from deliveries d
        where id = ${event.id} and state = 'pending' and copy_state = 'pending' for update`;
      if (folder === undefined || row === undefined) return;
      const copies = await copiesOf(tx, event.id);
      const copied = new Set(copies.filter(({ state }) => state === 'done').map(({ path }) => path));
      const files = row.files.filter(({ path }) => copied.has(path));
      const isDelivered = folder.webhookUrl === null;
      const state: DeliveryState = isDelivered ? 'delivered' : folder.areEnded ? 'cancelled' : 'pending';
      const hasAfter = isDelivered && files.length > 0;
      const body = rewrite(row.body, copies);
      // It is sent once it has its number.
      await tx`
        update deliveries set body = null, files = ${tx.json(files as never)},
          copy_state = 'done', copies_failed = ${copies.filter((copy) => copy.state === 'failed').length},
          state = ${state}, next_attempt_at = null,
          delivered_at = case when ${isDelivered} then now() end,
          after_action = case when ${hasAfter} then 'pending' else after_action end
        where id = ${event.id}`;
      if (hasAfter) await sendAfter(tx, this.#queue, event);
      const { id, accountId } = event;
      await this.#outbox.complete(tx, { id, accountId, type: row.type, body, connectionIds: folder.connectionIds });
    });
  }

  /** These files are still to be moved or deleted. */
  async keepForLater(id: string, files: readonly DeliveredFile[]): Promise<void> {
    await this.#database.all`
      update deliveries set files = ${(sql) => jsonOf(sql, files)} where id = ${id} and after_action = 'pending'`;
  }

  async finishAfter(id: string): Promise<void> {
    await this.#database.all`update deliveries set after_action = 'done' where id = ${id}`;
  }

  /** Sends a new task for every overdue event; an existing task stays. Resolves with the number of sent tasks. */
  async recoverForgotten(): Promise<number> {
    return this.#database.transaction(async (tx) => {
      const late = `${FORGOTTEN_AFTER_SECONDS} seconds`;
      const events = await tx<{ id: string; account: string; url: string | null; webhookId: string | null }[]>`
        select e.id, e.account_id as account, coalesce(e.webhook_url, f.webhook_url) as url, e.webhook_id
        from deliveries e left join watched_folders f on f.id = e.folder_id
        where e.state = 'pending' and e.copy_state <> 'pending' and e.next_attempt_at < now() - ${late}::interval
        order by e.next_attempt_at limit ${RECOVER_AT_ONCE}`;
      const tasks = events.map(({ id, account, url, webhookId }) => {
        return { key: id, account, group: webhookId ?? targetGroup(url), data: {} };
      });
      const taken = await this.#queue.send('webhook-delivery', tasks, tx);
      const after = await tx<FolderTask[]>`
        select ${tx(FOLDER_TASK)} from deliveries
        where after_action = 'pending' and delivered_at < now() - ${late}::interval
        order by delivered_at limit ${RECOVER_AT_ONCE}`;
      const actions = after.map((task) => ({ ...task, data: {} }));
      const copying = await tx<FolderTask[]>`
        select ${tx(FOLDER_TASK)} from deliveries
        where state = 'pending' and copy_state = 'pending' and next_attempt_at < now() - ${late}::interval
        order by next_attempt_at limit ${RECOVER_AT_ONCE}`;
      const copies = copying.map((task) => ({ ...task, data: {} }));
      const sent = [
        await this.#queue.send('after-delivery', actions, tx),
        await this.#queue.send('route-copy', copies, tx),
      ];
      return sent.reduce((sum, { size }) => sum + size, taken.size);
    });
  }

  /**
   * Deletes some events that ended long ago, with their attempts, except dead letters. Resolves to whether there are
   * more.
   */
  async purge(): Promise<boolean> {
    const before = firstIdAt(new Date(Date.now() - KEPT_DAYS * DAY_MS));
    const rows = await this.#database.all`
      delete from deliveries where id in (
        select id from deliveries
        where id < ${before} and state in ('delivered', 'cancelled') and after_action <> 'pending' limit ${PURGE_AT_ONCE})`;
    return rows.count === PURGE_AT_ONCE;
  }

  /**
   * Deletes some ended events, dead letters included, beyond the newest `most` of their account. Resolves to whether
   * there are more.
   */
  async purgeSurplus(most: number): Promise<boolean> {
    const rows = await this.#database.all`
      delete from deliveries where id in (
        select e.id from event_feeds f
        cross join lateral (
          select id from deliveries where account_id = f.account_id order by id desc offset ${most} limit 1) as newest
        join deliveries e on e.account_id = f.account_id and e.id <= newest.id
          and e.state in ('delivered', 'cancelled', 'dead') and e.after_action <> 'pending'
        limit ${PURGE_AT_ONCE})`;
    return rows.count === PURGE_AT_ONCE;
  }

  /** Counts for the metrics. */
  async counts(): Promise<{ readonly pending: number; readonly dead: number }> {
    const row = await this.#database.first<{ pending: number; dead: number }>`
      select count(*) filter (where state = 'pending') as pending, count(*) filter (where state = 'dead') as dead
      from deliveries where ${(sql) => sql(IS_UNDELIVERED)}`;
    return row ?? { pending: 0, dead: 0 };
  }
}

const STATES = { delivered: 'delivered', retry: 'pending', dead: 'dead', gone: 'cancelled' } as const;

/** Whether files are moved or deleted now that the event was delivered. */
function hasAfterAction({ files, afterAction }: OutgoingDelivery, verdict: AttemptVerdict): boolean {
  return verdict.kind === 'delivered' && files.length > 0 && afterAction === 'none';
}

/** A row of the table of attempts as JSON, by its columns. */
function textOfAttempt(attempt: NewAttempt): string {
  const row: DeliveryAttempt = { id: idsAt(attempt.startedAt)(), ...attempt };
  return JSON.stringify(inColumns(row), (_name, part: unknown) => (typeof part === 'string' ? storable(part) : part));
}

/** The delivery of an event to the receiver of its folder or job. It is sent once the event has its number. */
export async function insertOwnDelivery(
  tx: Transaction,
  { id, type, accountId, connectionIds, createdAt, fileCount = 0, files = [], copies = [] }: NewEvent & DraftEvent,
  receiver: EventReceiver,
): Promise<void> {
  const isCopied = copies.length > 0;
  const values: Partial<RowOf<typeof newDeliveryFields>> = {
    ...receiver,
    id,
    type,
    accountId,
    connectionIds,
    fileCount,
    files,
    state: 'pending',
    copyState: isCopied ? 'pending' : 'none',
  };
  const made = {
    createdAt: tx`coalesce(${createdAt ?? null}::timestamptz, now())`,
    ...(isCopied && { nextAttemptAt: tx`now()` }),
  };
  await tx`insert into deliveries ${tx(rowOf(tx, newDeliveryFields, values, made))}`;
}

/** Cancels the deliveries that wait; events whose files are being copied are not cancelled. */
export async function cancelDeliveries(tx: Transaction, folderId: string): Promise<void> {
  await tx`
    update deliveries set state = 'cancelled', next_attempt_at = null
    where folder_id = ${folderId} and state = 'pending' and copy_state <> 'pending'`;
}

/** Starts the next round of waiting copies at once, with all rounds of a new event. */
export async function hastenCopies(tx: Transaction, queue: QueueSender, folderId: string): Promise<void> {
  const events = await tx<FolderTask[]>`
    update deliveries set copy_rounds = 0, next_attempt_at = now()
    where folder_id = ${folderId} and state = 'pending' and copy_state = 'pending'
    returning ${tx(FOLDER_TASK)}`;
  const tasks = events.map((event) => ({ ...event, data: {} }));
  await queue.hasten('route-copy', tasks, tx);
}

/** Cancels the deliveries and copies of a folder, and drops the events that wait for copies. */
export async function cancelEvents(tx: Transaction, folderId: string): Promise<void> {
  const copying = await tx<{ id: string }[]>`
    select id from deliveries where folder_id = ${folderId} and state = 'pending' and copy_state = 'pending'`;
  await tx`
    update deliveries set state = 'cancelled', next_attempt_at = null
    where folder_id = ${folderId} and state = 'pending'`;
  await dropUnready(
    tx,
    copying.map(({ id }) => id),
  );
}

/** Deletes up to `limit` events of a folder; resolves with their number. */
export async function purgeEvents(tx: Transaction, folderId: string, limit: number): Promise<number> {
  const { count } = await tx`
    delete from deliveries where id in (select id from deliveries where folder_id = ${folderId} limit ${limit})`;
  return count;
}

/**
 * CTEs that address the events of `numbered`. `addressed` are all deliveries to make now: to the receivers of folders
 * and jobs, and to the subscribed webhooks.
 */
export function addressing(sql: Queryable) {
  return sql`
    own as (
      -- A delivery that an earlier version made has a body, without the number.
      update deliveries w set body = null,
        next_attempt_at = case when w.state = 'pending' then now() else w.next_attempt_at end
      from numbered n where w.id = n.id
      returning w.id, w.state, w.folder_id, w.webhook_url
    ),
    others as (
      insert into deliveries ${sql(ADDRESSED)}
      from numbered n join webhooks h on h.account_id = n.account_id and h.is_active and h.deleted_at is null
        and n.type = any (h.events) and (h.connection_ids = '{}' or n.connection_ids <@ h.connection_ids)
        and (n.operation is null or h.operations = '{}' or n.operation = any (h.operations))
      returning id, webhook_id
    ),
    addressed as (
      select own.id, coalesce(own.webhook_url, f.webhook_url) as url, null::uuid as webhook_id
      from own left join watched_folders f on f.id = own.folder_id where own.state = 'pending'
      union all select id, null, webhook_id from others
    )`;
}

/** Makes ended events pending again, with all their attempts; resolves with their number. */
export async function resendEvents(tx: Transaction, ids: readonly string[]): Promise<number> {
  const { count } = await tx`
    update deliveries set state = 'pending', attempts = 0, replays = replays + 1, next_attempt_at = now()
    where id = any (${tx.types.uuids([...ids])}) and state <> 'pending'`;
  return count;
}

export async function cancelOfWebhook(tx: Transaction, webhookId: string): Promise<void> {
  await tx`
    update deliveries set state = 'cancelled', next_attempt_at = null
    where webhook_id = ${webhookId} and state = 'pending'`;
}

/** Deletes up to `limit` deliveries of deleted webhooks. */
export async function purgeOfDeletedWebhooks(sql: Queryable, limit: number): Promise<void> {
  await sql`
    delete from deliveries where id in (
      select e.id from webhooks w join deliveries e on e.webhook_id = w.id
      where w.deleted_at is not null limit ${limit})`;
}

async function sendAfter(
  tx: Transaction,
  queue: QueueSender,
  event: Pick<OutgoingDelivery, 'id' | 'accountId' | 'watchedFolderId'>,
): Promise<void> {
  await queue.send(
    'after-delivery',
    [{ key: event.id, account: event.accountId, group: event.watchedFolderId ?? '', data: {} }],
    tx,
  );
}

function columns(sql: Queryable) {
  const made = { eventId: sql`coalesce(event_id, id)`, body: signedBody(sql, 'd'), readAt: sql`now()` };
  return columnsOf(sql, outgoingFields, { made });
}
