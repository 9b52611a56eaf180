/** What time does to the rows: transfers of dead nodes end, old items go, nodes that left nothing behind are forgotten. */
import type { NodeRegistry } from './cluster/nodes.js';
import { forgetRates } from './cluster/request-rates.js';
import { forgetDeadClaims } from './cluster/session-claims.js';
import type { Database } from './postgres/database.js';
import type { StorageOptions } from './startup.js';
import { forgetFailures } from './tables/accounts.js';
import { deleteEmptyDays, deleteOlder, failPendingOf } from './tables/history-statements.js';
import { firstIdAt } from './postgres/clock.js';

const DAY_MS = 24 * 60 * 60 * 1000;
const HOUR_MS = 60 * 60 * 1000;
const RETENTION_LOCK = 4_702_111_234_003;
const RETENTION_BATCH = 2000;

export class Housekeeping {
  #cleanedAt = -Infinity;
  #cleaning: Promise<void> | undefined;
  #stopped = false;

  constructor(
    private readonly database: Database,
    private readonly node: NodeRegistry,
    private readonly options: Pick<StorageOptions, 'retentionDays' | 'log'>,
  ) {
    node.afterBeat(async () => {
      await this.sweep();
      if (performance.now() - this.#cleanedAt < HOUR_MS) return;
      this.#cleanedAt = performance.now();
      // Not awaited: a first run over months of items must not hold up the heartbeat.
      this.#cleaning ??= this.clean()
        .catch((error: unknown) => this.options.log('warn', 'cleaning the history failed', { reason: String(error) }))
        .finally(() => (this.#cleaning = undefined));
    });
  }

  /** Ends the pending transfers of dead nodes and forgets nodes that left nothing to look after. */
  async sweep(): Promise<void> {
    const failed = await this.database.run((sql) => failPendingOf(sql, this.node.isDead(sql, sql`p.node_id`)));
    if (failed > 0)
      this.options.log('warn', 'transfers of a node that died are marked as failed', { transfers: failed });
    await this.database.run((sql) => forgetDeadClaims(sql, this.node));
    await this.node.forgetDead();
  }

  /** Deletes items older than retentionDays, in small steps, on one node at a time; and failed logins that count no more. */
  async clean(): Promise<void> {
    await this.database.run(forgetFailures);
    await this.database.run(forgetRates);
    if (this.options.retentionDays === 0) return;
    const before = firstIdAt(new Date(Date.now() - this.options.retentionDays * DAY_MS));
    let deleted = RETENTION_BATCH;
    while (deleted === RETENTION_BATCH && !this.#stopped) {
      deleted = await this.database.transaction(async (tx) => {
        const [row] = await tx<
          { mine: boolean }[]
        >`select pg_try_advisory_xact_lock(${RETENTION_LOCK}::bigint) as mine`;
        return row?.mine === true ? deleteOlder(tx, before, RETENTION_BATCH) : 0;
      });
    }
    await this.database.run(deleteEmptyDays);
  }

  async close(): Promise<void> {
    this.#stopped = true;
    await this.#cleaning;
  }
}
