/**
 * What one request takes of what all share (budgets/): its place among the requests under way, and the memory that its
 * body and its answer hold. Counted under the client's address until the router knows whose it is; given back when the
 * answer has left and the handler has come to its end.
 */
import type { Budgets } from '../budgets/budgets.js';
import type { Grant } from '../budgets/budget.js';
import { Memory } from '../budgets/memory.js';
import { networkOf } from './client-address.js';

export type RequestBudgets = Pick<Budgets, 'memoryBytes' | 'requests' | 'unsigned'>;

export class Claims {
  private place: Grant | undefined;
  private held: Memory | undefined;
  private accountId: string | undefined;
  private isOver = false;

  constructor(
    private readonly budgets: RequestBudgets,
    private readonly address: string,
  ) {}

  /** Most requests hold none. */
  get memory(): Memory {
    if (this.held === undefined) {
      this.held = new Memory(this.budgets.memoryBytes, this.accountId ?? this.stranger);
      if (this.isOver) this.held.release();
    }
    return this.held;
  }

  /** Somebody has signed for it. @throws GatewayError overloaded (503); share_exceeded (429) */
  admit(accountId: string, isEssential: boolean): void {
    this.place = this.budgets.requests.take({ owner: accountId, isEssential });
    this.accountId = accountId;
    this.held?.moveTo(accountId);
  }

  /** Nobody will sign for it, and it has a body to wait for. @throws GatewayError overloaded (503); share_exceeded (429) */
  admitUnsigned(): void {
    this.place = this.budgets.unsigned.take({ owner: this.stranger });
  }

  release(): void {
    this.isOver = true;
    this.place?.release();
    this.held?.release();
  }

  /** Whoever has not signed yet. */
  private get stranger(): string {
    return `address ${networkOf(this.address)}`;
  }
}
