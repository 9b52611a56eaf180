/** What servers show about themselves from check to check, and what has changed. */
import { DAY_MS } from '../../contract/units.js';
import type { ProbeResult } from '../../remotes/probe-result.js';
import type { ServerChange } from '../../contract/event.js';
import type { SeenServer, ShownByServer } from '../../storage/storage.js';

/** Several machines may answer under one name: each of their states is news once. */
const MOST_STATES = 4;
const REMEMBERED_MS = 7 * DAY_MS;

const PARTS = [
  ['banner', 'banner'],
  ['algorithms', 'algorithms'],
  ['extensions', 'extensions'],
  ['hostKey', 'host_key'],
] as const satisfies readonly (readonly [keyof ShownByServer, ServerChange['what']])[];

/** A server may announce as much as it likes, of any characters. */
const MOST_NAMES = 100;
const LONGEST_TEXT = 200;

/** The comparable part of a probe; S3 shows nothing to compare. */
export function shownBy({ banner, algorithms, extensions, hostKey }: ProbeResult): ShownByServer {
  return {
    ...(banner === undefined ? {} : { banner: plain(banner) }),
    ...(algorithms === undefined ? {} : { algorithms: namesOf(algorithms) }),
    ...(extensions === undefined ? {} : { extensions: namesOf(extensions) }),
    ...(hostKey === undefined ? {} : { hostKey: hostKey.fingerprint }),
  };
}

const namesOf = (names: readonly string[]): readonly string[] => names.slice(0, MOST_NAMES).map(plain).sort();

/** PostgreSQL's JSON takes no NUL and no half of a surrogate pair. */
const plain = (text: string): string => text.slice(0, LONGEST_TEXT).replace(/\p{C}/gu, '\ufffd');

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
