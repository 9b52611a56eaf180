/** The server around a front end: what runs, own limits, certificate reload, drain. */
import { GatewayError } from '../errors.js';
import { Exchange, type ExchangeHost, type ExchangeRecord } from './exchange.js';
import type { ClientSocket, SocketOptions } from './front-end.js';
import type { SharedAcceptor } from './native/acceptor.js';
import { openUwsFrontEnd } from './native/uws-front-end.js';
import type { HttpHandler } from './types.js';

export interface HttpServerOptions extends SocketOptions {
  readonly port: number;
  /** Absent: this server has a listening socket of its own. */
  readonly acceptor?: SharedAcceptor;
  /** Bytes in all bodies under way beyond which new ones are refused with 503. */
  readonly bufferedBytes?: number;
  readonly idleTimeoutMs: number;
  readonly minBytesPerSecond: number;
  /** Addresses or CIDR blocks whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: readonly string[];
  readonly handler: HttpHandler;
  onRequest(record: ExchangeRecord): void;
}

export interface HttpServer {
  /** Rejects with one clear line when the address cannot be had. Under an acceptor the port is its own affair: 0. */
  listen(): Promise<{ readonly port: number }>;
  /** New connections meet the certificate as it stands on disk now; open ones go on. Throws, and keeps the old one, when it is bad. */
  reloadTls(): void;
  /**
   * Behind proxies: serves on, asking for the close with each answer, until no request has come for a moment. A load
   * balancer sends some until it has seen that this node is not ready, and those it has connected and not yet sent would
   * be lost with the listener. Resolves after `seconds`, or 4, at the latest; without `trustedProxies` at once.
   */
  retire(seconds: number): Promise<void>;
  /**
   * Stops accepting and waits for running requests; those left `seconds` after the first call of this or `retire` are
   * told to end (503 where no answer has begun), then cut. Connections that rest between two requests are closed at the
   * end, by the front end's own timer (10 s) before that: it gives no hold on a connection without a request. Any answer
   * meanwhile asks for the close.
   */
  drain(seconds: number): Promise<void>;
  /** Closes every socket at once. */
  abandon(): void;
  readonly running: number;
}

/** For all bodies of the process. */
export const PROCESS_BUDGET_BYTES = 256 * 1024 * 1024;
/** For operations that were told to end: to clean up, record and answer. */
const CUT_GRACE_MS = 5_000;

/** No request for so long: whoever balances load has seen that this one is not ready, or nobody was there. */
const QUIET_MS = 500;
const MAX_RETIRE_MS = 4_000;

export function createHttpServer(options: HttpServerOptions): HttpServer {
  const isSecure = options.tls.certFile !== '';
  const running = new Set<Exchange>();
  /** Handlers at work; one may outlive its client, to clean up. */
  const working = new Set<Exchange>();
  let isListening = false;
  let isDraining = false;
  let isOverloaded = false;
  let second = 0;
  let whenIdle: (() => void) | undefined;
  let lastRequestAt = -Infinity;
  let retired: Promise<void> | undefined;
  let drainingSince: number | undefined;

  const host: ExchangeHost = {
    limits: options,
    trustedProxies: options.trustedProxies,
    get isDraining() {
      return isDraining;
    },
    get isOverloaded() {
      return isOverloaded;
    },
    handle: options.handler,
    over: (exchange, record) => {
      running.delete(exchange);
      if (record.facts !== undefined) options.onRequest(record);
      // The client left before the answer: what the router knows of the request comes with it.
      else void exchange.settled.then(() => options.onRequest({ ...record, facts: exchange.facts }));
      settle();
    },
  };

  function settle(): void {
    if (running.size === 0 && working.size === 0) whenIdle?.();
  }

  const ticker = setInterval(() => {
    second++;
    let buffered = 0;
    for (const exchange of running) {
      buffered += exchange.bufferedBytes;
      exchange.tick(second);
    }
    isOverloaded = buffered > (options.bufferedBytes ?? PROCESS_BUDGET_BYTES);
  }, 1_000).unref();

  async function untilQuiet(seconds: number): Promise<void> {
    const until = performance.now() + Math.min(MAX_RETIRE_MS, seconds * 1_000);
    for (;;) {
      const now = performance.now();
      const ms = Math.min(lastRequestAt + QUIET_MS, until) - now;
      if (ms <= 0) return;
      await new Promise((resolve) => setTimeout(resolve, ms));
      // On a busy machine a request may wait unread: one turn accepts its connection, the next one reads it.
      for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  function begin(socket: ClientSocket): void {
    lastRequestAt = performance.now();
    const exchange = new Exchange(socket, host);
    if (!exchange.isFinished) running.add(exchange);
    working.add(exchange);
    void exchange.settled.then(() => {
      working.delete(exchange);
      settle();
    });
  }

  const frontEnd = openUwsFrontEnd(options, options.acceptor, begin);

  function closeSockets(): void {
    clearInterval(ticker);
    frontEnd.closeSockets();
  }

  return {
    get running() {
      return running.size;
    },

    listen: async () => {
      const port = await frontEnd.listen(options.port);
      isListening = true;
      if (options.acceptor === undefined) {
        options.log('info', 'listening', { host: options.host, port, build: frontEnd.build, tls: isSecure });
      }
      return { port };
    },

    reloadTls: () => {
      if (!isSecure || !isListening || isDraining) return;
      frontEnd.reloadTls();
      options.log('info', 'certificate reloaded');
    },

    retire: (seconds) => {
      isDraining = true;
      drainingSince ??= performance.now();
      return (retired ??= options.trustedProxies.length > 0 ? untilQuiet(seconds) : Promise.resolve());
    },

    drain: async (seconds) => {
      isDraining = true;
      frontEnd.stopListening();
      const idle = (limitMs: number): Promise<void> =>
        new Promise((resolve) => {
          if (running.size === 0 && working.size === 0) return resolve();
          const timer = setTimeout(resolve, limitMs);
          whenIdle = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      drainingSince ??= performance.now();
      await idle(Math.max(0, drainingSince + seconds * 1_000 - performance.now()));
      const error = new GatewayError('draining', 'the gateway stops and cut this transfer', { retryAfterMs: 1_000 });
      for (const exchange of [...running]) exchange.withdraw(error);
      await idle(CUT_GRACE_MS);
      for (const exchange of [...running]) exchange.cut(error);
      closeSockets();
    },

    abandon: closeSockets,
  };
}
