/** Limits the bytes per second, over all callers: each waits until those before it have had their time. */
import { orAbort } from '../base/deadline.js';
import { ByteRate } from '../base/byte-rate.js';
import type { EndSignal } from '../base/ending.js';

export function createPace(bytesPerSecond: number): (bytes: number, signal: EndSignal) => Promise<void> {
  const rate = new ByteRate();
  let calls = 0;
  return async (bytes, signal) => {
    const call = String(++calls);
    try {
      await orAbort(rate.take(call, bytes, bytesPerSecond), signal);
    } finally {
      rate.leave(call);
    }
  };
}
