/** The secrets that sign the events of an account that belong to no watched folder, and those of a webhook. */
import { randomBytes } from 'node:crypto';
import { DAY_MS } from '../../contract/units.js';
import type { Database } from '../postgres/database.js';
import type { Queryable, Transaction } from '../postgres/sql.js';
import type { NamedSecrets } from './sealed-rows.js';

/** The name among the owner's secrets. */
const NAME = 'webhook_signing';
const SECRET_BYTES = 32;
const FORMER_MS = DAY_MS;

interface Kept {
  readonly current: string;
  readonly former?: { readonly secret: string; readonly until: number };
}

export class WebhookSecret {
  readonly #database: Database;
  readonly #secrets: NamedSecrets;
  /** The table of the owners. */
  readonly #table: 'accounts' | 'webhooks';

  constructor(database: Database, secrets: NamedSecrets, table: 'accounts' | 'webhooks') {
    this.#database = database;
    this.#secrets = secrets;
    this.#table = table;
  }

  /**
   * The secrets that sign now, the current one first; the first call creates one. `known`: the secrets of the owner by
   * name, if they were read already.
   */
  async current(owner: string, known?: ReadonlyMap<string, string>): Promise<readonly string[]> {
    const stored = await this.#database.run((sql) =>
      known === undefined ? this.#find(sql, owner) : this.#valid(sql, known.get(NAME)),
    );
    const { current, former } = stored ?? (await this.#locked(owner, (kept) => kept ?? { current: make() }));
    return former === undefined ? [current] : [current, former.secret];
  }

  /** Creates the first secret of a new owner. */
  async add(tx: Transaction, owner: string): Promise<string> {
    const current = make();
    await this.#secrets.put(tx, owner, NAME, JSON.stringify({ current } satisfies Kept));
    return current;
  }

  /**
   * Makes a new secret; the former one also signs for one more day. Resolves to the new one. `noted` runs in the same
   * transaction.
   */
  async rotate(owner: string, noted?: (tx: Transaction) => Promise<void>): Promise<string> {
    const next = (kept: Kept | undefined, now: number): Kept => ({
      current: make(),
      ...(kept === undefined ? {} : { former: { secret: kept.current, until: now + FORMER_MS } }),
    });
    return (await this.#locked(owner, next, noted)).current;
  }

  async #locked(
    owner: string,
    next: (kept: Kept | undefined, now: number) => Kept,
    noted?: (tx: Transaction) => Promise<void>,
  ): Promise<Kept> {
    return this.#database.transaction(async (tx) => {
      const [row] = await tx<
        { now: Date }[]
      >`select now() as now from ${tx(this.#table)} where id = ${owner} for no key update`;
      const kept = await this.#find(tx, owner);
      const wanted = next(kept, (row?.now ?? new Date()).getTime());
      if (wanted !== kept) await this.#secrets.put(tx, owner, NAME, JSON.stringify(wanted));
      await noted?.(tx);
      return wanted;
    });
  }

  async #find(sql: Queryable, owner: string): Promise<Kept | undefined> {
    return this.#valid(sql, await this.#secrets.find(sql, owner, NAME));
  }

  /** Without a former secret that does not sign any more. */
  async #valid(sql: Queryable, stored: string | undefined): Promise<Kept | undefined> {
    const kept = stored === undefined ? undefined : (JSON.parse(stored) as Kept);
    if (kept?.former === undefined) return kept;
    const [time] = await sql<{ now: Date }[]>`select now() as now`;
    return kept.former.until <= (time?.now ?? new Date()).getTime() ? { current: kept.current } : kept;
  }
}

function make(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
}
