/** The content of GET /metrics: the names of metric-table.ts, bounded series, gauges read when they are requested. */
import {
  type Aggregator,
  AggregatorRegistry,
  collectDefaultMetrics,
  Counter,
  Gauge,
  Histogram,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client';
import { pause } from '../base/deadline.js';
import { readManifest } from '../base/package-root.js';
import type { EventsGauges } from '../events/events.js';
import type { WatchGauges } from '../watch/watching.js';
import { BoundedSeries, merger, type Labels } from './bounded-series.js';
import { METRICS } from './metric-table.js';

interface PoolGauge {
  /** `host:port` */
  readonly host: string;
  readonly open: number;
  readonly leased: number;
  readonly waiting: number;
}

interface BudgetGauge {
  readonly name: string;
  readonly capacity: number;
  readonly used: number;
  readonly waiting: number;
  readonly refused: Readonly<Record<'full' | 'share', number>>;
}

/** The sources of the gauges, read on request. Several pools of one host are added up. */
interface MetricsSources {
  pools(): readonly PoolGauge[];
  budgets(): readonly BudgetGauge[];
  openRequests(): number;
  /** Counts so far, by reason. */
  refusedConnections(): Readonly<Record<string, number>>;
  historyQueuedRows(): number;
  watching(): WatchGauges;
  eventFiles(): EventFilesGauges;
  events(): EventsGauges;
  workers(): { readonly threads: number; readonly waiting: number };
  /** Undefined if this thread has none. */
  frontEnd(): string | undefined;
  ready(): Promise<boolean>;
  /** For the file system of dataDir; NaN if unknown. */
  disk(): Promise<{ readonly freeBytes: number; readonly sizeBytes: number }>;
  /** Queried from the database at most every few seconds; a failed query shows as NaN. */
  backlog(): Promise<Backlog | undefined>;
  /** For at most this many connections, if they are shown one by one. */
  reachable(most: number): Promise<readonly { readonly id: string; readonly isUp: boolean }[]>;
}

interface EventFilesGauges {
  readonly copiesRunning: number;
  readonly copiesWaiting: number;
}

/** For all nodes. */
export interface Backlog {
  readonly failingFolders: number;
  readonly pendingEvents: number;
  readonly deadEvents: number;
  readonly pendingCopies: number;
  readonly runningJobs: number;
  readonly waitingJobs: number;
  readonly failedJobs: number;
  /** In seconds. */
  readonly lateRuns: number;
  readonly overdueRuns: number;
  readonly stoppedSchedules: number;
  readonly downConnections: number;
  readonly expiringCertificates: number;
  readonly databaseBytes: number;
}

export interface Metrics {
  /** `route` is the route's pattern, undefined if none was found. */
  request(facts: { route: string | undefined; status: number; seconds: number }): void;
  /** `code` is the error's; absent = success. `stages` has the milliseconds of each. */
  operation(facts: {
    type: string;
    protocol: string;
    connection: string;
    direction: 'outbound' | 'inbound';
    bytes: number;
    seconds: number;
    code?: string;
    stages: { forEach(report: (ms: number, stage: string) => void): void };
  }): void;
  historyBatch(rows: number): void;
  check(facts: { kind: string; outcome: string; seconds: number; lagSeconds: number; detections: number }): void;
  /** A try to deliver an event. */
  webhookAttempt(facts: { outcome: string; seconds: number }): void;
  /** A check of a connection. */
  probe(facts: { outcome: string; seconds: number }): void;
  /**
   * The text of GET /metrics, of the type `contentType`; `threads`: includes what these threads of the process counted.
   */
  text(threads?: readonly MetricsSnapshot[]): Promise<string>;
  /** What this thread counted, for the text of the process. */
  snapshot(): Promise<MetricsSnapshot>;
  readonly contentType: string;
}

/** One thread's metrics, as plain values. */
export type MetricsSnapshot = readonly MetricObjectWithValues<MetricValue<string>>[];

/** Facts about the whole process, which must not be added up over its threads. */
const OF_THE_PROCESS = /^(process_|nodejs_version_info$)/;

/** The delay of the event loop is sampled every 10 ms: by then there are some samples. */
const FIRST_SAMPLES_MS = 50;

/** `perConnection`: whether connections are counted one by one, under their ids. */
export function createMetrics(sources: MetricsSources, { perConnection = false } = {}): Metrics {
  const registry = new Registry();
  const registers = [registry];
  let watching: Promise<void> | undefined;
  /**
   * The first request for metrics starts the figures of the process: their timer of 10 ms is most of the work of an
   * idle process.
   */
  const watchProcess = (): Promise<void> => {
    if (watching === undefined) {
      collectDefaultMetrics({ register: registry });
      watching = pause(FIRST_SAMPLES_MS);
    }
    return watching;
  };
  const merged = merger(METRICS);

  const requests = counter(METRICS.requests, registers);
  /** By the patterns of the routes, of which there are few. */
  const areas = new Map<string, string>();
  const requestSeconds = histogram(METRICS.requestSeconds, registers);
  const operationSeconds = histogram(METRICS.operationSeconds, registers);
  const stageSeconds = histogram(METRICS.stageSeconds, registers);
  const operationErrors = counter(METRICS.operationErrors, registers);
  const transferredBytes = counter(METRICS.transferredBytes, registers);
  const ofConnections = perConnection ? registers : [];
  const connectionOperations = counter(METRICS.connectionOperations, ofConnections);
  const connectionBytes = counter(METRICS.connectionBytes, ofConnections);
  reachGauge(METRICS.connectionUp, ofConnections, (most) => sources.reachable(most));
  buildInfo(registers, sources);
  const historyBatchRows = histogram(METRICS.historyBatchRows, registers);
  readGauge(METRICS.openRequests, registers, () => sources.openRequests());
  readGauge(METRICS.historyQueuedRows, registers, () => sources.historyQueuedRows());
  const watchCheckSeconds = histogram(METRICS.watchCheckSeconds, registers);
  const watchLagSeconds = histogram(METRICS.watchLagSeconds, registers);
  const watchDetections = counter(METRICS.watchDetections, registers);
  const webhookSeconds = histogram(METRICS.webhookSeconds, registers);
  const connectionCheckSeconds = histogram(METRICS.connectionCheckSeconds, registers);
  readGauge(METRICS.watchRunning, registers, () => sources.watching().checksRunning);
  readGauge(METRICS.watchWaiting, registers, () => sources.watching().checksWaiting);
  readGauge(METRICS.routeRunning, registers, () => sources.eventFiles().copiesRunning);
  readGauge(METRICS.routeWaiting, registers, () => sources.eventFiles().copiesWaiting);
  readGauge(METRICS.webhookRunning, registers, () => sources.events().deliveriesRunning);
  readGauge(METRICS.webhookWaiting, registers, () => sources.events().deliveriesWaiting);
  readGauge(METRICS.workerThreads, registers, () => sources.workers().threads);
  readGauge(METRICS.workerWaiting, registers, () => sources.workers().waiting);
  readGauge(METRICS.ready, registers, async () => Number(await sources.ready()));
  readGauge(METRICS.diskFree, registers, async () => (await sources.disk()).freeBytes);
  readGauge(METRICS.diskSize, registers, async () => (await sources.disk()).sizeBytes);
  backlogGauge(METRICS.databaseSize, registers, sources, 'databaseBytes');
  backlogGauge(METRICS.watchFailing, registers, sources, 'failingFolders');
  backlogGauge(METRICS.webhookPending, registers, sources, 'pendingEvents');
  backlogGauge(METRICS.webhookDead, registers, sources, 'deadEvents');
  backlogGauge(METRICS.routePending, registers, sources, 'pendingCopies');
  backlogGauge(METRICS.jobsRunning, registers, sources, 'runningJobs');
  backlogGauge(METRICS.jobsWaiting, registers, sources, 'waitingJobs');
  backlogGauge(METRICS.jobsFailed, registers, sources, 'failedJobs');
  backlogGauge(METRICS.schedulesLate, registers, sources, 'lateRuns');
  backlogGauge(METRICS.schedulesOverdue, registers, sources, 'overdueRuns');
  backlogGauge(METRICS.schedulesStopped, registers, sources, 'stoppedSchedules');
  backlogGauge(METRICS.connectionsDown, registers, sources, 'downConnections');
  backlogGauge(METRICS.certificatesExpiring, registers, sources, 'expiringCertificates');
  budgetGauge(METRICS.budgetCapacity, registers, sources, 'capacity');
  budgetGauge(METRICS.budgetUsed, registers, sources, 'used');
  budgetGauge(METRICS.budgetWaiting, registers, sources, 'waiting');
  readCounter(METRICS.connectionsRefused, registers, () => byReason(sources.refusedConnections(), {}));
  readCounter(METRICS.budgetRefused, registers, () =>
    sources.budgets().flatMap(({ name, refused }) => byReason(refused, { budget: name })),
  );
  poolGauge(METRICS.poolOpen, registers, () => sources.pools(), 'open');
  poolGauge(METRICS.poolLeased, registers, () => sources.pools(), 'leased');
  poolGauge(METRICS.poolWaiting, registers, () => sources.pools(), 'waiting');

  return {
    request: ({ route = 'none', status, seconds }) => {
      requests.inc({ route, status: status === 0 ? 'none' : `${Math.floor(status / 100)}xx` });
      let area = areas.get(route);
      if (area === undefined) areas.set(route, (area = areaOf(route)));
      requestSeconds.observe({ area }, seconds);
    },
    operation: ({ type, protocol, connection, direction, bytes, seconds, code, stages }) => {
      operationSeconds.observe({ type, protocol }, seconds);
      stages.forEach((ms, stage) => stageSeconds.observe({ stage }, ms / 1_000));
      if (code !== undefined) operationErrors.inc({ protocol, code });
      transferredBytes.inc({ direction, protocol }, bytes);
      if (!perConnection) return;
      connectionOperations.inc({ connection, outcome: code === undefined ? 'success' : 'failed' });
      connectionBytes.inc({ connection, direction }, bytes);
    },
    historyBatch: (rows) => historyBatchRows.observe({}, rows),
    check: ({ kind, outcome, seconds, lagSeconds, detections }) => {
      watchCheckSeconds.observe({ kind, outcome }, seconds);
      if (kind === 'regular') watchLagSeconds.observe({}, lagSeconds);
      watchDetections.inc({}, detections);
    },
    webhookAttempt: ({ outcome, seconds }) => webhookSeconds.observe({ outcome }, seconds),
    probe: ({ outcome, seconds }) => connectionCheckSeconds.observe({ outcome }, seconds),
    text: async (threads = []) => {
      await watchProcess();
      if (threads.length === 0) return registry.metrics();
      const all = merged([await registry.getMetricsAsJSON(), ...threads]).map((metrics) => metrics.map(worstOfLoops));
      return AggregatorRegistry.aggregate(all).metrics();
    },
    snapshot: async () => {
      await watchProcess();
      return (await registry.getMetricsAsJSON()).filter(({ name }) => !OF_THE_PROCESS.test(name));
    },
    contentType: registry.contentType,
  };
}

/** The latest event loop matters, not the mean with idle ones. */
function worstOfLoops<M extends { readonly name: string }>(metric: M): M {
  return /^nodejs_eventloop_lag_p\d+_/.test(metric.name) ? { ...metric, aggregator: 'max' } : metric;
}

/** `/api/upload/:connectionId` is `upload`, `/manage/keys` is `manage`, a page of the dashboard `pages`. */
function areaOf(route: string): string {
  if (!route.startsWith('/')) return route;
  const [first = '', second = ''] = route.split('/').slice(1);
  if (first === 'api') return second;
  return first === '' || first.startsWith(':') || first === '*' ? 'pages' : first;
}

interface Description<L extends string> {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly L[];
  /** Absent if there are no labels, or if their values are in the code. */
  readonly series?: number;
}

function histogram<L extends string>(
  { name, help, labels, series = 1, buckets }: Description<L> & { readonly buckets: readonly number[] },
  registers: Registry[],
): { observe(labels: Labels<L>, value: number): void } {
  const bounded = new BoundedSeries<L>(series);
  const all = new Histogram({ name, help, labelNames: labels, buckets: [...buckets], registers });
  return { observe: (of, value) => all.observe(bounded.labelsFor(of), value) };
}

function counter<L extends string>(
  { name, help, labels, series = 1 }: Description<L>,
  registers: Registry[],
): { inc(labels: Labels<L>, value?: number): void } {
  const bounded = new BoundedSeries<L>(series);
  const all = new Counter({ name, help, labelNames: labels, registers });
  return { inc: (of, value) => all.inc(bounded.labelsFor(of), value) };
}

function buildInfo(registers: Registry[], sources: MetricsSources): void {
  const { name, help, labels } = METRICS.buildInfo;
  const { version } = readManifest();
  const gauge: Gauge<'version' | 'node' | 'front_end'> = new Gauge({
    name,
    help,
    labelNames: labels,
    registers,
    aggregator: 'max',
    collect: () => {
      const frontEnd = sources.frontEnd();
      if (frontEnd !== undefined) gauge.set({ version, node: process.version, front_end: frontEnd }, 1);
    },
  });
}

function readGauge(
  { name, help, aggregator = 'sum' }: Description<never> & { readonly aggregator?: Aggregator },
  registers: Registry[],
  read: () => number | Promise<number>,
): void {
  const gauge: Gauge = new Gauge({
    name,
    help,
    registers,
    aggregator,
    collect: async () => gauge.set(await read()),
  });
}

function backlogGauge(
  description: Description<never>,
  registers: Registry[],
  sources: MetricsSources,
  field: keyof Backlog,
): void {
  readGauge(description, registers, async () => (await sources.backlog())?.[field] ?? NaN);
}

function reachGauge(
  {
    name,
    help,
    labels,
    series,
    aggregator,
  }: Description<'connection'> & {
    readonly series: number;
    readonly aggregator: Aggregator;
  },
  registers: Registry[],
  read: (most: number) => Promise<readonly { readonly id: string; readonly isUp: boolean }[]>,
): void {
  const gauge: Gauge<'connection'> = new Gauge({
    name,
    help,
    labelNames: labels,
    registers,
    aggregator,
    collect: async () => {
      const connections = await read(series).catch(() => []);
      gauge.reset();
      for (const { id: connection, isUp } of connections) gauge.set({ connection }, Number(isUp));
    },
  });
}

function budgetGauge(
  { name, help, labels }: Description<'budget'>,
  registers: Registry[],
  sources: MetricsSources,
  field: 'capacity' | 'used' | 'waiting',
): void {
  const gauge: Gauge<'budget'> = new Gauge({
    name,
    help,
    labelNames: labels,
    registers,
    collect: () => {
      for (const budget of sources.budgets()) gauge.set({ budget: budget.name }, budget[field]);
    },
  });
}

function readCounter<L extends string>(
  { name, help, labels }: Description<L>,
  registers: Registry[],
  read: () => readonly (readonly [labels: Labels<L>, count: number])[],
): void {
  const all: Counter<L> = new Counter({
    name,
    help,
    labelNames: labels,
    registers,
    collect: () => {
      all.reset();
      for (const [of, count] of read()) all.inc(of, count);
    },
  });
}

function byReason<O extends object>(
  counts: Readonly<Record<string, number>>,
  others: O,
): (readonly [O & { readonly reason: string }, number])[] {
  return Object.entries(counts).map(([reason, count]) => [{ ...others, reason }, count] as const);
}

function poolGauge(
  { name, help, labels, series }: Description<'host'> & { readonly series: number },
  registers: Registry[],
  read: () => readonly PoolGauge[],
  field: 'open' | 'leased' | 'waiting',
): void {
  const hosts = new BoundedSeries<'host'>(series);
  const gauge: Gauge<'host'> = new Gauge({
    name,
    help,
    labelNames: labels,
    registers,
    collect: () => {
      const pools = read();
      gauge.reset();
      hosts.keepOnly(pools.map(({ host }) => ({ host })));
      for (const { host, [field]: count } of pools) gauge.inc(hosts.labelsFor({ host }), count);
    },
  });
}
