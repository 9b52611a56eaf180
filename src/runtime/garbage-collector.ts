import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Periodic } from '../base/periodic.js';

/** How often to check whether the process is idle, and how little processor time of one core counts as idle. */
const CHECK_EVERY_MS = 10_000;
const RESTING = 0.02;
/** A heap that has grown by less is not collected. */
const WORTH_BYTES = 12 * 1024 * 1024;

/**
 * Adapts the garbage collector to a process that moves bytes: few objects that last, hundreds of MB of buffers a second
 * that do not. Applies to the whole process.
 *
 * The other half is set when Node.js is started, because V8 must not change it while it marks:
 * --no-incremental-marking. V8 also counts those buffers when it decides whether to begin marking the old objects;
 * once a first full collection has set that limit to little more than the small heap itself, it marks all of it again
 * every 10 MB or so, and a transfer costs two to three times the processor time. Without incremental marking a full
 * collection happens when the memory is really needed; on a heap as small as ours it takes 5 to 20 ms.
 */
export function suitCollectorToStreams(): void {
  // Otherwise a function whose objects have survived one long batch makes all later ones in the old part of the heap,
  // where only full collections find them: a folder of a million entries fills it, again and again.
  setFlagsFromString('--no-allocation-site-pretenuring');
}

/**
 * Collects once whenever the process has become idle and the heap has grown since: the garbage of the start, or of a
 * busy time. V8 would do so itself, but only with incremental marking. It takes some 50 ms, at a time without requests.
 */
export function collectAtRest(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  let keptBytes = 0;
  let used = process.cpuUsage();
  let checkedAt = performance.now();
  const collectIfResting = (): void => {
    const { user, system } = process.cpuUsage(used);
    const now = performance.now();
    const isResting = (user + system) / 1000 < (now - checkedAt) * RESTING;
    if (isResting && getHeapStatistics().total_physical_size - keptBytes > WORTH_BYTES) {
      collect();
      keptBytes = getHeapStatistics().total_physical_size;
    }
    used = process.cpuUsage();
    checkedAt = performance.now();
  };
  new Periodic(collectIfResting, CHECK_EVERY_MS).start();
}
