/** What the queue needs to know about an SFTP channel. */
interface Spare {
  readonly alive: boolean;
}

interface Waiting<C> {
  readonly open: () => Promise<C>;
  readonly resolve: (channel: C) => void;
  readonly reject: (error: Error) => void;
}

/** Concurrent openings for each that has succeeded: each costs the server a process and a login shell. */
const GROWTH = 2;

/**
 * The spare channels of a session, and the queue of those who wait for one. The first in the queue gets the first
 * channel that is available, opened for it or returned by another: an opening may take longer than many small
 * operations, and the more at once, the longer. If it turns out not to be needed, its channel becomes a spare one.
 */
export class ChannelLine<C extends Spare> {
  readonly #spare: C[] = [];
  readonly #waiting: Waiting<C>[] = [];
  #openings = 0;
  #opened = 0;

  get hasSpare(): boolean {
    return this.#spare.length > 0;
  }

  take(): C | undefined {
    for (;;) {
      const channel = this.#spare.pop();
      if (channel === undefined || channel.alive) return channel;
    }
  }

  /** Takes all spare channels; the caller owns them from now on. */
  takeAll(): C[] {
    return this.#spare.splice(0);
  }

  put(channel: C): void {
    const first = this.#waiting.shift();
    if (first !== undefined) first.resolve(channel);
    else if (channel.alive) this.#spare.push(channel);
  }

  /**
   * Waits for the next channel; calls `open` if too few are being opened. A failed opening fails the last in the queue.
   */
  wait(open: () => Promise<C>): Promise<C> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ open, resolve, reject });
      this.#openMore();
    });
  }

  #openMore(): void {
    const limit = Math.max(1, GROWTH * this.#opened);
    for (;;) {
      const next = this.#openings < limit ? this.#waiting[this.#openings] : undefined;
      if (next === undefined) return;
      void this.#open(next.open);
    }
  }

  async #open(open: () => Promise<C>): Promise<void> {
    this.#openings += 1;
    try {
      const channel = await open();
      this.#openings -= 1;
      this.#opened += 1;
      this.put(channel);
    } catch (error) {
      this.#openings -= 1;
      if (this.#waiting.length > this.#openings) this.#waiting.pop()?.reject(error as Error);
    }
    this.#openMore();
  }
}
