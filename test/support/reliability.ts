/**
 * The results of the tests of faults and attacks, for docs/reliability.md.
 *
 * A test calls `held` once a case has held. Run by `npm run reliability` the cases become the document's rows; in any
 * other run a case without such a row fails, so that document and tests agree.
 */
import assert from 'node:assert/strict';
import { appendFileSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const DOCUMENT = fileURLToPath(new URL('../../../docs/reliability.md', import.meta.url));
/** Names the file that `held` writes to, one line of JSON per case. */
export const RECORD_VARIABLE = 'RELIABILITY_RECORD';
const TESTS = fileURLToPath(new URL('..', import.meta.url));

const AREAS = ['Faults', 'Attacks'] as const;

export interface HeldCase {
  readonly area: (typeof AREAS)[number];
  /** The fault or attack; with `done` and `held` a fixed text: what changes from run to run belongs in `tries`. */
  readonly what: string;
  readonly done: string;
  readonly held: string;
  /** How often it was tried; a repeated case adds to it. */
  readonly tries: number;
}

/** A case, and its test file: `faults/kill.test.ts`. */
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
  return /^import \{[^}]*\bheld\b[^}]*\} from ['"].*\/reliability\.js['"];$/m.test(source);
}

export function sameCase(a: HeldCase, b: HeldCase): boolean {
  return a.area === b.area && a.what === b.what && a.done === b.done && a.held === b.held;
}

export function rowOf({ what, done, held, tries }: HeldCase): string {
  return `| ${[what, done, held, String(tries)].map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

/** The document with these rows in place of its own; the text before them is hand-written and kept. */
export function documentOf(all: readonly RecordedCase[]): string {
  const text = readFileSync(DOCUMENT, 'utf8');
  const parts = [text.slice(0, text.indexOf(`\n## ${AREAS[0]}\n`))];
  for (const area of AREAS) {
    const inArea = all.filter((one) => one.area === area);
    if (inArea.length === 0) continue;
    parts.push(`## ${area}\n`);
    for (const file of [...new Set(inArea.map((one) => one.file))].sort()) {
      // Tests of one file may end in any order; the document keeps one order.
      const rows = inArea.filter((one) => one.file === file).map(rowOf);
      const head = [
        `| ${area === 'Faults' ? 'fault' : 'attack'} | what was done | what held | tries |`,
        '|---|---|---|---:|',
      ];
      parts.push(`### [${file}](../test/${file})\n\n${[...head, ...rows.sort()].join('\n')}\n`);
    }
  }
  return parts.join('\n');
}

/** The document's rows, in its order: an area is a second-level heading, a test file a third-level one. */
export function documentedCases(): RecordedCase[] {
  let area: HeldCase['area'] = 'Faults';
  let file = '';
  const found: RecordedCase[] = [];
  for (const line of readFileSync(DOCUMENT, 'utf8').split('\n')) {
    area = AREAS.find((one) => line === `## ${one}`) ?? area;
    file = /^### .*\(\.\.\/test\/(.+)\)$/.exec(line)?.[1] ?? file;
    const cells = line.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
    const [, what = '', done = '', shown = '', tries] = cells;
    if (cells.length === 6 && /^\d+$/.test(tries ?? '')) {
      found.push({ area, file, what, done, held: shown, tries: Number(tries) });
    }
  }
  return found;
}
