/** How long a learned limit of the server is trusted before one more session is tried. */
const BELIEVED_MS = 600_000;
/** A session that the server does not refuse within this time is admitted. */
const ADMITTED_AFTER_MS = 10_000;

/** The number of sessions that the server was found to admit; after a while, one more may be tried. */
export class LearnedLimit {
  readonly #changed: () => void;
  /** How many may be open or opened now. */
  sessions = Infinity;
  #found = Infinity;
  #timer: NodeJS.Timeout | undefined;
  #trial: NodeJS.Timeout | undefined;

  /** `changed` is called when more sessions may be opened than before. */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** The server has refused a session in addition to these. */
  learn(sessions: number): void {
    this.#found = sessions;
    this.sessions = sessions;
    this.#stopTimers();
    this.#timer = setTimeout(() => {
      this.sessions = sessions + 1;
      this.#changed();
    }, BELIEVED_MS).unref();
  }

  /** This many sessions are open. If it is more than found, after the wait: the limit has changed. */
  admitted(sessions: number): void {
    if (sessions <= this.#found) return;
    if (this.sessions > this.#found) {
      this.forget();
      this.#changed();
    } else this.learn(sessions);
  }

  /** This many sessions are open or being opened; a refusal comes as `learn`. */
  trying(sessions: number): void {
    if (sessions <= this.#found || this.sessions === this.#found) return;
    this.#trial ??= setTimeout(() => this.admitted(sessions), ADMITTED_AFTER_MS).unref();
  }

  /** Forgets the limit; returns whether there was one. */
  forget(): boolean {
    this.#stopTimers();
    const wasKnown = this.sessions < Infinity;
    this.sessions = Infinity;
    this.#found = Infinity;
    return wasKnown;
  }

  #stopTimers(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#trial);
    this.#trial = undefined;
  }
}
