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
  private most = MOST_TURNS;
  private running = 0;
  private followedAt = 0;
  private readonly following = new Periodic(() => this.follow(), CHECK_EVERY_MS);
  private readonly turns: Budget;

  constructor() {
    const most = (): number => this.most;
    this.turns = new Budget({
      name: 'listings',
      unit: 'listings',
      get capacity() {
        return most();
      },
    });
  }

  /** The reader of one operation, for any number of folders. */
  reader(owner: string, signal: () => AbortSignal): ListingReader {
    return new ListingReader(this.turns, owner, signal, (change) => this.count(change));
  }

  private count(change: 1 | -1): void {
    this.running += change;
    if (this.running === 0) {
      void this.following.stop();
      this.most = MOST_TURNS;
    } else if (!this.following.isStarted) {
      this.followedAt = performance.now();
      this.following.start();
    }
  }

  private follow(): void {
    const now = performance.now();
    const isLate = now - this.followedAt > CHECK_EVERY_MS + LATE_MS;
    this.most = isLate ? Math.max(1, this.most >> 1) : Math.min(MOST_TURNS, this.most + 1);
    this.followedAt = now;
  }
}

export class ListingReader {
  private entries = 0;
  private leftInTurn = 0;
  private turn: Grant | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly turns: Budget,
    private readonly owner: string,
    private readonly signal: () => AbortSignal,
    private readonly count: (change: 1 | -1) => void,
  ) {}

  /** The same entries, in turns. Rejects with the signal's reason. */
  async *read<T>(listing: AsyncIterable<T>): AsyncGenerator<T, void> {
    this.count(1);
    try {
      for await (const entry of listing) {
        yield entry;
        this.entries++;
        if (this.entries > FREE_ENTRIES && --this.leftInTurn <= 0) await this.take();
      }
    } finally {
      this.end();
      this.count(-1);
    }
  }

  private async take(): Promise<void> {
    this.end();
    this.turn = await this.turns.wait({ owner: this.owner }, { signal: this.signal() });
    this.leftInTurn = ENTRIES_A_TURN;
    // A slow reader holds no turn: few entries are read ahead of it.
    this.timer = setTimeout(() => this.end(), TURN_MS);
  }

  private end(): void {
    clearTimeout(this.timer);
    this.turn?.release();
    this.turn = undefined;
    this.leftInTurn = 0;
  }
}
