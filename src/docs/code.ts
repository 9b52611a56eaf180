/** A block of code with its words marked, by the build. */
import { createRequire } from 'node:module';
import { escapeHtml } from '../base/html.js';

/** Required, not imported: the library's types would bring those of a browser into the whole program. */
const highlighter = createRequire(import.meta.url)('highlight.js/lib/common') as {
  getLanguage(name: string): object | undefined;
  highlight(text: string, options: { language: string }): { readonly value: string };
};

/** A language that is not known leaves the text as it is. */
export function highlighted(text: string, language: string): string {
  const isKnown = highlighter.getLanguage(language) !== undefined;
  const html = isKnown ? highlighter.highlight(text, { language }).value : escapeHtml(text);
  return `<div class="code"><pre tabindex="0"><code>${html}</code></pre></div>\n`;
}
