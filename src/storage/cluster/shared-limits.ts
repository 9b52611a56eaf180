/** Limits over all nodes: sessions to servers, and requests per second. */
import { hidden, type RowOf } from '../../contract/thing.js';
import type { Database } from '../postgres/database.js';
import {
  columnsOf,
  fromExcluded,
  type Queryable,
  rowOf,
  selecting,
  templateIn,
  type Transaction,
} from '../postgres/sql.js';
import type { NodeRegistry } from './nodes.js';

/** The sessions of a login that one process holds, and what it could do with more (pools/share-messages.ts). */
const claimFields = {
  held: hidden<number>(),
  waiting: hidden<number>(),
  sessions: hidden<number>(),
  atOnce: hidden<number>(),
  isRequest: hidden<boolean>(),
  isFresh: hidden<boolean>(),
};
const CLAIM = templateIn(fromExcluded(Object.keys(claimFields)));

interface SessionClaim extends RowOf<typeof claimFields> {
  /** In ms since 1970, by the clock of the claiming process; in a SeenSessionClaim by the database's. */
  readonly since: number;
}

interface SeenSessionClaim extends SessionClaim {
  readonly isMine: boolean;
}

/** Any number that no other lock of two numbers uses. */
const LOCK_SPACE = 4_702_111;
const SAME_TIME_SECONDS = 0.1;

/** Sessions on remote servers, counted over all nodes. The claims of a node end with it. */
export class SharedSessions {
  readonly #database: Database;
  readonly #node: NodeRegistry;

  constructor(database: Database, node: NodeRegistry) {
    this.#database = database;
    this.#node = node;
  }

  /** See SharedRates. */
  get processes(): number {
    return this.#node.processes;
  }

  /**
   * Passes the claims of all live nodes, including this one, to `decide`, in the same order on every node. `decide`
   * returns how many sessions this node holds from now on; no other node decides about this login at the same time.
   * With nothing held and nothing waiting, `decide` is not called and the claim is deleted.
   */
  async claim(
    login: string,
    claim: SessionClaim,
    decide: (claims: readonly SeenSessionClaim[]) => number,
  ): Promise<void> {
    const isMine = (sql: Queryable) => sql`login = ${login} and node_id = ${this.#node.id}`;
    if (claim.held + claim.waiting === 0) {
      await this.#database.run((sql) => sql`delete from session_claims where ${isMine(sql)}`);
      return;
    }
    await this.#database.transaction(async (tx) => {
      await tx`select pg_advisory_xact_lock(${LOCK_SPACE}, hashtext(${login}))`;
      await this.#note(tx, login, claim);
      const claims = await tx<SeenSessionClaim[]>`
        select ${columnsOf(tx, claimFields)},
          (extract(epoch from since) * 1000)::float8 as since, node_id = ${this.#node.id} as is_mine
        from session_claims c where login = ${login} and not ${this.#node.isDead(tx, tx`c.node_id`)}
        order by node_id`;
      const held = decide(claims);
      await tx`
        update session_claims set held = ${held}, waiting = ${claim.held + claim.waiting - held} where ${isMine(tx)}`;
    });
  }

  /**
   * A repeated time keeps the stored value, so that the order in the queue does not depend on the time that the
   * statement took.
   */
  #note(tx: Transaction, login: string, claim: SessionClaim) {
    const since = tx`now() - ${`${Math.max(0, Date.now() - claim.since)} milliseconds`}::interval`;
    const row = rowOf(tx, claimFields, claim);
    return tx`
      insert into session_claims as c ${selecting(tx, { ...row, login, nodeId: this.#node.id, since })}
      on conflict (login, node_id) do update set ${tx(CLAIM)},
        since = case when abs(extract(epoch from c.since - excluded.since)) < ${SAME_TIME_SECONDS}
          then c.since else excluded.since end`;
  }

  /** Those of `logins` for which other nodes wait for sessions. */
  async wantedByOthers(logins: readonly string[]): Promise<readonly string[]> {
    const rows = await this.#database.run(
      (sql) => sql<{ login: string }[]>`
        select distinct login from session_claims c
        where login = any(${sql.types.texts(logins)}) and node_id <> ${this.#node.id} and waiting > 0
          and not ${this.#node.isDead(sql, sql`c.node_id`)}`,
    );
    return rows.map(({ login }) => login);
  }
}

/** The claims of a node end with it. */
export async function forgetDeadClaims(sql: Queryable, node: NodeRegistry): Promise<void> {
  await sql`delete from session_claims c where ${node.isDead(sql, sql`c.node_id`)}`;
}

interface GrantedRequests {
  readonly granted: number;
  /** Over all nodes. */
  readonly left: number;
  readonly endsInMs: number;
}

/**
 * A node takes this part of the remaining requests unless it needs more at once, so that other nodes also find some.
 */
const PART = 8;

/**
 * Requests of API keys, counted over all nodes. The clock of the database sets the windows for all nodes; a window
 * begins with its first request.
 */
export class SharedRates {
  readonly #database: Database;
  readonly #node: Pick<NodeRegistry, 'processes'>;

  constructor(database: Database, node: Pick<NodeRegistry, 'processes'>) {
    this.#database = database;
    this.#node = node;
  }

  /** Live processes, including this one, as of the last heartbeat. */
  get processes(): number {
    return this.#node.processes;
  }

  /** Takes a portion of the key's current second, or of a new one: at least `wanted`, if that many remain. */
  async take(keyId: string, wanted: number, limit: number): Promise<GrantedRequests> {
    const first = Math.min(limit, Math.max(wanted, Math.ceil(limit / PART)));
    const [row] = await this.#database.run((sql) => {
      const left = sql`greatest(0, ${limit}::bigint - r.taken)`;
      const part = sql`least(${left}, greatest(${wanted}::bigint, (${left} + ${PART - 1}) / ${PART}))`;
      // A window that ends more than a whole window from now began before the clock was set back.
      const isOver = sql`(r.window_ends <= now() or r.window_ends > now() + interval '1 second')`;
      return sql<{ granted: number; left: number; endsInMs: number }[]>`
        insert into request_rates as r (key_id, window_ends, taken, granted)
        values (${keyId}, now() + interval '1 second', ${first}::bigint, ${first}::bigint)
        on conflict (key_id) do update set
          window_ends = case when ${isOver} then excluded.window_ends else r.window_ends end,
          taken = case when ${isOver} then excluded.taken else r.taken + ${part} end,
          granted = case when ${isOver} then excluded.granted else ${part} end
        returning r.granted, greatest(0, ${limit}::bigint - r.taken) as left,
          (extract(epoch from r.window_ends - now()) * 1000)::float8 as ends_in_ms`;
    });
    return row ?? { granted: 0, left: 0, endsInMs: 0 };
  }
}

/** Deletes windows that are over. */
export async function forgetRates(sql: Queryable): Promise<void> {
  await sql`delete from request_rates where window_ends < now()`;
}
