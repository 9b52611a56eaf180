/** A further event loop with its own server, pools and storage, in a thread; event-loops.ts is the other side. */
import { parentPort, workerData } from 'node:worker_threads';
import type { SharedAcceptor } from '../../http/native/acceptor.js';
import { createLogger } from '../../observe/log.js';
import type { ByteRates } from '../../shares/byte-rates.js';
import { ShareHolder } from '../../shares/permits.js';
import { type Acceptors, createApplication, listenersOf, openBase, openReach } from '../application.js';
import { logWith } from '../log-with.js';
import { Parts } from '../parts.js';
import type { MainCalls, ThreadCalls, ThreadData } from './calls.js';
import { carried, ThreadLine } from './line.js';

if (parentPort === null) throw new Error('this file is started as a thread');
const { config, thread, threads, sandbox: running } = workerData as ThreadData;
const sandbox = running === undefined ? undefined : { ...running, received: () => main.call('received') };
const logger = createLogger(config.log).child({ thread });
const started = new Parts();
const shares = new ShareHolder(threads, (message) => main.notify('share', message));
const nameOf = (transfer: string): string => `${thread}:${transfer}`;
const rates: ByteRates = {
  take: (key, transfer, ...amount) => main.call('takeBytes', key, nameOf(transfer), ...amount),
  leave: (key, transfer) => main.notify('leaveRate', key, nameOf(transfer)),
};
const acceptorOf = (listener: keyof Acceptors<unknown>): SharedAcceptor & { port: number } => ({
  port: 0,
  join: (descriptor) => main.notify('join', listener, descriptor),
  leave: (descriptor) => main.notify('leave', listener, descriptor),
});
const acceptors = { main: acceptorOf('main'), s3: acceptorOf('s3') };
const listeners: { address: string; port: number }[] = [];
let application: ReturnType<typeof createApplication>;

const calls: ThreadCalls = {
  start: async () => {
    const { tracer, storage } = await openBase(config, started, logger, (rows) =>
      application.metrics.historyBatch(rows),
    );
    const log = logWith(logger);
    const reach = openReach({ config, storage, log, listeners, sandbox, shares, rates, threads });
    application = createApplication({
      config,
      frontEnd: 'uws',
      storage,
      reach,
      sandbox,
      logger,
      tracer,
      limiters: {
        requests: config.limits.requestsPerSecond > 0 ? (keyId) => main.call('takeRequest', keyId) : undefined,
        failures: {
          take: (address) => main.call('takeFailure', address),
          giveBack: (address) => main.call('giveFailureBack', address),
        },
      },
      thread,
      threads,
      acceptors,
      onReadyAsked: () => main.notify('readyAsked'),
      metricsText: () => main.call('metrics'),
    });
    await started.start(application.parts, 'all');
    await application.server.listen();
    started.add({ name: 'requests', stop: () => application.drain() });
  },
  listening: (port) => {
    acceptors.main.port = port;
    acceptors.s3.port = config.s3.port;
    listeners.push(...listenersOf(config, port));
  },
  share: (message) => shares.receive(message),
  metrics: () => application.metrics.snapshot(),
  reloadTls: () => application.server.reloadTls(),
  retire: (ms) => application.retire(ms),
  stop: async () => {
    await started.stop(logger);
    // The answer is sent first.
    setImmediate(() => process.exit());
  },
  abandon: () => {
    application.server.abandon();
    // Sockets are closed at the end of this turn.
    setImmediate(() => setImmediate(() => process.exit()));
  },
};
const main = new ThreadLine<MainCalls>(parentPort, calls);

// The thread stays until the process ends because of it, so that nothing is sent to a thread that is gone.
process.on('uncaughtException', (error) => main.notify('crashed', carried(error)));
