/**
 * Splits texts into words and searches them: the same code for the build, which makes the index, and for the browser,
 * which queries it.
 */
import type MiniSearch from 'minisearch';
import type { Options, SearchOptions } from 'minisearch';

export interface Found {
  /** Title of the section, the operation or the name. */
  readonly title: string;
  readonly page: string;
  readonly address: string;
  readonly text: string;
  /** From 0 to 1: pages at the top of the contents have more weight. */
  readonly weight: number;
}

export interface Hit {
  readonly found: Found;
  /** In the form of the texts. */
  readonly words: readonly string[];
}

export interface Entry extends Found {
  readonly id: number;
}

/** Common words of questions: they count only in titles. */
const COMMON = new Set(
  'a an and are as at be by can do does for from how i if in is it my of on or that the this to what when where which why with'.split(
    ' ',
  ),
);

export const SEARCH: Options<Entry> = {
  fields: ['title', 'page', 'text'],
  storeFields: ['title', 'page', 'address', 'text', 'weight'],
  processTerm: (term, field) => {
    const word = term.toLowerCase();
    return field !== undefined && field !== 'title' && COMMON.has(word) ? null : word;
  },
};

/** A match in a title has more weight than one in a text. */
const RANKING: SearchOptions = {
  boost: { title: 4, page: 2 },
  boostDocument: (_id, _term, stored) => (stored?.['weight'] as number | undefined) ?? 1,
  prefix: true,
  fuzzy: (term) => (term.length > 4 ? 0.2 : false),
};
/** First an entry with this title, then the others by rank: the more words they have, and the more in titles, the higher. */
export function find(index: MiniSearch<Entry>, text: string): Hit[] {
  const words = text.toLowerCase().split(/[^\p{L}\p{N}]+/u);
  const significant = words.filter((word) => !COMMON.has(word)).join(' ') || text;
  const ranked = index.search(significant, RANKING);
  const named = ranked.filter(({ title }) => title === text);
  return [...new Set([...named, ...ranked])].map(({ terms, ...stored }) => ({
    found: stored as unknown as Found,
    words: terms,
  }));
}
