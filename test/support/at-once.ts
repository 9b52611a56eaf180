import { setImmediate as turn } from 'node:timers/promises';

/**
 * More than any work within the process needs; work that waits for a timer or for another process is not done by then.
 */
const TURNS = 500;

/**
 * The promise's value. Fails if it waits for anything outside the process: turns of the event loop are counted, not
 * time.
 */
export async function atOnce<T>(promise: Promise<T>, what: string): Promise<T> {
  let isSettled = false;
  const settle = (): void => void (isSettled = true);
  promise.then(settle, settle);
  for (let turns = 0; turns < TURNS && !isSettled; turns++) await turn();
  if (!isSettled) throw new Error(`it waits: ${what}`);
  return promise;
}
