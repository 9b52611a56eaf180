/** Highlights a block of code at build time. */
import { createRequire } from 'node:module';
import { escapeHtml } from '../base/html.js';

/** Required, not imported: the library's types would add those of a browser to the whole program. */
const highlighter = createRequire(import.meta.url)('highlight.js/lib/common') as {
  getLanguage(name: string): object | undefined;
  highlight(text: string, options: { language: string }): { readonly value: string };
};

/** An unknown language leaves the text unchanged. */
export function highlighted(text: string, language: string): string {
  const isKnown = highlighter.getLanguage(language) !== undefined;
  const html = isKnown ? highlighter.highlight(text, { language }).value : escapeHtml(text);
  return `<div class="code"><pre tabindex="0"><code>${html}</code></pre></div>\n`;
}
