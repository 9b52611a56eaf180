/**
 * One bounded resource of the process, divided fairly by account: bytes, slots, sessions.
 * An owner may hold at most GENEROSITY times what would still be free (dynamic thresholds, Choudhury and Hahne 1998).
 * One owner alone gets four fifths, two get four ninths each, and an owner that holds nothing always finds some room:
 * nothing has to be taken away from anyone, and the number of owners need not be known. Waiters are served by how
 * little they hold, then in the order of arrival.
 */
import { LRUCache } from 'lru-cache';
import { atMost } from '../base/cache-size.js';
import { waitFor } from '../base/deadline.js';
import { GatewayError } from '../base/errors.js';
import { requireAmount } from '../base/numbers.js';

const GENEROSITY = 4;
/** Owners whose refusals are remembered. */
const REMEMBERED_OWNERS = 1_000;
const RETRY_AFTER_MS = 1_000;

export interface BudgetOptions {
  /** As in the configuration and the metrics. */
  readonly name: string;
  /** What is bounded, in words for an error: "requests", "bytes in memory". */
  readonly unit: string;
  readonly capacity: number;
  /** The part of the capacity that only essential claims may use. */
  readonly reserve?: number;
  /** The key of the configuration that bounds it, if its name differs. */
  readonly setting?: string;
}

interface Claim {
  /** The account; before authentication another owner is used, such as the client's address. */
  readonly owner: string;
  /** Absent = 1. */
  readonly amount?: number;
  /** Login, health and reading one's own state: may use the reserve, regardless of what the owner holds. */
  readonly isEssential?: boolean;
}

/** The part of a budget that an owner holds. */
export interface Grant {
  readonly amount: number;
  /** Holds more or less from now on; false, and nothing has changed, if there is not more. */
  resize(amount: number): boolean;
  /** Later calls do nothing. */
  release(): void;
}

/** Why a claim is refused: the whole budget is used up, or the owner's share of it. */
type Refusal = 'full' | 'share';

export interface BudgetGauge {
  readonly name: string;
  readonly capacity: number;
  readonly used: number;
  readonly waiting: number;
  readonly owners: number;
  readonly refused: Readonly<Record<Refusal, number>>;
}

interface Waiting {
  readonly claim: Claim;
  readonly grant: (grant: Grant) => void;
}

export class Budget {
  readonly #options: BudgetOptions;
  #used = 0;
  readonly #held = new Map<string, number>();
  readonly #waiting = new Set<Waiting>();
  readonly #refused: Record<Refusal, number> = { full: 0, share: 0 };
  readonly #refusedTo = new LRUCache<string, number>(atMost(REMEMBERED_OWNERS));

  constructor(options: BudgetOptions) {
    this.#options = options;
  }

