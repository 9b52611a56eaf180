/** Mermaid as SVG, drawn by the build. Its colours are those of the page, which the style sheet sets. */
import { renderMermaidSVG } from 'beautiful-mermaid';
import { escapeHtml } from '../base/html.js';

/** `id`: tells the diagrams of a page apart. */
export function diagram(source: string, id: string, title: string): string {
  const svg = draw(source, id, title);
  const text = `<details${svg === '' ? ' open' : ''}><summary>The diagram as text</summary><pre tabindex="0"><code>${escapeHtml(source)}</code></pre></details>`;
  return `<figure class="diagram" tabindex="0">${svg}${text}</figure>\n`;
}

/** Of a kind that the library does not know, the text remains. */
function draw(source: string, id: string, title: string): string {
  try {
    const svg = renderMermaidSVG(source);
    return (
      svg
        // The policy of the page forbids styles that are written in it.
        .replace(/<style>[^]*?<\/style>/, '')
        .replace(/<svg ([^>]*?) style="[^"]*">/, `<svg $1 role="img" aria-label="${escapeHtml(`Diagram: ${title}`)}">`)
        .replace(/\bid="([\w-]+)"/g, `id="diagram-${id}-$1"`)
        .replace(/url\(#([\w-]+)\)/g, `url(#diagram-${id}-$1)`)
    );
  } catch (error) {
    console.error(`a diagram is shown as text: ${String(error)}`);
    return '';
  }
}
