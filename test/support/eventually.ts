import { setTimeout as sleep } from 'node:timers/promises';

const MOST_SLEEP_MS = 25;
/** Only for what never comes: how long something takes is no concern of a test that waits for it. */
export const PATIENCE_MS = 240_000;

/** Looks again until `look` says true: for what another process or another part does in its own time, and nothing announces. */
export async function eventually(
  look: () => boolean | Promise<boolean>,
  what: string,
  patienceMs = PATIENCE_MS,
): Promise<void> {
  let pause = 1;
  for (const until = Date.now() + patienceMs; Date.now() < until;) {
    if (await look()) return;
    await sleep(pause);
    pause = Math.min(2 * pause, MOST_SLEEP_MS);
  }
  throw new Error(`not within ${patienceMs} ms: ${what}`);
}
