/** What each event loop has of its own: the way to the remote servers, and a front end. One per thread that serves. */
import { statfs } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { apiRoutes, systemRoutes } from '../api/endpoints.js';
import { type Budgets, createBudgets, gaugesOf } from '../budgets/budgets.js';
import type { Config } from '../config/config.js';
import { dashboardRoutes } from '../dashboard/pages.js';
import { GatewayError } from '../base/errors.js';
import type { FrontEndName } from '../http/choose-front-end.js';
import type { ExchangeRecord } from '../http/exchange.js';
import type { Limiters } from '../http/rate-limits.js';
import type { SharedAcceptor } from '../http/native/acceptor.js';
import { allowOrigins } from '../http/cors.js';
import { createRouter } from '../http/router.js';
import { createHttpServer, type HttpServer } from '../http/server.js';
import { createManagement } from '../api/manage/management.js';
import type { Logger } from '../observe/log.js';
import { createMetrics, type Metrics } from '../observe/metrics.js';
import { withReference } from '../api/openapi/routes.js';
import type { Shares } from '../shares/permits.js';
import { type PoolBudgets, SessionPlaces } from '../pools/places.js';
import type { Connection } from '../connections/connection.js';
import { createDialer, type Dialer, type DialObserver } from '../remotes/dial/dial.js';
import type { Trust } from '../remotes/protocol.js';
import { createRemotes, type Remotes } from '../remotes/registry.js';
import { createResolver } from '../resolver/resolver.js';
import { generateKeyPair } from '../remotes/sftp/keys/generate-key.js';
import { NO_SPAN, type Span, type Tracer } from '../base/span.js';
import type { Started } from './started.js';
import type { Storage, StorageOptions } from '../storage/storage.js';
import { createUrlFetcher } from '../operations/fetch-url.js';
import { Sweeper } from '../operations/leftovers.js';
import { LiveTransfers } from '../operations/live.js';
import { Operations, type OperationOutcome } from '../operations/operation.js';
import type { CheckFacts } from '../watch/scheduler.js';
import { createWatching, type Watching } from '../watch/watching.js';
import type { AttemptFacts } from '../webhooks/deliver.js';
import { createBase64 } from '../workers/base64.js';

/** Where `npm run build` puts the dashboard, seen from dist/src. */
const DASHBOARD = fileURLToPath(new URL('../../dashboard', import.meta.url));

type Log = (level: 'debug' | 'info' | 'warn' | 'error', message: string, facts?: Record<string, unknown>) => void;

export function logWith(logger: Logger): Log {
  return (level, message, facts) => logger[level](facts ?? {}, message);
}

export function storageOptions(config: Config, log: Log, onHistoryCommit: (rows: number) => void): StorageOptions {
  const { dataDir, database, masterKey, history } = config;
  return { dataDir, ...database, masterKey, retentionDays: history.retentionDays, onHistoryCommit, log };
}

/** The way to the remote servers. */
export interface Reach {
  readonly budgets: Budgets;
  readonly dialer: Dialer;
  /** Another one under the same rules, whose dials are observed: for the test of a connection. */
  readonly observedDialer: (observer: DialObserver) => Dialer;
  readonly remotes: Remotes;
  /** Of the pools, also those that a test of a connection makes. */
  readonly poolBudgets: PoolBudgets;
  /** Not started: one thread of the process sweeps. */
  readonly sweeper: Sweeper;
}

export interface ReachOptions {
  readonly config: Config;
  readonly storage: Storage;
  readonly started: Started;
  readonly log: Log;
  /** Where the gateway itself listens, as soon as that is known: no connection may lead there. */
  readonly listeners: readonly { readonly address: string; readonly port: number }[];
  /** Where several threads have pools. */
  readonly shares: Shares | undefined;
  /** Event loops that the budgets are divided over. */
  readonly threads: number;
}

