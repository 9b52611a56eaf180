/** Progress on standard error: a line for one file, a block for many. */
import { Periodic } from '../base/periodic.js';
import type { Progress } from '../client/index.js';
import { progressText, type Totals, totalsText } from './progress-text.js';

const DRAW_EVERY_MS = 100;
const CLEAR_LINE = '\r\u001b[K';

/** The value of --progress and --no-progress; undefined = neither: only on a terminal. */
type Wanted = boolean | undefined;

function canRewrite(): boolean {
  return process.stderr.isTTY && process.env['TERM'] !== 'dumb';
}

export class ProgressLine {
  readonly #name: string;
  readonly #startedAt = performance.now();
  #drawnAt = 0;
  readonly #isShown: boolean;

  constructor(name: string, wanted: Wanted) {
    this.#name = name;

    this.#isShown = wanted !== false && canRewrite();
  }

  readonly update: Progress = ({ bytes, total }) => {
    const now = performance.now();
    // The last one is always drawn: a bar that stays at 99 % looks like a failure.
    if (!this.#isShown || (now - this.#drawnAt < DRAW_EVERY_MS && bytes !== total)) return;
    this.#drawnAt = now;
    const line = progressText(this.#name, bytes, total, now - this.#startedAt);
    process.stderr.write(`${CLEAR_LINE}${line.slice(0, Math.max(20, process.stderr.columns - 1))}`);
  };

  /** Clears the line: the result replaces it. */
  end(): void {
    if (this.#isShown && this.#drawnAt > 0) process.stderr.write(CLEAR_LINE);
  }
}

const REDRAW_EVERY_MS = 250;
const REPORT_EVERY_MS = 10_000;

/**
 * A block that is rewritten on a terminal; without one, a line every ten seconds if requested. At the end it is erased
 * from the terminal.
 */
export class ProgressBlock {
  readonly #read: () => Totals;
  readonly #startedAt = performance.now();
  readonly #showing: Periodic | undefined;
  #height = 0;

  constructor(wanted: Wanted, read: () => Totals) {
    this.#read = read;

    if (wanted === false) return;
    if (canRewrite()) this.#showing = new Periodic(() => this.#draw(), REDRAW_EVERY_MS).start();
    else if (wanted === true) this.#showing = new Periodic(() => this.#report(), REPORT_EVERY_MS).start();
  }

  end(): void {
    void this.#showing?.stop();
    this.#erase();
  }

  /** Prints a permanent line above the block. */
  say(text: string): void {
    this.#erase();
    process.stderr.write(`${text}\n`);
  }

  #report(): void {
    const [bytes, files] = totalsText(this.#read(), performance.now() - this.#startedAt);
    process.stderr.write(`${bytes ?? ''}; ${files ?? ''}\n`);
  }

  #draw(): void {
    const width = Math.max(20, process.stderr.columns - 1);
    const lines = totalsText(this.#read(), performance.now() - this.#startedAt).map((line) => line.slice(0, width));
    this.#erase();
    process.stderr.write(lines.map((line) => `${line}\n`).join(''));
    this.#height = lines.length;
  }

  #erase(): void {
    if (this.#height > 0) process.stderr.write(`\u001b[${this.#height}A\r\u001b[J`);
    this.#height = 0;
  }
}
