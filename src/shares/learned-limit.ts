/** How long a learned limit of the server is trusted before one more session is tried. */
const BELIEVED_MS = 60_000;

/** The number of sessions that the server was found to admit. */
export class LearnedLimit {
  readonly #forgotten: () => void;
  sessions = Infinity;
  #timer: NodeJS.Timeout | undefined;

  /** `forgotten` is called when the limit has been trusted for long enough. */
  constructor(forgotten: () => void) {
    this.#forgotten = forgotten;
  }

  learn(sessions: number): void {
    this.sessions = sessions;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.sessions = Infinity;
      this.#forgotten();
    }, BELIEVED_MS).unref();
  }

  /** Forgets the limit; returns whether there was one. */
  forget(): boolean {
    clearTimeout(this.#timer);
    const wasKnown = this.sessions < Infinity;
    this.sessions = Infinity;
    return wasKnown;
  }
}
