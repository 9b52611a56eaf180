/** Renders a Markdown page as HTML, and collects data for the contents, the search and the checks. */
import { dirname, join } from 'node:path/posix';
import GithubSlugger from 'github-slugger';
import { Marked, type RendererObject, type Token, type Tokens } from 'marked';
import { escapeHtml } from '../base/html.js';
import { highlighted } from './code.js';
import { plainText } from './contents.js';
import { diagram } from './diagram.js';
import { addressOf, type Source } from './sources.js';

export interface Rendered {
  readonly html: string;
  readonly headings: readonly Heading[];
  /** For the search: the text below each heading, and each table row about one name. */
  readonly sections: readonly Section[];
  /** Paths from the root of the project. */
  readonly images: readonly string[];
}

export interface Heading {
  readonly depth: number;
  readonly id: string;
  readonly title: string;
}

interface Section {
  /** Empty: the beginning of the page. With "/" at the front: the address of another page that answers the title. */
  readonly id: string;
  readonly title: string;
  readonly text: string;
}

/** The folder of images in the built site. */
export const IMAGES = '/docs/images/';

export function render({ file, text }: Source, isPage: (file: string) => boolean): Rendered {
  return new Renderer(file, isPage).render(text);
}

class Renderer {
  readonly #file: string;
  readonly #isPage: (file: string) => boolean;
  readonly #headings: Heading[] = [];
  readonly #byToken = new Map<object, Heading>();
  readonly #sections: Section[] = [];
  readonly #images: string[] = [];
  /** The same slugs as on GitHub, so that a link works in both places. */
  readonly #slugs = new GithubSlugger();
  readonly #names = new GithubSlugger();
  #diagrams = 0;

  constructor(file: string, isPage: (file: string) => boolean) {
    this.#file = file;
    this.#isPage = isPage;
  }

  render(text: string): Rendered {
    const marked = new Marked({ gfm: true, renderer: this.#renderer() });
    const tokens = marked.lexer(text);
    this.#collect(tokens);
    const html = marked.parser(tokens);
    return { html, headings: this.#headings, sections: this.#sections, images: this.#images };
  }

  /** Headings and sections are collected first: the renderer uses their ids. */
  #collect(tokens: readonly Token[]): void {
    let below: Token[] = [];
    let heading: Heading | undefined;
    const end = (): void => {
      const text = plainText(below).replace(/\s+/g, ' ').trim();
      const id = heading === undefined || heading.depth === 1 ? '' : heading.id;
      if (text !== '' || heading !== undefined) {
        this.#sections.push({ id, title: heading?.title ?? '', text });
      }
      below = [];
    };
    for (const token of tokens) {
      if (token.type === 'heading') {
        end();
        const title = plainText([token]);
        heading = { depth: token['depth'] as number, id: this.#slugs.slug(title), title };
        this.#headings.push(heading);
        this.#byToken.set(token, heading);
      } else below.push(token);
    }
    end();
  }

  #renderer(): RendererObject {
    // marked binds `this` of these functions to its own renderer.
    // eslint-disable-next-line @typescript-eslint/no-this-alias
    const page = this;
    let above = 'Diagram';
    return {
      heading(token) {
        const { depth, tokens } = token;
        const inner = this.parser.parseInline(tokens);
        const heading = page.#byToken.get(token);
        if (heading === undefined || depth === 1) return `<h${depth}>${inner}</h${depth}>\n`;
        above = heading.title;
        const { id } = heading;
        const link = `<a class="permalink" href="#${id}" aria-hidden="true" tabindex="-1">#</a>`;
        return `<h${depth} id="${id}">${inner} ${link}</h${depth}>\n`;
      },
      code({ text, lang = '' }) {
        const [language = ''] = lang.split(/\s+/);
        return language === 'mermaid' ? diagram(text, String(++page.#diagrams), above) : highlighted(text, language);
      },
      table({ header, rows, align }) {
        const cell = ({ tokens }: Tokens.TableCell, index: number, isHead = false): string => {
          // A head without text is not a head.
          const tag = isHead && tokens.length > 0 ? 'th' : 'td';
          const side = align[index] ?? '';
          const fields = `${tag === 'th' ? ' scope="col"' : ''}${side === '' ? '' : ` class="${side}"`}`;
          return `<${tag}${fields}>${this.parser.parseInline(tokens)}</${tag}>`;
        };
        const head = header.map((one, index) => cell(one, index, true)).join('');
        const body = rows.map(
          (row) => `<tr${page.#rowId(row)}>${row.map((one, index) => cell(one, index)).join('')}</tr>\n`,
        );
        return `<div class="table" tabindex="0"><table><thead><tr>${head}</tr></thead><tbody>${body.join('')}</tbody></table></div>\n`;
      },
      link({ href, tokens }) {
        return page.#link(href, plainText(tokens), this.parser.parseInline(tokens));
      },
      image({ href, text }) {
        const source = join(dirname(page.#file), href);
        page.#images.push(source);
        const address = `${IMAGES}${source.replace(/^docs\//, '')}`;
        return `<img src="${escapeHtml(address)}" alt="${escapeHtml(text)}" loading="lazy">`;
      },
      html({ text }) {
        return text.replace(/<!--[^]*?-->/g, '');
      },
    };
  }

  /** A row whose first cell is a single piece of code describes that name: it gets an anchor and a search entry. */
  #rowId(row: readonly Tokens.TableCell[]): string {
    const [first, ...others] = row;
    const [name, ...more] = first?.tokens ?? [];
    if (name?.type !== 'codespan' || more.length > 0) return '';
    const title = plainText([name]);
    const id = `name-${this.#names.slug(title)}`;
    const text = others.map(({ tokens }) => plainText(tokens)).join(' · ');
    this.#sections.push({ id, title, text });
    return ` id="${id}"`;
  }

  #link(href: string, text: string, inner: string): string {
    if (/^[a-z]+:/.test(href)) return `<a href="${escapeHtml(href)}" rel="noopener noreferrer">${inner}</a>`;
    const [target = '', anchor] = href.split('#');
    const fragment = anchor === undefined ? '' : `#${anchor}`;
    if (target === '') return `<a href="${escapeHtml(fragment)}">${inner}</a>`;
    if (target.startsWith('/')) return `<a href="${escapeHtml(href)}">${inner}</a>`;
    const file = join(dirname(this.#file), target).replace(/\/$/, '');
    const page = [file, `${file}/README.md`].find(this.#isPage);
    if (page !== undefined) {
      const address = addressOf(page) + fragment;
      // A question that another page answers is a search entry.
      if (text.endsWith('?')) this.#sections.push({ id: address, title: text, text: '' });
      return `<a href="${escapeHtml(address)}">${inner}</a>`;
    }
    // A file that exists only in the project's folder.
    return `<span class="file" title="In the project: ${escapeHtml(file)}">${inner}</span>`;
  }
}
