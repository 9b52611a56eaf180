/**
 * Builds the process-wide parts in order, and stops them in reverse; application.ts builds the parts of each event
 * loop. The first event loop runs in this thread; others run in threads of their own (threads/).
 */
import { availableParallelism } from 'node:os';
import type { Config } from '../config/schema.js';
import type { Gateway, StartOptions } from './gateway-types.js';
import { chooseFrontEnd } from '../http/choose-front-end.js';
import { type Acceptor, createAcceptor } from '../http/native/acceptor.js';
import { createLimiters } from '../http/rate-limits.js';
import type { Logger } from '../observe/log.js';
import type { Metrics } from '../observe/metrics.js';
import { NodeRates } from '../shares/byte-rates.js';
import { ShareHolder } from '../shares/permits.js';
import { ProcessShares } from '../shares/process-shares.js';
import { SharesBroker } from '../shares/shares.js';
import { logWith } from './log-with.js';
import { type Part, Parts } from './parts.js';
import { provision } from './quick-start.js';
import { nativeCryptoLoaded } from '../remotes/sftp/protocol.js';
import {
  type Acceptors,
  type ApplicationOptions,
  createApplication,
  hasOwnListener,
  type ListenerPort,
  listenersOf,
  mainPort,
  openBase,
  openReach,
  s3Port,
} from './application.js';
import type { BegunServer } from '../storage/embedded/begun.js';
import type { Storage } from '../storage/storage.js';
import { masterKeyFile } from '../storage/secrets/master-key.js';
import { startEventLoops } from './threads/event-loops.js';

/** After this long without a request, /readyz is not used for load balancing. */
const READY_ASKED_WITHIN_MS = 60_000;

export async function startLoadedGateway(
  config: Config,
  { logger, signal, quickStart, begun }: StartOptions,
): Promise<Gateway> {
  const started = new Parts();
  try {
    return await build(config, logger, quickStart, started, signal, begun);
  } catch (error) {
    await started.stop(logger);
    throw error;
  }
}

async function build(
  config: Config,
  logger: Logger,
  quickStart: boolean,
  started: Parts,
  signal: AbortSignal,
  begun: BegunServer | undefined,
): Promise<Gateway> {
  const { frontEnd, threads, warning } = chooseFrontEnd(
    config.server.frontEnd,
    threadsOf(config),
    undefined,
    config.server.keepAliveSeconds,
  );
  if (warning !== undefined) logger.warn(warning);
  if (!nativeCryptoLoaded()) logger.warn('the native crypto of ssh2 is not built: SFTP costs about twice the CPU');
  if (!quickStart && config.masterKey === '') {
    const file = masterKeyFile(config.dataDir);
    logger.warn(
      { file },
      'the master key lies beside the data that it protects: set GATEWAY_MASTER_KEY from a secret store',
    );
  }
  const log = logWith(logger);
  // The metrics exist before the first transfer.
  const { tracer, storage } = await openBase(
    config,
    started,
    logger,
    (rows) => serving.metrics.historyBatch(rows),
    begun,
  );
  signal.throwIfAborted();
  const { announce, sandbox } = await provision(config, quickStart, storage, started, log);

  const listeners: { address: string; port: number }[] = [];
  const broker = openBroker(threads, storage, started);
  let readyAskedAt = -Infinity;
  const onReadyAsked = (): void => void (readyAskedAt = performance.now());
  const shares = broker === undefined ? undefined : sharesHere(broker, threads);
  const rates = new NodeRates();
  const reach = openReach({ config, storage, log, listeners, sandbox, shares, rates, threads });
  const serving =
    broker === undefined || threads === 1
      ? await serveHere({ config, frontEnd, storage, reach, sandbox, started, logger, tracer, onReadyAsked })
      : await serveInThreads({
          config,
          frontEnd,
          threads,
          storage,
          broker,
          rates,
          reach,
          sandbox,
          started,
          logger,
          tracer,
          onReadyAsked,
        });
  listeners.push(...listenersOf(config, serving.port));
  await started.start(serving.parts, 'first');
  let retireMs = 0;
  // Added last, so it stops first: not ready from the signal on, while everything else continues until load balancers
  // have noticed.
  started.add({ name: 'readiness', stop: () => serving.retire(retireMs) });

  const url = listenUrl(config, serving.port);
  await announce(url);
  let stopping: Promise<void> | undefined;
  return {
    url,
    stop: ({ retire } = { retire: false }) => {
      // The first call decides; without a load balancer there is no reason to wait.
      const isAsked = performance.now() - readyAskedAt < READY_ASKED_WITHIN_MS;
      if (stopping === undefined && retire && isAsked) retireMs = config.server.retireSeconds * 1_000;
      return (stopping ??= started.stop(logger));
    },
    abandon: () => serving.abandon(),
    reloadTls: () => serving.reloadTls(),
  };
}

