/**
 * The further event loops of a process (server.threads), each in a thread of its own; the first one runs in the main
 * thread. The main thread accepts all connections and hands them out in turn, to itself as well. It has what must exist
 * once per process: the listening socket, the permits to open sessions, the rate limits and the text of the metrics. If
 * a thread dies, the process ends: the thread's transfers are cut in any case, the front end's connections to it are
 * native memory that must not be touched again, and a supervisor restarts a whole process better than the gateway could
 * restart half of one.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Config } from '../../config/schema.js';
import type { Acceptor } from '../../http/native/acceptor.js';
import type { Limiters } from '../../http/rate-limits.js';
import type { MetricsSnapshot } from '../../observe/metrics.js';
import type { ByteRates } from '../../shares/byte-rates.js';
import type { SharesBroker } from '../../shares/shares.js';
import { SEPARATE_CONNECTIONS } from '../../storage/postgres/database.js';
import type { SandboxPart } from '../../sandbox/sink.js';
import type { Acceptors } from '../application.js';
import type { MainCalls, ThreadCalls, ThreadData } from './calls.js';
import { ThreadLine, restored } from './line.js';

const WORKER_FILE = new URL('./event-loop.worker.js', import.meta.url);

interface EventLoopsOptions {
  readonly config: Config;
  /** Including the main thread. */
  readonly threads: number;
  /** The running database. */
  readonly databaseUrl: string;
  readonly broker: SharesBroker;
  readonly rates: ByteRates;
  readonly acceptors: Acceptors<Acceptor>;
  readonly limiters: Limiters;
  /** For the whole process. */
  readonly metricsText: () => Promise<string>;
  /** GET /readyz was requested from one of them. */
  readonly onReadyAsked: () => void;
  readonly sandbox: SandboxPart | undefined;
}

interface EventLoops {
  /** The process listens on this port from now on. */
  listening(port: number): void;
  /** The counts of each thread. */
  metrics(): Promise<readonly MetricsSnapshot[]>;
  /** Rejects if a thread cannot use the certificate; then it keeps the former one. */
  reloadTls(): Promise<void>;
  /** No thread is ready from now on; all serve for another `ms`. */
  retire(ms: number): Promise<void>;
  /** Ends the threads at once: Node.js aborts a process that exits while they have sockets open. */
  abandon(): Promise<void>;
  /** Then lets running requests finish for server.drainSeconds, and ends the threads. */
  stop(): Promise<void>;
}

/** Resolves when all threads have joined the acceptor. After a rejection nothing is left running. */
export async function startEventLoops(options: EventLoopsOptions): Promise<EventLoops> {
  const { acceptors, limiters, rates } = options;
  const calls: Omit<MainCalls, 'share' | 'crashed'> = {
    join: (listener, descriptor) => acceptors[listener]?.join(descriptor),
    leave: (listener, descriptor) => acceptors[listener]?.leave(descriptor),
    takeRequest: async (keyId) => limiters.requests?.(keyId) ?? { isOver: false, remaining: 0, msBeforeNext: 0 },
    takeFailure: (address) => limiters.failures.take(address),
    giveFailureBack: (address) => limiters.failures.giveBack(address),
    takeBytes: (...amount) => rates.take(...amount),
    leaveRate: (...transfer) => rates.leave(...transfer),
    readyAsked: () => options.onReadyAsked(),
    metrics: () => options.metricsText(),
    received: async () => options.sandbox?.received() ?? [],
  };
  const loops = Array.from({ length: options.threads - 1 }, (_, index) => startThread(options, index + 2, calls));
  const lines = loops.map(({ line }) => line);
  const retire = async (ms: number): Promise<void> => {
    // After an escaped error the process ends as soon as possible.
    if (!loops.some(({ hasFailed }) => hasFailed)) await Promise.all(loops.map((loop) => loop.retire(ms)));
  };
  const stop = async (): Promise<void> => {
    await retire(0);
    await Promise.all(loops.map((loop) => loop.stop()));
  };
  try {
    await Promise.all(lines.map((line) => line.call('start')));
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    listening: (port) => lines.forEach((line) => line.notify('listening', port)),
    metrics: () => Promise.all(lines.map((line) => line.call('metrics'))),
    reloadTls: async () => void (await Promise.all(lines.map((line) => line.call('reloadTls')))),
    retire,
    abandon: async () => void (await Promise.all(loops.map((loop) => loop.abandon()))),
    stop,
  };
}

interface Loop {
  readonly line: ThreadLine<ThreadCalls>;
  readonly hasFailed: boolean;
  /** Resolves after `ms`; at once if the thread has not started or is gone. */
  retire(ms: number): Promise<void>;
  abandon(): Promise<void>;
  stop(): Promise<void>;
}

function startThread(
  { config, threads, databaseUrl, broker, acceptors, sandbox }: EventLoopsOptions,
  thread: number,
  calls: Omit<MainCalls, 'share' | 'crashed'>,
): Loop {
  const { accountId, receiver } = sandbox ?? {};
  const shown =
    accountId === undefined || receiver === undefined
      ? undefined
      : { accountId, receiver: { address: receiver.address, port: receiver.port } };
  const data: ThreadData = { thread, threads, config: shareOf(config, threads, databaseUrl), sandbox: shown };
  const worker = new Worker(WORKER_FILE, { workerData: data, name: `event loop ${thread}` });
  const exited = once(worker, 'exit').catch(() => undefined);
  let isStopping = false;
  let hasFailed = false;
  const fail = (error: Error): void => {
    broker.leave(worker);
    if (isStopping) return;
    hasFailed = true;
    acceptors.main.close();
    acceptors.s3?.close();
    // Becomes an escaped error of this thread, and ends the process.
    throw error;
  };
  const gone = (error: Error): void => {
    line.end(error);
    fail(error);
  };
  const served: MainCalls = {
    ...calls,
    share: (message) => broker.receive(worker, message),
    // It still answers, and must close its sockets itself: Node.js aborts the process if a thread ends with open
    // sockets.
    crashed: (error) => fail(restored(error)),
  };
  const line = new ThreadLine<ThreadCalls>(worker, served);
  broker.join(worker, (message) => line.notify('share', message));
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
      line.notify('abandon');
      await exited;
    },
    stop: async () => {
      isStopping = true;
      await line.call('stop').catch(() => worker.terminate());
      await exited;
    },
  };
}

/** The configuration with one thread's part of the process-wide settings. */
function shareOf(config: Config, threads: number, databaseUrl: string): Config {
  const { database } = config;
  // Only the connections for ordinary statements can be divided; the others are few, and opened when needed.
  const statements = Math.ceil(Math.max(1, database.poolSize - SEPARATE_CONNECTIONS) / threads);
  return {
    ...config,
    database: { ...database, url: databaseUrl, poolSize: statements + SEPARATE_CONNECTIONS },
  };
}
