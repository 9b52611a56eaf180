/** Bytes that one request or operation holds in memory, in several places at once, counted under one owner. */
import { requireAmount } from '../base/numbers.js';
import type { Budget, Grant } from './budget.js';

/** What one place of it holds: a body's buffer, the window of a transfer, an answer. */
export interface Hold {
  readonly bytes: number;
  /** Holds so many from now on; false, and nothing has changed, where more may not be had. Fewer always may. */
  resize(bytes: number): boolean;
  /** The same, for what would be good to have: only while the owner could hold twice as much, so that others of its requests find room. */
  stretch(bytes: number): boolean;
  /** As resize. @throws GatewayError overloaded (503); share_exceeded (429) */
  require(bytes: number): void;
}

/** For what is bounded elsewhere. */
export const UNCOUNTED: Hold = { bytes: 0, resize: () => true, stretch: () => true, require: () => undefined };

export class Memory {
  private grant: Grant | undefined;
  private bytes = 0;
  private isOver = false;

  constructor(
    private readonly budget: Budget,
    private owner: string,
  ) {}

  hold(): Hold {
    let held = 0;
    const take = (bytes: number, isRequired: boolean): boolean => {
      // Beside what else is held, a sum could hide it.
      requireAmount(bytes);
      if (bytes === held) return true;
      if (this.isOver) return bytes < held;
      if (!this.resize(this.bytes + bytes - held, isRequired)) return false;
      held = bytes;
      return true;
    };
    return {
      get bytes() {
        return held;
      },
      resize: (bytes) => take(bytes, false),
      stretch: (bytes) => this.isPlenty(bytes - held) && take(bytes, false),
      require: (bytes) => void take(bytes, true),
    };
  }

  /** What is held counts under `owner` from now on. @throws GatewayError overloaded (503); share_exceeded (429) */
  moveTo(owner: string): void {
    const { bytes } = this;
    this.owner = owner;
    if (bytes === 0) return;
    // Given back first: the same bytes must not be asked for twice.
    this.grant?.release();
    this.grant = undefined;
    this.bytes = 0;
    this.resize(bytes, true);
  }

  /** Everything is given back; nothing more is given. */
  release(): void {
    this.isOver = true;
    this.grant?.release();
    this.grant = undefined;
    this.bytes = 0;
  }

  private isPlenty(more: number): boolean {
    const amount = this.budget.of(this.owner).used + 2 * more;
    return more <= 0 || this.budget.refusalOf({ owner: this.owner, amount }) === undefined;
  }

  private take(bytes: number): boolean {
    this.grant = this.budget.tryTake({ owner: this.owner, amount: bytes });
    return this.grant !== undefined;
  }

  private resize(bytes: number, isRequired: boolean): boolean {
    const more = bytes - this.bytes;
    // What can do with less is not told that it was refused.
    if (!isRequired && more > 0 && this.budget.refusalOf({ owner: this.owner, amount: more }) !== undefined)
      return false;
    const isGranted = this.grant?.resize(bytes) ?? this.take(bytes);
    if (isGranted) this.bytes = bytes;
    else if (isRequired) throw this.budget.errorOf({ owner: this.owner, amount: more });
    return isGranted;
  }
}
