/** Who changed what, when and from where. Entries contain the names of that time, and no secrets. */
import { uuidv7 } from '../../base/uuid.js';
import type { ACTOR_KINDS, AuditAction } from '../../contract/audit.js';
import type { Database } from '../postgres/database.js';
import { isWithin, type Period } from '../postgres/period.js';
import { hidden, type RowOf } from '../../contract/thing.js';
import { columnsOf, type Queryable, rowOf } from '../postgres/sql.js';

/** The author of a change. */
export interface Actor {
  readonly accountId: string;
  readonly kind: (typeof ACTOR_KINDS)[number];
  /** The id of the session or the key. */
  readonly id: string | null;
  /** The account's address; for a key its name is looked up when the entry is written. */
  readonly email: string;
  readonly address: string;
  readonly requestId: string;
}

export interface AuditChange {
  readonly action: AuditAction;
  readonly target?: { readonly kind: string; readonly id: string; readonly name: string };
  /** Names of changed fields, and values that need no protection. */
  readonly details?: Readonly<Record<string, string | number | boolean | null | readonly string[]>>;
}

interface AuditEntry {
  readonly id: string;
  readonly at: Date;
  readonly actor: { readonly kind: Actor['kind']; readonly id: string | null; readonly name: string };
  readonly action: string;
  readonly target: { readonly kind: string; readonly id: string; readonly name: string } | null;
  readonly address: string;
  readonly requestId: string;
  readonly details: unknown;
}

interface AuditFilter extends Period {
  readonly limit: number;
  /** The last id of the previous page. */
  readonly cursor?: string;
  /** An area (`connection`) or an action (`connection.update`). */
  readonly action?: string;
}

const rowFields = {
  id: hidden<string>(),
  at: hidden<Date>(),
  actorKind: hidden<Actor['kind']>(),
  actorId: hidden<string | null>(),
  actorName: hidden<string>(),
  action: hidden<string>(),
  targetKind: hidden<string | null>(),
  targetId: hidden<string | null>(),
  targetName: hidden<string | null>(),
  address: hidden<string>(),
  requestId: hidden<string>(),
  details: hidden<unknown>(),
};
type AuditRow = RowOf<typeof rowFields>;

/** Written in the transaction of the change, so that every change has its entry. */
export async function recordAudit(
  sql: Queryable,
  actor: Actor,
  { action, target, details }: AuditChange,
): Promise<void> {
  const keyId = actor.kind === 'key' ? actor.id : null;
  const { accountId, kind: actorKind, id: actorId, address, requestId } = actor;
  const { kind: targetKind = null, id: targetId = null, name: targetName = null } = target ?? {};
  const actorName = sql`coalesce((select name from api_keys where id = ${keyId}::uuid), ${actor.email})`;
  const values = { id: uuidv7(), actorKind, actorId, action, targetKind, targetId, targetName, address, requestId };
  const row = rowOf(sql, rowFields, { ...values, details: { ...details } }, { actorName });
  await sql`insert into audit_log ${sql({ ...row, accountId })}`;
}

export class AuditLog {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** For events without a change: logins. */
  async add(actor: Actor, change: AuditChange): Promise<void> {
    await this.#database.run((sql) => recordAudit(sql, actor, change));
  }

  /** Newest first; one entry more than `limit` shows that there are more. */
  async list(accountId: string, { limit, cursor, action, ...period }: AuditFilter): Promise<readonly AuditEntry[]> {
    const rows = await this.#database.run(
      (sql) => sql<AuditRow[]>`
        select ${columnsOf(sql, rowFields)} from audit_log where account_id = ${accountId}
          ${isWithin(sql, sql`at`, sql`id`, period)}
          ${cursor === undefined ? sql`` : sql`and id < ${cursor}`}
          ${action === undefined ? sql`` : sql`and (action = ${action} or starts_with(action, ${`${action}.`}))`}
        order by id desc limit ${limit}`,
    );
    return rows.map((row) => ({
      id: row.id,
      at: row.at,
      actor: { kind: row.actorKind, id: row.actorId, name: row.actorName },
      action: row.action,
      target:
        row.targetKind === null ? null : { kind: row.targetKind, id: row.targetId ?? '', name: row.targetName ?? '' },
      address: row.address,
      requestId: row.requestId,
      details: row.details,
    }));
  }
}
