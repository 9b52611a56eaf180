import type { Database, Queryable, Transaction } from '../postgres/database.js';
import type { NodeRegistry } from './nodes.js';
import type { SeenSessionClaim, SessionClaim, SessionClaims } from '../storage.js';

/** Any number will do that no other lock of two numbers has. */
const LOCK_SPACE = 4_702_111;
const SAME_TIME_SECONDS = 0.1;

export class SharedSessions implements SessionClaims {
  readonly #database: Database;
  readonly #node: NodeRegistry;

  constructor(database: Database, node: NodeRegistry) {
    this.#database = database;
    this.#node = node;
  }

  get processes(): number {
    return this.#node.processes;
  }

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
        select held, waiting, sessions, at_once as "atOnce", is_request as "isRequest", is_fresh as "isFresh",
          (extract(epoch from since) * 1000)::float8 as since, node_id = ${this.#node.id} as "isMine"
        from session_claims c where login = ${login} and not ${this.#node.isDead(tx, tx`c.node_id`)}
        order by node_id`;
      const held = decide(claims);
      await tx`
        update session_claims set held = ${held}, waiting = ${claim.held + claim.waiting - held} where ${isMine(tx)}`;
    });
  }

  /** A time that is told anew keeps what was noted, so that the order in line does not depend on how long that took. */
  #note(tx: Transaction, login: string, claim: SessionClaim) {
    const waited = `${Math.max(0, Date.now() - claim.since)} milliseconds`;
    return tx`
      insert into session_claims as c (login, node_id, held, waiting, sessions, at_once, since, is_request, is_fresh)
      values (${login}, ${this.#node.id}, ${claim.held}, ${claim.waiting}, ${claim.sessions}, ${claim.atOnce},
        now() - ${waited}::interval, ${claim.isRequest}, ${claim.isFresh})
      on conflict (login, node_id) do update set
        held = excluded.held, waiting = excluded.waiting, sessions = excluded.sessions, at_once = excluded.at_once,
        since = case when abs(extract(epoch from c.since - excluded.since)) < ${SAME_TIME_SECONDS}
          then c.since else excluded.since end,
        is_request = excluded.is_request, is_fresh = excluded.is_fresh`;
  }

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
