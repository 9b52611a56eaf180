/** The order of the pages and their groups: those on the contents page first, then all others by folder. */
import { basename, dirname, join } from 'node:path/posix';
import { lexer, walkTokens, type Token, type Tokens } from 'marked';
import { capital } from '../base/letters.js';
import { CONTENTS, type Source } from './sources.js';

interface Group {
  readonly title: string;
  readonly pages: Entry[];
}

interface Entry {
  readonly source: Source;
  readonly title: string;
}

export function contentsOf(sources: readonly Source[]): Group[] {
  const groups: Group[] = [];
  const groupOf = (title: string): Group => {
    const known = groups.find((group) => group.title === title);
    if (known !== undefined) return known;
    const made = { title, pages: [] };
    groups.push(made);
    return made;
  };
  const taken = new Set<string>();
  const take = (file: string, title: string, group: string): void => {
    const source = sources.find((one) => one.file === file);
    if (source === undefined || taken.has(file)) return;
    taken.add(file);
    // A link to a folder's own contents, or to a file by its name, is not a title.
    const isTitle = !/\.md$/.test(title) && basename(file) !== 'README.md';
    groupOf(group).pages.push({
      source,
      title: isTitle ? capital(title) : titleOf(source),
    });
  };
  const contents = sources.find(({ file }) => file === CONTENTS);
  if (contents !== undefined) {
    let group = titleOf(contents);
    take(CONTENTS, group, group);
    for (const token of lexer(contents.text)) {
      if (token.type === 'heading' && token['depth'] > 1) group = plainText([token]);
      for (const { href, text } of linksIn(token)) {
        take(join(dirname(CONTENTS), href.split('#')[0] ?? ''), text, group);
      }
    }
  }
  for (const source of sources) take(source.file, titleOf(source), folderTitle(source.file));
  return groups;
}

const FOLDERS: Readonly<Record<string, string>> = { '.': 'Project', docs: 'Contribute' };

function folderTitle(file: string): string {
  const folder = dirname(file);
  const name = folder.split('/')[1] ?? '';
  return FOLDERS[folder] ?? capital(name);
}

function titleOf({ file, text }: Source): string {
  const heading = lexer(text).find((token): token is Tokens.Heading => token.type === 'heading');
  return heading === undefined ? file : plainText([heading]);
}

function linksIn(token: Token): { href: string; text: string }[] {
  const links: { href: string; text: string }[] = [];
  if (token.type === 'table') {
    // Column by column, because the heads describe the cells below them.
    const { header, rows } = token as Tokens.Table;
    return header.flatMap((_, column) => rows.flatMap((row) => (row[column]?.tokens ?? []).flatMap(linksIn)));
  }
  void walkTokens([token], (inner) => {
    if (inner.type === 'link') links.push({ href: (inner as Tokens.Link).href, text: plainText([inner]) });
  });
  return links;
}

/** The visible text without markup. */
export function plainText(tokens: readonly Token[]): string {
  return tokens
    .map((token) => {
      if (token.type === 'table') {
        const { header, rows } = token as Tokens.Table;
        return [header, ...rows].map((row) => row.map(({ tokens: cell }) => plainText(cell)).join(' ')).join('\n');
      }
      if (token.type === 'list')
        return (token as Tokens.List).items.map(({ tokens: item }) => plainText(item)).join('\n');
      if (token.type === 'html') return '';
      if (token.type === 'br' || token.type === 'space') return ' ';
      if ('tokens' in token && token.tokens !== undefined) return plainText(token.tokens);
      return 'text' in token ? (token['text'] as string) : '';
    })
    .join('');
}
