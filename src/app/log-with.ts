import type { Logger } from '../observe/log.js';
import type { Log } from '../storage/storage.js';

/** The log in the form that most parts use: level, message and facts. */
export function logWith(logger: Logger): Log {
  return (level, message, facts) => logger[level](facts ?? {}, message);
}
