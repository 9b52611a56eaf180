/** The application that each event loop runs: the way to the remote servers, the parts that work, and the HTTP server. */
import { statfs } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { AlarmWatch } from '../alarms/alarms.js';
import { Mailer } from '../alarms/mailer.js';
import { AlarmService } from '../alarms/service.js';
import { apiRoutes, systemRoutes } from '../api/endpoints.js';
import { JobEvents } from '../api/jobs/job-events.js';
import { ConnectionTester } from '../api/connections/connection-test.js';
import { LoginGuard } from '../api/login/guard.js';
import { OwnerSessions } from '../api/login/owner-sessions.js';
import { TransferBoard } from '../api/transfers/board.js';
import { FILES, MANAGEMENT, withReference } from '../api/openapi/routes.js';
import type { GatewayError } from '../base/errors.js';
import { inPackage } from '../base/package-root.js';
import type { Tracer } from '../base/span.js';
import { type Budgets, createBudgets, gaugesOf } from '../budgets/budgets.js';
import { referencesIn } from '../config/references.js';
import { referenceIn } from '../contract/connection/reference.js';
import type { Config } from '../config/schema.js';
import { dashboardRoutes } from '../dashboard/pages.js';
import { openSite } from '../docs/serve.js';
import { createEvents, type EventsPart } from '../events/events.js';
import type { FrontEndName } from '../http/choose-front-end.js';
import { allowOrigins } from '../http/cors.js';
import { EventHub } from '../http/event-hub.js';
import type { SharedAcceptor } from '../http/native/acceptor.js';
import type { Limiters } from '../http/rate-limits.js';
import { GuessGuard } from '../http/guess-guard.js';
import { createRouter } from '../http/router.js';
import { createHttpServer, type HttpServer, joinServers } from '../http/server.js';
import { createEventFiles, type EventFiles } from '../jobs/event-files.js';
import { createJobs, type JobsPart } from '../jobs/jobs.js';
import { LinkService } from '../links/service.js';
import type { HttpHandler } from '../http/types.js';
import type { Logger } from '../observe/log.js';
import { type Backlog, createMetrics, type Metrics } from '../observe/metrics.js';
import { recordAttempt, recordCheck, recordOperation, recordRequest } from '../observe/records.js';
import { openTracer } from '../observe/tracing.js';
import { createUrlFetcher } from '../operations/fetch-url.js';
import { ConnectionHealth } from '../connections/health/health.js';
import { ConnectionProber } from '../connections/health/prober.js';
import { createSecretReader } from '../connections/secrets/read-secret.js';
import { ReferencedSecrets } from '../connections/secrets/referenced-secrets.js';
import { Sweeper } from '../operations/leftovers.js';
import { LiveTransfers } from '../operations/live.js';
import { Operations } from '../operations/operation.js';
import { KeptKeys } from '../operations/tree/kept-keys.js';
import { type PoolBudgets, SessionPlaces } from '../pools/places.js';
import { createDialer, type Dialer, type DialObserver, type OwnProxy } from '../remotes/dial/dial.js';
import { createRemotes, type Remotes } from '../remotes/registry.js';
import { generateKeyPair } from '../remotes/sftp/keys/generate-key.js';
import { trustOnFirstUse } from '../remotes/trust.js';
import { createResolver } from '../resolver/resolver.js';
import type { ByteRates } from '../shares/byte-rates.js';
import type { Shares } from '../shares/permits.js';
import type { SandboxPart } from '../sandbox/sink.js';
import type { BegunServer } from '../storage/embedded/begun.js';
import { openStorage } from '../storage/open.js';
import type { Log, Storage } from '../storage/storage.js';
import { createUploads } from '../uploads/uploads.js';
import { createWatching, type Watching } from '../watch/watching.js';
import { createBase64 } from '../workers/base64.js';
import { logWith } from './log-with.js';
import { type Part, partOf, type Parts } from './parts.js';
import { openS3 } from './s3.js';

/** The folder into which `npm run build` writes the dashboard and the documentation. */
const DASHBOARD = fileURLToPath(inPackage('dist/dashboard'));
const SITE = fileURLToPath(inPackage('dist/site'));

