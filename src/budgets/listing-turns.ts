/**
 * Divides long listings into bounded turns, fairly by account. Parsing a listing takes time of the event loop even if
 * no client waits for it: twenty endless listings at once blocked the loop for 200 ms a turn.
 * The first entries of an operation need no turn. After those a listing is read only while it has a turn, which ends
 * after a number of entries or milliseconds. The number of concurrent turns follows the event loop: it is halved
 * whenever the loop is late, and grows by one while it is not. So listings that wait for distant servers do not wait
 * for each other.
 */
import { Periodic } from '../base/periodic.js';
import { Budget, type Grant } from './budget.js';

/** Entries that each operation reads before it needs a turn. */
const FREE_ENTRIES = 256;
const ENTRIES_A_TURN = 512;
const TURN_MS = 100;
const MOST_TURNS = 64;
const CHECK_EVERY_MS = 10;
/** A delay of the event loop that counts as late. */
const LATE_MS = 15;

export class ListingTurns {
  #most = MOST_TURNS;
  #running = 0;
  #followedAt = 0;
  readonly #following = new Periodic(() => this.#follow(), CHECK_EVERY_MS);
  readonly #turns: Budget;

  constructor() {
    const most = (): number => this.#most;
    this.#turns = new Budget({
      name: 'listings',
      unit: 'listings',
      get capacity() {
        return most();
      },
    });
  }

  /** The reader of one operation, for any number of folders, even concurrently. */
  reader(owner: string, signal: () => AbortSignal): ListingReader {
    return new ListingReader(this.#turns, owner, signal, (change) => this.#count(change));
  }

  #count(change: 1 | -1): void {
    this.#running += change;
    if (this.#running === 0) {
      void this.#following.stop();
      this.#most = MOST_TURNS;
    } else if (!this.#following.isStarted) {
      this.#followedAt = performance.now();
      this.#following.start();
    }
  }

  #follow(): void {
    const now = performance.now();
    const isLate = now - this.#followedAt > CHECK_EVERY_MS + LATE_MS;
    this.#most = isLate ? Math.max(1, this.#most >> 1) : Math.min(MOST_TURNS, this.#most + 1);
    this.#followedAt = now;
  }
}

export class ListingReader {
  readonly #turns: Budget;
  readonly #owner: string;
  readonly #signal: () => AbortSignal;
  readonly #count: (change: 1 | -1) => void;
  #listings = 0;
  #entries = 0;
  #leftInTurn = 0;
  #turn: Grant | undefined;
  #taking: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(turns: Budget, owner: string, signal: () => AbortSignal, count: (change: 1 | -1) => void) {
    this.#turns = turns;
    this.#owner = owner;
    this.#signal = signal;
    this.#count = count;
  }

  /** The same batches of entries, in turns. Rejects with the signal's reason. */
  async *read<T>(listing: AsyncIterable<readonly T[]>): AsyncGenerator<readonly T[], void> {
    this.#count(1);
    this.#listings += 1;
    try {
      for await (const entries of listing) {
        yield entries;
        this.#entries += entries.length;
        this.#leftInTurn -= entries.length;
        if (this.#entries > FREE_ENTRIES && this.#leftInTurn <= 0) await this.#take();
      }
    } finally {
      this.#listings -= 1;
      if (this.#listings === 0) this.#end();
      this.#count(-1);
    }
  }

  /** Listings that are read at once take one turn together: a second grant would replace the first, which stays taken. */
  #take(): Promise<void> {
    return (this.#taking ??= this.#takeTurn().finally(() => (this.#taking = undefined)));
  }

  async #takeTurn(): Promise<void> {
    this.#end();
    this.#turn = await this.#turns.wait({ owner: this.#owner }, { signal: this.#signal() });
    this.#leftInTurn = ENTRIES_A_TURN;
    // A slow reader holds no turn: few entries are read ahead of it.
    this.#timer = setTimeout(() => this.#end(), TURN_MS);
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#turn?.release();
    this.#turn = undefined;
    this.#leftInTurn = 0;
  }
}
