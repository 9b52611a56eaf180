import type { Logger } from '../observe/log.js';
import type { Log } from '../storage/storage.js';

/** The log as most parts take it: level, message and facts. */
export function logWith(logger: Logger): Log {
  return (level, message, facts) => logger[level](facts ?? {}, message);
}
