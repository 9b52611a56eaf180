/** Writes the table of parts into docs/architecture.md: `npm run generate`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { architecturePage } from '../support/architecture.js';

export const PAGE_FILE = fileURLToPath(new URL('../../../docs/architecture.md', import.meta.url));
const [BEGIN, END] = ['<!-- made from test/support/architecture.ts -->', '<!-- until here -->'];

/** The page with the table as it is now. */
export function pageWithParts(page: string): string {
  const [before = '', rest = ''] = page.split(BEGIN);
  return [before, BEGIN, `\n\n${architecturePage()}\n\n`, END, rest.slice(rest.indexOf(END) + END.length)].join('');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(PAGE_FILE, pageWithParts(readFileSync(PAGE_FILE, 'utf8')));
}
