/** What servers show about themselves from check to check, and what has changed. */
import type { ServerChange } from '../../contract/event.js';
import type { SeenServer, ShownByServer } from '../../storage/storage.js';

/** Several machines may answer under one name: each of their states is news once. */
const MOST_STATES = 4;
const REMEMBERED_MS = 7 * 24 * 3_600_000;

const PARTS = [
  ['banner', 'banner'],
  ['algorithms', 'algorithms'],
  ['extensions', 'extensions'],
  ['hostKey', 'host_key'],
] as const satisfies readonly (readonly [keyof ShownByServer, ServerChange['what']])[];

/**
 * Adds what a check has seen to the states seen before, newest first. `changes` are empty for the first state, for a
 * state that was seen in the last seven days, and if nothing comparable differs.
 */
export function withState(
  seen: readonly SeenServer[],
  shows: ShownByServer,
  at: Date,
): { readonly seen: readonly SeenServer[]; readonly changes: readonly ServerChange[] } {
  const [current, ...former] = seen;
  if (current === undefined) return { seen: [{ shows }], changes: [] };
  const isRecent = ({ until = '' }: SeenServer): boolean => at.getTime() - Date.parse(until) < REMEMBERED_MS;
  const recent = former.filter(isRecent);
  const isKnown = recent.some((state) => changesOf(state.shows, shows).length === 0);
  const others = recent.filter((state) => changesOf(state.shows, shows).length > 0);
  const next = [{ shows }, { shows: current.shows, until: at.toISOString() }, ...others].slice(0, MOST_STATES);
  return { seen: next, changes: isKnown ? [] : changesOf(current.shows, shows) };
}

function changesOf(before: ShownByServer, after: ShownByServer): ServerChange[] {
  return PARTS.flatMap(([part, what]) => {
    const [was, is] = [before[part], after[part]];
    if (was === undefined || is === undefined || String(was) === String(is)) return [];
    return [{ what, before: [was].flat(), after: [is].flat() }];
  });
}
