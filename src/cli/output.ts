/**
 * The output of commands: tables for people, JSON for programs, both on standard output; progress and errors on
 * standard error.
 */
import Table from 'cli-table3';
import { sizeFormat } from '../contract/units.js';
import { visible } from '../base/visible.js';
import { FtgError } from '../client/index.js';

type Cell = string | number | boolean | null | undefined;

export class Output {
  constructor(readonly isJson: boolean) {}

  /** The unchanged answer of the gateway on one line; or the result of `text` for people. */
  show(value: unknown, text: () => string): void {
    const line = this.isJson ? jsonLine(value) : text();
    if (line !== '') process.stdout.write(`${line}\n`);
  }

  /** A note for people, on standard error. */
  note(text: string): void {
    if (!this.isJson) process.stderr.write(`${printable(text)}\n`);
  }

  fail(error: unknown): void {
    const { hint } = error as { readonly hint?: string };
    const advice = hint === undefined ? '' : `     ${printable(hint)}\n`;
    process.stderr.write(
      this.isJson ? `${jsonLine({ ...errorFacts(error), hint })}\n` : `ftg: ${printable(errorText(error))}\n${advice}`,
    );
  }
}

export function table(heads: readonly string[], rows: readonly (readonly Cell[])[], empty = 'nothing'): string {
  if (rows.length === 0) return empty;
  const made = new Table({ head: [...heads], chars: WITHOUT_LINES, style: PLAIN });
  for (const row of rows) made.push(row.map(cellText));
  return made.toString().replace(/ +$/gm, '');
}

/** A column of a table by its head: the name of a field, or a function that makes its text. */
type Columns<T> = Readonly<Record<string, (keyof T & string) | ((row: T) => Cell)>>;

/** A table with one thing per line. Fields whose name ends with At are times. */
export function listed<T>(rows: readonly T[], columns: Columns<T>, empty?: string): string {
  const cell = (row: T, column: Columns<T>[string]): Cell => {
    if (typeof column === 'function') return column(row);
    const value = row[column] as Cell | readonly string[];
    if (column.endsWith('At')) return timeText(value as string | null);
    return Array.isArray(value) ? value.join(' ') : (value as Cell);
  };
  const cells = rows.map((row) => Object.values(columns).map((column) => cell(row, column)));
  return table(Object.keys(columns), cells, empty);
}

export const placeText = ({ connectionId, path }: { readonly connectionId: string; readonly path: string }): string =>
  `${connectionId}:${path}`;

/** One thing, one field per line. */
export function fields(record: object): string {
  const made = new Table({ chars: WITHOUT_LINES, style: PLAIN });
  for (const [name, value] of Object.entries(record)) {
    const shown = typeof value === 'object' && value !== null ? JSON.stringify(value) : (value as Cell);
    made.push([name, cellText(shown)]);
  }
  return made.toString().replace(/ +$/gm, '');
}

/** Names come from servers and are not trusted: control characters are shown in escaped form. */
export function printable(text: string): string {
  return visible(text, escaped, '\n');
}

/** The same on one line. */
export function oneLine(text: string): string {
  return printable(text).replaceAll('\n', ' ');
}

export const bytesText = sizeFormat('en');

export function timeText(time: string | null | undefined): string {
  return time === null || time === undefined ? '-' : time.replace(/\.\d+Z$/, 'Z');
}

const PLAIN = { head: [], border: [], 'padding-left': 0, 'padding-right': 2 };
const WITHOUT_LINES = Object.fromEntries(
  ['top', 'bottom', 'left', 'right', 'mid', 'left-mid', 'right-mid', 'middle', 'mid-mid']
    .concat(['top-mid', 'top-left', 'top-right', 'bottom-mid', 'bottom-left', 'bottom-right'])
    .map((name) => [name, '']),
);

function cellText(value: Cell): string {
  if (value === null || value === undefined || value === '') return '-';
  return oneLine(String(value));
}

/** JSON does not escape the control characters above ASCII. */
function jsonLine(value: unknown): string {
  return JSON.stringify(value).replace(/[\u007f-\u009f\u2028\u2029]/g, escaped);
}

function escaped(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16);
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
}

function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { path } = error as NodeJS.ErrnoException;
  // Node.js writes "ENOENT: no such file or directory, open '/x'".
  const words = /^[A-Z][A-Z0-9]*: (.+?), [a-z]/.exec(error.message)?.[1];
  return path === undefined || words === undefined ? error.message : `${path}: ${words}`;
}

function errorFacts(error: unknown): object {
  const base = { error: errorText(error) };
  if (!(error instanceof FtgError)) return base;
  const { code, status, reason, requestId, retryAfter, skipped } = error;
  return { ...base, code, status, reason, requestId, retryAfter, ...(skipped ? { skipped } : {}) };
}

export const incompleteText = (path: string, entries: number): string =>
  `${path} is not listed whole: ${entries} ${entries === 1 ? 'entry' : 'entries'} cannot be read or addressed (the gateway's log names them)`;
