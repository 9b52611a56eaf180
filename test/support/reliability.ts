/**
 * What the tests of faults and attacks have shown, kept in docs/reliability.md.
 *
 * A test calls `held` once a case has held. Run by `npm run reliability` the cases become the document's rows; in any
 * other run a case that has no such row fails, so that document and tests stay one.
 */
import assert from 'node:assert/strict';
import { appendFileSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const DOCUMENT = fileURLToPath(new URL('../../../docs/reliability.md', import.meta.url));
/** Names the file that `held` writes to, a line of JSON a case. */
export const RECORD_VARIABLE = 'RELIABILITY_RECORD';
const TESTS = fileURLToPath(new URL('..', import.meta.url));

export interface HeldCase {
  readonly area: 'Faults' | 'Attacks';
  /** The fault or attack; with `done` and `held` a fixed text: what changes from run to run belongs in `tries`. */
  readonly what: string;
  readonly done: string;
  readonly held: string;
  /** How often it was tried; the same case recorded again adds to it. */
  readonly tries: number;
}

/** A case, and the test file that has shown it: `faults/kill.test.ts`. */
export type RecordedCase = HeldCase & { readonly file: string };

export function held(one: HeldCase): void {
  const file = path.relative(TESTS, process.argv[1] ?? '').replace(/\.js$/, '.ts');
  const record = process.env[RECORD_VARIABLE];
  if (record !== undefined) return appendFileSync(record, `${JSON.stringify({ ...one, file })}\n`);
  assert.ok(
    documentedCases().some((row) => row.file === file && sameCase(row, one)),
    `docs/reliability.md lacks this case, or words it differently: npm run reliability -- ${file}\n${rowOf(one)}`,
  );
}

/** Whether a test file, given as its text, records cases. */
export function recordsCases(source: string): boolean {
  return /^import \{[^}]*\bheld\b[^}]*\} from '.*\/reliability\.js';$/m.test(source);
}

export function sameCase(a: HeldCase, b: HeldCase): boolean {
  return a.area === b.area && a.what === b.what && a.done === b.done && a.held === b.held;
}

export function rowOf({ what, done, held, tries }: HeldCase): string {
  return `| ${[what, done, held, String(tries)].map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

/** The document's rows, in its order: an area is a second-level heading, a test file a third-level one. */
export function documentedCases(): RecordedCase[] {
  let area: HeldCase['area'] = 'Faults';
  let file = '';
  const found: RecordedCase[] = [];
  for (const line of readFileSync(DOCUMENT, 'utf8').split('\n')) {
    if (line === '## Faults' || line === '## Attacks') area = line === '## Faults' ? 'Faults' : 'Attacks';
    file = /^### .*\(\.\.\/test\/(.+)\)$/.exec(line)?.[1] ?? file;
    const cells = line.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
    const [, what = '', done = '', shown = '', tries] = cells;
    if (cells.length === 6 && /^\d+$/.test(tries ?? '')) {
      found.push({ area, file, what, done, held: shown, tries: Number(tries) });
    }
  }
  return found;
}
