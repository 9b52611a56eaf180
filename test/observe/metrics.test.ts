import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import { METRICS } from '../../src/observe/metric-table.js';
import { type Backlog, createMetrics, type Metrics } from '../../src/observe/metrics.js';

type MetricsSources = Parameters<typeof createMetrics>[0];

type PoolGauge = ReturnType<MetricsSources['pools']>[number];

/** The answer of GET /metrics has no more lines. */
const MOST_LINES = 2_000;

const { version: VERSION } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

const idle: MetricsSources = {
  pools: () => [],
  budgets: () => [{ name: 'requests', capacity: 1, used: 0, waiting: 0, refused: { full: 0, share: 0 } }],
  openRequests: () => 0,
  refusedConnections: () => ({ address: 0, total: 0 }),
  historyQueuedRows: () => 0,
  watching: () => ({ checksRunning: 0, checksWaiting: 0 }),
  eventFiles: () => ({ copiesRunning: 0, copiesWaiting: 0 }),
  events: () => ({ deliveriesRunning: 0, deliveriesWaiting: 0 }),
  workers: () => ({ threads: 0, waiting: 0 }),
  frontEnd: () => 'front end@1',
  ready: async () => true,
  disk: async () => ({ freeBytes: 1, sizeBytes: 2 }),
  backlog: async () => undefined,
  reachable: async () => [],
};

