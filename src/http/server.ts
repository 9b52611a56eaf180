/** The server around a front end: requests under way, own limits, certificate reload, drain. */
import { pause, within } from '../base/deadline.js';
import { GatewayError } from '../base/errors.js';
import { Periodic } from '../base/periodic.js';
import type { RequestBudgets } from './claims.js';
import { CONNECTIONS_PER_ADDRESS, LOOPBACK, mostConnections } from './connections.js';
import type { FrontEndName } from './choose-front-end.js';
import { BeginTurns } from './begin-turns.js';
import { Exchange, type ExchangeHost, type ExchangeRecord } from './exchange.js';
import { openNodeFrontEnd } from './fallback/node-front-end.js';
import type { ClientSocket, FrontEnd, SocketOptions } from './front-end.js';
import type { SharedAcceptor } from './native/acceptor.js';
import { openUwsFrontEnd } from './native/uws-front-end.js';
import { PeerChecks } from './peers.js';
import type { HttpHandler } from './types.js';

interface HttpServerOptions extends SocketOptions {
  readonly frontEnd: FrontEndName;
  readonly port: number;
  /** Only for uWebSockets.js. Absent: this server has its own listening socket. */
  readonly acceptor?: SharedAcceptor;
  readonly budgets: RequestBudgets;
  readonly idleTimeoutMs: number;
  readonly minBytesPerSecond: number;
  /** Addresses or CIDR blocks whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: readonly string[];
  /** Open connections per address; 0 = any number. Those of trusted proxies are not counted. */
  readonly connectionsPerAddress: number | 'auto';
  /** Event loops behind the acceptor; absent: only this one. */
  readonly loops?: number;
  readonly handler: HttpHandler;
  onRequest(record: ExchangeRecord): void;
}

export interface HttpServer {
  /**
   * Rejects with one clear line if the address cannot be used. Under an acceptor the port belongs to the acceptor: 0.
   */
  listen(): Promise<{ readonly port: number }>;
  /**
   * New connections use the certificate that is on disk now; open ones continue. Throws, and keeps the old one, if it
   * is bad.
   */
  reloadTls(): void;
  /**
   * Continues to serve for `ms`, and asks for the close with each answer: a load balancer sends requests until it has
   * noticed that this node is not ready, and those that it has connected but not yet sent would be lost with the
   * listener. The first call counts.
   */
  retire(ms: number): Promise<void>;
  /**
   * Stops accepting, once `retire` is over, and waits for running requests; after `seconds` the remaining ones are
   * aborted (503 if no answer has begun), then cut. Idle connections between two requests are closed at the end, or
   * before that by the front end's own timer (10 s): the front end offers no access to a connection without a request.
   * Any answer meanwhile asks for the close.
   */
  drain(seconds: number): Promise<void>;
  /** Closes every socket at once. */
  abandon(): void;
  readonly running: number;
  /** Name and version of the front end's package. */
  readonly build: string;
  readonly refusedConnections: FrontEnd['refusedConnections'];
}

/**
 * Clients that left while nothing was read from them are noticed within this time, or within twice this time if their
 * ports are not known.
 */
const PEERS_EVERY_SECONDS = 4;
/** For aborted operations: time to clean up, record and answer. */
const CUT_GRACE_MS = 5_000;

