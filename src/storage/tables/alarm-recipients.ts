/** Alarm mails of accounts: settings, recipients, and the mail that waits for each. */
import { hash, timingSafeEqual } from 'node:crypto';
import { GatewayError, refusal } from '../../base/errors.js';
import { uuidv7 } from '../../base/uuid.js';
import { alarmFields, type AlarmSettings } from '../../contract/alarm.js';
import type { Database } from '../postgres/database.js';
import { hidden, type RowOf } from '../../contract/thing.js';
import { columnsOf, type Queryable, rowOf, storable, type Transaction } from '../postgres/sql.js';
import { randomText } from '../secrets/hashes.js';
import { type Actor, recordAudit } from './audit-log.js';
import { DAY_MS } from '../../contract/units.js';

const mailedFields = {
  address: hidden<string>(),
  /** When the last mail was accepted. */
  sentAt: hidden<Date | null>(),
  /** Since when mails to it fail. */
  failingSince: hidden<Date | null>(),
};
const recipientFields = {
  ...mailedFields,
  isConfirmed: hidden<boolean>(),
  /** Why mails to it fail. */
  error: hidden<string | null>(),
};
const dueFields = {
  ...mailedFields,
  accountId: hidden<string>(),
  /** The id of the last alarm that was mailed to it. */
  lastMailed: hidden<number>({ column: 'told' }),
  attempts: hidden<number>(),
};
export type AlarmRecipient = RowOf<typeof recipientFields>;

/** A mail that is due, claimed for a minute. */
export interface DueMail extends AlarmSettings, RowOf<typeof dueFields> {
  readonly claim: string;
}

/** The outcome of a mail. */
export type MailOutcome =
  | { readonly kind: 'sent'; readonly lastMailed: number; readonly at: Date; readonly notBefore: Date }
  | { readonly kind: 'failed'; readonly error: string; readonly since: Date; readonly notBefore: Date }
  /** Retried for too long: its alarms are not mailed again; those that continue are in the next mail. */
  | { readonly kind: 'given_up'; readonly error: string; readonly lastMailed: number; readonly notBefore: Date }
  | { readonly kind: 'quiet'; readonly until: Date }
  | { readonly kind: 'nothing' };

const CLAIM_SECONDS = 60;
const CODE_CHARS = 10;
const CODE_HOURS = 24;
const CODE_TRIES = 5;
/** Requested mails per day: codes and tests. */
const MOST_ASKED = 20;

