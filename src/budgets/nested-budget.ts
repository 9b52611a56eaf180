/**
 * A budget whose shares are divided once more, by the same rule: each owner's among its parts. An account with many
 * silent servers cannot block another account, nor can one of its servers block the others.
 */
import { Budget, type BudgetOptions, type Grant } from './budget.js';

/** The largest part of a budget that one owner can get. */
const LARGEST_SHARE = 4 / 5;

export class NestedBudget {
  readonly #options: BudgetOptions;
  readonly #whole: Budget;
  readonly #shares = new Map<string, Budget>();

  constructor(options: BudgetOptions) {
    this.#options = options;

    this.#whole = new Budget(options);
  }

  get used(): number {
    return this.#whole.gauge.used;
  }

  /** What an owner that holds nothing may take at once; 0 when all is taken. */
  get room(): number {
    const free = this.#options.capacity - this.used;
    return free <= 0 ? 0 : Math.max(1, Math.floor(free * LARGEST_SHARE));
  }

  mayTake(owner: string): boolean {
    return this.#whole.refusalOf({ owner }) === undefined;
  }

  mayTakePart(owner: string, part: string): boolean {
    return this.#shares.get(owner)?.refusalOf({ owner: part }) === undefined;
  }

  tryTake(owner: string, part: string): Grant | undefined {
    if (!this.mayTake(owner) || !this.mayTakePart(owner, part)) return undefined;
    return this.#both(owner, this.#shareOf(owner).take({ owner: part }), this.#whole.take({ owner }));
  }

  /** Waits in turn. Rejects with the signal's reason. */
  async wait(owner: string, part: string, signal: AbortSignal): Promise<Grant> {
    const inner = await this.#shareOf(owner)
      .wait({ owner: part }, { signal })
      .catch((error: unknown) => this.#left(owner, error));
    const outer = await this.#whole.wait({ owner }, { signal }).catch((error: unknown) => {
      inner.release();
      return this.#left(owner, error);
    });
    return this.#both(owner, inner, outer);
  }

  #shareOf(owner: string): Budget {
    const { name, unit, capacity } = this.#options;
    const share =
      this.#shares.get(owner) ??
      new Budget({ name, unit, capacity: Math.max(1, Math.floor(capacity * LARGEST_SHARE)) });
    this.#shares.set(owner, share);
    return share;
  }

  #both(owner: string, inner: Grant, outer: Grant): Grant {
    return {
      amount: outer.amount,
      resize: () => false,
      release: () => {
        inner.release();
        outer.release();
        this.#forget(owner);
      },
    };
  }

  #left(owner: string, error: unknown): never {
    this.#forget(owner);
    throw error;
  }

  #forget(owner: string): void {
    const gauge = this.#shares.get(owner)?.gauge;
    if (gauge?.used === 0 && gauge.waiting === 0) this.#shares.delete(owner);
  }
}
