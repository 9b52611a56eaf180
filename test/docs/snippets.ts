/**
 * The fenced code blocks of the documentation. The words of a fence determine its use:
 * ```sh run executed as written, in the order of its page; blocks of one page share a folder
 * ```sh run terminal the same at a terminal, where the test types the answers
 * ```json check NAME checked by the function of that name in checks.ts
 * ```text, ```mermaid a drawing or an output: nothing to type
 * Any other block has to be on the list of blocks.test.ts.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface Snippet {
  /** Relative to the root of the project. */
  readonly page: string;
  /** The line of the fence in the page. */
  readonly line: number;
  /** Empty where the fence has none. */
  readonly language: string;
  readonly words: readonly string[];
  readonly code: string;
}

/** The root of the project, relative to this file. */
export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

export const PAGES: readonly string[] = [
  ...readdirSync(ROOT),
  ...readdirSync(`${ROOT}docs`, { recursive: true, encoding: 'utf8' }).map((name) => `docs/${name}`),
  // READMEs of the packages.
  ...['src/cli/README.md', 'src/client/README.md'],
]
  .filter((name) => name.endsWith('.md'))
  .sort();

const FENCE = /^ *(?:`{3,}|~{3,})(.*)$/;

/** Every block of the page, with any fence. */
export function blocksOf(page: string): Snippet[] {
  const blocks: Snippet[] = [];
  let open: { readonly line: number; readonly info: string; readonly code: string[] } | undefined;
  for (const [index, text] of readFileSync(`${ROOT}${page}`, 'utf8').split('\n').entries()) {
    const info = FENCE.exec(text)?.[1]?.trim();
    if (open === undefined) {
      if (info !== undefined) open = { line: index + 1, info, code: [] };
    } else if (info === '') {
      const [language = '', ...words] = open.info.split(/\s+/);
      blocks.push({ page, line: open.line, language, words, code: `${open.code.join('\n')}\n` });
      open = undefined;
    } else open.code.push(text);
  }
  if (open !== undefined) throw new Error(`${page}:${open.line}: the block has no end`);
  return blocks;
}

export function snippetsOf(page: string): Snippet[] {
  return blocksOf(page).filter(({ words }) => words[0] === 'run');
}

/** The blocks of the page below one heading. */
export function snippetsBelow(page: string, heading: string): Snippet[] {
  const lines = readFileSync(`${ROOT}${page}`, 'utf8').split('\n');
  const from = lines.indexOf(heading) + 1;
  if (from === 0) throw new Error(`${page} has no "${heading}"`);
  const level = heading.split(' ')[0]?.length ?? 0;
  const length = lines.slice(from).findIndex((text) => /^#+ /.test(text) && text.indexOf(' ') <= level);
  const to = length === -1 ? lines.length : from + length;
  return snippetsOf(page).filter(({ line }) => line > from && line <= to);
}