export function createHttpServer(options: HttpServerOptions): HttpServer {
  const isSecure = options.tls.certFile !== '';
  const running = new Set<Exchange>();
  const peerChecks = new PeerChecks();
  /** Running handlers; one may outlive its client, to clean up. */
  let working = 0;
  let isListening = false;
  /** 0 if an acceptor has it. */
  let port = 0;
  let isDraining = false;
  let second = 0;
  let whenIdle: (() => void) | undefined;
  let retired: Promise<void> | undefined;
  let retiredAt = 0;

  const host: ExchangeHost = {
    limits: options,
    trustedProxies: options.trustedProxies,
    get isDraining() {
      return isDraining;
    },
    budgets: options.budgets,
    turns: new BeginTurns(),
    handle: options.handler,
    over: (exchange, record) => {
      running.delete(exchange);
      if (exchange.lingeringPeer !== undefined) peerChecks.lingers(exchange.lingeringPeer);
      if (record.facts !== undefined) options.onRequest(record);
      // The client left before the answer: the record waits for what the router knows about the request.
      else void exchange.settled.then(() => options.onRequest({ ...record, facts: exchange.facts }));
      settle();
    },
  };

  function settle(): void {
    if (running.size === 0 && working === 0) whenIdle?.();
  }

  /** Runs while requests do. */
  const ticker = new Periodic(tick, 1_000);

  function tick(): void {
    second++;
    if (running.size === 0) void ticker.stop();
    for (const exchange of running) exchange.tick(second);
    if (second % PEERS_EVERY_SECONDS === 0) void findGonePeers();
  }

  async function findGonePeers(): Promise<void> {
    const heldBack = [...running].filter((exchange) => exchange.heldBack !== undefined);
    if (heldBack.length === 0) return;
    const peers = heldBack.flatMap((exchange) => exchange.heldBack ?? []);
    const isGone = await peerChecks.gone(port, peers);
    for (const exchange of heldBack) {
      const { heldBack: peer } = exchange;
      if (peer !== undefined) exchange.checkPeer(isGone(peer));
    }
  }

  function begin(socket: ClientSocket): void {
    const exchange = new Exchange(socket, host);
    if (!exchange.isFinished) {
      running.add(exchange);
      ticker.start();
    }
    working++;
    void exchange.settled.then(() => {
      working--;
      settle();
    });
  }

  const isAuto = options.connectionsPerAddress === 'auto';
  const bounds = {
    perAddress: isAuto ? CONNECTIONS_PER_ADDRESS : options.connectionsPerAddress,
    total: mostConnections(),
    // A proxy on this machine brings the connections of all clients, even if the configuration does not name it.
    unbounded: isAuto ? [...options.trustedProxies, ...LOOPBACK] : options.trustedProxies,
    loops: options.loops ?? 1,
    log: options.log.bind(options),
  };
  const frontEnd =
    options.frontEnd === 'uws'
      ? openUwsFrontEnd(options, options.acceptor, bounds, begin)
      : openNodeFrontEnd(options, bounds, begin);

  function retire(ms: number): Promise<void> {
    isDraining = true;
    return (retired ??= (ms > 0 ? pause(ms) : Promise.resolve()).then(() => {
      retiredAt = performance.now();
    }));
  }

  function closeSockets(): void {
    void ticker.stop();
    frontEnd.closeSockets();
  }

  return {
    build: frontEnd.build,
    refusedConnections: frontEnd.refusedConnections,

    get running() {
      return running.size;
    },

    listen: async () => {
      port = await frontEnd.listen(options.port);
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

    retire,

    drain: async (seconds) => {
      await retire(0);
      frontEnd.stopListening();
      const idle = async (limitMs: number): Promise<void> => {
        if (running.size === 0 && working === 0) return;
        const isIdle = new Promise<void>((resolve) => (whenIdle = resolve));
        await within(isIdle, limitMs, () => undefined);
      };
      await idle(Math.max(0, retiredAt + seconds * 1_000 - performance.now()));
      const error = new GatewayError('draining', 'the gateway stops and cut this transfer', { retryAfterMs: 1_000 });
      for (const exchange of [...running]) exchange.withdraw(error);
      await idle(CUT_GRACE_MS);
      for (const exchange of [...running]) exchange.cut(error);
      closeSockets();
    },

    abandon: closeSockets,
  };
}

/** Two servers of one program, as one: the port is that of the first. */
export function joinServers(first: HttpServer, second: HttpServer): HttpServer {
  const both = [first, second] as const;
  return {
    build: first.build,
    listen: async () => {
      const listening = await first.listen();
      await second.listen();
      return listening;
    },
    reloadTls: () => both.forEach((server) => server.reloadTls()),
    retire: async (ms) => void (await Promise.all(both.map((server) => server.retire(ms)))),
    drain: async (seconds) => void (await Promise.all(both.map((server) => server.drain(seconds)))),
    abandon: () => both.forEach((server) => server.abandon()),
    get running() {
      return first.running + second.running;
    },
    get refusedConnections() {
      const counts = { ...first.refusedConnections };
      for (const [why, count] of Object.entries(second.refusedConnections)) counts[why as keyof typeof counts] += count;
      return counts;
    },
  };
}
