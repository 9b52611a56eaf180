/** The state of all files together, in one line: how far they are, the time left, and at the end how many are stored. */
import type { PageData } from './page-data.ts';
import type { Row } from './row.ts';

const LEAST_MS = 500;
const MINUTE_SECONDS = 60;

export class Total {
  readonly #line: HTMLElement;
  readonly #rows: readonly Row[];
  readonly #data: PageData;
  #begun: { readonly at: number; readonly bytes: number } | undefined;
  #shownAt = 0;

  constructor(line: HTMLElement, rows: readonly Row[], data: PageData) {
    this.#line = line;
    this.#rows = rows;
    this.#data = data;
  }

  show(): void {
    const now = performance.now();
    if (now - this.#shownAt < LEAST_MS) return;
    this.#shownAt = now;
    const going = this.#rows.filter(({ mayGo, hasFailed }) => mayGo && !hasFailed);
    const all = going.reduce((sum, { size }) => sum + size, 0);
    const sent = going.reduce((sum, { sentBytes }) => sum + sentBytes, 0);
    this.#begun ??= { at: now, bytes: sent };
    const { total } = this.#data.words;
    const counts = {
      done: this.#number(going.filter(({ stored }) => stored !== undefined).length),
      all: this.#number(going.length),
      percent: String(Math.floor((all === 0 ? 1 : sent / all) * 100)),
    };
    const seconds = ((now - this.#begun.at) / 1000) * ((all - sent) / (sent - this.#begun.bytes));
    const left = Number.isFinite(seconds) && seconds >= 1 ? filled(total.left, { time: this.#time(seconds) }) : '';
    this.#line.textContent = `${filled(total.sent, counts)}${left}`;
  }

  end(): void {
    this.#begun = undefined;
    this.#shownAt = 0;
    const stored = this.#rows.filter((row) => row.stored !== undefined).length;
    const failed = this.#rows.filter(({ hasFailed }) => hasFailed).length;
    const { total } = this.#data.words;
    const parts = [
      stored > 0 && this.#counted(total.stored, stored),
      failed > 0 && this.#counted(total.failed, failed),
    ];
    this.#line.textContent = parts.filter((part) => part !== false).join(' ');
  }

  #counted(texts: Readonly<Partial<Record<Intl.LDMLPluralRule, string>>>, count: number): string {
    const text = texts[new Intl.PluralRules(this.#data.language).select(count)] ?? texts.other ?? '';
    return filled(text, { count: this.#number(count) });
  }

  #number(value: number): string {
    return new Intl.NumberFormat(this.#data.language).format(value);
  }

  #time(seconds: number): string {
    const isLong = seconds >= MINUTE_SECONDS;
    const format = { style: 'unit', unit: isLong ? 'minute' : 'second', unitDisplay: 'long' } as const;
    return new Intl.NumberFormat(this.#data.language, format).format(
      Math.ceil(isLong ? seconds / MINUTE_SECONDS : seconds),
    );
  }
}

function filled(text: string, values: Readonly<Record<string, string>>): string {
  return Object.entries(values).reduce((made, [name, value]) => made.replace(`{${name}}`, () => value), text);
}
