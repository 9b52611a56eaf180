import { databaseAway } from './errors.js';
import type { Sql, Transaction } from './sql.js';

/**
 * One connection, with settings that are sent first whenever it is new. Transactions run on it one after the other. When it
 * is lost in one, the driver would still send the next statement, or the rollback, into the socket that is gone, which throws
 * outside of every promise and takes the process down. Here a transaction that has lost its connection sends nothing any more.
 */
export class Line {
  readonly #driver: Sql;
  readonly #settings: string;
  #isNew = true;
  /** The weight of the work that runs or waits for its turn. */
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
      // Sent ahead of the next statement, which fails where this one does.
      this.#driver.unsafe(this.#settings).catch(() => undefined);
    }
    return this.#driver;
  }

  async begin<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return (await this.sql.begin((tx) => this.#guard(tx, work))) as T;
  }

  /** What runs may end within so many seconds. */
  end(timeout: number): Promise<void> {
    return this.#driver.end({ timeout });
  }

  /** Settles like `work`, but never once the connection is lost: the driver itself rejects the transaction then. */
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
