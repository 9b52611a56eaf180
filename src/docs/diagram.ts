/**
 * Mermaid diagrams as SVG. The drawings are files, made by `npm run diagrams`, because their generator is as large as
 * the rest of the build. The style sheet of the page sets their colours.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { escapeHtml } from '../base/html.js';
import { drawingOf } from './drawing-file.js';
import { ROOT } from './sources.js';

/** `id`: distinguishes the diagrams of a page. */
export function diagram(source: string, id: string, title: string): string {
  const svg = draw(source, id, title);
  const text = `<details${svg === '' ? ' open' : ''}><summary>The diagram as text</summary><pre tabindex="0"><code>${escapeHtml(source)}</code></pre></details>`;
  return `<figure class="diagram" tabindex="0">${svg}${text}</figure>\n`;
}

/** Without a drawing the text remains. */
function draw(source: string, id: string, title: string): string {
  const file = drawingOf(source);
  try {
    return (
      readFileSync(join(ROOT, file), 'utf8')
        // The page's policy forbids inline styles.
        .replace(/<style>[^]*?<\/style>/, '')
        .replace(/<svg ([^>]*?) style="[^"]*">/, `<svg $1 role="img" aria-label="${escapeHtml(`Diagram: ${title}`)}">`)
        .replace(/\bid="([\w-]+)"/g, `id="diagram-${id}-$1"`)
        .replace(/url\(#([\w-]+)\)/g, `url(#diagram-${id}-$1)`)
        .trim()
    );
  } catch (error) {
    console.error(`the diagram "${title}" is shown as text; npm run diagrams draws it: ${String(error)}`);
    return '';
  }
}
