/** How far things are, on standard error: a line for one file, a block for many. */
import type { Progress } from '../client/index.js';
import { bytesText, oneLine, printable } from './output.js';

const DRAW_EVERY_MS = 100;
const BAR_WIDTH = 24;
const CLEAR_LINE = '\r\u001b[K';

/** As --progress and --no-progress say; undefined = neither: on a terminal alone. */
type Wanted = boolean | undefined;

function canRewrite(terminal: NodeJS.WriteStream): boolean {
  return terminal.isTTY && process.env['TERM'] !== 'dumb';
}

export class ProgressLine {
  private readonly startedAt = performance.now();
  private drawnAt = 0;
  private readonly isShown: boolean;

  constructor(
    private readonly name: string,
    wanted: Wanted,
    private readonly terminal: NodeJS.WriteStream = process.stderr,
  ) {
    this.isShown = wanted !== false && canRewrite(terminal);
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

export function durationText(seconds: number): string {
  const whole = Math.ceil(seconds);
  const [hours, minutes] = [Math.floor(whole / 3_600), Math.floor(whole / 60) % 60];
  const tail = `${String(minutes).padStart(hours > 0 ? 2 : 1, '0')}:${String(whole % 60).padStart(2, '0')}`;
  return hours > 0 ? `${hours}:${tail}` : tail;
}

/** Of many files: what is done, and what is known of what is to do. */
export interface Totals {
  readonly bytes: number;
  readonly bytesTotal: number;
  /** Done, and all that are known. */
  readonly files: number;
  readonly filesTotal: number;
  readonly skipped: number;
  readonly failed: number;
  readonly deleted?: number;
  /** Known better than from the time that has passed. */
  readonly bytesPerSecond?: number;
  readonly etaSeconds?: number | null;
  /** What runs now, a line each. */
  readonly running: readonly string[];
}

const REDRAW_EVERY_MS = 250;
const TELL_EVERY_MS = 10_000;
const MOST_RUNNING = 8;

/** A block that is rewritten on a terminal; elsewhere, where it is asked for, a line every ten seconds. Ended, it is gone from the terminal. */
export class ProgressBlock {
  private readonly startedAt = performance.now();
  private readonly timer: NodeJS.Timeout | undefined;
  private height = 0;

  constructor(
    wanted: Wanted,
    private readonly read: () => Totals,
    private readonly terminal: NodeJS.WriteStream = process.stderr,
  ) {
    if (wanted === false) return;
    if (canRewrite(terminal)) this.timer = setInterval(() => this.draw(), REDRAW_EVERY_MS);
    else if (wanted === true) this.timer = setInterval(() => this.tell(), TELL_EVERY_MS);
  }

  end(): void {
    clearInterval(this.timer);
    this.erase();
  }

  /** A line that stays, above the block. */
  say(text: string): void {
    this.erase();
    this.terminal.write(`${text}\n`);
  }

  private tell(): void {
    const [bytes, files] = totalsText(this.read(), performance.now() - this.startedAt);
    this.terminal.write(`${bytes ?? ''}; ${files ?? ''}\n`);
  }

  private draw(): void {
    const width = Math.max(20, this.terminal.columns - 1);
    const lines = totalsText(this.read(), performance.now() - this.startedAt).map((line) => line.slice(0, width));
    this.erase();
    this.terminal.write(lines.map((line) => `${line}\n`).join(''));
    this.height = lines.length;
  }

  private erase(): void {
    if (this.height > 0) this.terminal.write(`\u001b[${this.height}A\r\u001b[J`);
    this.height = 0;
  }
}

/** The lines of the block; the first two say all in short. */
export function totalsText(totals: Totals, elapsedMs: number): string[] {
  const { bytes, bytesTotal, files, filesTotal, skipped, failed, deleted = 0, running } = totals;
  const perSecond = totals.bytesPerSecond ?? Math.round(bytes / Math.max(elapsedMs / 1_000, 0.001));
  const guess = perSecond > 0 ? (bytesTotal - bytes) / perSecond : null;
  const eta = totals.etaSeconds === undefined ? guess : totals.etaSeconds;
  const share = bytesTotal > 0 ? `, ${Math.floor(Math.min(1, bytes / bytesTotal) * 100)} %` : '';
  const others = Object.entries({ skipped, failed, deleted }).filter(([, count]) => count > 0);
  const more = running.length > MOST_RUNNING ? [` * ${running.length - MOST_RUNNING} more`] : [];
  return [
    `Transferred:  ${bytesText(bytes)} / ${bytesText(bytesTotal)}${share}, ${bytesText(perSecond)}/s, ETA ${eta === null ? '-' : durationText(eta)}`,
    `Files:        ${files} / ${filesTotal}${others.map(([what, count]) => `, ${count} ${what}`).join('')}`,
    `Elapsed:      ${durationText(elapsedMs / 1_000)}`,
    ...running.slice(0, MOST_RUNNING).map((line) => ` * ${oneLine(line)}`),
    ...more,
  ];
}
