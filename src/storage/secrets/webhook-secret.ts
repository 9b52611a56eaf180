/** What signs the events of an account that belong to no watched folder. */
import { randomBytes } from 'node:crypto';
import type { Database } from '../postgres/database.js';
import type { Transaction } from '../postgres/sql.js';
import type { NamedSecrets } from './sealed-rows.js';

/** The name among the account's secrets. */
const NAME = 'webhook_signing';
const SECRET_BYTES = 32;
const FORMER_MS = 24 * 3_600_000;

interface Kept {
  readonly current: string;
  readonly former?: { readonly secret: string; readonly until: number };
}

export class WebhookSecret {
  constructor(
    private readonly database: Database,
    private readonly secrets: NamedSecrets,
  ) {}

  /** The secrets that sign now, the current one first; it is made when it is first asked for. */
  async current(accountId: string): Promise<readonly string[]> {
    const { current, former } = await this.locked(accountId, (kept) => kept ?? { current: make() });
    return former === undefined ? [current] : [current, former.secret];
  }

  /** Makes a new secret; the one before signs along for a day. Resolves to the new one. */
  async rotate(accountId: string): Promise<string> {
    const { current } = await this.locked(accountId, (kept, now) => ({
      current: make(),
      ...(kept === undefined ? {} : { former: { secret: kept.current, until: now + FORMER_MS } }),
    }));
    return current;
  }

  private async locked(accountId: string, next: (kept: Kept | undefined, now: number) => Kept): Promise<Kept> {
    return this.database.transaction(async (tx: Transaction) => {
      const [row] = await tx<
        { now: Date }[]
      >`select now() as now from accounts where id = ${accountId} for no key update`;
      const now = (row?.now ?? new Date()).getTime();
      const stored = await this.secrets.find(tx, accountId, NAME);
      const kept = stored === undefined ? undefined : (JSON.parse(stored) as Kept);
      const wanted = next(kept, now);
      if (wanted !== kept) await this.secrets.put(tx, accountId, NAME, JSON.stringify(wanted));
      return wanted.former !== undefined && wanted.former.until <= now ? { current: wanted.current } : wanted;
    });
  }
}

function make(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
}
