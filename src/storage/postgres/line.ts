import { databaseAway } from './errors.js';
import type { Sql, Transaction } from './sql.js';

/**
 * One connection. Its settings are sent first whenever it is new. Transactions run on it one after the other. If the
 * connection is lost in a transaction, the driver would still send the next statement, or the rollback, into the closed
 * socket; that throws outside of every promise and ends the process. So a transaction that has lost its connection
 * sends nothing any more.
 */
export class Line {
  readonly #driver: Sql;
  readonly #settings: string;
  #isNew = true;
  /** The weight of the work that runs or waits for this connection. */
  load = 0;
  #loseCurrent = (): void => undefined;

  /** `open` makes a pool of one connection that calls `onLoss` whenever the connection is closed. */
  constructor(open: (onLoss: () => void) => Sql, settings: string) {
    this.#settings = settings;
    this.#driver = open(() => {
      this.#isNew = true;
      this.#loseCurrent();
    });
  }

  /** For statements that are sent at once. */
  get sql(): Sql {
    if (this.#isNew) {
      this.#isNew = false;
      // Sent before the next statement, which fails if this one does.
      this.#driver.unsafe(this.#settings).catch(() => undefined);
    }
    return this.#driver;
  }

  async begin<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return (await this.sql.begin((tx) => this.#guard(tx, work))) as T;
  }

  /** Running work may take this many seconds to end. */
  end(timeout: number): Promise<void> {
    return this.#driver.end({ timeout });
  }

  /** Settles like `work`, but never after the connection is lost: then the driver itself rejects the transaction. */
  #guard<T>(tx: Transaction, work: (tx: Transaction) => Promise<T>): Promise<T> {
    let isLost = false;
    this.#loseCurrent = () => (isLost = true);
    const refuseLost = (): void => {
      if (isLost) throw databaseAway(new Error('the connection of the transaction is lost'));
    };
    const guarded = new Proxy(tx, {
      apply(target, self, parts: unknown[]) {
        refuseLost();
        return Reflect.apply(target as (...parts: unknown[]) => unknown, self, parts);
      },
      get(target, name) {
        refuseLost();
        return Reflect.get(target, name) as unknown;
      },
    });
    return new Promise((resolve, reject) => {
      work(guarded).then(
        (value) => isLost || resolve(value),
        (error: unknown) => isLost || reject(error as Error),
      );
    });
  }
}
