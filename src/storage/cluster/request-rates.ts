import type { NodeRegistry } from './nodes.js';
import type { Database } from '../postgres/database.js';
import type { Queryable } from '../postgres/sql.js';

export interface GrantedRequests {
  readonly granted: number;
  /** For all nodes together. */
  readonly left: number;
  readonly endsInMs: number;
}

/** A node takes this part of what is left, where not more is wanted at once: the others shall find some too. */
const PART = 8;

/**
 * Requests of API keys, counted over all nodes. Windows go by the clock of the database, one for all nodes; they begin
 * with the first request in them.
 */
export class SharedRates {
  constructor(
    private readonly database: Database,
    private readonly node: Pick<NodeRegistry, 'processes'>,
  ) {}

  /** That live, this one included, as of the last heartbeat. */
  get processes(): number {
    return this.node.processes;
  }

  /** Takes a portion of the key's running second, or of a new one: `wanted` at least, where so many are left. */
  async take(keyId: string, wanted: number, limit: number): Promise<GrantedRequests> {
    const first = Math.min(limit, Math.max(wanted, Math.ceil(limit / PART)));
    const [row] = await this.database.run((sql) => {
      const left = sql`greatest(0, ${limit}::bigint - r.taken)`;
      const part = sql`least(${left}, greatest(${wanted}::bigint, (${left} + ${PART - 1}) / ${PART}))`;
      const isOver = sql`r.window_ends <= now()`;
      return sql<{ granted: number; left: number; endsInMs: number }[]>`
        insert into request_rates as r (key_id, window_ends, taken, granted)
        values (${keyId}, now() + interval '1 second', ${first}::bigint, ${first}::bigint)
        on conflict (key_id) do update set
          window_ends = case when ${isOver} then excluded.window_ends else r.window_ends end,
          taken = case when ${isOver} then excluded.taken else r.taken + ${part} end,
          granted = case when ${isOver} then excluded.granted else ${part} end
        returning r.granted, greatest(0, ${limit}::bigint - r.taken) as left,
          (extract(epoch from r.window_ends - now()) * 1000)::float8 as "endsInMs"`;
    });
    return row ?? { granted: 0, left: 0, endsInMs: 0 };
  }
}

/** Takes away windows that are over. */
export async function forgetRates(sql: Queryable): Promise<void> {
  await sql`delete from request_rates where window_ends < now()`;
}
