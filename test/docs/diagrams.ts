/** Draws the diagrams of the pages into docs/diagrams: `npm run diagrams`. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { renderMermaidSVG } from 'beautiful-mermaid';
import { drawingOf } from '../../src/docs/drawing-file.js';
import { blocksOf, PAGES, ROOT } from './snippets.js';

/** Each drawing by its file, relative to the root of the project. */
export function drawings(): Map<string, string> {
  const sources = PAGES.flatMap(blocksOf)
    .filter(({ language }) => language === 'mermaid')
    .map(({ code }) => code.trim());
  return new Map(sources.map((source) => [drawingOf(source), `${renderMermaidSVG(source).trim()}\n`]));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = join(ROOT, 'docs/diagrams');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const [file, drawing] of drawings()) writeFileSync(join(ROOT, file), drawing);
}
