/** Searches all folders below a folder by name. The gateway streams the results, and the user can stop the search. */
import { useCallback, useEffect, useRef, useState } from 'react';
import { fetchAnswer, segment, withQuery } from '../../api/client.ts';
import type { FileInfo } from '../../api/types.ts';
import { linesOf } from './lines.ts';

/** The search ends at this number of results. */
const MOST = 10_000;
const SHOW_EVERY_MS = 100;

export interface TreeSearch {
  readonly text: string;
  readonly found: readonly FileInfo[];
  readonly state: 'running' | 'done' | 'stopped' | 'full';
  readonly error: Error | undefined;
}

export function useTreeSearch(connectionId: string, folder: string, rawName: string | undefined) {
  const [search, setSearch] = useState<TreeSearch>();
  const running = useRef<AbortController>(undefined);
  const stop = useCallback(() => running.current?.abort(), []);
  useEffect(() => stop, [stop]);

  const start = (text: string): void => {
    stop();
    const abort = new AbortController();
    running.current = abort;
    const update = (change: Partial<TreeSearch>): void => {
      if (running.current === abort) setSearch((now) => (now === undefined ? now : { ...now, ...change }));
    };
    setSearch({ text, found: [], state: 'running', error: undefined });
    findBelow(connectionId, { path: folder, rawName }, text, abort.signal, (found) => update({ found })).then(
      (isFull) => update({ state: isFull ? 'full' : 'done' }),
      (error: Error) => update(abort.signal.aborted ? { state: 'stopped' } : { state: 'done', error }),
    );
  };
  const end = (): void => {
    stop();
    running.current = undefined;
    setSearch(undefined);
  };
  return { search, start, stop, end };
}

/** Resolves to whether there are more results than reported. */
async function findBelow(
  connectionId: string,
  folder: { readonly path: string; readonly rawName: string | undefined },
  text: string,
  signal: AbortSignal,
  onFound: (found: readonly FileInfo[]) => void,
): Promise<boolean> {
  const query = { ...folder, recursive: 'true', pattern: patternFor(text) };
  const address = withQuery(`/api/list/${segment(connectionId)}`, query);
  const answer = await fetchAnswer('GET', address, undefined, signal, { Accept: 'application/x-ndjson' });
  const found: FileInfo[] = [];
  let shownAt = 0;
  for await (const lines of linesOf(answer)) {
    for (const line of lines) {
      const entry = JSON.parse(line) as FileInfo | { readonly incomplete: number };
      if (!('incomplete' in entry)) found.push(entry);
    }
    if (found.length >= MOST) {
      onFound(found.slice(0, MOST));
      return true;
    }
    if (performance.now() - shownAt < SHOW_EVERY_MS) continue;
    onFound([...found]);
    shownAt = performance.now();
  }
  onFound(found);
  return false;
}

/** A text with `*` or `?` is a glob. Any other text matches a part of the name, without regard to case. */
function patternFor(text: string): string {
  const glob = text.trim();
  if (/[*?]/.test(glob)) return glob.includes('/') ? glob : `**/${glob}`;
  return `**/*${[...glob].map(eitherCase).join('')}*`;
}

function eitherCase(character: string): string {
  const [lower, upper] = [character.toLowerCase(), character.toUpperCase()];
  if (lower !== upper && lower.length === 1 && upper.length === 1) return `[${lower}${upper}]`;
  return /[[\](){}!\\@+]/.test(character) ? `\\${character}` : character;
}
