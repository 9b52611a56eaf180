/** Watched folders: managed by their owners, claimed for checks when they are due, and the results of checks. */
import { uuidv7 } from '../../base/uuid.js';
import {
  type FolderNames,
  type WatchedFolder,
  watchedFolderFields,
  type WatchSettings,
} from '../../contract/watched-folder.js';
import type { RowOf } from '../../contract/thing.js';
import type { CheckKind, WatchCheck } from '../../contract/watch-check.js';
import type { QueueSender } from '../queue/queue.js';
import { type Clock, idsAt, readClock } from '../postgres/clock.js';
import type { Database } from '../postgres/database.js';
import { columnsOf, type Queryable, rowOf, storable, tableOf, type Transaction } from '../postgres/sql.js';
import type { FolderSecrets } from '../secrets/sealed-rows.js';
import { isReportedFailure } from './transfer-events.js';
import { writeBatch } from './history-statements.js';
import type { TransferRow } from './transfer.js';
import { isOtherCopyTo } from './route-copies.js';
import { CACHED_MS } from './cached-lookup.js';
import type { WatchChecks } from './watch-checks.js';
import { CheckSuperseded, type EntryChanges, forgetFiles, purgeFiles } from './watched-files.js';
import { cancelDeliveries, cancelEvents, hastenCopies, purgeEvents } from './webhook-events.js';
import type { Outbox } from './outbox.js';
import type { NewEvent } from './webhook-event.js';
import { withoutLogin } from './webhook-targets.js';

/** A task ends a moment after its check. */
const ENDING_AGAIN_MS = 500;
/** By then, no node has the former hours of a connection in its cache. */
export const OTHER_HOURS_MS = 2 * CACHED_MS;

const routeFields = {
  id: watchedFolderFields.id,
  name: watchedFolderFields.name,
  connectionId: watchedFolderFields.connectionId,
  path: watchedFolderFields.path,
  moveTo: watchedFolderFields.moveTo,
  copyTo: watchedFolderFields.copyTo,
};
/** The targets of files from a watched folder. */
export type WatchRoute = RowOf<typeof routeFields>;

interface DueFolder {
  readonly id: string;
  readonly kind: CheckKind;
  readonly scheduleMinutes: number;
  readonly dueAt: Date;
  /** The database's time. */
  readonly now: Date;
  readonly accountId: string;
  /** `host:port` of its server, the group of its checks. */
  readonly host: string;
  /** A check runs whose result will be written. */
  readonly isChecked: boolean;
}

interface FolderEdit {
  readonly settings: WatchSettings;
  readonly isActive: boolean;
  /** The next regular check with these settings. */
  readonly nextCheckAt: (now: Date) => Date;
}

/** The complete result of a check, written in one transaction. */
export interface CheckResult {
  readonly folder: WatchedFolder;
  readonly check: WatchCheck;
  /** The reasons of all entries, as gzip. */
  readonly entries: Buffer | undefined;
  readonly nextCheckAt: Date;
  readonly isFollowUp: boolean;
  readonly changes: EntryChanges;
  readonly history: readonly TransferRow[];
  readonly events: readonly NewEvent[];
  /** Set after a successful check. */
  readonly timeResolutionMs: number | undefined;
  /** The number of stored entries after a successful check. */
  readonly storedFiles: number | undefined;
  readonly hasDetected: boolean;
  readonly hasAlarmed: boolean;
}

const PURGE_ROWS = 5000;

export class WatchedFolders {
  readonly #database: Database;
  readonly #queue: QueueSender;
  readonly #checks: WatchChecks;
  readonly #outbox: Pick<Outbox, 'add' | 'announce'>;
  readonly #nodeId: string;

  constructor(
    database: Database,
    queue: QueueSender,
    checks: WatchChecks,
    outbox: Pick<Outbox, 'add' | 'announce'>,
    nodeId: string,
  ) {
    this.#database = database;
    this.#queue = queue;
    this.#checks = checks;
    this.#outbox = outbox;
    this.#nodeId = nodeId;
  }

