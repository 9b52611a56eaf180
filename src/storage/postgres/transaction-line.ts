import { databaseAway } from './errors.js';
import type { Sql, Transaction } from './sql.js';

/**
 * One connection on which transactions run one after the other. When it is lost in one, the driver would still send the
 * next statement, or the rollback, into the socket that is gone, which throws outside of every promise and takes the
 * process down. Here a transaction that has lost its connection sends nothing any more.
 */
export class TransactionLine {
  readonly sql: Sql;
  /** Of the transactions that run or wait for their turn. */
  load = 0;
  #loseCurrent = (): void => undefined;

  /** `open` makes a pool of one connection that calls `onClose` whenever the connection is lost. */
  constructor(open: (onClose: () => void) => Sql) {
    this.sql = open(() => this.#loseCurrent());
  }

  async begin<T>(work: (tx: Transaction) => Promise<T>, load = 1): Promise<T> {
    this.load += load;
    try {
      return (await this.sql.begin((tx) => this.#guard(tx, work))) as T;
    } finally {
      this.load -= load;
    }
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
