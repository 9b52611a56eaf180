/**
 * The event loops of the process where it has several (server.threads): the main thread accepts connections and hands
 * them out in turn; each thread serves its own. What must be one for the process lives here: the listening socket, the
 * permits to open sessions, the rate limits and the text of the metrics.
 *
 * A thread that dies takes the process with it: its transfers are cut in any case, the front end's connections to it
 * are native memory that must not be touched again, and a supervisor starts a whole process better than we half a one.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Config } from '../../config/schema.js';
import { createLimiters } from '../../http/rate-limits.js';
import { createAcceptor, type Acceptor } from '../../http/native/acceptor.js';
import type { Logger } from '../../observe/log.js';
import type { Metrics } from '../../observe/metrics.js';
import type { SharesBroker } from '../../shares/shares.js';
import { logWith } from '../serving.js';
import { SEPARATE_CONNECTIONS } from '../../storage/postgres/database.js';
import type { RequestRates } from '../../storage/storage.js';
import type { MainCalls, ThreadCalls, ThreadData } from './calls.js';
import { Line, restored } from './line.js';

const WORKER_FILE = new URL('./event-loop.worker.js', import.meta.url);

export interface EventLoopsOptions {
  readonly config: Config;
  readonly threads: number;
  /** Of the running database. */
  readonly databaseUrl: string;
  readonly broker: SharesBroker;
  /** Where other processes serve the same API keys. */
  readonly rates: RequestRates | undefined;
  /** Of the main thread, which those of the others are added to. */
  readonly metrics: Metrics;
  /** GET /readyz was asked of one of them. */
  readonly onReadyAsked: () => void;
  readonly logger: Logger;
}

export interface EventLoops {
  readonly port: number;
  /** Rejects when a thread cannot use the certificate; it keeps the former one then. */
  reloadTls(): Promise<void>;
  /** No thread is ready from now on; all serve for `ms`. */
  retire(ms: number): Promise<void>;
  /** Ends the threads at once: Node.js aborts a process that exits while they have sockets open. */
  abandon(): Promise<void>;
  /** After that: accepts nothing more, lets running requests finish for server.drainSeconds, ends the threads. */
  stop(): Promise<void>;
}

/** Resolves when all threads serve. What rejects has left nothing running. */
export async function startEventLoops(options: EventLoopsOptions): Promise<EventLoops> {
  const { config, threads, logger } = options;
  // Loads the front end here first: it reads the real environment, which a thread cannot set.
  const acceptor = createAcceptor({
    ...config.server,
    log: logWith(logger),
  });
  const limiters = createLimiters(config.limits.requestsPerSecond, options.rates);
  const lines: Line<ThreadCalls>[] = [];
  const calls: Omit<MainCalls, 'share' | 'crashed'> = {
    join: (descriptor) => acceptor.join(descriptor),
    leave: (descriptor) => acceptor.leave(descriptor),
    takeRequest: async (keyId) => limiters.requests?.(keyId) ?? { isOver: false, remaining: 0, msBeforeNext: 0 },
    takeFailure: (address) => limiters.failures.take(address),
    giveFailureBack: (address) => limiters.failures.giveBack(address),
    readyAsked: () => options.onReadyAsked(),
    metrics: async () => options.metrics.text(await Promise.all(lines.map((line) => line.call('metrics')))),
  };
  const loops = Array.from({ length: threads }, (_, index) => startThread(options, index + 1, acceptor, calls));
  lines.push(...loops.map(({ line }) => line));
  const retire = async (ms: number): Promise<void> => {
    // Where an error has escaped, the process ends as soon as it can.
    if (!loops.some(({ hasFailed }) => hasFailed)) await Promise.all(loops.map((loop) => loop.retire(ms)));
  };
  const stop = async (): Promise<void> => {
    await retire(0);
    acceptor.close();
    await Promise.all(loops.map((loop) => loop.stop()));
  };
  try {
    await Promise.all(lines.map((line) => line.call('start')));
    const { port } = acceptor.listen();
    for (const line of lines) line.tell('listening', port);
    return {
      port,
      reloadTls: async () => void (await Promise.all(lines.map((line) => line.call('reloadTls')))),
      retire,
      abandon: async () => {
        acceptor.close();
        await Promise.all(loops.map((loop) => loop.abandon()));
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface Loop {
  readonly line: Line<ThreadCalls>;
  readonly hasFailed: boolean;
  /** Resolves after `ms`, at once where the thread has not started or is gone. */
  retire(ms: number): Promise<void>;
  abandon(): Promise<void>;
  stop(): Promise<void>;
}

function startThread(
  { config, threads, databaseUrl, broker }: EventLoopsOptions,
  thread: number,
  acceptor: Acceptor,
  calls: Omit<MainCalls, 'share' | 'crashed'>,
): Loop {
  const data: ThreadData = { thread, threads, config: shareOf(config, threads, databaseUrl) };
  const worker = new Worker(WORKER_FILE, { workerData: data, name: `event loop ${thread}` });
  const exited = once(worker, 'exit').catch(() => undefined);
  let isStopping = false;
  let hasFailed = false;
  const fail = (error: Error): void => {
    broker.leave(worker);
    if (isStopping) return;
    hasFailed = true;
    acceptor.close();
    // Becomes an error that escaped in this thread, and ends the process as one.
    throw error;
  };
  const gone = (error: Error): void => {
    line.end(error);
    fail(error);
  };
  const served: MainCalls = {
    ...calls,
    share: (message) => broker.receive(worker, message),
    // It still answers, and has to close its sockets itself: Node.js aborts the process where a thread ends over them.
    crashed: (error) => fail(restored(error)),
  };
  const line = new Line<ThreadCalls>(worker, served);
  broker.join(worker, (message) => line.tell('share', message));
  worker.on('error', gone);
  worker.on('exit', (code) => gone(new Error(`thread ${thread} ended with exit code ${code}`)));
  return {
    line,
    get hasFailed() {
      return hasFailed;
    },
    retire: (ms) => line.call('retire', ms).catch(() => undefined),
    abandon: async () => {
      isStopping = true;
      line.tell('abandon');
      await exited;
    },
    stop: async () => {
      isStopping = true;
      await line.call('stop').catch(() => worker.terminate());
      await exited;
    },
  };
}

/** The configuration with a thread's part of what is set for the process. */
function shareOf(config: Config, threads: number, databaseUrl: string): Config {
  const { database, workers } = config;
  // Of the connections only those for ordinary statements can be divided; the others are few, and opened when needed.
  const statements = Math.ceil(Math.max(1, database.poolSize - SEPARATE_CONNECTIONS) / threads);
  return {
    ...config,
    database: { ...database, url: databaseUrl, poolSize: statements + SEPARATE_CONNECTIONS },
    workers: { ...workers, threads: Math.ceil(workers.threads / threads) },
  };
}
