/**
 * Divides turns of the event loop among transfers, by the bytes that they receive. Without it, 64 clients that send at
 * once are served 512 KiB each in one turn: that takes 45 ms over SFTP, and all other requests wait.
 */

/**
 * What all transfers may receive in one turn: some 6 ms of processor time. With less, more packets and system calls
 * carry the same bytes.
 */
const TURN_BYTES = 4 * 1024 * 1024;
/** A transfer waits once for this many bytes, not for each small chunk. */
const LEAST_BYTES = 128 * 1024;
/** What each transfer may receive in a turn without waiting: short answers and slow lines. */
const FREE_BYTES = 32 * 1024;

interface Waiter {
  readonly turns: TransferTurns;
  readonly go: () => void;
}

/**
 * The share of a turn, which ends where the callbacks of setImmediate run. Transfers that find it used up continue in
 * later turns, first come, first served.
 */
class TurnShare {
  #left = TURN_BYTES;
  /** Counts turns. */
  turn = 0;
  readonly #waiting: Waiter[] = [];
  #isEnding = false;
  readonly #nextTurn = (): void => this.#begin();

  /** Some of it is left, and nothing waits for it. */
  get isOpen(): boolean {
    return this.#left > 0 && this.#waiting.length === 0;
  }

  spend(bytes: number): void {
    this.#left -= bytes;
    this.#awaitEnd();
  }

  wait(waiter: Waiter): void {
    this.#waiting.push(waiter);
    this.#awaitEnd();
  }

  leave(turns: TransferTurns): void {
    const at = this.#waiting.findIndex((waiter) => waiter.turns === turns);
    if (at !== -1) this.#waiting.splice(at, 1);
  }

  #awaitEnd(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    setImmediate(this.#nextTurn);
  }

  #begin(): void {
    this.#isEnding = false;
    this.#left = TURN_BYTES;
    this.turn += 1;
    while (this.#left > 0) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      next.go();
    }
    if (this.#waiting.length > 0) this.#awaitEnd();
  }
}

/** For all transfers of this event loop. */
const share = new TurnShare();

/** The turns of one transfer, or of one connection that carries several. */
export class TransferTurns {
  /** Bytes that may come now: they have been taken from the share. */
  #granted = 0;
  #isWaiting = false;
  #turn = 0;
  /** Bytes that came in that turn. */
  #received = 0;

  /** Whether as many bytes may come; if not, `go` is called once they may. Only the first call waits. */
  await(bytes: number, go: () => void): boolean {
    if (this.#isWaiting) return false;
    if (this.#granted >= bytes || this.#receivedNow + bytes <= FREE_BYTES) return true;
    if (share.isOpen) {
      this.#grant(bytes);
      return true;
    }
    this.#isWaiting = true;
    const turn = (): void => {
      this.#isWaiting = false;
      this.#grant(bytes);
      go();
    };
    share.wait({ turns: this, go: turn });
    return false;
  }

  /** Counts bytes that came. */
  spend(bytes: number): void {
    this.#received = this.#receivedNow + bytes;
    this.#turn = share.turn;
    if (bytes > this.#granted) share.spend(bytes - this.#granted);
    this.#granted = Math.max(0, this.#granted - bytes);
  }

  /** Nothing more comes: it waits no longer. */
  end(): void {
    if (this.#isWaiting) share.leave(this);
    this.#isWaiting = false;
  }

  get #receivedNow(): number {
    return this.#turn === share.turn ? this.#received : 0;
  }

  #grant(bytes: number): void {
    const missing = Math.max(bytes, LEAST_BYTES) - this.#granted;
    if (missing <= 0) return;
    this.#granted += missing;
    share.spend(missing);
  }
}