/** The serving part, as the rest of the process sees it. */
interface Serving {
  readonly port: number;
  readonly metrics: Metrics;
  /** The parts of the first event loop, with the sessions of this thread. */
  readonly parts: readonly Part[];
  /** Not ready from now on, but serving for another `ms`. */
  retire(ms: number): Promise<void>;
  /** Closes open sockets if they would prevent the process from exiting. */
  abandon(): Promise<void>;
  reloadTls(): Promise<void>;
}

type ServingOptions = Pick<
  ApplicationOptions,
  'config' | 'frontEnd' | 'storage' | 'reach' | 'sandbox' | 'logger' | 'tracer' | 'onReadyAsked'
> & { readonly started: Parts };

/** One event loop: this one. */
async function serveHere(options: ServingOptions): Promise<Serving> {
  const { config, storage } = options;
  const limiters = createLimiters(config.limits.requestsPerSecond, storage.shared?.rates);
  const application = createApplication({ ...options, limiters, thread: 1, threads: 1 });
  await options.started.start(application.parts, 'all');
  const { port } = await application.server.listen();
  options.started.add({ name: 'requests', stop: () => application.drain() });
  return {
    port,
    metrics: application.metrics,
    parts: application.parts,
    retire: (ms) => application.retire(ms),
    abandon: () => Promise.resolve(),
    reloadTls: async () => application.server.reloadTls(),
  };
}

/** Several event loops: this one is the first and accepts for all of them. */
async function serveInThreads({
  broker,
  rates,
  ...options
}: ServingOptions & {
  readonly threads: number;
  readonly broker: SharesBroker;
  readonly rates: NodeRates;
}): Promise<Serving> {
  const { config, threads, storage, started, logger, onReadyAsked } = options;
  const accept = (listener: ListenerPort): Acceptor =>
    createAcceptor({ ...config.server, ...listener, log: logWith(logger) });
  const acceptors: Acceptors<Acceptor> = {
    main: accept(mainPort(config)),
    s3: hasOwnListener(config.s3) ? accept(s3Port(config)) : undefined,
  };
  const closeAcceptors = (): void => {
    acceptors.main.close();
    acceptors.s3?.close();
  };
  const limiters = createLimiters(config.limits.requestsPerSecond, storage.shared?.rates);
  const metricsText = async (): Promise<string> => application.metrics.text(await others.metrics());
  const application = createApplication({
    ...options,
    logger: logger.child({ thread: 1 }),
    limiters,
    thread: 1,
    acceptors,
    metricsText,
  });
  await started.start(application.parts, 'all');
  const { databaseUrl } = storage;
  const others = await startEventLoops({
    config,
    threads,
    databaseUrl,
    broker,
    rates,
    acceptors,
    limiters,
    metricsText,
    sandbox: options.sandbox,
    onReadyAsked,
  });
  started.add({
    name: 'requests',
    stop: async () => {
      closeAcceptors();
      await Promise.all([application.drain(), others.stop()]);
    },
  });
  await application.server.listen();
  const { port } = acceptors.main.listen();
  acceptors.s3?.listen();
  others.listening(port);
  return {
    port,
    metrics: application.metrics,
    parts: application.parts,
    retire: async (ms) => void (await Promise.all([application.retire(ms), others.retire(ms)])),
    abandon: async () => {
      closeAcceptors();
      await others.abandon();
    },
    reloadTls: async () => {
      application.server.reloadTls();
      await others.reloadTls();
    },
  };
}

/** Enforces the limits of sessions over threads and other processes; undefined if this is the only event loop. */
function openBroker(threads: number, { shared }: Storage, started: Parts): SharesBroker | undefined {
  if (threads === 1 && shared === undefined) return undefined;
  const broker = new SharesBroker();
  if (shared === undefined) return broker;
  const processes = new ProcessShares(broker, shared.sessions);
  started.add({ name: 'limits over processes', stop: () => processes.stop() });
  return broker;
}

/** The pools of this thread share with those of the others, because this thread sweeps leftovers. */
function sharesHere(broker: SharesBroker, threads: number): ShareHolder {
  const me = {};
  // Deferred, like a message from another thread: a pool must not be called during its own call.
  const holder = new ShareHolder(threads, (message) => queueMicrotask(() => broker.receive(me, message)));
  broker.join(me, (message) => holder.receive(message));
  return holder;
}

function threadsOf({ server }: Config): number {
  return server.threads === 'auto' ? availableParallelism() : server.threads;
}

function listenUrl({ server }: Config, port: number): string {
  const host = server.host.includes(':') ? `[${server.host}]` : server.host;
  return `${server.tls.certFile === '' ? 'http' : 'https'}://${host}:${port}`;
}