export function openReach({ config, storage, started, log, listeners, shares, threads }: ReachOptions): Reach {
  const budgets = createBudgets(config.budgets, threads);
  const resolver = createResolver({ ...config.network, budget: budgets.lookups });
  const dialer = createDialer(config.network, () => listeners, resolver);
  const poolBudgets = { places: new SessionPlaces(budgets.sessions), waiting: budgets.waiting };
  const remotes = createRemotes({
    dialer,
    limits: config.pools,
    tuning: config.streams,
    budgets: poolBudgets,
    trust: trustOf(storage),
    log: (message, facts) => log('debug', message, facts),
    ...(shares === undefined ? {} : { shares }),
  });
  started.add(() => remotes.close());
  const sweeper = new Sweeper({ store: storage.leftovers, connections: storage.connections, remotes, log });
  started.add(() => sweeper.stop());
  const observedDialer = (observer: DialObserver): Dialer =>
    createDialer(config.network, () => listeners, resolver, observer);
  return { budgets, dialer, observedDialer, remotes, poolBudgets, sweeper };
}

export function listenerOf({ server }: Config, port: number): { readonly address: string; readonly port: number } {
  return { address: server.host === 'localhost' ? '127.0.0.1' : server.host, port };
}

export interface FrontEndOptions {
  readonly config: Config;
  readonly frontEnd: FrontEndName;
  readonly storage: Storage;
  readonly reach: Reach;
  readonly started: Started;
  readonly logger: Logger;
  readonly tracer: Tracer;
  readonly limiters: Limiters;
  /** Event loops of the process. */
  readonly threads: number;
  /** Absent: this one listens itself. */
  readonly acceptor?: SharedAcceptor;
  /** GET /readyz was asked. */
  readonly onReadyAsked: () => void;
  /** Text of the metrics of all threads; absent: this one's. */
  readonly metricsText?: () => Promise<string>;
}

export interface FrontEnd {
  readonly server: HttpServer;
  readonly metrics: Metrics;
  /** Not started: one thread of the process checks and delivers. */
  readonly watching: Watching;
  /** Not ready from now on, but serving for `ms` (HttpServer.retire). */
  retire(ms: number): Promise<void>;
  /** After that: lets running requests finish for server.drainSeconds, then cuts them. */
  drain(): Promise<void>;
}

export function createFrontEnd(options: FrontEndOptions): FrontEnd {
  const { config, storage, reach, started, logger, tracer } = options;
  const log = logWith(logger);
  const { dialer, remotes, sweeper } = reach;
  const base64 = createBase64(config.workers);
  started.add(() => base64.close());
  const urls = createUrlFetcher({ dialer, ...config.pools.default });
  started.add(() => urls.close());

  let isDraining = false;
  const metrics = createMetrics(
    {
      pools: () => remotes.gauges(),
      budgets: () => gaugesOf(reach.budgets),
      openRequests: () => server.running,
      refusedConnections: () => server.refusedConnections,
      historyQueuedRows: () => storage.history.queuedRows,
      watching: () => watching.gauges(),
      workers: () => base64.gauges,
      frontEnd: () => server.build,
      ready: async () => !isDraining && (await isReady(storage)),
      disk: () => diskOf(config),
      // Counted in the database for all nodes: one thread tells, and the others add nothing.
      backlog: async () => (options.threads === 1 ? watching.backlog() : NO_BACKLOG),
    },
    config.metrics,
  );
  const watching = openWatching(options, metrics);
  const live = new LiveTransfers();
  const operations = new Operations({
    storage,
    remotes,
    leftovers: (connection) => sweeper.for(connection),
    live,
    plans: config.limits.plans,
    onOutcome: (outcome) => recordOperation(outcome, logger, metrics),
  });
  const management = createManagement({
    storage,
    budgets: reach.budgets,
    live,
    watching: watching.service,
    remotes,
    dialer: reach.observedDialer,
    limits: config.pools,
    tuning: config.streams,
    poolBudgets: reach.poolBudgets,
    makeKeyPair: generateKeyPair,
    plans: config.limits.plans,
    publicUrl: config.server.publicUrl,
    isTls: config.server.tls.certFile !== '',
    log,
  });
  started.add(() => management.board.stop());
  management.board.start();
  const text = options.metricsText ?? (() => metrics.text());
  const handler = createRouter({
    routes: [
      ...withReference(
        [
          ...apiRoutes({ storage, operations, urls, base64, watching: watching.service, limits: config.limits }),
          ...systemRoutes({
            storage,
            metrics: config.metrics.enabled ? { contentType: metrics.contentType, text } : undefined,
            metricsToken: config.metrics.token,
            isDraining: () => isDraining,
            onReadyAsked: options.onReadyAsked,
          }),
          ...management.routes,
        ],
        config.server,
      ),
      ...dashboardRoutes(DASHBOARD),
    ],
    keys: storage.keys,
    sessions: management.sessions,
    idempotency: storage.idempotency,
    requestsPerSecond: config.limits.requestsPerSecond,
    limiters: options.limiters,
    tracer,
    onInternalError: (error, requestId) => logger.error({ err: error.cause ?? error, requestId }, 'internal error'),
  });
  const server: HttpServer = createHttpServer({
    ...config.server,
    frontEnd: options.frontEnd,
    ...(options.acceptor === undefined ? {} : { acceptor: options.acceptor, loops: options.threads }),
    budgets: reach.budgets,
    handler: allowOrigins(handler, config.server.cors.origins),
    onRequest: (record) => recordRequest(record, logger, metrics),
    log,
  });
  const retire = (ms: number): Promise<void> => {
    isDraining = true;
    return server.retire(ms);
  };
  return {
    server,
    metrics,
    watching,
    retire,
    drain: async () => {
      await retire(0);
      management.board.closeStreams();
      await server.drain(config.server.drainSeconds);
    },
  };
}

