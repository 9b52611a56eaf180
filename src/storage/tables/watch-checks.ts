/** The last checks of each watched folder, and the result for each entry. */
import type { Database } from '../postgres/database.js';
import { type Queryable, storable } from '../postgres/sql.js';

export type CheckKind = 'regular' | 'follow_up' | 'manual';

export interface CheckRow {
  readonly id: string;
  readonly kind: CheckKind;
  readonly outcome: 'succeeded' | 'failed' | 'skipped';
  readonly startedAt: Date;
  readonly durationMs: number;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  /** Number of listed entries by reason. */
  readonly counts: Readonly<Record<string, number>>;
}

const KEPT_CHECKS = 20;

export class WatchChecks {
  readonly #database: Database;
  readonly #nodeId: string;

  constructor(database: Database, nodeId: string) {
    this.#database = database;
    this.#nodeId = nodeId;
  }

  async list(folderId: string): Promise<readonly CheckRow[]> {
    return this.#database.all<CheckRow>`
      select id, kind, outcome, started_at, duration_ms, error_code,
        error_message, counts
      from watch_checks where folder_id = ${folderId} order by id desc limit ${KEPT_CHECKS}`;
  }

  async entries(folderId: string, checkId: string): Promise<Buffer | undefined> {
    const row = await this.#database.first<{ entries: Buffer | null }>`
      select entries from watch_checks where folder_id = ${folderId} and id = ${checkId}`;
    return row?.entries ?? undefined;
  }

  /** Adds a check of the folder in `mine`, if there is one, and deletes the oldest ones. */
  adding(sql: Queryable, check: CheckRow, entries: Buffer | undefined) {
    return sql`
      gone as (
        delete from watch_checks where id in (
          select old.id from mine, lateral (
            select id from watch_checks where folder_id = mine.id order by id desc offset ${KEPT_CHECKS - 1}) as old)
      ),
      added as (
        insert into watch_checks (id, folder_id, kind, outcome, started_at, duration_ms, node_id, error_code,
          error_message, counts, entries)
        select ${check.id}::uuid, mine.id, ${check.kind}::text, ${check.outcome}::text, ${check.startedAt}::timestamptz,
          ${check.durationMs}::bigint, ${this.#nodeId}::uuid, ${check.errorCode}::text,
          ${storable(check.errorMessage)}::text, ${sql.json(check.counts)}::jsonb, ${entries ?? null}::bytea
        from mine
      )`;
  }
}
