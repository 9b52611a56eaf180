/** One line of progress on a terminal, drawn over itself; nothing where standard error is no terminal. */
import type { Progress } from '../client/index.js';
import { bytesText, printable } from './output.js';

const DRAW_EVERY_MS = 100;
const BAR_WIDTH = 24;
const CLEAR_LINE = '\r\u001b[K';

export class ProgressLine {
  private readonly startedAt = performance.now();
  private drawnAt = 0;
  private readonly isShown: boolean;

  constructor(
    private readonly name: string,
    isWanted: boolean,
    private readonly terminal: NodeJS.WriteStream = process.stderr,
  ) {
    this.isShown = isWanted && terminal.isTTY;
  }

  readonly update: Progress = ({ bytes, total }) => {
    const now = performance.now();
    // The last one is drawn in any case: a bar that stays at 99 % looks like a failure.
    if (!this.isShown || (now - this.drawnAt < DRAW_EVERY_MS && bytes !== total)) return;
    this.drawnAt = now;
    const line = progressText(this.name, bytes, total, now - this.startedAt);
    this.terminal.write(`${CLEAR_LINE}${line.slice(0, Math.max(20, this.terminal.columns - 1))}`);
  };

  /** Takes the line away: the result is told in its place. */
  end(): void {
    if (this.isShown && this.drawnAt > 0) this.terminal.write(CLEAR_LINE);
  }
}

export function progressText(name: string, bytes: number, total: number | undefined, elapsedMs: number): string {
  const perSecond = bytes / Math.max(elapsedMs / 1_000, 0.001);
  const speed = `${bytesText(Math.round(perSecond))}/s`;
  if (total === undefined || total === 0) return `${printable(name)}  ${bytesText(bytes)}  ${speed}`;
  const share = Math.min(1, bytes / total);
  const bar = '#'.repeat(Math.round(share * BAR_WIDTH)).padEnd(BAR_WIDTH, '.');
  const percent = `${Math.floor(share * 100)} %`.padStart(5);
  const rest = perSecond === 0 ? '' : `  ${durationText((total - bytes) / perSecond)} left`;
  return `${percent} [${bar}] ${bytesText(bytes)} of ${bytesText(total)}  ${speed}${rest}  ${printable(name)}`;
}

function durationText(seconds: number): string {
  const whole = Math.ceil(seconds);
  const [hours, minutes] = [Math.floor(whole / 3_600), Math.floor(whole / 60) % 60];
  const tail = `${String(minutes).padStart(hours > 0 ? 2 : 1, '0')}:${String(whole % 60).padStart(2, '0')}`;
  return hours > 0 ? `${hours}:${tail}` : tail;
}
