/**
 * The lines of requests and operations, most of which are not searched for secrets. A failure is a key in the
 * log, or a missing field.
 */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { GatewayError } from '../../src/base/errors.js';
import { NO_SPAN } from '../../src/base/span.js';
import type { ExchangeRecord } from '../../src/http/exchange.js';
import type { OperationOutcome } from '../../src/operations/operation.js';
import { createLogger, type Logger } from '../../src/observe/log.js';
import type { Metrics } from '../../src/observe/metrics.js';
import { recordOperation, recordRequest } from '../../src/observe/records.js';

const PLANTED = `ftg_${'planted'.repeat(4)}`;
const METRICS = { request: () => undefined, operation: () => undefined } as unknown as Metrics;

type Line = Record<string, unknown>;

function lineOf(write: (logger: Logger) => void, bindings?: Line): Line {
  const lines: string[] = [];
  const logger = createLogger({ level: 'info', pretty: false }, { write: (line) => void lines.push(line) });
  write(bindings === undefined ? logger : logger.child({ outer: 1 }).child(bindings));
  assert.equal(lines.length, 1);
  assert.doesNotMatch(lines[0] ?? '', /planted/);
  const { time, pid, ...line } = JSON.parse(lines[0] ?? '') as Line;
  assert.ok(!Number.isNaN(Date.parse(String(time))));
  assert.equal(pid, process.pid);
  return line;
}

const FACTS = { requestId: 'r1', route: '/api/exists/:connectionId', keyId: 'k1', error: undefined, span: NO_SPAN };

const request = (changes: Partial<ExchangeRecord> = {}, facts: Partial<typeof FACTS> = {}): ExchangeRecord => ({
  method: 'GET',
  path: '/api/exists/x',
  remoteAddress: '192.0.2.1',
  status: 200,
  bytesIn: 0,
  bytesOut: 7,
  durationMs: 1.6,
  isComplete: true,
  facts: { ...FACTS, ...facts },
  ...changes,
});

const operation = (changes: Partial<OperationOutcome> = {}): OperationOutcome => ({
  transferId: 't1',
  requestId: 'r1',
  type: 'exists',
  protocol: 'sftp',
  connectionId: 'my_server',
  bytes: 0,
  durationMs: 2.4,
  direction: 'inbound',
  error: undefined,
  stages: new Map([['open', 1.2345]]),
  traceId: 'abc',
  ...changes,
});

const requestLine = (record: ExchangeRecord, bindings?: Line): Line =>
  lineOf((logger) => recordRequest(record, logger, METRICS), bindings);
const operationLine = (outcome: OperationOutcome): Line =>
  lineOf((logger) => recordOperation(outcome, logger, METRICS));

suite('a line of a request', () => {
  const known = {
    level: 'info',
    requestId: 'r1',
    method: 'GET',
    route: FACTS.route,
    status: 200,
    durationMs: 2,
    bytesIn: 0,
    bytesOut: 7,
    isComplete: true,
    keyId: 'k1',
    remoteAddress: '192.0.2.1',
    msg: 'request',
  };

  test('has all its facts, after the bindings of its logger', () => {
    assert.deepEqual(requestLine(request()), known);
    assert.deepEqual(requestLine(request(), { thread: 2 }), { ...known, outer: 1, thread: 2 });
  });

  test('of a failed one looks the same, with the code', () => {
    const error = new GatewayError('internal', `with ${PLANTED}`);
    const line = requestLine(request({ status: 500, facts: { ...FACTS, error } }));
    assert.deepEqual(line, { ...known, level: 'error', status: 500, errorCode: 'internal' });
  });

  test('contains no key, wherever a client has put one', () => {
    assert.equal(requestLine(request({}, { requestId: PLANTED }))['requestId'], 'ftg_[hidden]');
    assert.equal(requestLine(request({}, { requestId: PLANTED.toUpperCase() }))['requestId'], 'FTG_[hidden]');
    assert.equal(requestLine(request({ method: PLANTED, facts: undefined }))['method'], 'ftg_[hidden]');
    assert.equal(requestLine(request(), { thread: PLANTED })['thread'], 'ftg_[hidden]');
  });

  test('of a probe is for debugging', () => {
    const lines: string[] = [];
    const logger = createLogger({ level: 'info', pretty: false }, { write: (line) => void lines.push(line) });
    recordRequest(request({}, { route: '/healthz' }), logger, METRICS);
    assert.deepEqual(lines, []);
  });
});

suite('a line of an operation', () => {
  const known = {
    level: 'info',
    requestId: 'r1',
    traceId: 'abc',
    transferId: 't1',
    connectionId: 'my_server',
    type: 'exists',
    protocol: 'sftp',
    bytes: 0,
    durationMs: 2,
    stagesMs: { open: 1.23 },
    msg: 'operation',
  };

  test('has all its facts', () => assert.deepEqual(operationLine(operation()), known));

  test('of a failed one has its error, searched for secrets', () => {
    const error = new GatewayError('not_found', `no ${PLANTED}`, { step: 'open' });
    const failed = { errorCode: 'not_found', error: 'no ftg_[hidden]', step: 'open' };
    assert.deepEqual(operationLine(operation({ error })), { ...known, ...failed });
  });

  test('contains no key in place of an id', () => {
    assert.equal(operationLine(operation({ requestId: PLANTED }))['requestId'], 'ftg_[hidden]');
    assert.equal(operationLine(operation({ connectionId: PLANTED }))['connectionId'], 'ftg_[hidden]');
  });
});