/** The resources that each thread opens first, and closes last. */
export async function openBase(
  config: Config,
  started: Parts,
  logger: Logger,
  onHistoryCommit: (rows: number) => void,
  begun?: BegunServer,
): Promise<{ readonly tracer: Tracer; readonly storage: Storage }> {
  const log = logWith(logger);
  const tracer = await openTracer({ env: process.env, warn: (message, facts) => log('warn', message, facts) });
  // The last spans are the spans of the end.
  started.add({ name: 'traces', stop: () => tracer.close() });
  const { dataDir, database, masterKey, history } = config;
  const { retentionDays, freeItems } = history;
  const { idempotencyKeys } = config.limits;
  const storage = await openStorage({
    dataDir,
    ...database,
    masterKey,
    retentionDays,
    freeItems,
    idempotencyKeys,
    onHistoryCommit,
    log,
    begun,
  });
  started.add({ name: 'storage', stop: () => storage.close() });
  return { tracer, storage };
}

/** The way to the remote servers. */
interface Reach {
  readonly budgets: Budgets;
  readonly dialer: Dialer;
  /** Another one under the same rules, whose dials are observed: for the test of a connection. */
  readonly observedDialer: (observer: DialObserver) => Dialer;
  readonly remotes: Remotes;
  readonly secrets: ReferencedSecrets;
  /** The budgets of the pools, also of pools that a test of a connection makes. */
  readonly poolBudgets: PoolBudgets;
  readonly sweeper: Sweeper;
  readonly health: ConnectionHealth;
  /** Not started; the parts of the application start after them. */
  readonly parts: readonly Part[];
}

interface ReachOptions {
  readonly config: Config;
  readonly storage: Storage;
  readonly log: Log;
  /** The gateway's own address, as soon as it is known: no connection may lead there. */
  readonly listeners: readonly { readonly address: string; readonly port: number }[];
  /** Where the gateway runs one. */
  readonly sandbox: SandboxPart | undefined;
  /** Where several threads have pools. */
  readonly shares: Shares | undefined;
  /** The rates of connections, for all threads. */
  readonly rates: ByteRates;
  /** Event loops that the budgets are divided over. */
  readonly threads: number;
}

export function openReach(options: ReachOptions): Reach {
  const { config, storage, log, listeners, sandbox, shares, rates, threads } = options;
  const budgets = createBudgets(config.budgets, threads);
  const resolver = createResolver({ ...config.network, budget: budgets.lookups });
  const ownReceiver = sandbox === undefined ? {} : { ownReceiver: { ...sandbox.receiver, owner: sandbox.accountId } };
  const poolBudgets = { places: new SessionPlaces(budgets.sessions), waiting: budgets.waiting };
  const health = new ConnectionHealth({ outages: storage.outages, log });
  const secrets = new ReferencedSecrets({
    read: createSecretReader(config.secrets, process.env),
    refreshMinutes: config.secrets.refreshMinutes,
    configured: referencesIn(config),
    log,
  });
  const rules = { ...config.network, ...ownReceiver, ownProxy: ownProxyOf(config.network.proxy, secrets) };
  const dialer = createDialer(rules, () => listeners, resolver);
  const remotes = createRemotes({
    reach: health,
    dialer,
    limits: config.pools,
    giveWay: config.pools.giveWay,
    linkPercent: config.links.poolPercent,
    tuning: config.streams,
    rates,
    budgets: poolBudgets,
    trust: trustOnFirstUse(storage.connections, storage.hostKeys),
    env: process.env,
    log: (message, facts) => log('debug', message, facts),
    warn: (message, facts) => log('warn', message, facts),
    secrets,
    ...(shares === undefined ? {} : { shares }),
  });
  const sweeper = new Sweeper({ store: storage.leftovers, connections: storage.connections, remotes, log });
  const observedDialer = (observer: DialObserver): Dialer => createDialer(rules, () => listeners, resolver, observer);
  const parts: readonly Part[] = [
    partOf('secrets by reference', 'all', secrets),
    partOf('health of connections', 'all', health),
    { name: 'sessions', threads: 'all', stop: () => remotes.close() },
    // Until the last request has ended, what it leaves is removed.
    { name: 'leftovers', threads: 'all', stop: () => sweeper.stop() },
    { name: 'sweeps', threads: 'first', start: () => sweeper.start() },
  ];
  return { budgets, dialer, observedDialer, remotes, secrets, poolBudgets, sweeper, health, parts };
}

