/** How long a learned limit of the server is believed before one more session is tried. */
const BELIEVED_MS = 60_000;

/** How many sessions the server has been found to admit. */
export class LearnedLimit {
  sessions = Infinity;
  private timer: NodeJS.Timeout | undefined;

  /** `forgotten` is called when it has been believed for long enough. */
  constructor(private readonly forgotten: () => void) {}

  learn(sessions: number): void {
    this.sessions = sessions;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.sessions = Infinity;
      this.forgotten();
    }, BELIEVED_MS).unref();
  }

  /** Whether there was anything to forget. */
  forget(): boolean {
    clearTimeout(this.timer);
    const wasKnown = this.sessions < Infinity;
    this.sessions = Infinity;
    return wasKnown;
  }
}
