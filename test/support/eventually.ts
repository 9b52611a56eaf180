import { setTimeout as sleep } from 'node:timers/promises';

/** A look costs processor time: the longer it has taken, the rarer they are, and none is late by more than a twentieth. */
const SLEEP_MS = { least: 1, soon: 25, most: 100 } as const;
const LATE_PART = 1 / 20;
/** Only for what never comes: how long something takes is no concern of a test that waits for it. */
export const PATIENCE_MS = 240_000;

/** Looks again until `look` says true: for what another process or another part does in its own time, and nothing announces. */
export async function eventually(
  look: () => boolean | Promise<boolean>,
  what: string,
  patienceMs = PATIENCE_MS,
): Promise<void> {
  const begun = Date.now();
  let pause: number = SLEEP_MS.least;
  for (const until = begun + patienceMs; Date.now() < until;) {
    if (await look()) return;
    await sleep(pause);
    const late = (Date.now() - begun) * LATE_PART;
    pause = Math.min(2 * pause, Math.max(SLEEP_MS.soon, late), SLEEP_MS.most);
  }
  throw new Error(`not within ${patienceMs} ms: ${what}`);
}