function ownProxyOf(
  { url, username, password }: Config['network']['proxy'],
  secrets: ReferencedSecrets,
): OwnProxy | undefined {
  if (url === '') return undefined;
  const login = {
    ...(username === '' ? {} : { username }),
    ...(typeof password !== 'string' || password === '' ? {} : { password }),
  };
  const reference = referenceIn(password);
  return {
    proxy: { url, ...login, ...(reference === undefined ? {} : { references: { password: reference } }) },
    secrets,
  };
}

/** The addresses that the gateway listens on, where its main listener has this port. */
export function listenersOf(
  { server, s3 }: Config,
  port: number,
): readonly { readonly address: string; readonly port: number }[] {
  const address = server.host === 'localhost' ? '127.0.0.1' : server.host;
  const ports = hasOwnListener(s3) ? [port, s3.port] : [port];
  return ports.map((port) => ({ address, port }));
}

/** The port of a listener, and the setting that has it. */
export interface ListenerPort {
  readonly port: number;
  readonly setting: string;
}

export const mainPort = ({ server }: Config): ListenerPort => ({ port: server.port, setting: 'server.port' });
export const s3Port = ({ s3 }: Config): ListenerPort => ({ port: s3.port, setting: 's3.port' });

/** Whether the S3 front has a listener of its own, in addition to its addresses on the main one. */
export const hasOwnListener = ({ enabled, port }: Config['s3']): boolean => enabled && port !== 0;

export interface ApplicationOptions {
  readonly config: Config;
  readonly frontEnd: FrontEndName;
  readonly storage: Storage;
  readonly reach: Reach;
  readonly sandbox: SandboxPart | undefined;
  readonly logger: Logger;
  readonly tracer: Tracer;
  readonly limiters: Limiters;
  /** Which of the process's event loops it is, from 1. */
  readonly thread: number;
  /** Event loops of the process. */
  readonly threads: number;
  /** Absent: this one listens itself. */
  readonly acceptors?: Acceptors<SharedAcceptor>;
  /** GET /readyz was asked. */
  readonly onReadyAsked: () => void;
  /** Text of the metrics of all threads; absent: this one's. */
  readonly metricsText?: () => Promise<string>;
}

/** One for each listener. */
export interface Acceptors<A> {
  readonly main: A;
  /** Where the S3 front has a listener of its own. */
  readonly s3: A | undefined;
}

interface Application {
  readonly server: HttpServer;
  readonly metrics: Metrics;
  /** Not started. Those of `all` threads start before the server listens, those of the `first` one after that. */
  readonly parts: readonly Part[];
  /** Not ready from now on, but serving for `ms` (HttpServer.retire). */
  retire(ms: number): Promise<void>;
  /** After that: lets running requests finish for server.drainSeconds, then cuts them. */
  drain(): Promise<void>;
}

