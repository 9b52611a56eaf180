/**
 * Loaded into a gateway before its own code: writes a line into the file of LOOP_HOLDS for everything that blocked the
 * event loop. The main thread's processor time between two turns counts, so that a busy machine does not matter.
 */
import { appendFileSync, openSync, readSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const TURN_MS = 5;
const WORTH_TELLING_MS = 15;

const file = process.env['LOOP_HOLDS'];
if (isMainThread && file !== undefined) {
  const schedule = openSync(`/proc/${process.pid}/task/${process.pid}/schedstat`, 'r');
  const line = Buffer.alloc(64);
  const onProcessorMs = (): number => {
    const length = readSync(schedule, line, 0, line.length, 0);
    return Number(line.toString('latin1', 0, length).split(' ', 1)[0]) / 1e6;
  };
  let before = onProcessorMs();
  const turn = (): void => {
    const now = onProcessorMs();
    if (now - before > WORTH_TELLING_MS) appendFileSync(file, `${Date.now()} ${now - before}\n`);
    before = now;
  };
  setInterval(turn, TURN_MS).unref();
}
