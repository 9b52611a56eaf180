/** Webhooks: receivers that an account subscribes to types of its events. */
import { refusal } from '../../base/errors.js';
import { uuidv7 } from '../../base/uuid.js';
import { type Webhook, webhookFields, type WebhookSettings } from '../../contract/webhook.js';
import type { Database } from '../postgres/database.js';
import { SharedQuestion } from '../postgres/shared-question.js';
import { columnsOf, type Queryable, rowOf, type Transaction } from '../postgres/sql.js';
import { type NamedSecrets, sealedColumns } from '../secrets/sealed-rows.js';
import type { SealedSecret } from '../secrets/secrets.js';
import type { WebhookSecret } from '../secrets/webhook-secret.js';
import { type Actor, recordAudit } from './audit-log.js';
import type { SuccessSubscriptions } from './transfer-events.js';
import { cancelOfWebhook, purgeOfDeletedWebhooks } from './webhook-events.js';
import { withLogin, withoutLogin } from './webhook-targets.js';

/** The name of the secret for the login in its URL. */
const LOGIN = 'login';
const PURGED_AT_ONCE = 1000;

interface Target {
  readonly url: string;
  readonly format: Webhook['format'];
  readonly secrets: readonly string[];
}

export class Webhooks {
  readonly #database: Database;
  readonly #secrets: NamedSecrets;
  readonly #signing: WebhookSecret;
  readonly #subscriptions: Pick<SuccessSubscriptions, 'changed'>;
  readonly #targets = new SharedQuestion((id) => this.#findTarget(id, false));

  constructor(
    database: Database,
    secrets: NamedSecrets,
    signing: WebhookSecret,
    subscriptions: Pick<SuccessSubscriptions, 'changed'>,
  ) {
    this.#database = database;
    this.#secrets = secrets;
    this.#signing = signing;
    this.#subscriptions = subscriptions;
  }

  /** Resolves with the webhook and its secret, which is shown only once. @throws GatewayError share_exceeded */
  async create(
    actor: Actor,
    settings: WebhookSettings,
    most: number,
  ): Promise<{ readonly webhook: Webhook; readonly secret: string }> {
    const { accountId } = actor;
    const id = uuidv7();
    const target = withoutLogin(settings.url);
    return this.#changing(async (tx) => {
      // Serializes concurrent creations, so that the limit counts both.
      await tx`select pg_advisory_xact_lock(hashtextextended('webhooks ' || ${accountId}::text, 0))`;
      const [row] = await tx<{ count: number }[]>`
        select count(*) as count from webhooks where account_id = ${accountId} and deleted_at is null`;
      if ((row?.count ?? 0) >= most) {
        throw refusal('share_exceeded', `this account has ${most} webhooks already; delete one first`);
      }
      const added = rowOf(tx, webhookFields, { ...settings, id, accountId, url: target.url });
      await tx`insert into webhooks ${tx(added)}`;
      const secret = await this.#signing.add(tx, id);
      await this.#secrets.put(tx, id, LOGIN, target.login ?? null);
      await recordAudit(tx, actor, {
        action: 'webhook.create',
        target: targetOf(id, target.url),
        details: detailsOf(settings),
      });
      return { webhook: (await this.#findIn(tx, accountId, id)) as Webhook, secret };
    });
  }

