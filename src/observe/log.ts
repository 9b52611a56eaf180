/** The log: one JSON line per event on standard output, or coloured lines on a terminal. No line contains a secret. */
import { isatty } from 'node:tty';
import pino, { type DestinationStream, type Logger as PinoLogger } from 'pino';
import { prettyFactory } from 'pino-pretty';
import type { Config } from '../config/schema.js';
import { maskSecrets } from '../config/secrecy.js';
import { gatherLines } from './gather.js';
import { type Facts, redactFacts } from './redact.js';

export interface Logger extends Omit<PinoLogger, 'child'> {
  /**
   * The same log, for the lines of every request: it is not searched for secrets. Its fields are numbers, words and ids
   * that the program itself has made.
   */
  readonly clean: PinoLogger;
  /**
   * Like `clean`; the lines of one turn of the event loop are written together at its end, in order with all others.
   */
  readonly gathered: PinoLogger;
  child(bindings: Facts): Logger;
}

const STDOUT = 1;
type MakeChild = (this: PinoLogger, bindings: Facts) => PinoLogger;

/**
 * Fields named like secrets are hidden at any depth, in lines and in bindings of child loggers; credentials that are
 * recognised by their form (in URLs, bearer values, API keys, private keys) are masked in every text. `output` replaces
 * standard output. Lines are written before the call returns, those of `gathered` at the end of the turn or of the
 * process at the latest, so that none is lost when the process or a thread ends.
 */
export function createLogger(settings: Config['log'], output?: DestinationStream): Logger {
  const isTerminal = output === undefined && isatty(STDOUT);
  const isPretty = settings.pretty === 'auto' ? isTerminal : settings.pretty;
  const { now, soon } =
    output === undefined ? gatherLines(pino.destination({ fd: STDOUT, sync: true })) : { now: output, soon: output };
  const written = (stream: DestinationStream): DestinationStream => (isPretty ? readable(stream, isTerminal) : stream);
  const form = {
    level: settings.level,
    base: { pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (level: string) => ({ level }) },
  };
  const searched = pino(
    {
      ...form,
      formatters: { ...form.formatters, log: redactFacts },
      // Pino's own serializer would bypass the redaction.
      serializers: { err: (error: unknown) => error },
      hooks: { streamWrite: maskSecrets },
    },
    written(now),
  );
  // The formatters do not get the bindings of a child.
  const { child: makeChild } = searched as unknown as { readonly child: MakeChild };
  const all = (one: PinoLogger, clean: PinoLogger, gathered: PinoLogger): Logger => {
    const child = (bindings: Facts): Logger => {
      const known = redactFacts(bindings);
      const next = makeChild.call(one, known);
      if (!isClean(known)) return all(next, next, next);
      return all(next, makeChild.call(clean, known), makeChild.call(gathered, known));
    };
    return Object.assign(one, { clean, gathered, child });
  };
  return all(searched, pino(form, written(now)), pino(form, written(soon)));
}

function isClean(facts: Facts): boolean {
  const text = JSON.stringify(facts);
  return maskSecrets(text) === text;
}

/** Formats each JSON line for people. */
function readable(plain: DestinationStream, colorize: boolean): DestinationStream {
  const format = prettyFactory({ colorize, translateTime: 'SYS:HH:MM:ss.l', ignore: 'pid' });
  return { write: (line) => void plain.write(format(line)) };
}
