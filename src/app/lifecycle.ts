/**
 * The life of the process around one gateway:
 *
 *   SIGTERM              retire if a load balancer asks for readiness, then as SIGINT
 *   SIGINT               drain and stop, exit 0; not done in drainSeconds and a little more: exit 1
 *   a second signal      exit at once with 128 + the signal's number (130, 143), as shells expect
 *   SIGHUP               read the TLS certificate again
 *   an escaped error     log it, try to stop for a moment, exit 1: the state of the process is unknown
 *
 * If any of these takes longer than allowed, the system ends the process (last-resort.ts).
 */
import { constants } from 'node:os';
import { within } from '../base/deadline.js';
import type { Config } from '../config/schema.js';
import { ConfigError } from '../config/mistakes.js';
import { maskSecrets } from '../config/secrecy.js';
import { GatewayError, messageOf } from '../base/errors.js';
import type { Gateway, StartGateway } from './gateway-types.js';
import { endWithin } from '../runtime/last-resort.js';
import type { Logger } from '../observe/log.js';

/** 78 is EX_CONFIG of sysexits.h. */
export const EXIT = { success: 0, failure: 1, badConfig: 78 } as const;

/** The time for stopping after the drain: closing sessions, last history rows, the embedded database. */
const STOP_GRACE_MS = 10_000;
const STOP_AFTER_ERROR_MS = 10_000;
/** The time for sockets to close when nothing else is awaited. */
const ABANDON_MS = 1_000;
/** The time for a finished process to end; after it, threads that cannot be ended keep it alive. */
const EXIT_SECONDS = 5;

/** Starts the gateway, runs it until a signal, and ends the process. */
export async function runGateway(
  start: StartGateway,
  config: Config,
  options: { readonly logger: Logger; readonly quickStart: boolean },
): Promise<void> {
  const { logger } = options;
  const cancel = new AbortController();
  let gateway: Gateway | undefined;

  const exitAtOnce = (code: number): void => {
    endWithin(ABANDON_MS / 1_000 + EXIT_SECONDS);
    const abandoned = gateway?.abandon() ?? Promise.resolve();
    void within(abandoned, ABANDON_MS, () => undefined).finally(() => exit(code));
  };
  const stopMs = (retire: boolean): number => {
    const { retireSeconds, drainSeconds } = config.server;
    return (drainSeconds + (retire ? retireSeconds : 0)) * 1_000 + STOP_GRACE_MS;
  };
  const stop = (running: Gateway, retire: boolean): void => {
    const inTime = stopWithin(running, stopMs(retire), { retire });
    inTime.then(
      () => exit(EXIT.success, logger, 'stopped'),
      (error: unknown) => {
        logger.error({ err: error }, 'the gateway did not stop cleanly');
        exitAtOnce(EXIT.failure);
      },
    );
  };
  const onSignal = (signal: 'SIGTERM' | 'SIGINT'): void => {
    if (cancel.signal.aborted) return exitAtOnce(128 + constants.signals[signal]);
    const { retireSeconds, drainSeconds } = config.server;
    logger.info({ signal, retireSeconds, drainSeconds }, 'stopping; a second signal ends at once');
    // Works even if a start is in progress or the event loop is blocked.
    endWithin((stopMs(signal === 'SIGTERM') + ABANDON_MS) / 1_000 + EXIT_SECONDS);
    cancel.abort(new GatewayError('draining', `${signal} stops the gateway`));
    if (gateway !== undefined) stop(gateway, signal === 'SIGTERM');
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  process.on('SIGHUP', () => {
    gateway?.reloadTls().then(
      () => logger.info('TLS certificate read again'),
      (error: unknown) => logger.error({ err: error }, 'TLS certificate not read; the one before stays in use'),
    );
  });
  let hasFailed = false;
  process.on('uncaughtException', (error, origin) => {
    logger.fatal({ err: error, origin }, 'an error escaped; the gateway stops');
    if (hasFailed) return exitAtOnce(EXIT.failure);
    hasFailed = true;
    endWithin((STOP_AFTER_ERROR_MS + ABANDON_MS) / 1_000 + EXIT_SECONDS);
    const stopped = gateway === undefined ? Promise.resolve() : stopWithin(gateway, STOP_AFTER_ERROR_MS);
    void stopped.catch(() => undefined).finally(() => exitAtOnce(EXIT.failure));
  });
  // A reader of standard output that has closed it is no reason to end.
  process.stdout.on('error', () => undefined);

  try {
    gateway = await start(config, { ...options, signal: cancel.signal });
  } catch (error) {
    if (cancel.signal.aborted) exit(EXIT.success, logger, 'stopped before the start was through');
    if (!isExpected(error)) logger.fatal({ err: error }, 'the gateway cannot start');
    process.stderr.write(`cannot start: ${failureLine(error, config)}\n`);
    exit(EXIT.failure);
  }
  if (cancel.signal.aborted) stop(gateway, false);
}

/** Rejects when the time is over. */
async function stopWithin(gateway: Gateway, ms: number, how?: { readonly retire: boolean }): Promise<void> {
  await within(gateway.stop(how), ms, () => {
    throw new Error(`stopping took more than ${ms} ms`);
  });
}

/** The gateway leaves nothing to wait for; a forgotten handle must not keep the process alive. */
function exit(code: number, logger?: Logger, message?: string): never {
  if (message !== undefined) logger?.info(message);
  endWithin(EXIT_SECONDS);
  process.exit(code);
}

/** Whether the message was written for operators. */
function isExpected(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  const isOurs = error instanceof GatewayError || error instanceof ConfigError || error.name === 'StartupError';
  return isOurs || 'syscall' in error;
}

/** One line that says what to change. */
function failureLine(error: unknown, { server }: Config): string {
  const { code, syscall, port } = error as { code?: unknown; syscall?: unknown; port?: unknown };
  const isListener = syscall === 'listen' && (port === undefined || port === server.port);
  const words = isListener ? LISTEN_WORDS[String(code)] : undefined;
  if (words === undefined) {
    return maskSecrets(messageOf(error)).replace(/\s*\n\s*/g, ' ');
  }
  return words(`${server.host.includes(':') ? `[${server.host}]` : server.host}:${server.port}`);
}

const LISTEN_WORDS: Readonly<Record<string, (address: string) => string>> = {
  EADDRINUSE: (address) => `server.port: ${address} is in use; stop the other program or set another port (PORT)`,
  EADDRNOTAVAIL: (address) => `server.host: ${address} is no address of this machine; set another one (HOST)`,
  EACCES: (address) => `server.port: this user may not listen on ${address}; set a port above 1023 (PORT)`,
};