export class AlarmRecipients {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** undefined before anything was set. */
  async settings(accountId: string): Promise<AlarmSettings | undefined> {
    return this.#database.first<AlarmSettings>`
      select ${columns} from alarm_settings s where account_id = ${accountId}`;
  }

  async list(accountId: string): Promise<readonly AlarmRecipient[]> {
    return this.#database.run(
      (sql) => sql<AlarmRecipient[]>`
        select ${columnsOf(sql, recipientFields, { made: { isConfirmed: sql`confirmed_at is not null` } })}
        from alarm_recipients where account_id = ${accountId} order by address`,
    );
  }

  /** The account's own address needs no code. */
  async save(actor: Actor, settings: AlarmSettings, addresses: readonly string[]): Promise<void> {
    const { accountId } = actor;
    const { quiet, ...others } = settings;
    const { from = null, to = null, timeZone = null } = quiet ?? {};
    await this.#database.transaction(async (tx) => {
      const { texts } = tx.types;
      const row = { ...rowOf(tx, alarmFields, others), quietFrom: from, quietTo: to, quietZone: timeZone };
      await tx`
        insert into alarm_settings ${tx({ ...row, accountId })} on conflict (account_id) do update set ${tx(row)}`;
      const wanted = texts([...addresses]);
      await tx`delete from alarm_recipients where account_id = ${accountId} and address <> all (${wanted})`;
      await tx`
        insert into alarm_recipients (account_id, address, confirmed_at)
        select ${accountId}, w.address, case when lower(w.address) = lower(a.email) then now() end
        from unnest(${wanted}) as w (address) join accounts a on a.id = ${accountId}
        on conflict do nothing`;
      // Other quiet hours may apply now.
      await tx`update alarm_recipients set quiet_until = null where account_id = ${accountId}`;
      await recordAudit(tx, actor, {
        action: 'alarms.update',
        details: { isOn: settings.isOn, recipients: [...addresses], kinds: [...settings.kinds] },
      });
    });
  }

  /** A new code for a recipient that has not confirmed. @throws GatewayError unknown_item, rate_limited */
  async makeCode(actor: Actor, address: string): Promise<string> {
    const { accountId } = actor;
    const code = randomText(CODE_CHARS);
    await this.#database.transaction(async (tx) => {
      await ask(tx, accountId);
      const changed = await tx`
        update alarm_recipients set code_hash = ${hashOf(code)}, code_tries = 0,
          code_expires_at = now() + make_interval(hours => ${CODE_HOURS}::int)
        where account_id = ${accountId} and address = ${address} and confirmed_at is null`;
      if (changed.count === 0)
        throw refusal('unknown_item', 'there is no recipient of that address that waits for a code');
      await recordAudit(tx, actor, { action: 'alarms.send_code', details: { address } });
    });
    return code;
  }

  /** False if the code is wrong or has expired. */
  async confirm(actor: Actor, address: string, code: string): Promise<boolean> {
    const { accountId } = actor;
    return this.#database.transaction(async (tx) => {
      // Counted before the comparison.
      const [row] = await tx<{ code: Buffer }[]>`
        update alarm_recipients set code_tries = code_tries + 1
        where account_id = ${accountId} and address = ${address} and confirmed_at is null
          and code_hash is not null and code_expires_at > now() and code_tries < ${CODE_TRIES}
        returning code_hash as code`;
      if (row === undefined || !timingSafeEqual(row.code, hashOf(code))) return false;
      await tx`
        update alarm_recipients set confirmed_at = now(), code_hash = null
        where account_id = ${accountId} and address = ${address}`;
      await recordAudit(tx, actor, { action: 'alarms.confirm', details: { address } });
      return true;
    });
  }

  /** Counts a mail that the owner requests. @throws GatewayError rate_limited */
  async ask(accountId: string): Promise<void> {
    await this.#database.transaction((tx) => ask(tx, accountId));
  }

  /** Mails that are due at `now`; no other node gets them for a minute. */
  async claim(now: Date, most: number): Promise<readonly DueMail[]> {
    const claim = uuidv7();
    const rows = await this.#database.all<Omit<DueMail, 'claim'>>`
      update alarm_recipients r set claimed_by = ${claim},
        claimed_until = now() + make_interval(secs => ${CLAIM_SECONDS}::double precision)
      from alarm_settings s
      where s.account_id = r.account_id and (r.account_id, r.address) in (
        select w.account_id, w.address from alarm_recipients w join alarm_settings s using (account_id)
        where s.is_on and w.confirmed_at is not null and w.not_before <= ${now}
          and (w.claimed_until is null or w.claimed_until < now())
          and exists (
            select from alarms a
            where a.account_id = w.account_id and a.ended_at is null and a.id > w.told and a.kind = any (s.kinds)
              and (w.quiet_until is null or w.quiet_until <= ${now} or (s.urgent_breaks_quiet and a.is_urgent)))
        order by w.not_before limit ${most} for update of w skip locked)
      returning ${(sql) => columnsOf(sql, dueFields, { table: 'r' })}, ${columns}`;
    return rows.map((row) => ({ ...row, claim }));
  }

  /** Ends the claim. */
  async finish({ accountId, address, claim }: DueMail, outcome: MailOutcome): Promise<void> {
    await this.#database.run((sql) => {
      const change = () => {
        switch (outcome.kind) {
          case 'sent':
            return sql`told = ${outcome.lastMailed}::bigint, sent_at = ${outcome.at}, not_before = ${outcome.notBefore},
              quiet_until = null, attempts = 0, failing_since = null, error = null,`;
          case 'failed':
            return sql`attempts = attempts + 1, failing_since = ${outcome.since}, error = ${storable(outcome.error)},
              not_before = ${outcome.notBefore},`;
          case 'given_up':
            return sql`told = ${outcome.lastMailed}::bigint, attempts = 0, failing_since = null,
              error = ${storable(outcome.error)}, not_before = ${outcome.notBefore},`;
          case 'quiet':
            return sql`quiet_until = ${outcome.until},`;
          case 'nothing':
            return sql``;
        }
      };
      return sql`
        update alarm_recipients set ${change()} claimed_by = null, claimed_until = null
        where account_id = ${accountId} and address = ${address} and claimed_by = ${claim}`;
    });
  }
}

async function ask(tx: Transaction, accountId: string): Promise<void> {
  const [row] = await tx<{ asked: number; freeAt: Date }[]>`
    update alarm_settings set asked = case when asked_since < now() - interval '1 day' then 1 else asked + 1 end,
      asked_since = case when asked_since < now() - interval '1 day' then now() else asked_since end
    where account_id = ${accountId} returning asked, asked_since + interval '1 day' as free_at`;
  if (row === undefined) throw refusal('unknown_item', 'save the alarms first');
  if (row.asked <= MOST_ASKED) return;
  throw new GatewayError('rate_limited', `${MOST_ASKED} mails of a day are all that can be asked for`, {
    retryAfterMs: Math.max(1000, row.freeAt.getTime() - Date.now()),
    limit: { name: 'alarm_mails', quota: MOST_ASKED, windowSeconds: DAY_MS / 1000 },
  });
}

function columns(sql: Queryable) {
  const quiet = sql`
    case when s.quiet_from is not null
      then jsonb_build_object('from', s.quiet_from, 'to', s.quiet_to, 'timeZone', s.quiet_zone) end`;
  return columnsOf(sql, alarmFields, { table: 's', made: { quiet } });
}

function hashOf(code: string): Buffer {
  return hash('sha256', code, 'buffer');
}