  get gauge(): BudgetGauge {
    const { name, capacity } = this.#options;
    const used = this.#used;
    const waiting = this.#waiting;
    const held = this.#held;
    return { name, capacity, used, waiting: waiting.size, owners: held.size, refused: { ...this.#refused } };
  }

  /** One owner's usage. */
  of(owner: string): { readonly used: number; readonly refused: number } {
    return { used: this.#held.get(owner) ?? 0, refused: this.#refusedTo.get(owner) ?? 0 };
  }

  /** Takes it now, without waiting. */
  tryTake(claim: Claim): Grant | undefined {
    const refusal = this.refusalOf(claim);
    if (refusal === undefined) return this.#give(claim);
    this.#count(refusal, claim.owner);
    return undefined;
  }

  /** @throws GatewayError overloaded (503); share_exceeded (429) */
  take(claim: Claim): Grant {
    const refusal = this.refusalOf(claim);
    if (refusal === undefined) return this.#give(claim);
    this.#count(refusal, claim.owner);
    throw this.#error(refusal);
  }

  /**
   * Waits in turn. Rejects with the signal's reason, or after `timeoutMs` with overloaded (503) or share_exceeded
   * (429). A claim above the largest possible grant waits in vain.
   */
  wait(
    claim: Claim,
    { signal, timeoutMs }: { readonly signal: AbortSignal; readonly timeoutMs?: number },
  ): Promise<Grant> {
    if (!signal.aborted && this.refusalOf(claim) === undefined) return Promise.resolve(this.#give(claim));
    const late = (): GatewayError => {
      const refusal = this.refusalOf(claim) ?? 'full';
      this.#count(refusal, claim.owner);
      return this.#error(refusal);
    };
    return waitFor(timeoutMs === undefined ? { signal } : { signal, ms: timeoutMs, late }, (grant) => {
      const waiting: Waiting = { claim, grant };
      this.#waiting.add(waiting);
      return () => this.#waiting.delete(waiting);
    });
  }

  /** undefined: the claim may be granted now. */
  refusalOf({ owner, amount = 1, isEssential = false }: Claim): Refusal | undefined {
    requireAmount(amount);
    const { capacity, reserve = 0 } = this.#options;
    const free = capacity - this.#used - amount - (isEssential ? 0 : reserve);
    if (free < 0) return 'full';
    const holds = this.#held.get(owner) ?? 0;
    return isEssential || holds === 0 || holds + amount <= GENEROSITY * free ? undefined : 'share';
  }

  /** The error for a claim that was not granted. */
  errorOf(claim: Claim): GatewayError {
    return this.#error(this.refusalOf(claim) ?? 'full');
  }

  #give(claim: Claim): Grant {
    const { owner, isEssential = false } = claim;
    let isOver = false;
    const hold = (amount: number): void => {
      requireAmount(amount);
      this.#add(owner, amount - grant.amount);
      grant.amount = amount;
    };
    const grant = {
      amount: 0,
      resize: (amount: number) => {
        if (isOver) return false;
        const more = amount - grant.amount;
        const refusal = more > 0 ? this.refusalOf({ owner, amount: more, isEssential }) : undefined;
        if (refusal !== undefined) this.#count(refusal, owner);
        else hold(amount);
        if (more < 0) this.#serve();
        return refusal === undefined;
      },
      release: () => {
        if (isOver) return;
        isOver = true;
        hold(0);
        this.#serve();
      },
    };
    hold(claim.amount ?? 1);
    return grant;
  }

  #add(owner: string, amount: number): void {
    // Adding and subtracting fractions may end slightly below zero.
    this.#used = Math.max(0, this.#used + amount);
    const holds = (this.#held.get(owner) ?? 0) + amount;
    if (holds <= 0) this.#held.delete(owner);
    else this.#held.set(owner, holds);
  }

  /** Serves the owner that holds least first. */
  #serve(): void {
    for (;;) {
      let next: Waiting | undefined;
      for (const waiting of this.#waiting) {
        const holds = this.#held.get(waiting.claim.owner) ?? 0;
        if (next !== undefined && holds >= (this.#held.get(next.claim.owner) ?? 0)) continue;
        if (this.refusalOf(waiting.claim) === undefined) next = waiting;
      }
      if (next === undefined) return;
      next.grant(this.#give(next.claim));
    }
  }

  #count(refusal: Refusal, owner: string): void {
    this.#refused[refusal]++;
    this.#refusedTo.set(owner, (this.#refusedTo.get(owner) ?? 0) + 1);
  }

  #error(refusal: Refusal): GatewayError {
    const { name, unit, capacity, setting = `budgets.${name}` } = this.#options;
    return refusal === 'full'
      ? new GatewayError('overloaded', `all ${capacity} ${unit} of this gateway are in use (${setting})`, {
          step: 'acquire',
          retryAfterMs: RETRY_AFTER_MS,
        })
      : new GatewayError(
          'share_exceeded',
          `this account has its share of the gateway's ${capacity} ${unit} (${setting})`,
          {
            step: 'acquire',
            retryAfterMs: RETRY_AFTER_MS,
          },
        );
  }
}
