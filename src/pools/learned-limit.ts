/** How long a learned limit of the server is believed before one more session is tried. */
const LEARNED_LIMIT_MS = 60_000;

/** How many sessions the server has been found to admit. */
export class LearnedLimit {
  sessions = Infinity;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly forgotten: () => void) {}

  learn(sessions: number): void {
    this.sessions = sessions;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.sessions = Infinity;
      this.forgotten();
    }, LEARNED_LIMIT_MS).unref();
  }

  stop(): void {
    clearTimeout(this.timer);
  }
}
