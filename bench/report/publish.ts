/** Puts the summaries of a run's cases into the page on performance, between the marks with their names. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chart } from './chart.js';
import { goalLines, type Report } from './table.js';

const DOCS = fileURLToPath(new URL('../../../docs/', import.meta.url));

export function publish({ startedAt, options, machine, remarks, cases }: Report, docs = DOCS): void {
  const file = join(docs, 'performance.md');
  let page = readFileSync(file, 'utf8');
  mkdirSync(join(docs, 'bench'), { recursive: true });
  for (const { name, title, summary, pictured, scenarios } of cases) {
    if (summary.length === 0) continue;
    const [begin, end] = [`<!-- bench: ${name} -->`, `<!-- end of bench: ${name} -->`];
    const [before, after] = [page.indexOf(begin), page.indexOf(end)];
    if (before === -1 || after === -1) throw new Error(`${file} has no place for ${name}`);
    const lines = [
      begin,
      '',
      ...summary.map((line) => line.replace(`](${name}.svg)`, `](bench/${name}.svg)`)),
      ...goalLines(scenarios).slice(1),
      '',
      `${startedAt.slice(0, 10)}, \`npm run bench${options}\`; ${[...machine, ...remarks].join('; ')}.`,
      '',
    ];
    page = page.slice(0, before) + lines.join('\n') + page.slice(after);
    writeFileSync(join(docs, 'bench', `${name}.svg`), chart(title, pictured));
  }
  writeFileSync(file, page);
}
