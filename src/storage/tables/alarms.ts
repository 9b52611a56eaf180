/**
 * The last findings about what needs a person: the checks of accounts, what is new since the last one, and what is
 * over. A claim is the time of the next check, so an account whose node died becomes due again.
 */
import { uuidv7 } from '../../base/uuid.js';
import type { Database } from '../postgres/database.js';
import { hidden, type RowOf } from '../../contract/thing.js';
import { columnsOf, listed, type Queryable, tableOf, templateIn } from '../postgres/sql.js';
import type { Outbox } from './outbox.js';
import type { NewEvent } from './webhook-event.js';

/** An account to be checked, claimed until its next check. */
export interface ClaimedAccount {
  readonly accountId: string;
  readonly plan: string;
  readonly claim: string;
}

const foundFields = {
  /** Stays the same for the same trouble. */
  key: hidden<string>(),
  kind: hidden<string>(),
  isUrgent: hidden<boolean>(),
  /** JSON. */
  item: hidden<string>(),
};
const rowFields = {
  /** Higher than that of every earlier alarm of the account. */
  id: hidden<number>(),
  ...foundFields,
  since: hidden<Date>(),
  endedAt: hidden<Date | null>(),
};
/** One finding. */
type FoundAlarm = RowOf<typeof foundFields>;
export type Alarm = RowOf<typeof rowFields>;

/** An event without the common fields. */
export type AlarmEvent = Pick<NewEvent, 'type' | 'body' | 'connectionIds'>;

const FOUND = templateIn(listed(Object.keys(foundFields)));
const FOUND_T = templateIn(listed(Object.keys(foundFields), 't'));
const KEPT_DAYS = 90;

export class Alarms {
  readonly #database: Database;
  readonly #outbox: Pick<Outbox, 'add'>;

  constructor(database: Database, outbox: Pick<Outbox, 'add'>) {
    this.#database = database;
    this.#outbox = outbox;
  }

  /** Adds new accounts, spread over that time. */
  async enrol(overMs: number): Promise<void> {
    await this.#database.run(
      (sql) => sql`
        insert into alarm_accounts (account_id, look_at)
        select a.id, now() + random() * ${`${overMs} milliseconds`}::interval from accounts a
        where not exists (select from alarm_accounts l where l.account_id = a.id)
        on conflict do nothing`,
    );
  }

  /** Accounts that are due, at most `most`; no other caller gets them before `everyMs` is over. */
  async claim(most: number, everyMs: number): Promise<readonly ClaimedAccount[]> {
    const claim = uuidv7();
    const rows = await this.#database.all<{ accountId: string; plan: string }>`
      update alarm_accounts l set look_at = now() + ${`${everyMs} milliseconds`}::interval, looked_by = ${claim}
      from accounts a
      where a.id = l.account_id and l.account_id in (
        select account_id from alarm_accounts where look_at <= now() order by look_at limit ${most} for update skip locked)
      returning l.account_id, a.plan`;
    return rows.map((row) => ({ ...row, claim }));
  }

  /**
   * Stores the findings of a check, with the events of what is new and what is over. undefined if another node has
   * checked the account since: its findings are newer.
   */
  async settle(
    { accountId, claim }: Pick<ClaimedAccount, 'accountId' | 'claim'>,
    found: readonly FoundAlarm[],
    eventOf: (alarm: Alarm) => AlarmEvent,
  ): Promise<{ readonly raised: number; readonly cleared: number } | undefined> {
    return this.#database.transaction(async (tx) => {
      // Held to the end: ids are assigned in the order of the commits.
      const [mine] = await tx`
        select 1 from alarm_accounts where account_id = ${accountId} and looked_by = ${claim} for update`;
      if (mine === undefined) return undefined;
      const keys = tx.types.texts(found.map(({ key }) => key));
      const cleared = await tx<Alarm[]>`
        update alarms set ended_at = now() where account_id = ${accountId} and ended_at is null and key <> all (${keys})
        returning ${columns(tx)}`;
      const numbered = found.map((alarm, number) => ({ ...alarm, number }));
      const types = { key: 'texts', kind: 'texts', isUrgent: 'booleans', item: 'texts', number: 'bigints' } as const;
      const rows = tableOf(tx, numbered, types);
      await tx`
        update alarms a set item = t.item, is_urgent = t.is_urgent from ${rows}
        where a.account_id = ${accountId} and a.ended_at is null and a.key = t.key
          and (a.item, a.is_urgent) is distinct from (t.item, t.is_urgent)`;
      const raised = await tx<Alarm[]>`
        insert into alarms (account_id, since, ${tx(FOUND)}) select ${accountId}, now(), ${tx(FOUND_T)} from ${rows}
        where not exists (
          select from alarms a where a.account_id = ${accountId} and a.ended_at is null and a.key = t.key)
        order by t.number
        returning ${columns(tx)}`;
      const news = [...cleared, ...raised].map((alarm) => ({ accountId, ...eventOf(alarm) }));
      await this.#outbox.add(tx, news);
      if (raised.length > 0) this.#database.notices.announceHere(tx, 'alarm-mail', 0);
      return { raised: raised.length, cleared: cleared.length };
    });
  }

  /** The alarms of these kinds that continue, and those that have ended since. In the order of their start. */
  async list(accountId: string, kinds: readonly string[], endedSince: Date | null): Promise<readonly Alarm[]> {
    return this.#database.run(
      (sql) => sql<Alarm[]>`
        select ${columns(sql)} from alarms
        where account_id = ${accountId} and kind = any (${sql.types.texts([...kinds])})
          and (ended_at is null or ended_at > ${endedSince}) order by id`,
    );
  }

  async deleteOld(): Promise<void> {
    await this.#database.run(
      (sql) => sql`delete from alarms where ended_at < now() - make_interval(days => ${KEPT_DAYS}::int)`,
    );
  }
}

function columns(sql: Queryable) {
  return columnsOf(sql, rowFields);
}
