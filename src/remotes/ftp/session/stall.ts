/** A timer that runs only while the server is at turn: a client that reads slowly is no stall of the server. */
export class StallTimer {
  private timer: NodeJS.Timeout | undefined;
  private running = false;

  constructor(
    private readonly timeoutMs: number,
    private readonly onStall: () => void,
  ) {}

  /** The server is at turn, or has just moved a byte. */
  restart(): void {
    this.running = true;
    if (this.timer === undefined) this.timer = setTimeout(() => this.fire(), this.timeoutMs);
    else this.timer.refresh();
  }

  /** We are at turn. The timer object stays: pausing happens too often to make a new one each time. */
  pause(): void {
    this.running = false;
  }

  stop(): void {
    this.running = false;
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private fire(): void {
    this.timer = undefined;
    if (this.running) this.onStall();
  }
}