/** Watched folders over this thread's sessions. */
export function openWatching(
  {
    config,
    storage,
    reach,
    logger,
    tracer,
  }: Pick<FrontEndOptions, 'config' | 'storage' | 'reach' | 'logger' | 'tracer'>,
  metrics: Metrics,
): Watching {
  return createWatching({
    storage,
    remotes: reach.remotes,
    leftovers: (connection) => reach.sweeper.for(connection),
    dialer: reach.dialer,
    watcher: config.watcher,
    webhooks: config.webhooks,
    requireHttps: config.network.webhooks.requireHttps,
    tracer,
    log: logWith(logger),
    onCheck: (facts) => recordCheck(facts, logger, metrics),
    onAttempt: (facts) => recordAttempt(facts, logger, metrics),
  });
}

/** Pins from the configuration or the database; with none, the first key seen is stored and trusted. */
function trustOf(storage: Storage): Trust {
  return {
    checkHostKey: async (connection: Connection, fingerprint) => {
      const known = 'hostKeys' in connection ? connection.hostKeys : [];
      const pinned = known.length > 0 ? known : await storage.connections.pinHostKey(connection.id, fingerprint);
      if (pinned.includes(fingerprint)) return;
      throw new GatewayError(
        'host_key_mismatch',
        `the server of connection ${connection.id} shows host key ${fingerprint}, but ${pinned.join(' or ')} is pinned (hostKey)`,
        { step: 'login' },
      );
    },
  };
}

/** What the gauges of every thread tell alike. */
export async function isReady(storage: Pick<Storage, 'ready'>): Promise<boolean> {
  return storage.ready().then(
    () => true,
    () => false,
  );
}

export async function diskOf({ dataDir }: Config): Promise<{ readonly freeBytes: number; readonly sizeBytes: number }> {
  return statfs(dataDir).then(
    ({ bavail, blocks, bsize }) => ({ freeBytes: bavail * bsize, sizeBytes: blocks * bsize }),
    () => ({ freeBytes: NaN, sizeBytes: NaN }),
  );
}

const NO_BACKLOG = { failingFolders: 0, pendingEvents: 0, deadEvents: 0 } as const;