/** Values of a metric by its labels, as a scraper reads them. */
function values(text: string, name: string): Record<string, number> {
  const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
  return Object.fromEntries(
    lines.map((line) => {
      const [, labels = '', value] = /^[a-z_]+(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
      return [labels, Number(value)];
    }),
  );
}

test('names are unique, begin with ftg_, and end with the usual units', () => {
  const all = Object.values(METRICS).map(({ name }) => name);
  assert.equal(new Set(all).size, all.length);
  for (const name of all) assert.match(name, /^ftg_[a-z]+(_[a-z]+)*$/);
});

test('every name in the table is shown, and the process beside it', async () => {
  const metrics = createMetrics(idle, everything);
  const text = await metrics.text();
  for (const { name } of Object.values(METRICS)) assert.match(text, new RegExp(`^# TYPE ${name} `, 'm'));
  for (const name of [
    'process_resident_memory_bytes',
    'nodejs_eventloop_lag_p99_seconds',
    'nodejs_gc_duration_seconds',
  ]) {
    assert.match(text, new RegExp(`^# TYPE ${name} `, 'm'));
  }
  assert.match(metrics.contentType, /^text\/plain/);
});

test('requests, operations, bytes and batches are counted under their labels', async () => {
  const metrics = createMetrics(idle);
  for (const status of [200, 206, 404, 503, 0]) {
    metrics.request({ route: '/api/list/:connectionId', status, seconds: 0.02 });
  }
  metrics.request({ route: '/manage/keys', status: 200, seconds: 0.02 });
  metrics.request({ route: undefined, status: 404, seconds: 0.001 });
  const stages = new Map([
    ['queue', 250],
    ['transfer', 1_500],
  ]);
  const upload = { type: 'upload', protocol: 'sftp', connection: 'c1', direction: 'outbound', stages } as const;
  metrics.operation({ ...upload, bytes: 1000, seconds: 2 });
  metrics.operation({ ...upload, bytes: 24, seconds: 3, code: 'stall_timeout' });
  metrics.historyBatch(7);
  const text = await metrics.text();
  assert.deepEqual(values(text, 'ftg_requests_total'), {
    'route="/api/list/:connectionId",status="2xx"': 2,
    'route="/api/list/:connectionId",status="4xx"': 1,
    'route="/api/list/:connectionId",status="5xx"': 1,
    'route="/api/list/:connectionId",status="none"': 1,
    'route="/manage/keys",status="2xx"': 1,
    'route="none",status="4xx"': 1,
  });
  assert.deepEqual(values(text, 'ftg_request_duration_seconds_count'), {
    'area="list"': 5,
    'area="manage"': 1,
    'area="none"': 1,
  });
  assert.deepEqual(values(text, 'ftg_operation_duration_seconds_sum'), { 'type="upload",protocol="sftp"': 5 });
  assert.deepEqual(values(text, 'ftg_operation_stage_seconds_sum'), { 'stage="queue"': 0.5, 'stage="transfer"': 3 });
  assert.deepEqual(values(text, 'ftg_build_info'), {
    [`version="${VERSION}",node="${process.version}",front_end="front end@1"`]: 1,
  });
  assert.deepEqual(values(text, 'ftg_operation_errors_total'), { 'protocol="sftp",code="stall_timeout"': 1 });
  assert.deepEqual(values(text, 'ftg_transferred_bytes_total'), { 'direction="outbound",protocol="sftp"': 1024 });
  assert.deepEqual(values(text, 'ftg_history_batch_rows_sum'), { '': 7 });
});

suite('gauges', () => {
  test('show the values of the moment; pools of one host are one', async () => {
    let pools: PoolGauge[] = [
      { host: 'a:22', open: 2, leased: 1, waiting: 0 },
      { host: 'a:22', open: 3, leased: 3, waiting: 4 },
      { host: 'b:21', open: 1, leased: 0, waiting: 0 },
    ];
    let waiting = 5;
    const metrics = createMetrics({
      ...idle,
      pools: () => pools,
      openRequests: () => 9,
      historyQueuedRows: () => waiting,
    });
    const first = await metrics.text();
    assert.deepEqual(values(first, 'ftg_pool_sessions_open'), { 'host="a:22"': 5, 'host="b:21"': 1 });
    assert.deepEqual(values(first, 'ftg_pool_leases'), { 'host="a:22"': 4, 'host="b:21"': 0 });
    assert.deepEqual(values(first, 'ftg_pool_waiting'), { 'host="a:22"': 4, 'host="b:21"': 0 });
    assert.deepEqual(values(first, 'ftg_open_requests'), { '': 9 });
    pools = [{ host: 'b:21', open: 0, leased: 0, waiting: 0 }];
    waiting = 0;
    const second = await metrics.text();
    assert.deepEqual(values(second, 'ftg_pool_sessions_open'), { 'host="b:21"': 0 });
    assert.deepEqual(values(second, 'ftg_history_queued_rows'), { '': 0 });
  });

  test('show what the database knows about watched folders, and NaN if it does not answer', async () => {
    const jobs = { runningJobs: 4, waitingJobs: 5, failedJobs: 6, lateRuns: 7, overdueRuns: 8, stoppedSchedules: 9 };
    let backlog: Backlog | undefined = {
      failingFolders: 2,
      pendingEvents: 3,
      deadEvents: 1,
      pendingCopies: 0,
      downConnections: 10,
      expiringCertificates: 11,
      databaseBytes: 12,
      ...jobs,
    };
    const metrics = createMetrics({ ...idle, backlog: async () => backlog });
    const first = await metrics.text();
    assert.deepEqual(values(first, 'ftg_watch_folders_failing'), { '': 2 });
    assert.deepEqual(values(first, 'ftg_webhook_events_pending'), { '': 3 });
    assert.deepEqual(values(first, 'ftg_webhook_events_dead'), { '': 1 });
    assert.deepEqual(values(first, 'ftg_connections_down'), { '': 10 });
    assert.deepEqual(values(first, 'ftg_certificates_expiring'), { '': 11 });
    assert.deepEqual(values(first, 'ftg_database_size_bytes'), { '': 12 });
    backlog = undefined;
    assert.deepEqual(values(await metrics.text(), 'ftg_webhook_events_dead'), { '': NaN });
  });

  test('show which connections are up only if they are shown one by one', async () => {
    const reachable = async (most: number) =>
      Array.from({ length: most }, (_, index) => ({ id: `c${index}`, isUp: index > 0 }));
    const sources = { ...idle, reachable };
    assert.deepEqual(values(await createMetrics(sources).text(), 'ftg_connection_up'), {});
    const shown = values(await createMetrics(sources, { perConnection: true }).text(), 'ftg_connection_up');
    assert.equal(Object.keys(shown).length, METRICS.connectionUp.series);
    assert.deepEqual([shown['connection="c0"'], shown['connection="c1"']], [0, 1]);
  });

  test('name a bounded number of hosts, the same ones while they exist, and add the rest up', async () => {
    const host = (index: number): PoolGauge => ({ host: `h${index}:22`, open: 1, leased: 0, waiting: 0 });
    let pools = Array.from({ length: 200 }, (_, index) => host(index));
    const metrics = createMetrics({ ...idle, pools: () => pools });
    const first = values(await metrics.text(), 'ftg_pool_sessions_open');
    assert.equal(Object.keys(first).length, METRICS.poolOpen.series + 1);
    assert.equal(first['host="other"'], 200 - METRICS.poolOpen.series);
    pools = pools.toReversed();
    assert.deepEqual(values(await metrics.text(), 'ftg_pool_sessions_open'), first);
    // Room of removed hosts is given to others.
    pools = pools.slice(0, METRICS.poolOpen.series);
    assert.equal(values(await metrics.text(), 'ftg_pool_sessions_open')['host="other"'], undefined);
  });
});

/** Everything that can be counted, under new names. */
function countOddly(metrics: Metrics, prefix: string): void {
  for (let index = 0; index < 1000; index++) {
    const odd = `${prefix}${index}`;
    for (const status of [0, 200, 404, 500]) metrics.request({ route: `/api/${odd}/:id`, status, seconds: 0 });
    const names = { type: odd, protocol: odd, connection: odd, code: odd, stages: new Map([[odd, 1]]) };
    for (const direction of ['inbound', 'outbound'] as const) {
      metrics.operation({ ...names, direction, bytes: 1, seconds: 0 });
    }
    metrics.check({ kind: odd, outcome: odd, seconds: 0, lagSeconds: 0, detections: 1 });
    metrics.webhookAttempt({ outcome: odd, seconds: 0 });
  }
}

const linesOf = (text: string): number => text.split('\n').length;
const oddPools = (prefix: string): PoolGauge[] =>
  Array.from({ length: 1000 }, (_, index) => ({ host: `${prefix}${index}:22`, open: 1, leased: 0, waiting: 0 }));
const everything = { perConnection: true };

test('for any requests, the answer keeps within its lines, and the sums are complete', async () => {
  const metrics = createMetrics({ ...idle, pools: () => oddPools('host') }, everything);
  countOddly(metrics, 'odd');
  const text = await metrics.text();
  assert.ok(linesOf(text) <= MOST_LINES, `${linesOf(text)} lines`);
  const sum = (name: string): number => Object.values(values(text, name)).reduce((all, one) => all + one, 0);
  assert.equal(sum('ftg_requests_total'), 4_000);
  assert.equal(sum('ftg_request_duration_seconds_count'), 4_000);
  assert.equal(sum('ftg_operation_duration_seconds_count'), 2_000);
  assert.equal(sum('ftg_operation_errors_total'), 2_000);
  assert.equal(sum('ftg_connection_bytes_total'), 2_000);
  assert.equal(sum('ftg_pool_sessions_open'), 1_000);
  for (const { name, ...metric } of Object.values(METRICS)) {
    if (!('series' in metric)) continue;
    const first = 'buckets' in metric ? `${name}_count` : name;
    assert.ok(Object.keys(values(text, first)).length <= metric.series + 1, name);
  }
});

test('the same for several threads that have counted different things', async () => {
  const threads = await Promise.all(
    ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map(async (prefix) => {
      const metrics = createMetrics({ ...idle, pools: () => oddPools(prefix) }, everything);
      countOddly(metrics, prefix);
      return metrics.snapshot();
    }),
  );
  const metrics = createMetrics({ ...idle, frontEnd: () => undefined }, everything);
  const text = await metrics.text(threads);
  assert.ok(linesOf(text) <= MOST_LINES, `${linesOf(text)} lines`);
  for (const [name, expected] of [
    ['ftg_requests_total', 32_000],
    ['ftg_request_duration_seconds_count', 32_000],
    ['ftg_connection_operations_total', 16_000],
    ['ftg_pool_sessions_open', 8_000],
    ['ftg_build_info', 1],
  ] as const) {
    const sum = Object.values(values(text, name)).reduce((all, one) => all + one, 0);
    assert.equal(sum, expected, name);
  }
  assert.deepEqual(values(await metrics.text(threads), 'ftg_requests_total'), values(text, 'ftg_requests_total'));
});

test('connections are counted one by one only on request', async () => {
  const facts = {
    type: 'upload',
    protocol: 'ftp',
    connection: 'c1',
    direction: 'outbound',
    stages: new Map(),
  } as const;
  const count = async (settings?: typeof everything): Promise<string> => {
    const metrics = createMetrics(idle, settings);
    metrics.operation({ ...facts, bytes: 5, seconds: 1 });
    metrics.operation({ ...facts, bytes: 0, seconds: 1, code: 'no_space' });
    return metrics.text();
  };
  assert.doesNotMatch(await count(), /ftg_connection_/);
  const text = await count(everything);
  assert.deepEqual(values(text, 'ftg_connection_operations_total'), {
    'connection="c1",outcome="success"': 1,
    'connection="c1",outcome="failed"': 1,
  });
  assert.deepEqual(values(text, 'ftg_connection_bytes_total'), { 'connection="c1",direction="outbound"': 5 });
});

test('two gateways in one process count separately', async () => {
  const one = createMetrics(idle);
  const two = createMetrics(idle);
  one.historyBatch(1);
  assert.deepEqual(values(await two.text(), 'ftg_history_batch_rows_count'), { '': 0 });
});
