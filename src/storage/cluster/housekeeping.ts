/** What time does to the rows: transfers of dead nodes end, old items go, nodes that left nothing behind are forgotten. */
import type { Database } from '../postgres/database.js';
import { deleteOlder, failPendingOf } from '../tables/history-statements.js';
import type { NodeRegistry } from './nodes.js';
import type { StorageOptions } from '../storage.js';
import { firstIdAt } from '../tables/transfer-row.js';

const DAY_MS = 24 * 60 * 60 * 1000;
const HOUR_MS = 60 * 60 * 1000;
const RETENTION_LOCK = 4_702_111_234_003;
const RETENTION_BATCH = 2000;

export class Housekeeping {
  readonly #database: Database;
  readonly #node: NodeRegistry;
  readonly #retentionDays: number;
  readonly #log: StorageOptions['log'];
  #cleanedAt = -Infinity;
  #cleaning: Promise<void> | undefined;
  #stopped = false;

  constructor(database: Database, node: NodeRegistry, options: Pick<StorageOptions, 'retentionDays' | 'log'>) {
    this.#database = database;
    this.#node = node;
    this.#retentionDays = options.retentionDays;
    this.#log = options.log;
    node.afterBeat(async () => {
      await this.sweep();
      if (performance.now() - this.#cleanedAt < HOUR_MS) return;
      this.#cleanedAt = performance.now();
      // Not awaited: a first run over months of items must not hold up the heartbeat.
      this.#cleaning ??= this.clean()
        .catch((error: unknown) => this.#log('warn', 'cleaning the history failed', { reason: String(error) }))
        .finally(() => (this.#cleaning = undefined));
    });
  }

  /** Ends the pending transfers of dead nodes and forgets nodes that left nothing to look after. */
  async sweep(): Promise<void> {
    const failed = await this.#database.run((sql) => failPendingOf(sql, this.#node.isDead(sql, sql`p.node_id`)));
    if (failed > 0) this.#log('warn', 'transfers of a node that died are marked as failed', { transfers: failed });
    await this.#database.run(
      (sql) => sql`delete from session_claims c where ${this.#node.isDead(sql, sql`c.node_id`)}`,
    );
    await this.#database.run(
      (sql) => sql`
        delete from nodes n where ${this.#node.isDead(sql, sql`n.id`)}
          and not exists (select from leftovers l where l.node_id = n.id or l.tag = n.tag)
          and not exists (select from transfers t where t.status = 'pending' and t.node_id = n.id)`,
    );
  }

  /** Deletes items older than retentionDays, in small steps, on one node at a time; and failed logins that count no more. */
  async clean(): Promise<void> {
    await this.#database.run((sql) => sql`delete from login_failures where expire < ${Date.now()}`);
    await this.#database.run((sql) => sql`delete from request_rates where window_ends < now()`);
    if (this.#retentionDays === 0) return;
    const before = firstIdAt(new Date(Date.now() - this.#retentionDays * DAY_MS));
    let deleted = RETENTION_BATCH;
    while (deleted === RETENTION_BATCH && !this.#stopped) {
      deleted = await this.#database.transaction(async (tx) => {
        const [row] = await tx<
          { mine: boolean }[]
        >`select pg_try_advisory_xact_lock(${RETENTION_LOCK}::bigint) as mine`;
        return row?.mine === true ? deleteOlder(tx, before, RETENTION_BATCH) : 0;
      });
    }
    await this.#database.run((sql) => sql`delete from transfer_counts where items <= 0`);
  }

  async close(): Promise<void> {
    this.#stopped = true;
    await this.#cleaning;
  }
}