function recordRequest(record: ExchangeRecord, logger: Logger, metrics: Metrics): void {
  const { method, status, durationMs, facts } = record;
  metrics.request({ route: facts?.route, status, seconds: durationMs / 1_000 });
  const isProbe = facts?.route === '/healthz' || facts?.route === '/readyz' || facts?.route === '/metrics';
  const span = facts?.span ?? NO_SPAN;
  // A span that does not end is not sent: nobody wants a trace of every probe.
  if (span.isRecorded && !isProbe) endRequestSpan(span, record);
  logger[isProbe ? 'debug' : status >= 500 ? 'error' : 'info'](
    {
      requestId: facts?.requestId,
      traceId: span.traceId,
      method,
      route: facts?.route,
      status,
      durationMs: Math.round(durationMs),
      bytesIn: record.bytesIn,
      bytesOut: record.bytesOut,
      isComplete: record.isComplete,
      keyId: facts?.keyId,
      remoteAddress: record.remoteAddress,
      errorCode: facts?.error?.code,
    },
    'request',
  );
}

function endRequestSpan(span: Span, { method, status, facts, ...record }: ExchangeRecord): void {
  const isRouted = facts !== undefined && facts.route !== 'unknown';
  span.end({
    name: isRouted ? `${method} ${facts.route}` : method,
    // A client's mistake is no error of the server's (semantic conventions for HTTP).
    error: status >= 500 || !record.isComplete ? (facts?.error?.code ?? String(status)) : undefined,
    attributes: {
      'http.request.method': method,
      'http.route': isRouted ? facts.route : undefined,
      // Of a path that is none of ours nobody knows what it holds.
      'url.path': isRouted ? record.path : undefined,
      'http.response.status_code': status === 0 ? undefined : status,
      'http.request.body.size': record.bytesIn,
      'http.response.body.size': record.bytesOut,
      'client.address': record.remoteAddress,
      'ftg.request.id': facts?.requestId,
      'ftg.api_key.id': facts?.keyId,
      'ftg.error.code': facts?.error?.code,
    },
  });
}

function recordOperation(outcome: OperationOutcome, logger: Logger, metrics: Metrics): void {
  const { type, protocol, durationMs, bytes, direction, stages, error } = outcome;
  metrics.operation({
    type,
    protocol,
    connection: outcome.connectionId,
    direction,
    bytes,
    seconds: durationMs / 1_000,
    stages,
    ...(error === undefined ? {} : { code: error.code }),
  });
  logger.info(
    {
      requestId: outcome.requestId,
      traceId: outcome.traceId,
      transferId: outcome.transferId,
      connectionId: outcome.connectionId,
      type,
      protocol,
      bytes,
      durationMs: Math.round(durationMs),
      stagesMs: Object.fromEntries([...stages].map(([stage, ms]) => [stage, Number(ms.toFixed(2))])),
      errorCode: error?.code,
      error: error?.clientText,
      step: error?.step,
    },
    'operation',
  );
}

function recordCheck({ outcome, kind, lagMs }: CheckFacts, logger: Logger, metrics: Metrics): void {
  const { folder, check, detections, events, error } = outcome;
  const seconds = check.durationMs / 1_000;
  metrics.check({ kind, outcome: check.outcome, seconds, lagSeconds: lagMs / 1_000, detections });
  logger[error !== undefined ? 'warn' : detections > 0 ? 'info' : 'debug'](
    {
      watchedFolderId: folder.id,
      connectionId: folder.connectionId,
      checkId: check.id,
      kind,
      counts: check.counts,
      detections,
      events,
      lagMs: Math.round(lagMs),
      durationMs: check.durationMs,
      errorCode: error?.code,
      error: error?.clientText,
    },
    'watched folder checked',
  );
}

function recordAttempt(facts: AttemptFacts, logger: Logger, metrics: Metrics): void {
  const { event, verdict, status, durationMs, ageMs, error } = facts;
  metrics.webhookAttempt({ outcome: verdict, seconds: durationMs / 1_000 });
  logger[verdict === 'delivered' ? 'info' : 'warn'](
    {
      eventId: event.id,
      watchedFolderId: event.folderId,
      type: event.type,
      verdict,
      status,
      attempt: event.attempts + 1,
      durationMs,
      ageMs,
      traceId: facts.traceId,
      errorCode: error?.code,
      error: error?.clientText,
    },
    'webhook attempt',
  );
}
