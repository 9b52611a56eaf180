import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import {
  type Backlog,
  createMetrics,
  LABEL_BOUNDS,
  METRICS,
  type MetricsSources,
  type PoolGauge,
} from '../../src/observe/metrics.js';

const idle: MetricsSources = {
  pools: () => [],
  budgets: () => [{ name: 'requests', capacity: 1, used: 0, waiting: 0, refused: { full: 0, share: 0 } }],
  openRequests: () => 0,
  historyQueuedRows: () => 0,
  watching: () => ({ checksRunning: 0, checksWaiting: 0, deliveriesRunning: 0, deliveriesWaiting: 0 }),
  workers: () => ({ threads: 0, waiting: 0 }),
  ready: async () => true,
  disk: async () => ({ freeBytes: 1, sizeBytes: 2 }),
  backlog: async () => undefined,
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

function distinct(text: string, label: string): Set<string> {
  return new Set([...text.matchAll(new RegExp(`[{,]${label}="([^"]*)"`, 'g'))].map(([, value]) => value ?? ''));
}

test('names are unique, begin with ftg_, and units stand in them as is the custom', () => {
  const all = Object.values(METRICS).map(({ name }) => name);
  assert.equal(new Set(all).size, all.length);
  for (const name of all) assert.match(name, /^ftg_[a-z]+(_[a-z]+)*$/);
});

test('every name in the table is shown, and the process beside it', async () => {
  const metrics = createMetrics(idle);
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
  metrics.request({ method: 'GET', route: '/api/list/:connectionId', status: 200, seconds: 0.02 });
  metrics.request({ method: 'GET', route: undefined, status: 404, seconds: 0.001 });
  const stages = new Map([
    ['queue', 250],
    ['transfer', 1_500],
  ]);
  metrics.operation({ type: 'upload', protocol: 'sftp', seconds: 2, stages });
  metrics.operation({ type: 'upload', protocol: 'sftp', seconds: 3, code: 'stall_timeout', stages });
  metrics.bytes('outbound', 'sftp', 1000);
  metrics.bytes('outbound', 'sftp', 24);
  metrics.historyBatch(7);
  const text = await metrics.text();
  assert.deepEqual(values(text, 'ftg_request_duration_seconds_count'), {
    'method="GET",route="/api/list/:connectionId",status="200"': 1,
    'method="GET",route="none",status="404"': 1,
  });
  assert.deepEqual(values(text, 'ftg_operation_duration_seconds_sum'), {
    'type="upload",protocol="sftp",outcome="success"': 2,
    'type="upload",protocol="sftp",outcome="failed"': 3,
  });
  assert.deepEqual(values(text, 'ftg_operation_stage_seconds_sum'), {
    'stage="queue",protocol="sftp"': 0.5,
    'stage="transfer",protocol="sftp"': 3,
  });
  assert.deepEqual(values(text, 'ftg_operation_errors_total'), { 'protocol="sftp",code="stall_timeout"': 1 });
  assert.deepEqual(values(text, 'ftg_transferred_bytes_total'), { 'direction="outbound",protocol="sftp"': 1024 });
  assert.deepEqual(values(text, 'ftg_history_batch_rows_sum'), { '': 7 });
});

suite('gauges', () => {
  test('show the moment at which they are read; pools of one host are one', async () => {
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

  test('tell what the database knows of watched folders, and NaN when it does not answer', async () => {
    let backlog: Backlog | undefined = { failingFolders: 2, pendingEvents: 3, deadEvents: 1 };
    const metrics = createMetrics({ ...idle, backlog: async () => backlog });
    const first = await metrics.text();
    assert.deepEqual(values(first, 'ftg_watch_folders_failing'), { '': 2 });
    assert.deepEqual(values(first, 'ftg_webhook_events_pending'), { '': 3 });
    assert.deepEqual(values(first, 'ftg_webhook_events_dead'), { '': 1 });
    backlog = undefined;
    assert.deepEqual(values(await metrics.text(), 'ftg_webhook_events_dead'), { '': NaN });
  });

  test('name a bounded number of hosts, the same ones while they last, and add the rest up', async () => {
    const host = (index: number): PoolGauge => ({ host: `h${index}:22`, open: 1, leased: 0, waiting: 0 });
    let pools = Array.from({ length: 200 }, (_, index) => host(index));
    const metrics = createMetrics({ ...idle, pools: () => pools });
    const first = values(await metrics.text(), 'ftg_pool_sessions_open');
    assert.equal(Object.keys(first).length, LABEL_BOUNDS.host + 1);
    assert.equal(first['host="other"'], 200 - LABEL_BOUNDS.host);
    pools = pools.toReversed();
    assert.deepEqual(values(await metrics.text(), 'ftg_pool_sessions_open'), first);
    // Room of hosts that are gone is given to others.
    pools = pools.slice(0, LABEL_BOUNDS.host);
    assert.equal(values(await metrics.text(), 'ftg_pool_sessions_open')['host="other"'], undefined);
  });
});

test('no label from outside makes series without end', async () => {
  const metrics = createMetrics(idle);
  for (let index = 0; index < 1000; index++) {
    const odd = `odd${index}`;
    metrics.request({ method: odd, route: odd, status: 404, seconds: 0 });
    metrics.operation({ type: odd, protocol: odd, seconds: 0, code: odd, stages: new Map() });
    metrics.bytes('inbound', odd, 1);
  }
  // The process's own metrics have labels of the same names.
  const text = (await metrics.text())
    .split('\n')
    .filter((line) => line.startsWith('ftg_'))
    .join('\n');
  const bounds = {
    method: LABEL_BOUNDS.few,
    route: LABEL_BOUNDS.route,
    type: LABEL_BOUNDS.few,
    code: LABEL_BOUNDS.code,
  };
  for (const [label, bound] of Object.entries({ ...bounds, protocol: LABEL_BOUNDS.few })) {
    assert.equal(distinct(text, label).size, bound + 1, label);
    assert.ok(distinct(text, label).has('other'));
  }
});

test('two gateways in one process count apart', async () => {
  const one = createMetrics(idle);
  const two = createMetrics(idle);
  one.historyBatch(1);
  assert.deepEqual(values(await two.text(), 'ftg_history_batch_rows_count'), { '': 0 });
});
