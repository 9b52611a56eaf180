/** Who changed what, when and from where. Entries contain the names of that time, and no secrets. */
import { uuidv7 } from '../../base/uuid.js';
import type { AuditAction } from '../../contract/audit.js';
import type { Database } from '../postgres/database.js';
import { isWithin, type Period } from '../postgres/period.js';
import type { Queryable } from '../postgres/sql.js';

/** The author of a change. */
export interface Actor {
  readonly accountId: string;
  readonly kind: 'session' | 'key' | 'anonymous';
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

interface AuditRow {
  readonly id: string;
  readonly at: Date;
  readonly actorKind: Actor['kind'];
  readonly actorId: string | null;
  readonly actorName: string;
  readonly action: string;
  readonly targetKind: string | null;
  readonly targetId: string | null;
  readonly targetName: string | null;
  readonly address: string;
  readonly requestId: string;
  readonly details: unknown;
}

/** Written in the transaction of the change, so that every change has its entry. */
export async function record(sql: Queryable, actor: Actor, { action, target, details }: AuditChange): Promise<void> {
  const keyId = actor.kind === 'key' ? actor.id : null;
  await sql`
    insert into audit_log (id, account_id, actor_kind, actor_id, actor_name, action, target_kind, target_id,
      target_name, address, request_id, details)
    values (${uuidv7()}, ${actor.accountId}, ${actor.kind}, ${actor.id},
      coalesce((select name from api_keys where id = ${keyId}::uuid), ${actor.email}), ${action},
      ${target?.kind ?? null}, ${target?.id ?? null}, ${target?.name ?? null}, ${actor.address}, ${actor.requestId},
      ${sql.json({ ...details })})`;
}

export class AuditLog {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** For events without a change: logins. */
  async add(actor: Actor, change: AuditChange): Promise<void> {
    await this.#database.run((sql) => record(sql, actor, change));
  }

  /** Newest first; one entry more than `limit` shows that there are more. */
  async list(accountId: string, { limit, cursor, action, ...period }: AuditFilter): Promise<readonly AuditEntry[]> {
    const rows = await this.#database.run(
      (sql) => sql<AuditRow[]>`
        select * from audit_log where account_id = ${accountId}
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
