/** Limits the bytes per second, over all callers: each waits until those before it have had their time. */
import { pause } from '../base/deadline.js';
import type { EndSignal } from '../base/ending.js';

export function createPace(bytesPerSecond: number): (bytes: number, signal: EndSignal) => Promise<void> {
  let freeAt = 0;
  return async (bytes, signal) => {
    const now = performance.now();
    const at = Math.max(now, freeAt);
    freeAt = at + (bytes * 1000) / bytesPerSecond;
    if (at > now) await pause(at - now, signal);
  };
}