export function createApplication(options: ApplicationOptions): Application {
  const { config, storage, reach, logger, tracer } = options;
  const log = logWith(logger);
  const { dialer, remotes, sweeper } = reach;
  const base64 = createBase64({ ...config.workers, threads: Math.ceil(config.workers.threads / options.threads) });
  const urls = createUrlFetcher({ dialer, ...config.pools.default });

  let isDraining = false;
  const metrics = createMetrics(
    {
      pools: () => remotes.gauges(),
      budgets: () => gaugesOf(reach.budgets),
      openRequests: () => server.running,
      refusedConnections: () => server.refusedConnections,
      historyQueuedRows: () => storage.history.queuedRows,
      watching: () => watching.gauges(),
      eventFiles: () => eventFiles.gauges(),
      events: () => events.gauges(),
      workers: () => base64.gauges,
      frontEnd: () => server.build,
      ready: async () => !isDraining && (await isReady(storage)),
      disk: () => diskOf(config),
      // Counted in the database for all nodes: one thread reports the number, the others add nothing.
      backlog: async () =>
        options.thread === 1 ? backlogOf({ watching, events, eventFiles, jobs }, storage) : NO_BACKLOG,
      reachable: async (most) => (options.thread === 1 ? storage.management.health.reachable(most) : []),
    },
    config.metrics,
  );
  const live = new LiveTransfers();
  const operations = new Operations({
    storage,
    remotes,
    leftovers: (connection) => sweeper.for(connection),
    live,
    plans: config.limits.plans,
    onOutcome: (outcome) => recordOperation(outcome, logger, metrics),
  });
  const prober = new ConnectionProber({
    checks: storage.checks,
    agenda: storage.agenda,
    connections: storage.connections,
    remotes,
    health: reach.health,
    log,
    leftovers: (connection) => sweeper.for(connection),
    everySeconds: config.health.everySeconds,
    onProbe: (facts) => metrics.probe(facts),
  });
  const events = createEvents({
    storage,
    dialer,
    events: config.events,
    webhooks: config.webhooks,
    requireHttps: config.network.webhooks.requireHttps,
    tracer,
    log,
    onAttempt: (facts) => recordAttempt(facts, logger, metrics),
  });
  const { checkTarget, retry } = events;
  const watching = createWatching({
    storage,
    operations,
    watcher: config.watcher,
    limits: config.webhooks,
    checkTarget,
    log,
    onCheck: (facts) => recordCheck(facts, logger, metrics),
  });
  const { memoryBytes } = reach.budgets;
  const eventFiles = createEventFiles({ storage, operations, memoryBytes, retry, log });
  const eventHub = new EventHub();
  const jobEvents = new JobEvents(storage.jobs.rows, eventHub);
  const jobs = createJobs({
    storage,
    operations,
    memoryBytes,
    config: config.jobs,
    log,
    urls,
    uploadBytes: config.limits.uploadBytes,
    // This process cannot see the disk of a database on another machine.
    freeBytes: async () => (config.database.url === '' ? (await diskOf(config)).freeBytes : NaN),
    checkTarget,
  });
  const uploads = createUploads({
    storage,
    operations,
    config: config.uploads,
    maxBytes: config.limits.uploadBytes,
    log,
  });
  const links = {
    service: new LinkService({ rows: storage.links, operations, limits: config.links }),
    guard: new GuessGuard(options.limiters.failures, 'link'),
    minBytesPerSecond: config.links.minBytesPerSecond,
    rate: options.limiters.requests,
  };
  const address = { publicUrl: config.server.publicUrl, isTls: config.server.tls.certFile !== '' };
  const mailer = new Mailer(config.mail);
  const alarms = new AlarmWatch({
    storage,
    mailer,
    log,
    publicUrl: config.server.publicUrl,
    ...config.alarms,
    monthlyActions: (plan) => operations.planOf({ plan }).monthlyActions,
  });
  const owners = new OwnerSessions({ sessions: storage.management.sessions, ...address });
  const board = new TransferBoard({ live, storage: storage.management, hub: eventHub, log });
  const tester = new ConnectionTester({
    dialer: reach.observedDialer,
    limits: config.pools,
    tuning: config.streams,
    poolBudgets: reach.poolBudgets,
    secrets: reach.secrets,
    env: process.env,
  });
  const text = options.metricsText ?? (() => metrics.text());
  const site = openSite(SITE, [FILES.page, MANAGEMENT.page]);
  const onInternalError = (error: GatewayError, requestId: string): void =>
    logger.error({ err: error.cause ?? error, requestId }, 'internal error');
  const handler = createRouter({
    routes: [
      ...withReference(
        [
          ...apiRoutes({
            storage,
            operations,
            urls,
            base64,
            limits: config.limits,
            uploads: uploads.service,
            watching: watching.service,
            jobs: jobs.service,
            schedules: jobs.schedules,
            jobEvents,
            events,
            eventHub,
            links,
            address,
            s3: config.s3,
            sandbox: options.sandbox,
            remotes,
            budgets: reach.budgets,
            log,
            owners,
            guard: new LoginGuard(storage.accounts, storage.management.sessions),
            tester,
            board,
            makeKeyPair: generateKeyPair,
            alarms: new AlarmService(storage.alarmRecipients, mailer),
          }),
          ...systemRoutes({
            storage,
            metrics: config.metrics.enabled ? { contentType: metrics.contentType, text } : undefined,
            metricsToken: config.metrics.token,
            isDraining: () => isDraining,
            onReadyAsked: options.onReadyAsked,
          }),
        ],
        config.server,
        site.pageOf,
      ),
      ...site.routes,
      ...dashboardRoutes(DASHBOARD),
    ],
    keys: storage.keys,
    sessions: owners,
    idempotency: storage.idempotency,
    requestsPerSecond: config.limits.requestsPerSecond,
    limiters: options.limiters,
    tracer,
    onInternalError,
  });
  const { origins } = config.server.cors;
  const services = {
    storage,
    operations,
    lists: new KeptKeys(memoryBytes),
    multipart: uploads.multipart,
    limits: config.limits,
    region: config.s3.region,
  };
  const keys = storage.s3AccessKeys;
  const guard = new GuessGuard(options.limiters.failures, 'S3 access key');
  const s3 = openS3({ services, keys, guard, rate: options.limiters.requests, tracer, onInternalError }, origins);
  const serve = (
    handler: HttpHandler,
    { port, setting }: ListenerPort,
    acceptor: SharedAcceptor | undefined,
  ): HttpServer =>
    createHttpServer({
      ...config.server,
      port,
      setting,
      frontEnd: options.frontEnd,
      ...(acceptor === undefined ? {} : { acceptor, loops: options.threads }),
      budgets: reach.budgets,
      handler,
      onRequest: (record) => recordRequest(record, logger, metrics),
      log,
    });
  const api = allowOrigins(handler, origins);
  const { acceptors } = options;
  const main = serve(config.s3.enabled ? s3.beside(api) : api, mainPort(config), acceptors?.main);
  const server = hasOwnListener(config.s3) ? joinServers(main, serve(s3.alone, s3Port(config), acceptors?.s3)) : main;
  const retire = (ms: number): Promise<void> => {
    isDraining = true;
    return server.retire(ms);
  };
  return {
    server,
    metrics,
    parts: [
      ...reach.parts,
      ...(config.s3.enabled ? [s3.part] : []),
      { name: 'base64', threads: 'all', stop: () => base64.close() },
      { name: 'fetches of URLs', threads: 'all', stop: () => urls.close() },
      partOf('running transfers', 'all', board),
      partOf('events', 'first', events),
      partOf('watched folders', 'first', watching),
      partOf('files of events', 'first', eventFiles),
      partOf('jobs', 'first', jobs),
      partOf('expiry of uploads', 'first', uploads.expiry),
      partOf('checks of connections', 'first', prober),
      partOf('alarms', 'first', alarms),
    ],
    retire,
    drain: async () => {
      await retire(0);
      eventHub.close();
      events.readers.close();
      await server.drain(config.server.drainSeconds);
    },
  };
}

