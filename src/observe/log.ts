/** The log: one JSON line an event on standard output, or coloured lines on a terminal. No line holds a secret. */
import { isatty } from 'node:tty';
import pino, { type DestinationStream, type Logger } from 'pino';
import { prettyFactory } from 'pino-pretty';
import type { Config } from '../config/config.js';
import { maskSecrets } from '../config/secrecy.js';
import { type Facts, redactFacts } from './redact.js';

export type { Logger } from 'pino';

const STDOUT = 1;
type MakeChild = (this: Logger, bindings: Facts, options?: object) => Logger;

/**
 * Fields named like secrets are hidden at any depth, in lines as in bindings of child loggers; credentials that show
 * by their form (in URLs, bearer values, API keys, private keys) are masked in every text. `output` replaces standard
 * output. Lines are written before the call returns, so that none is lost when the process or a thread ends.
 */
export function createLogger(settings: Config['log'], output?: DestinationStream): Logger {
  const isPretty = settings.pretty === 'auto' ? output === undefined && isatty(STDOUT) : settings.pretty;
  const plain = output ?? pino.destination({ fd: STDOUT, sync: true });
  const logger = pino(
    {
      level: settings.level,
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }), log: redactFacts },
      // Pino's own would go past the redaction.
      serializers: { err: (error: unknown) => error },
      hooks: { streamWrite: maskSecrets },
    },
    isPretty ? readable(plain, output === undefined && isatty(STDOUT)) : plain,
  );
  // The formatters never see what a child is bound to. Children inherit this method, so it covers theirs too.
  const { child: makeChild } = logger as unknown as { readonly child: MakeChild };
  const child: MakeChild = function (bindings, options) {
    return makeChild.call(this, redactFacts(bindings), options);
  };
  return Object.assign(logger, { child });
}

/** Turns each JSON line into lines for people. */
function readable(plain: DestinationStream, colorize: boolean): DestinationStream {
  const format = prettyFactory({ colorize, translateTime: 'SYS:HH:MM:ss.l', ignore: 'pid' });
  return { write: (line) => void plain.write(format(line)) };
}
