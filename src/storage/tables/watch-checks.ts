/** The last checks of each watched folder, and the result for each entry. */
import { checkFields, type WatchCheck } from '../../contract/watch-check.js';
import type { Database } from '../postgres/database.js';
import { columnsOf, type Queryable, rowOf, selecting } from '../postgres/sql.js';

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
    const made = { folderId: sql`mine.id`, nodeId: this.#nodeId, entries: entries ?? null };
    const row = { ...rowOf(sql, checkFields, check), ...made };
    return sql`
      gone as (
        delete from watch_checks where id in (
          select old.id from mine, lateral (
            select id from watch_checks where folder_id = mine.id order by id desc offset ${KEPT_CHECKS - 1}) as old)
      ),
      added as (
        insert into watch_checks ${selecting(sql, row)} from mine
      )`;
  }
}
