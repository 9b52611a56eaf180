import type { Database } from '../postgres/database.js';
import type { GrantedRequests, RequestRates } from '../storage.js';

/** A node takes this part of what is left, where not more is wanted at once: the others shall find some too. */
const PART = 8;

/** Windows by the clock of the database, one for all nodes; they begin with the first request in them. */
export class SharedRates implements RequestRates {
  readonly #database: Database;
  readonly #processes: () => number;

  constructor(database: Database, processes: () => number) {
    this.#database = database;
    this.#processes = processes;
  }

  get processes(): number {
    return this.#processes();
  }

  async take(keyId: string, wanted: number, limit: number): Promise<GrantedRequests> {
    const first = Math.min(limit, Math.max(wanted, Math.ceil(limit / PART)));
    const [row] = await this.#database.run((sql) => {
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
