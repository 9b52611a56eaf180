/** Bounds what jobs write into the database: per job, per account, and in total; and while its disk is nearly full. */
import { GatewayError } from '../base/errors.js';
import type { ListingFindings, Jobs, RunningJob, StorageOptions, StoredRows } from '../storage/storage.js';

/** The job ends: it has found more than may be stored. */
export class TooManyRows extends GatewayError {}

interface RowBudgetOptions {
  readonly rows: Pick<Jobs, 'storedRows' | 'purgeOldest'>;
  readonly limits: { readonly filesPerJob: number; readonly rowsPerAccount: number; readonly rows: number };
  /** Free bytes of the disk that holds the database; NaN = unknown. */
  readonly freeBytes: () => Promise<number>;
  readonly pauseBelowFreeBytes: number;
  readonly log: StorageOptions['log'];
}

const FRESH_MS = 1_000;
const LOG_EVERY_MS = 60_000;
/** A row with its indexes has some 250 bytes and its path twice: a long path counts as several rows. */
const PATH_BYTES_OF_A_ROW = 256;

/** The number of rows that these findings count as. */
export function rowsOf({ files, folders }: ListingFindings): number {
  const pathBytes = folders.reduce((sum, { path }) => sum + path.length, files.texts.path.length / 2);
  return files.count + folders.length + Math.floor(pathBytes / PATH_BYTES_OF_A_ROW);
}

/** A recent number of stored rows, and the number that this process has written since. */
interface Known {
  readonly at: number;
  readonly stored: StoredRows;
  taken: number;
}

export class RowBudget {
  readonly #options: RowBudgetOptions;
  /** By account, and by job. */
  readonly #known = new Map<string, Known>();
  #space: { readonly at: number; readonly hasRoom: boolean } | undefined;
  #loggedAt = -Infinity;

  constructor(options: RowBudgetOptions) {
    this.#options = options;
  }

  /** Whether the disk of the database has room for findings of listings. */
  async hasSpace(): Promise<boolean> {
    const now = performance.now();
    if (this.#space === undefined || now - this.#space.at > FRESH_MS) {
      const free = await this.#options.freeBytes();
      // NaN if the free space is unknown.
      this.#space = { at: now, hasRoom: !(free < this.#options.pauseBelowFreeBytes) };
      if (!this.#space.hasRoom && now - this.#loggedAt > LOG_EVERY_MS) {
        this.#loggedAt = now;
        this.#options.log('warn', 'jobs list nothing while the disk of the database is nearly full', {
          freeBytes: free,
        });
      }
    }
    return this.#space.hasRoom;
  }

  /** Call before rows are written. @throws TooManyRows; GatewayError overloaded if others hold too much */
  async take({ id, accountId }: Pick<RunningJob, 'id' | 'accountId'>, rows: number): Promise<void> {
    const { filesPerJob } = this.#options.limits;
    const known = await this.#storedOf(accountId, id);
    known.taken += rows;
    if (known.stored.job + known.taken > filesPerJob) {
      const text = `it found more than ${filesPerJob} files and folders (jobs.filesPerJob): split it by folders or filters`;
      throw new TooManyRows('too_large', text, { step: 'open' });
    }
    await this.makeRoom(accountId, rows);
  }

  /**
   * Deletes the oldest jobs of the account that have ended, if it holds too much. @throws TooManyRows; GatewayError
   * overloaded
   */
  async makeRoom(accountId: string, rows = 1): Promise<void> {
    const { rowsPerAccount, rows: most } = this.#options.limits;
    for (;;) {
      const known = await this.#storedOf(accountId, null);
      const { stored, taken } = known;
      const isAccountFull = stored.account + taken + rows > rowsPerAccount;
      if (!isAccountFull && stored.all + taken + rows <= most) {
        known.taken += rows;
        return;
      }
      this.#known.delete(accountId);
      if (await this.#options.rows.purgeOldest(accountId)) continue;
      if (!isAccountFull) {
        throw new GatewayError('overloaded', `the jobs of all accounts keep more than ${most} rows (jobs.rows)`, {
          step: 'open',
        });
      }
      const text = `the jobs of this account keep more than ${rowsPerAccount} files and folders (jobs.rowsPerAccount)`;
      throw new TooManyRows('share_exceeded', text, { step: 'open' });
    }
  }

  async #storedOf(accountId: string, jobId: string | null): Promise<Known> {
    const name = jobId ?? accountId;
    const now = performance.now();
    const known = this.#known.get(name);
    if (known !== undefined && now - known.at < FRESH_MS) return known;
    for (const [other, { at }] of this.#known) if (now - at >= FRESH_MS) this.#known.delete(other);
    const fresh = { at: now, stored: await this.#options.rows.storedRows(accountId, jobId), taken: 0 };
    this.#known.set(name, fresh);
    return fresh;
  }
}
