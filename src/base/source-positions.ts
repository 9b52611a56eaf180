/**
 * Maps positions in the bundle (dist/bundle) to positions in the sources, for the stack of an error that is logged. A
 * file's map is read only then: --enable-source-maps would read all of them at each start.
 */
import { existsSync, readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';

/** The folder of this module: dist/bundle/, or its own folder in dist/src, whose files are their sources. */
const HERE = new URL('.', import.meta.url).href;
const POSITION = /(file:\/\/[^\s()]+\/[\w.-]+\.js):(\d+):(\d+)/g;
/** A repeated error is mapped once. */
const MOST_KNOWN = 2_000;

const known = new Map<string, string>();

/** The same stack with `src/http/router.ts:12:5` in place of `file:///…/dist/bundle/main.js:345:67`. */
export function withSources(stack: string): string {
  const positions = [...stack.matchAll(POSITION)].filter(([, url = '']) => url.startsWith(HERE));
  const unknown = positions.filter(([text]) => !known.has(text));
  const maps = new Map<string, SourceMap | undefined>();
  for (const [text, file = '', line, column] of unknown) {
    if (!maps.has(file)) maps.set(file, mapOf(file));
    known.set(text, sourceOf(maps.get(file), Number(line), Number(column)) ?? text);
  }
  const written = stack.replace(POSITION, (text) => known.get(text) ?? text);
  if (known.size > MOST_KNOWN) known.clear();
  return written;
}

function mapOf(file: string): SourceMap | undefined {
  const url = new URL(`${file}.map`);
  return existsSync(url) ? new SourceMap(JSON.parse(readFileSync(url, 'utf8')) as SourceMapPayload) : undefined;
}

/** A position in the sources, such as `src/http/router.ts:12:5`; undefined if the map has none. */
function sourceOf(map: SourceMap | undefined, line: number, column: number): string | undefined {
  // Lines and columns of a map begin at 0.
  const found = map?.findEntry(line - 1, column - 1);
  if (found === undefined || !('originalSource' in found)) return undefined;
  const { originalSource, originalLine, originalColumn } = found;
  return `${originalSource.replace(/^(\.\.\/)+/, '')}:${originalLine + 1}:${originalColumn + 1}`;
}
