/** The last checks of each watched folder, and the result for each entry. */
import { checkFields, type WatchCheck } from '../../contract/watch-check.js';
import type { Database } from '../postgres/database.js';
import { columnsOf, type Queryable, storable } from '../postgres/sql.js';

const KEPT_CHECKS = 20;

export class WatchChecks {
  readonly #database: Database;
  readonly #nodeId: string;

  constructor(database: Database, nodeId: string) {
    this.#database = database;
    this.#nodeId = nodeId;
  }

  async list(folderId: string): Promise<readonly WatchCheck[]> {
    return this.#database.all<WatchCheck>`
      select ${(sql) => columnsOf(sql, checkFields)} from watch_checks
      where folder_id = ${folderId} order by id desc limit ${KEPT_CHECKS}`;
  }

  async entries(folderId: string, checkId: string): Promise<Buffer | undefined> {
    const row = await this.#database.first<{ entries: Buffer | null }>`
      select entries from watch_checks where folder_id = ${folderId} and id = ${checkId}`;
    return row?.entries ?? undefined;
  }

  /** Adds a check of the folder in `mine`, if there is one, and deletes the oldest ones. */
  adding(sql: Queryable, check: WatchCheck, entries: Buffer | undefined) {
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