  /** Oldest first. */
  async list(accountId: string): Promise<readonly Webhook[]> {
    return this.#database.all<Webhook>`
      select ${columns} from webhooks where account_id = ${accountId} and deleted_at is null order by id`;
  }

  /** undefined if it is unknown or belongs to another account. */
  async find(accountId: string, id: string): Promise<Webhook | undefined> {
    return this.#database.run((sql) => this.#findIn(sql, accountId, id));
  }

  /** The URL for its events and the secrets that sign them; undefined if it is deleted, or has ended its deliveries. */
  targetOf(id: string, { evenEnded = false } = {}): Promise<Target | undefined> {
    return evenEnded ? this.#findTarget(id, evenEnded) : this.#targets.answer(id);
  }

  async #findTarget(id: string, evenEnded: boolean): Promise<Target | undefined> {
    // One statement: each delivery asks.
    const rows = await this.#database.all<Omit<Target, 'secrets'> & { readonly name: string | null } & SealedSecret>`
      select w.url, w.format, s.name, ${(sql) => sealedColumns(sql, 's')}
      from webhooks w left join webhook_secrets s on s.webhook_id = w.id
      where w.id = ${id} and w.deleted_at is null and (w.ended_at is null or ${evenEnded})`;
    const [first] = rows;
    if (first === undefined) return undefined;
    const secrets = new Map(
      rows.flatMap(({ name, ...sealed }) => (name === null ? [] : [[name, this.#secrets.open(id, name, sealed)]])),
    );
    const url = withLogin(first.url, secrets.get(LOGIN));
    return { url, format: first.format, secrets: await this.#signing.current(id, secrets) };
  }

  /** Absent fields keep their values. An ended receiver is resumed if it is activated, or gets another URL. */
  async edit(actor: Actor, id: string, changes: Partial<WebhookSettings>): Promise<Webhook | undefined> {
    const { accountId } = actor;
    return this.#changing(async (tx) => {
      const [former] = await tx<Webhook[]>`
        select ${columns(tx)} from webhooks
        where id = ${id} and account_id = ${accountId} and deleted_at is null for update`;
      if (former === undefined) return undefined;
      const target = changes.url === undefined ? undefined : withoutLogin(changes.url);
      const url = target?.url ?? former.url;
      const isTriedAgain = changes.isActive === true || url !== former.url;
      const isActive = changes.isActive ?? (former.isActive || (isTriedAgain && former.endedAt !== null));
      const row = rowOf(tx, webhookFields, { ...changes, url, isActive, ...(isTriedAgain && { endedAt: null }) });
      await tx`update webhooks set ${tx(row)} where id = ${id}`;
      // A stored login belongs only to the URL that it came with.
      const hasOtherLogin = target !== undefined && (target.login !== undefined || target.url !== former.url);
      if (hasOtherLogin) await this.#secrets.put(tx, id, LOGIN, target.login ?? null);
      const said = Object.fromEntries(Object.entries({ ...changes, ...(target && { url: target.url }) }));
      await recordAudit(tx, actor, { action: 'webhook.update', target: targetOf(id, url), details: detailsOf(said) });
      return this.#findIn(tx, accountId, id);
    });
  }

  /** Cancels its pending deliveries; its rows are deleted later. False = unknown. */
  async remove(actor: Actor, id: string): Promise<boolean> {
    return this.#changing(async (tx) => {
      const [gone] = await tx<{ url: string }[]>`
        update webhooks set deleted_at = now(), is_active = false
        where id = ${id} and account_id = ${actor.accountId} and deleted_at is null returning url`;
      if (gone === undefined) return false;
      await cancelOfWebhook(tx, id);
      await this.#secrets.replaceAll(tx, id, {});
      await recordAudit(tx, actor, { action: 'webhook.delete', target: targetOf(id, gone.url) });
      return true;
    });
  }

  /** Makes a new secret. For 24 hours, events are also signed with the former one. */
  rotateSecret(actor: Actor, { id, url }: Webhook): Promise<string> {
    return this.#signing.rotate(id, (tx) =>
      recordAudit(tx, actor, { action: 'webhook.rotate_secret', target: targetOf(id, url) }),
    );
  }

  async lock(tx: Transaction, id: string): Promise<void> {
    await tx`select from webhooks where id = ${id} for no key update`;
  }

  /** The receiver has answered that it wants no more deliveries. */
  async endDeliveries(tx: Transaction, id: string): Promise<void> {
    await tx`update webhooks set is_active = false, ended_at = now() where id = ${id}`;
    await cancelOfWebhook(tx, id);
  }

  async resumeDeliveries(tx: Transaction, id: string): Promise<void> {
    await tx`update webhooks set is_active = true, ended_at = null where id = ${id} and ended_at is not null`;
  }

  /** Deletes deleted webhooks and their deliveries, in small steps. */
  async purgeDeleted(): Promise<void> {
    await this.#database.run((sql) => purgeOfDeletedWebhooks(sql, PURGED_AT_ONCE));
    await this.#database.all`
      delete from webhooks w where deleted_at is not null
        and not exists (select from deliveries e where e.webhook_id = w.id)`;
  }

  async #changing<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    try {
      return await this.#database.transaction(work);
    } finally {
      this.#subscriptions.changed();
    }
  }

  async #findIn(sql: Queryable, accountId: string, id: string): Promise<Webhook | undefined> {
    const [row] = await sql<Webhook[]>`
      select ${columns(sql)} from webhooks where id = ${id} and account_id = ${accountId} and deleted_at is null`;
    return row;
  }
}

const targetOf = (id: string, url: string) => ({ kind: 'webhook', id, name: originOf(url) });

/** The path and query of its URL may be secret. */
const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : '');

function detailsOf({ url, connections, ...settings }: Partial<WebhookSettings>) {
  return {
    ...settings,
    ...(connections === undefined ? {} : { connectionIds: connections }),
    ...(url === undefined ? {} : { url: originOf(url) }),
  };
}

function columns(sql: Queryable) {
  return columnsOf(sql, webhookFields);
}
