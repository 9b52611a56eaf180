/**
 * A process with a gateway that behaves as the first argument says, for the tests of the process's life. It prints one
 * line for each event in it.
 */
import net from 'node:net';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { defaults } from '../config/support.js';
import type { Gateway, StartGateway } from '../../src/app/gateway-types.js';
import { runGateway } from '../../src/app/lifecycle.js';
import { createLogger } from '../../src/observe/log.js';

/** Microseconds. */
const NATIVE_WORK_US = 500_000;

const say = (text: string): void => void process.stdout.write(`${text}\n`);
const never = (): Promise<never> => new Promise(() => setInterval(() => undefined, 60_000));

const gateway: Gateway = {
  url: 'http://127.0.0.1:0',
  abandon: () => Promise.resolve(),
  stop: async (how) => say(how?.retire === true ? 'retired and drained' : 'drained'),
  reloadTls: async () => say('reloaded'),
};

const starts: Readonly<Record<string, StartGateway>> = {
  obedient: async () => gateway,
  stubborn: async () => ({
    ...gateway,
    stop: () => {
      say('draining');
      return never();
    },
  }),
  failingStop: async () => ({ ...gateway, stop: () => Promise.reject(new Error('a session would not close')) }),
  // Minutes of native work, which process.exit() waits for.
  busyThread: async () => {
    const work = "require('node:crypto').pbkdf2Sync('a', 'b', 2e9, 64, 'sha512')";
    const worker = new Worker(`require('node:worker_threads').parentPort.postMessage(0); ${work}`, { eval: true });
    await once(worker, 'message');
    // Before the native work begins, the thread can be ended. Only that work takes this much processor time.
    const { user } = process.cpuUsage();
    while (process.cpuUsage().user - user < NATIVE_WORK_US) await delay(10);
    return gateway;
  },
  // Its stop never lets the event loop continue.
  busyLoop: async () => ({
    ...gateway,
    stop: () => {
      say('draining');
      for (;;);
    },
  }),
  badCertificate: async () => ({ ...gateway, reloadTls: () => Promise.reject(new Error('no such certificate')) }),
  exception: async () => {
    process.once('SIGUSR2', () => {
      throw new Error('escaped');
    });
    return gateway;
  },
  rejection: async () => {
    process.once('SIGUSR2', () => void Promise.reject(new Error('escaped')));
    return gateway;
  },
  slow: async (_config, { signal }) => {
    say('starting');
    const hold = setInterval(() => undefined, 60_000);
    await once(signal, 'abort');
    clearInterval(hold);
    throw signal.reason;
  },
  portInUse: async (config) => {
    const server = net.createServer().listen(config.server.port, config.server.host);
    await once(server, 'listening');
    return gateway;
  },
  databaseAway: async () => {
    const error = new Error(
      'database.url: 127.0.0.1:5432 did not answer;\n last: postgres://u:hunter2@127.0.0.1 refused',
    );
    error.name = 'StartupError';
    throw error;
  },
  broken: async () => {
    throw new TypeError('undefined is not a function');
  },
};

// Test runners load every file of this folder.
const [kind = '', port = '0'] = process.argv.slice(2);
const start = starts[kind];
if (start !== undefined) {
  const { server, ...config } = defaults();
  const logger = createLogger({ level: 'info', pretty: false });
  const announced: StartGateway = async (...how) => {
    const started = await start(...how);
    // Nothing else keeps this process alive.
    setInterval(() => undefined, 60_000);
    say('serving');
    return started;
  };
  await runGateway(
    announced,
    { ...config, server: { ...server, retireSeconds: 0, drainSeconds: 0, port: Number(port) } },
    { logger, quickStart: false },
  );
}
