/** Gathers lines that are written together: a write per line is a tenth of the cost of a small request. */
import type { DestinationStream } from 'pino';

/** Characters of lines that wait for the end of the turn. */
const MOST_WAITING = 64 * 1024;

interface Gathered {
  /** Written before the call returns, after all earlier lines. */
  readonly now: DestinationStream;
  /** Written at the end of this turn of the event loop, or of the process. */
  readonly soon: DestinationStream;
}

export function gatherLines(stream: DestinationStream): Gathered {
  let waiting = '';
  const flush = (): void => {
    if (waiting === '') return;
    const lines = waiting;
    waiting = '';
    stream.write(lines);
  };
  process.once('exit', flush);
  return {
    now: {
      write: (line) => {
        flush();
        stream.write(line);
      },
    },
    soon: {
      write: (line) => {
        if (waiting === '') setImmediate(flush);
        waiting += line;
        if (waiting.length > MOST_WAITING) flush();
      },
    },
  };
}