  /**
   * Creates a folder whose first check is queued at once; `nextCheckAt` is the time of the one after it. `complete`
   * adds the folder's other rows in the same transaction.
   */
  async create(
    accountId: string,
    settings: WatchSettings,
    nextCheckAt: (id: string, now: Date) => Date,
    complete: (tx: Transaction, id: string) => Promise<void>,
  ): Promise<WatchedFolder> {
    const id = uuidv7();
    return this.#database.transaction(async (tx) => {
      const [time] = await tx<{ now: Date }[]>`select now() as now`;
      const next = nextCheckAt(id, time?.now ?? new Date());
      const row = rowOf(tx, watchedFolderFields, { id, accountId, ...settings, nextCheckAt: next });
      await tx`insert into watched_folders ${tx(row)}`;
      await complete(tx, id);
      await this.#sendCheck(tx, { id, accountId, connectionId: settings.connectionId }, 'regular');
      this.#announceDue(tx, time?.now, next);
      const [created] = await tx<WatchedFolder[]>`select ${columns(tx)} from watched_folders where id = ${id}`;
      return created as WatchedFolder;
    });
  }

  async list(accountId: string): Promise<readonly WatchedFolder[]> {
    const rows = await this.#database.all<WatchedFolder>`
      select ${columns} from watched_folders where account_id = ${accountId} and deleted_at is null order by id`;
    return [...rows];
  }

  async find(accountId: string, id: string): Promise<WatchedFolder | undefined> {
    return this.#database.first<WatchedFolder>`
      select ${columns} from watched_folders
      where id = ${id} and account_id = ${accountId} and deleted_at is null`;
  }

  /** Folders of an account that copy or move files. */
  async routes(accountId: string): Promise<readonly WatchRoute[]> {
    return this.#database.all<WatchRoute>`
      select ${(sql) => columnsOf(sql, routeFields)} from watched_folders
      where account_id = ${accountId} and deleted_at is null and (copy_to is not null or move_to is not null)`;
  }

  async findForDelivery(id: string): Promise<WatchedFolder | undefined> {
    return this.#database.first<WatchedFolder>`
      select ${columns} from watched_folders where id = ${id} and deleted_at is null`;
  }

  /** Ends checks and undelivered events at once; the rows are deleted in steps (purgeDeleted). False = unknown. */
  async remove(accountId: string, id: string): Promise<boolean> {
    return this.#database.transaction(async (tx) => {
      const rows = await tx`
        update watched_folders set deleted_at = now(), is_active = false, check_id = null
        where id = ${id} and account_id = ${accountId} and deleted_at is null`;
      if (rows.count === 0) return false;
      await cancelEvents(tx, id);
      this.#database.notices.announce(tx, 'deleted-folders');
      return true;
    });
  }

  /** Resolves to the changed folder; undefined = unknown. `edit` computes the change from the stored folder. */
  async edit(
    accountId: string,
    id: string,
    edit: (former: WatchedFolder) => FolderEdit,
    complete: (tx: Transaction) => Promise<void>,
  ): Promise<WatchedFolder | undefined> {
    return this.#database.transaction(async (tx) => {
      const [former] = await tx<WatchedFolder[]>`
        select ${columns(tx)} from watched_folders
        where id = ${id} and account_id = ${accountId} and deleted_at is null for update`;
      if (former === undefined) return undefined;
      const change = edit(former);
      const { now, nextCheckAt } = await editFolder(tx, former, change);
      this.#announceDue(tx, now, nextCheckAt);
      if (isOtherCopyTo(former.copyTo, change.settings.copyTo)) await hastenCopies(tx, this.#queue, id);
      await complete(tx);
      const [row] = await tx<WatchedFolder[]>`select ${columns(tx)} from watched_folders where id = ${id}`;
      return row;
    });
  }

  /** Pauses or resumes; resuming makes the folder due at once. False = unknown. */
  async setActive(accountId: string, id: string, isActive: boolean): Promise<boolean> {
    return this.#database.transaction(async (tx) => {
      const rows = await tx`
        update watched_folders set is_active = ${isActive},
          next_check_at = case when ${isActive} and not is_active then now() else next_check_at end
        where id = ${id} and account_id = ${accountId} and deleted_at is null`;
      if (isActive) this.#database.notices.announce(tx, 'folders');
      return rows.count > 0;
    });
  }

  /**
   * Claims due folders, advances their rows to `next` and queues their checks, in one transaction. A folder whose last
   * check still waits or runs is skipped, and the skip is recorded. It is due again soon if that is a follow-up, or was
   * asked for, or if the task has a check that is over, or that an edit has superseded. Resolves to the number of due
   * folders.
   */
  async claimDue(limit: number, next: (due: DueFolder) => Date): Promise<{ due: number; skipped: number }> {
    return this.#database.transaction(async (tx) => {
      const due = await tx<DueFolder[]>`
        select f.id, case when check_wanted then 'manual' when is_follow_up then 'follow_up' else 'regular' end as kind,
          schedule_minutes, next_check_at as due_at, now() as now, f.account_id,
          ${hostOf(tx)} as host, check_id is not null as is_checked
        from watched_folders f join connections c on c.id = f.connection_id
        where f.is_active and deleted_at is null and next_check_at <= now()
        order by next_check_at limit ${limit} for update of f skip locked`;
      if (due.length === 0) return { due: 0, skipped: 0 };
      const rows = due.map((folder) => ({ id: folder.id, nextAt: next(folder) }));
      await tx`
        update watched_folders f set next_check_at = t.next_at, is_follow_up = false
        from ${tableOf(tx, rows, { id: 'uuids', nextAt: 'times' })} where f.id = t.id`;
      const taken = await this.#queue.send(
        'watch-check',
        due.map(({ id, kind, dueAt, accountId, host }) => ({
          key: id,
          account: accountId,
          group: host,
          data: { kind, dueAt: dueAt.toISOString() },
        })),
        tx,
      );
      const refused = due.filter(({ id }) => !taken.has(id));
      const late = await this.#skipped(tx, refused);
      const early = refused.filter((folder) => !late.includes(folder));
      if (late.length > 0) await this.#noteSkipped(tx, late);
      if (early.length > 0) await this.#putBack(tx, early);
      return { due: due.length, skipped: late.length };
    });
  }

  /** The regular checks that need no second try: their task has not begun, or its check will be written. */
  async #skipped(tx: Transaction, refused: readonly DueFolder[]): Promise<readonly DueFolder[]> {
    const regular = refused.filter(({ kind }) => kind === 'regular');
    if (regular.length === 0) return [];
    const keys = regular.map(({ id }) => id);
    const waiting = await this.#queue.waiting('watch-check', keys, tx);
    return regular.filter(({ id, isChecked }) => isChecked || waiting.has(id));
  }

  async #putBack(tx: Transaction, early: readonly DueFolder[]): Promise<void> {
    const rows = early.map(({ id, kind }) => ({ id, isFollowUp: kind !== 'regular' }));
    await tx`
      update watched_folders f
      set next_check_at = now() + ${ENDING_AGAIN_MS} * interval '1 millisecond', is_follow_up = t.is_follow_up
      from ${tableOf(tx, rows, { id: 'uuids', isFollowUp: 'booleans' })} where f.id = t.id`;
    this.#database.notices.announce(tx, 'folders', ENDING_AGAIN_MS);
  }

  /** Only this clock is used for comparisons between nodes. */
  clock(): Promise<Clock> {
    return readClock(this.#database);
  }

  /**
   * Queues a check now; while one runs, whose listing may be over, another check follows it. False if one already
   * waits.
   */
  async checkNow(folder: WatchedFolder): Promise<boolean> {
    return this.#database.transaction(async (tx) => {
      if (await this.#sendCheck(tx, folder, 'manual')) return true;
      if ((await this.#queue.waiting('watch-check', [folder.id], tx)).size > 0) return false;
      const rows = await tx`
        update watched_folders set check_wanted = true,
          next_check_at = case when check_id is null then now() else next_check_at end
        where id = ${folder.id} and is_active and deleted_at is null`;
      this.#database.notices.announce(tx, 'folders');
      return rows.count > 0;
    });
  }

  /** Makes `checkId` the folder's current check. Undefined if the folder must not be checked any more. */
  async beginCheck(id: string, checkId: string, kind: CheckKind): Promise<WatchedFolder | undefined> {
    return this.#database.first<WatchedFolder>`
      update watched_folders set check_id = ${checkId}, check_wanted = false
      where id = ${id} and deleted_at is null and (is_active or ${kind === 'manual'}) and ${relaxed}
      returning ${columns}`;
  }

  /** The check that has begun is not made now: the folder is due again at that time. */
  async postponeCheck(id: string, checkId: string, until: Date): Promise<void> {
    await this.#database.all`
      update watched_folders
      set check_id = null, next_check_at = ${until}, waits_until = ${until}, is_follow_up = false
      where id = ${id} and check_id = ${checkId}`;
  }

  #announceDue(tx: Transaction, now: Date | undefined, at: Date): void {
    this.#database.notices.announce(tx, 'folders', now === undefined ? 0 : at.getTime() - now.getTime());
  }

  /** Files, reasons, history, events and the next due time, in one transaction. @throws CheckSuperseded */
  async commitCheck(result: CheckResult): Promise<void> {
    const { folder, changes, history, events } = result;
    const isQuiet = changes.count + history.length + events.length === 0 && folder.baselineAt !== null;
    const { notices } = this.#database;
    if (isQuiet) {
      const inMs = await this.#database.run((sql) => this.#writeCheck(sql, result, 'relaxed'));
      return notices.announceHere(undefined, 'folders', inMs);
    }
    await this.#database.transaction(async (tx) => {
      notices.announceHere(tx, 'folders', await this.#writeCheck(tx, result, 'durable'));
      await changes.write(tx, folder.id);
      if (history.length > 0) await writeBatch(tx, this.#nodeId, history);
      if (history.some(isReportedFailure)) this.#outbox.announce(tx);
      await this.#outbox.add(tx, events);
    });
  }

  /** Version 1.0 stored the logins of webhooks in their URLs. */
  async sealLogins(secrets: Pick<FolderSecrets, 'setLogin'>): Promise<void> {
    await this.#database.transaction(async (tx) => {
      const rows = await tx<{ id: string; url: string }[]>`
        select id, webhook_url as url from watched_folders where webhook_url ~ '^[^/]*//[^/?#]*@' for update`;
      for (const { id, url } of rows) {
        const target = withoutLogin(url);
        await tx`update watched_folders set webhook_url = ${target.url} where id = ${id}`;
        await secrets.setLogin(tx, id, target.login);
      }
    });
  }

  async lock(tx: Transaction, id: string): Promise<void> {
    await tx`select from watched_folders where id = ${id} for no key update`;
  }

  /** Stores whether the receiver has refused further events of the folder. */
  async endDeliveries(tx: Transaction, id: string, areEnded: boolean): Promise<void> {
    await tx`
      update watched_folders set deliveries_ended_at = case when ${areEnded} then now() end where id = ${id}`;
  }

  /** The number of active folders that fail, for the metrics. */
  async countFailing(): Promise<number> {
    const row = await this.#database.first<{ failing: number }>`
      select count(*) as failing from watched_folders
      where failing_since is not null and is_active and deleted_at is null`;
    return row?.failing ?? 0;
  }

  /** Removes the rows of deleted folders, in small steps. Resolves to whether there is more. */
  async purgeDeleted(): Promise<boolean> {
    return this.#database.transaction(async (tx) => {
      const [folder] = await tx<{ id: string }[]>`
        select id from watched_folders where deleted_at is not null order by deleted_at limit 1 for update skip locked`;
      if (folder === undefined) return false;
      if ((await purgeFiles(tx, folder.id, PURGE_ROWS)) === PURGE_ROWS) return true;
      if ((await purgeEvents(tx, folder.id, PURGE_ROWS)) === PURGE_ROWS) return true;
      await tx`delete from watched_folders where id = ${folder.id}`;
      return true;
    });
  }

  async #sendCheck(
    tx: Transaction,
    folder: Pick<WatchedFolder, 'id' | 'accountId' | 'connectionId'>,
    kind: CheckKind,
  ): Promise<boolean> {
    const [row] = await tx<{ host: string; now: Date }[]>`
      select ${hostOf(tx)} as host, now() as now from connections c where c.id = ${folder.connectionId}`;
    if (row === undefined) return false;
    const job = {
      key: folder.id,
      account: folder.accountId,
      group: row.host,
      data: { kind, dueAt: row.now.toISOString() },
    };
    return (await this.#queue.send('watch-check', [job], tx)).size > 0;
  }

  /**
   * The folder's row and the check's own, in one statement; resolves to the delay until it is due again. @throws
   * CheckSuperseded
   */
  async #writeCheck(sql: Queryable, result: CheckResult, commit: 'relaxed' | 'durable'): Promise<number> {
    const { folder, check } = result;
    const isFailure = check.outcome === 'failed';
    // A pause of the folder, an earlier due time, or a request for another check, that was set meanwhile is kept.
    const [written] = await sql<{ inMs: number }[]>`
      with mine as (
        update watched_folders set check_id = null,
          next_check_at = case when check_wanted or next_check_at <= now() then least(next_check_at, now())
            else ${result.nextCheckAt} end,
          is_follow_up = ${result.isFollowUp} and next_check_at > now() and not check_wanted,
          former_names = case when ${isFailure} then former_names end,
          baseline_at = case when ${isFailure} then baseline_at else coalesce(baseline_at, now()) end,
          stored_files = coalesce(${result.storedFiles ?? null}::bigint, stored_files),
          time_resolution_ms = ${result.timeResolutionMs ?? folder.timeResolutionMs},
          last_success_at = case when ${isFailure} then last_success_at else now() end,
          last_detection_at = case when ${result.hasDetected} then now() else last_detection_at end,
          alarmed_at = case when ${result.hasAlarmed} then now() else alarmed_at end,
          failing_since = case when ${isFailure} then coalesce(failing_since, now()) end,
          failures = case when ${isFailure} then failures + 1 else 0 end,
          error_code = ${check.errorCode}, error_message = ${storable(check.errorMessage)}
        where id = ${folder.id} and check_id = ${check.id} and deleted_at is null
          and ${commit === 'relaxed' ? relaxed(sql) : sql`true`}
        returning id, next_check_at
      ),
      ${this.#checks.adding(sql, check, result.entries)}
      select (extract(epoch from next_check_at - now()) * 1000)::float8 as in_ms from mine`;
    if (written === undefined) throw new CheckSuperseded();
    return written.inMs;
  }

  async #noteSkipped(tx: Transaction, late: readonly DueFolder[]): Promise<void> {
    for (const { id, kind, now } of late) {
      const check: WatchCheck = {
        id: idsAt(now)(),
        kind,
        outcome: 'skipped',
        startedAt: now,
        durationMs: 0,
        errorCode: null,
        errorMessage: 'the check before was still waiting or running',
        counts: {},
      };
      await tx`with mine as (select ${id}::uuid as id), ${this.#checks.adding(tx, check, undefined)} select`;
    }
  }
}

