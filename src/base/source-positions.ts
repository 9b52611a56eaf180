/**
 * Positions in the bundle (dist/bundle) as positions in the sources, for the stack of an error that is written down. The
 * map of a file is read then, and not before: --enable-source-maps would read all of them at each start.
 */
import { existsSync, readFileSync } from 'node:fs';

/** Where this module runs: dist/bundle/, or the folder of its own in dist/src, whose files are their sources. */
const HERE = new URL('.', import.meta.url).href;
const POSITION = /(file:\/\/[^\s()]+\/([\w.-]+\.js)):(\d+):(\d+)/g;
/** An error that comes again and again is read once. */
const MOST_KNOWN = 2_000;

const known = new Map<string, string>();

interface Place {
  readonly line: number;
  readonly column: number;
}

/** The same stack with `src/http/router.ts:12:5` in place of `file:///…/dist/bundle/main.js:345:67`. */
export function withSources(stack: string, folder = HERE): string {
  const positions = [...stack.matchAll(POSITION)].filter(([, url = '']) => url.startsWith(folder));
  const unknown = positions.filter(([text]) => !known.has(text));
  for (const file of new Set(unknown.map(([, url = '']) => url))) {
    const places = unknown.filter(([, url]) => url === file);
    const found = sourcesOf(
      file,
      places.map(([, , , line, column]) => ({ line: Number(line), column: Number(column) })),
    );
    places.forEach(([text], index) => {
      if (known.size >= MOST_KNOWN) known.clear();
      known.set(text, found[index] ?? text);
    });
  }
  return stack.replace(POSITION, (text) => known.get(text) ?? text);
}

/** Of each place `src/http/router.ts:12:5`; undefined where the map has none. */
function sourcesOf(file: string, places: readonly Place[]): (string | undefined)[] {
  const url = new URL(`${file}.map`);
  if (!existsSync(url)) return [];
  const { sources, mappings } = JSON.parse(readFileSync(url, 'utf8')) as { sources: string[]; mappings: string };
  const found: (string | undefined)[] = [];
  const lines = new Set(places.map(({ line }) => line));
  // In the map lines and columns begin at 0.
  eachMapping(mappings, (line, column, source, sourceLine, sourceColumn) => {
    if (!lines.has(line + 1)) return;
    places.forEach((place, index) => {
      // The last one that begins at or before the place is its own.
      if (place.line !== line + 1 || place.column < column + 1) return;
      found[index] = `${sources[source]?.replace(/^(\.\.\/)+/, '')}:${sourceLine + 1}:${sourceColumn + 1}`;
    });
  });
  return found;
}

type Mapping = (line: number, column: number, source: number, sourceLine: number, sourceColumn: number) => void;

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const VALUE_OF = new Uint8Array(128);
for (let index = 0; index < DIGITS.length; index++) VALUE_OF[DIGITS.charCodeAt(index)] = index;
const [COMMA, SEMICOLON] = [44, 59];

/** Reads the `mappings` of a source map (ECMA-426): segments of differences, each a base64 VLQ, in lines that `;` ends. */
function eachMapping(mappings: string, take: Mapping): void {
  let line = 0;
  /** Column, source, line and column in it, name: sums of all differences so far; the column begins anew on each line. */
  const sums = [0, 0, 0, 0, 0];
  let field = 0;
  let value = 0;
  let shift = 0;
  for (let index = 0; index <= mappings.length; index++) {
    const code = index < mappings.length ? mappings.charCodeAt(index) : SEMICOLON;
    if (code === COMMA || code === SEMICOLON) {
      const [column = 0, source = 0, sourceLine = 0, sourceColumn = 0] = sums;
      if (field >= 4) take(line, column, source, sourceLine, sourceColumn);
      field = 0;
      if (code === COMMA) continue;
      line++;
      sums[0] = 0;
      continue;
    }
    const digit = VALUE_OF[code] ?? 0;
    value += (digit & 31) << shift;
    shift += 5;
    if ((digit & 32) !== 0) continue;
    sums[field] = (sums[field] ?? 0) + ((value & 1) === 1 ? -(value >> 1) : value >> 1);
    field++;
    value = 0;
    shift = 0;
  }
}
