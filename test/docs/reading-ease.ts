/**
 * A program: the reading ease of each page, by Flesch's formula for English: 206.835 − 1.015 × words per sentence −
 * 84.6 × syllables per word. Our aim is 55 and more; no test checks it. Code blocks are left out, and code in a
 * sentence is one word of one syllable. An item of a list, a heading and a cell of a table are a sentence each; texts
 * of fewer than four words do not count.
 */
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { lexer, type Token, type Tokens } from 'marked';
import { syllable } from 'syllable';
import { PAGES, ROOT } from './snippets.js';

export interface Ease {
  readonly words: number;
  readonly wordsPerSentence: number;
  /** Flesch's reading ease. */
  readonly figure: number;
}

const CUT = new Intl.Segmenter('en', { granularity: 'sentence' });
const AIM = 55;
const SHORTEST = 4;

export function readingEase(markdown: string): Ease {
  const sentences = textsIn(lexer(markdown))
    .flatMap((text) => [...CUT.segment(text)].map(({ segment }) => segment.match(/\p{L}[\p{L}\p{N}'’-]*/gu) ?? []))
    .filter((words) => words.length >= SHORTEST);
  const words = sentences.flat();
  const syllables = words.reduce((sum, word) => sum + Math.max(1, syllable(word)), 0);
  const wordsPerSentence = words.length / Math.max(1, sentences.length);
  const figure = 206.835 - 1.015 * wordsPerSentence - 84.6 * (syllables / Math.max(1, words.length));
  return { words: words.length, wordsPerSentence, figure };
}

/** Each paragraph, item, heading and cell. */
function textsIn(tokens: readonly Token[]): string[] {
  return tokens.flatMap((token) => {
    if (token.type === 'table') {
      const { header, rows } = token as Tokens.Table;
      return [header, ...rows].flat().map((cell) => spoken(cell.tokens));
    }
    if (token.type === 'list') return (token as Tokens.List).items.flatMap((item) => textsIn(item.tokens));
    if (token.type === 'blockquote') return textsIn(token.tokens ?? []);
    if (['paragraph', 'heading', 'text'].includes(token.type))
      return [spoken('tokens' in token ? token.tokens : [token])];
    return [];
  });
}

function spoken(tokens: readonly Token[] = []): string {
  return tokens
    .map((token) => {
      if (token.type === 'codespan') return 'code';
      if (token.type === 'html' || token.type === 'image') return '';
      return 'tokens' in token && token.tokens !== undefined
        ? spoken(token.tokens)
        : 'text' in token
          ? String(token['text'])
          : ' ';
    })
    .join('');
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const rows = PAGES.map((page) => ({ page, ...readingEase(readFileSync(ROOT + page, 'utf8')) }));
  rows.sort((one, other) => one.figure - other.figure);
  console.log('ease  words  a sentence  page');
  for (const { page, words, wordsPerSentence, figure } of rows) {
    const cells = [figure.toFixed(0).padStart(4), String(words).padStart(5), wordsPerSentence.toFixed(1).padStart(10)];
    console.log(`${cells.join('  ')}  ${page}${figure < AIM ? '  (below 55)' : ''}`);
  }
}
