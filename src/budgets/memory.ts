/** Bytes that one request or operation holds in memory, in several places at once, counted under one owner. */
import { requireAmount } from '../base/numbers.js';
import type { Budget, Grant } from './budget.js';

/** What one place holds: a body's buffer, the window of a transfer, an answer. */
export interface Hold {
  readonly bytes: number;
  /**
   * Holds this many bytes from now on; false, and nothing has changed, if there is not more. Fewer are always allowed.
   */
  resize(bytes: number): boolean;
  /**
   * The same for optional memory: only while the owner could hold twice as much, so that its other requests find room.
   */
  stretch(bytes: number): boolean;
  /** Like resize. @throws GatewayError overloaded (503); share_exceeded (429) */
  require(bytes: number): void;
}

/** For memory that is bounded elsewhere. */
export const UNCOUNTED: Hold = { bytes: 0, resize: () => true, stretch: () => true, require: () => undefined };

export class Memory {
  readonly #budget: Budget;
  #owner: string;
  #grant: Grant | undefined;
  #bytes = 0;
  #isOver = false;

  constructor(budget: Budget, owner: string) {
    this.#budget = budget;
    this.#owner = owner;
  }

  hold(): Hold {
    const take = (bytes: number, isRequired: boolean): boolean => {
      // Checked separately: a sum with other bytes could hide a wrong number.
      requireAmount(bytes);
      if (bytes === hold.bytes) return true;
      if (this.#isOver) return bytes < hold.bytes;
      if (!this.#resize(this.#bytes + bytes - hold.bytes, isRequired)) return false;
      hold.bytes = bytes;
      return true;
    };
    const hold = {
      bytes: 0,
      resize: (bytes: number) => take(bytes, false),
      stretch: (bytes: number) => this.#isPlenty(bytes - hold.bytes) && take(bytes, false),
      require: (bytes: number) => void take(bytes, true),
    };
    return hold;
  }

  /** The held bytes count under `owner` from now on. @throws GatewayError overloaded (503); share_exceeded (429) */
  moveTo(owner: string): void {
    const bytes = this.#bytes;
    this.#owner = owner;
    if (bytes === 0) return;
    // Released first: the same bytes must not be counted twice.
    this.#grant?.release();
    this.#grant = undefined;
    this.#bytes = 0;
    this.#resize(bytes, true);
  }

  /** Releases everything; no more is granted. */
  release(): void {
    this.#isOver = true;
    this.#grant?.release();
    this.#grant = undefined;
    this.#bytes = 0;
  }

  #isPlenty(more: number): boolean {
    const amount = this.#budget.of(this.#owner).used + 2 * more;
    return more <= 0 || this.#budget.refusalOf({ owner: this.#owner, amount }) === undefined;
  }

  #take(bytes: number): boolean {
    this.#grant = this.#budget.tryTake({ owner: this.#owner, amount: bytes });
    return this.#grant !== undefined;
  }

  #resize(bytes: number, isRequired: boolean): boolean {
    const more = bytes - this.#bytes;
    // Optional memory does not count as refused.
    if (!isRequired && more > 0 && this.#budget.refusalOf({ owner: this.#owner, amount: more }) !== undefined)
      return false;
    const isGranted = this.#grant?.resize(bytes) ?? this.#take(bytes);
    if (isGranted) this.#bytes = bytes;
    else if (isRequired) throw this.#budget.errorOf({ owner: this.#owner, amount: more });
    return isGranted;
  }
}
