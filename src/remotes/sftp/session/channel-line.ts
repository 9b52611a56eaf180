/** What waits in line for an SFTP channel needs to know of it. */
interface Spare {
  readonly alive: boolean;
}

interface Waiting<C> {
  readonly open: () => Promise<C>;
  readonly resolve: (channel: C) => void;
  readonly reject: (error: Error) => void;
}

/** Openings at once, for each that has succeeded: a process and a login shell are what one costs the server. */
const GROWTH = 2;

/**
 * The spare channels of a session, and the line of those who want one. Whoever is first takes the first channel that comes,
 * opened for it or given back by another: an opening may take longer than many small operations, and the more at once, the
 * longer. One that turns out needless leaves its channel as a spare one.
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

  /** All spare channels, which are the caller's from now on. */
  takeAll(): C[] {
    return this.#spare.splice(0);
  }

  put(channel: C): void {
    const first = this.#waiting.shift();
    if (first !== undefined) first.resolve(channel);
    else if (channel.alive) this.#spare.push(channel);
  }

  /** The next channel that comes; `open` is called when too few are on their way. A failed opening fails the last in line. */
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