/** The hours of a connection have changed: its folders that wait for the former ones are checked soon. */
export async function hastenChecks(tx: Transaction, accountId: string, connectionId: string): Promise<void> {
  await tx`
    update watched_folders
    set next_check_at = least(next_check_at, now() + ${OTHER_HOURS_MS} * interval '1 millisecond')
    where account_id = ${accountId} and connection_id = ${connectionId} and deleted_at is null
      and waits_until = next_check_at and waits_until > now()`;
}

/**
 * Writes the settings; a running check writes nothing any more. Another path is another folder: the known entries are
 * deleted, and the next check takes its baseline. Other name filters keep them. Both make the folder due at once.
 */
async function editFolder(
  tx: Transaction,
  former: WatchedFolder,
  edit: FolderEdit,
): Promise<{ readonly now: Date; readonly nextCheckAt: Date }> {
  const { settings, isActive } = edit;
  const [time] = await tx<{ now: Date }[]>`select now() as now`;
  const now = time?.now ?? new Date();
  const isMoved = settings.path !== former.path;
  const hasOtherNames = JSON.stringify(namesOf(settings)) !== JSON.stringify(namesOf(former));
  const isDue = isMoved || hasOtherNames || (isActive && !former.isActive);
  const hasOtherTarget = settings.webhookUrl !== former.webhookUrl;
  const hasOtherTimes = settings.scheduleMinutes !== former.scheduleMinutes;
  const nextCheckAt = isDue ? now : hasOtherTimes ? edit.nextCheckAt(now) : former.nextCheckAt;
  await tx`
    update watched_folders set ${tx(rowOf(tx, watchedFolderFields, { ...settings, isActive }))}, check_id = null,
      next_check_at = ${nextCheckAt}, is_follow_up = false,
      baseline_at = case when ${isMoved} then null else baseline_at end,
      former_names = case when ${isMoved} then null
        when ${hasOtherNames} then coalesce(former_names, ${tx.json(namesOf(former))}::jsonb)
        else former_names end,
      deliveries_ended_at = case when ${hasOtherTarget} then null else deliveries_ended_at end
    where id = ${former.id}`;
  if (isMoved) await forgetFiles(tx, former.id, undefined);
  if (settings.webhookUrl === null) await cancelDeliveries(tx, former.id);
  return { now, nextCheckAt };
}

function namesOf({ filePattern, excludePattern, doneFile, recursive }: FolderNames): FolderNames {
  return { filePattern, excludePattern, doneFile, recursive };
}

/**
 * A condition that is always true, and makes the commit not wait for the disk. For results that may be lost if the
 * database crashes, because the next check repeats them; no detection is among them.
 */
function relaxed(sql: Queryable) {
  return sql`set_config('synchronous_commit', 'off', true) = 'off'`;
}

/** The pools' name for the host of connection c; only a name for connections that share a server. */
function hostOf(sql: Queryable) {
  return sql`lower(coalesce(c.settings->>'endpoint', (c.settings->>'host') || ':' || (c.settings->>'port'), c.type))`;
}

function columns(sql: Queryable) {
  return columnsOf(sql, watchedFolderFields);
}
