/** The rates of limited connections. The transfers of all threads take from one place, so a limit holds for the node. */
import { ByteRate } from '../base/byte-rate.js';

export interface ByteRates {
  /** Resolves when this transfer may move as many bytes, or has left. `key` is that of the connection. */
  take(key: string, transfer: string, bytes: number, bytesPerSecond: number): Promise<void>;
  /** The transfer moves no more bytes. */
  leave(key: string, transfer: string): void;
}

export class NodeRates implements ByteRates {
  readonly #rates = new Map<string, ByteRate>();

  take(key: string, transfer: string, bytes: number, bytesPerSecond: number): Promise<void> {
    return this.#rateOf(key).take(transfer, bytes, bytesPerSecond);
  }

  leave(key: string, transfer: string): void {
    this.#rates.get(key)?.leave(transfer);
  }

  #rateOf(key: string): ByteRate {
    let rate = this.#rates.get(key);
    if (rate === undefined) {
      for (const [other, { isIdle }] of this.#rates) if (isIdle) this.#rates.delete(other);
      rate = new ByteRate();
      this.#rates.set(key, rate);
    }
    return rate;
  }
}
