/** Every name that GET /metrics shows of the gateway itself. */

/**
 * The gateway's own metrics. The process's (CPU, memory, descriptors, garbage collection, and the delay of the event
 * loop as nodejs_eventloop_lag_…) are beside them, under the names that dashboards know.
 *
 * `series`: how many combinations of its labels' values a metric may show. All of them together, each bucket of a
 * histogram being a line, stay below 2,000 for every workload.
 */
export const METRICS = {
  buildInfo: {
    name: 'ftg_build_info',
    help: 'Always 1: what runs here',
    labels: ['version', 'node', 'front_end'],
    series: 2,
  },
  requests: {
    name: 'ftg_requests_total',
    help: 'Requests by route and class of status (none: the client left before its answer)',
    labels: ['route', 'status'],
    series: 230,
  },
  requestSeconds: {
    name: 'ftg_request_duration_seconds',
    help: 'Time from the head of a request to the end of its answer, by the first word of its path (below /api the second)',
    labels: ['area'],
    series: 32,
    buckets: [0.005, 0.025, 0.1, 0.5, 2.5, 15, 120],
  },
  openRequests: { name: 'ftg_open_requests', help: 'Requests whose answer has not ended', labels: [] },
  connectionsRefused: {
    name: 'ftg_client_connections_refused_total',
    help: 'Connections of clients closed at once because of those of their address or of all (total)',
    labels: ['reason'],
  },
  operationSeconds: {
    name: 'ftg_operation_duration_seconds',
    help: 'Time of file operations, waiting for a session included',
    labels: ['type', 'protocol'],
    series: 42,
    buckets: [0.025, 0.1, 0.5, 2.5, 15, 60, 600],
  },
  stageSeconds: {
    name: 'ftg_operation_stage_seconds',
    help: 'Time of file operations by what it went to',
    labels: ['stage'],
    series: 10,
    buckets: [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 15, 60, 600],
  },
  operationErrors: {
    name: 'ftg_operation_errors_total',
    help: 'Failed file operations by error code',
    labels: ['protocol', 'code'],
    series: 120,
  },
  transferredBytes: {
    name: 'ftg_transferred_bytes_total',
    help: 'Bytes of file content moved to (outbound) and from (inbound) remote servers',
    labels: ['direction', 'protocol'],
    series: 12,
  },
  connectionOperations: {
    name: 'ftg_connection_operations_total',
    help: 'File operations by connection (metrics.perConnection)',
    labels: ['connection', 'outcome'],
    series: 60,
  },
  connectionBytes: {
    name: 'ftg_connection_bytes_total',
    help: 'Bytes of file content by connection (metrics.perConnection)',
    labels: ['connection', 'direction'],
    series: 60,
  },
  connectionUp: {
    name: 'ftg_connection_up',
    help: '1 while a connection is not down, else 0, as all nodes know (metrics.perConnection)',
    labels: ['connection'],
    series: 60,
    aggregator: 'first',
  },
  connectionsDown: { name: 'ftg_connections_down', help: 'Connections that are down, as all nodes know', labels: [] },
  certificatesExpiring: {
    name: 'ftg_certificates_expiring',
    help: 'Active connections whose server shows a certificate that ends within 14 days',
    labels: [],
  },
  connectionCheckSeconds: {
    name: 'ftg_health_check_duration_seconds',
    help: 'Time of looks at connections (unknown: every session was in use)',
    labels: ['outcome'],
    series: 3,
    buckets: [0.005, 0.025, 0.1, 0.5, 2.5, 15, 60],
  },
  poolOpen: { name: 'ftg_pool_sessions_open', help: 'Open sessions on remote hosts', labels: ['host'], series: 20 },
  poolLeased: { name: 'ftg_pool_leases', help: 'Sessions and SFTP channels in use', labels: ['host'], series: 20 },
  poolWaiting: { name: 'ftg_pool_waiting', help: 'Operations that wait for a session', labels: ['host'], series: 20 },
  budgetCapacity: { name: 'ftg_budget_capacity', help: 'What all accounts together may hold', labels: ['budget'] },
  budgetUsed: { name: 'ftg_budget_used', help: 'What all accounts together hold', labels: ['budget'] },
  budgetWaiting: { name: 'ftg_budget_waiting', help: 'Claims that wait for their turn', labels: ['budget'] },
  budgetRefused: {
    name: 'ftg_budget_refused_total',
    help: 'Claims refused because the whole was used up (full) or the share of the account (share)',
    labels: ['budget', 'reason'],
  },
  historyBatchRows: {
    name: 'ftg_history_batch_rows',
    help: 'History rows in one commit',
    labels: [],
    buckets: [1, 2, 5, 10, 25, 50, 100, 250, 500],
  },
  historyQueuedRows: { name: 'ftg_history_queued_rows', help: 'History rows that wait for their commit', labels: [] },
  watchCheckSeconds: {
    name: 'ftg_watch_check_duration_seconds',
    help: 'Time of the checks of watched folders',
    labels: ['kind', 'outcome'],
    series: 8,
    buckets: [0.025, 0.1, 0.5, 2.5, 15, 60, 600],
  },
  watchLagSeconds: {
    name: 'ftg_watch_check_lag_seconds',
    help: 'Time from the moment a check is due to its start',
    labels: [],
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800],
  },
  watchDetections: { name: 'ftg_watch_detections_total', help: 'Files that checks have reported', labels: [] },
  watchRunning: { name: 'ftg_watch_checks_running', help: 'Checks that run on this node', labels: [] },
  watchWaiting: { name: 'ftg_watch_checks_waiting', help: 'Checks that wait for their turn on this node', labels: [] },
  watchFailing: { name: 'ftg_watch_folders_failing', help: 'Active watched folders whose checks fail', labels: [] },
  webhookSeconds: {
    name: 'ftg_webhook_attempt_duration_seconds',
    help: 'Time of tries to deliver an event',
    labels: ['outcome'],
    series: 6,
    buckets: [0.025, 0.1, 0.5, 2.5, 15, 60],
  },
  webhookRunning: {
    name: 'ftg_webhook_deliveries_running',
    help: 'Tries to deliver that run on this node',
    labels: [],
  },
  webhookWaiting: {
    name: 'ftg_webhook_deliveries_waiting',
    help: 'Events claimed by this node that wait for their turn',
    labels: [],
  },
  webhookPending: { name: 'ftg_webhook_events_pending', help: 'Events that are to be delivered', labels: [] },
  webhookDead: { name: 'ftg_webhook_events_dead', help: 'Events that ran out of tries', labels: [] },
  routeRunning: { name: 'ftg_route_events_running', help: 'Events whose files this node is copying', labels: [] },
  routeWaiting: {
    name: 'ftg_route_events_waiting',
    help: 'Events claimed by this node whose files wait to be copied',
    labels: [],
  },
  routePending: {
    name: 'ftg_route_copies_pending',
    help: 'Files of watched folders that are to be copied',
    labels: [],
  },
  jobsRunning: { name: 'ftg_jobs_running', help: 'Jobs that run', labels: [] },
  jobsWaiting: { name: 'ftg_jobs_waiting', help: 'Jobs that wait for others of their account', labels: [] },
  jobsFailed: {
    name: 'ftg_jobs_failed',
    help: 'Jobs of the last day that failed, or some of whose files did',
    labels: [],
  },
  schedulesLate: {
    name: 'ftg_schedules_late_seconds',
    help: 'How late runs of schedules began: the latest of the last hour',
    labels: [],
  },
  schedulesOverdue: {
    name: 'ftg_schedules_overdue_seconds',
    help: 'How long the run of a schedule has been due that has not begun; 0 = there is none',
    labels: [],
  },
  schedulesStopped: {
    name: 'ftg_schedules_stopped',
    help: 'Schedules that stopped by themselves, for want of their key or its rights',
    labels: [],
  },
  workerThreads: { name: 'ftg_worker_threads', help: 'Threads that convert base64', labels: [] },
  workerWaiting: { name: 'ftg_worker_jobs_waiting', help: 'Conversions that wait for a thread', labels: [] },
  ready: { name: 'ftg_ready', help: '1 while GET /readyz answers 200, else 0', labels: [], aggregator: 'min' },
  diskFree: {
    name: 'ftg_data_dir_free_bytes',
    help: 'Free on the file system of dataDir',
    labels: [],
    aggregator: 'first',
  },
  diskSize: {
    name: 'ftg_data_dir_size_bytes',
    help: 'Size of the file system of dataDir',
    labels: [],
    aggregator: 'first',
  },
  databaseSize: {
    name: 'ftg_database_size_bytes',
    help: 'Size of the database, also of one on another machine',
    labels: [],
  },
} as const;
