/**
 * What one request uses of the shared budgets (budgets/): its place among the requests under way, and the memory of its
 * body and its answer. Counted under the client's address until the router knows the account; returned when the answer
 * has been sent and the handler has ended.
 */
import type { Budgets } from '../budgets/budgets.js';
import type { Grant } from '../budgets/budget.js';
import { Memory } from '../budgets/memory.js';
import { networkOf } from './client-address.js';

export type RequestBudgets = Pick<Budgets, 'memoryBytes' | 'requests' | 'unsigned'>;

export class Claims {
  readonly #budgets: RequestBudgets;
  readonly #address: string;
  #place: Grant | undefined;
  #held: Memory | undefined;
  #accountId: string | undefined;
  #isOver = false;

  constructor(budgets: RequestBudgets, address: string) {
    this.#budgets = budgets;
    this.#address = address;
  }

  /** Most requests need none. */
  get memory(): Memory {
    if (this.#held === undefined) {
      this.#held = new Memory(this.#budgets.memoryBytes, this.#accountId ?? this.#anonymous);
      if (this.#isOver) this.#held.release();
    }
    return this.#held;
  }

  /** Call when the request is authenticated. @throws GatewayError overloaded (503); share_exceeded (429) */
  admit(accountId: string, isEssential: boolean): void {
    this.#place = this.#budgets.requests.take({ owner: accountId, isEssential });
    this.#accountId = accountId;
    this.#held?.moveTo(accountId);
  }

  /**
   * Call for a request without authentication whose body must be awaited. @throws GatewayError overloaded (503);
   * share_exceeded (429)
   */
  admitUnsigned(): void {
    this.#place = this.#budgets.unsigned.take({ owner: this.#anonymous });
  }

  release(): void {
    this.#isOver = true;
    this.#place?.release();
    this.#held?.release();
  }

  /** The owner before authentication. */
  get #anonymous(): string {
    return `address ${networkOf(this.#address)}`;
  }
}
