import { setTimeout as sleep } from 'node:timers/promises';

/**
 * A check costs processor time: the longer it has taken, the rarer the checks, and none is late by more than a
 * twentieth.
 */
const SLEEP_MS = { least: 1, soon: 25, most: 100 } as const;
const LATE_PART = 1 / 20;
/** Only for what never happens: how long something takes does not matter to a test that waits for it. */
export const PATIENCE_MS = 240_000;

/**
 * Repeats `look` until it returns true: for what another process or another part does in its own time, without an
 * event.
 */
export async function eventually(
  look: () => boolean | Promise<boolean>,
  what: string,
  patienceMs = PATIENCE_MS,
): Promise<void> {
  const begun = Date.now();
  let pause: number = SLEEP_MS.least;
  for (const until = begun + patienceMs; Date.now() < until;) {
    if (await withinPatience(look, until, what, patienceMs)) return;
    await sleep(pause);
    const late = (Date.now() - begun) * LATE_PART;
    pause = Math.min(2 * pause, Math.max(SLEEP_MS.soon, late), SLEEP_MS.most);
  }
  throw new Error(`not within ${patienceMs} ms: ${what}`);
}

/** A look that does not end, such as a request that is never answered, ends the wait as well. */
async function withinPatience(
  look: () => boolean | Promise<boolean>,
  until: number,
  what: string,
  patienceMs: number,
): Promise<boolean> {
  const looked = look();
  if (typeof looked === 'boolean') return looked;
  const limit = new AbortController();
  const late = sleep(Math.max(1, until - Date.now()), undefined, { signal: limit.signal }).then(() => {
    throw new Error(`not within ${patienceMs} ms: ${what}: the last look did not end`);
  });
  late.catch(() => undefined);
  try {
    return await Promise.race([looked, late]);
  } finally {
    limit.abort();
  }
}