async function isReady(storage: Pick<Storage, 'ready'>): Promise<boolean> {
  return storage.ready().then(
    () => true,
    () => false,
  );
}

async function diskOf({ dataDir }: Config): Promise<{ readonly freeBytes: number; readonly sizeBytes: number }> {
  return statfs(dataDir).then(
    ({ bavail, blocks, bsize }) => ({ freeBytes: bavail * bsize, sizeBytes: blocks * bsize }),
    () => ({ freeBytes: NaN, sizeBytes: NaN }),
  );
}

interface Queued {
  readonly watching: Watching;
  readonly events: EventsPart;
  readonly eventFiles: EventFiles;
  readonly jobs: JobsPart;
}

async function backlogOf(
  { watching, events, eventFiles, jobs }: Queued,
  storage: Storage,
): Promise<Backlog | undefined> {
  const health = storage.management.health.counts().catch(() => undefined);
  const [watched, waiting, copies, counts, known] = await Promise.all([
    watching.backlog(),
    events.backlog(),
    eventFiles.backlog(),
    jobs.backlog(),
    health,
  ]);
  return (
    watched &&
    waiting &&
    copies &&
    counts &&
    known && {
      ...watched,
      ...waiting,
      ...copies,
      ...counts,
      downConnections: known.down,
      expiringCertificates: known.expiring,
      databaseBytes: known.databaseBytes,
    }
  );
}

const NO_BACKLOG: Backlog = {
  failingFolders: 0,
  pendingEvents: 0,
  deadEvents: 0,
  pendingCopies: 0,
  runningJobs: 0,
  waitingJobs: 0,
  failedJobs: 0,
  lateRuns: 0,
  overdueRuns: 0,
  stoppedSchedules: 0,
  downConnections: 0,
  expiringCertificates: 0,
  databaseBytes: 0,
};
