/** Traces of a gateway as a user runs it, sent to the test's own collector. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { KEY, startGateway, type TestGateway } from '../support/gateway.js';
import { startReceiver, type Receiver } from '../watch/support/receiver.js';
import { startOtlpReceiver, type OtlpReceiver, type ReceivedSpan } from './otlp-receiver.js';
import { MANIFEST } from '../../src/release/places.js';
import { eventually } from '../support/eventually.js';
import { startTogether } from '../support/together.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const traced = (trace: string): Record<string, string> => ({
  traceparent: `00-${trace}-${PARENT}-01`,
  tracestate: 'vendor=state',
});
const LOOPBACK = { allow: ['127.0.0.1/32'] };
const CONFIG = {
  sandbox: true,
  watcher: { settleMs: 50 },
  network: { urlFetch: LOOPBACK, webhooks: LOOPBACK },
};
const RAW = { 'Content-Type': 'application/octet-stream' };

let folder: string;
before(() => (folder = mkdtempSync(join(tmpdir(), 'ftg-tracing-'))));
after(() => rmSync(folder, { recursive: true, force: true }));

/** A server to fetch from, which keeps the fields of its requests. */
async function startSource() {
  const asked: http.IncomingHttpHeaders[] = [];
  const server = http.createServer((request, response) => {
    asked.push(request.headers);
    response.end('fetched');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/file.txt?secret=in-the-query`;
  return { url, asked, close: () => server.close() };
}

function logLines(gateway: TestGateway, message: string): Record<string, unknown>[] {
  const lines = gateway.output().split('\n');
  const parsed = lines.flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Record<string, unknown>] : []));
  return parsed.filter(({ msg }) => msg === message);
}

/** The module that loads OpenTelemetry, as a file of its own and in the bundle. */
const TRACER = /\/otlp-tracer[\w-]*\.js$/;

/** Records, when the program ends, which scripts it has loaded. */
function moduleProbe(): { readonly env: Record<string, string>; loaded(): string[] } {
  const file = join(folder, `modules-${Math.random()}`);
  const script = `${file}.cjs`;
  writeFileSync(
    script,
    `process.on('exit', () => {
      if (!require('node:worker_threads').isMainThread) return;
      const session = new (require('node:inspector').Session)();
      session.connect();
      const scripts = [];
      // Enabling reports the scripts that are there already.
      session.on('Debugger.scriptParsed', ({ params }) => scripts.push(params.url));
      session.post('Debugger.enable');
      require('node:fs').writeFileSync(${JSON.stringify(file)}, JSON.stringify(scripts));
    });`,
  );
  return {
    env: { NODE_OPTIONS: `--require ${script}` },
    loaded: () => JSON.parse(readFileSync(file, 'utf8')) as string[],
  };
}

suite('traces that are switched on', () => {
  let gateway: TestGateway;
  let collector: OtlpReceiver;
  let receiver: Receiver;

  before(async () => {
    [collector, receiver] = await startTogether([startOtlpReceiver(), startReceiver()]);
    gateway = await startGateway({
      dataDir: join(folder, 'on'),
      config: CONFIG,
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
        OTEL_SERVICE_NAME: 'gateway-under-test',
        OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
        OTEL_BSP_SCHEDULE_DELAY: '50',
      },
    });
  });
  after(async () => {
    await gateway.stop();
    await Promise.all([collector.close(), receiver.close()]);
  });

  const upload = (trace: string, filename: string) =>
    gateway.api.send('/api/upload/sandbox', {
      method: 'POST',
      query: { filename, path: '/in' },
      body: 'hello',
      headers: { ...RAW, ...traced(trace) },
    });
  /** The whole trace: it is complete once its topmost span is there, which ends last. */
  const traceOf = async (trace: string, top: string): Promise<readonly ReceivedSpan[]> => {
    const found = (): ReceivedSpan[] => collector.spans.filter(({ traceId }) => traceId === trace);
    await eventually(() => found().some(({ name }) => name === top), `the span ${top}`);
    return found();
  };
  const named = (spans: readonly ReceivedSpan[], name: string): ReceivedSpan => {
    const span = spans.find((one) => one.name === name);
    assert.ok(span, `no span ${name} among ${spans.map((one) => one.name).join(', ')}`);
    return span;
  };

  test('an upload is one tree: request, operation, stages, in the trace that the client began', async () => {
    const answer = await upload(TRACE, 'secret-name.txt');
    assert.equal(answer.status, 200, answer.text);
    const top = 'POST /api/upload/:connectionId';
    const spans = await traceOf(TRACE, top);
    const request = named(spans, top);
    assert.equal(request.parentSpanId, PARENT);
    assert.equal(request.kind, 2);
    assert.equal(request.hasFailed, false);
    const { 'client.address': _, 'ftg.api_key.id': keyId, ...attributes } = request.attributes;
    assert.ok(keyId);
    assert.deepEqual(attributes, {
      'http.request.method': 'POST',
      'http.route': '/api/upload/:connectionId',
      'url.path': '/api/upload/sandbox',
      'http.response.status_code': 200,
      'http.request.body.size': 5,
      'http.response.body.size': answer.bytes.length,
      'ftg.request.id': answer.headers['x-request-id'],
    });
    assert.equal(request.resource['service.name'], 'gateway-under-test');
    assert.equal(request.resource['deployment.environment.name'], 'test');
    assert.equal(request.resource['service.version'], MANIFEST.version);

    const operation = named(spans, 'upload sftp');
    assert.deepEqual([operation.parentSpanId, operation.kind], [request.spanId, 3]);
    assert.equal(operation.attributes['server.address'], '127.0.0.1');
    assert.equal(operation.attributes['file.size'], 5);
    const { transfer } = answer.json as { transfer: { id: string } };
    assert.equal(operation.attributes['ftg.transfer.id'], transfer.id);
    const stages = spans.filter(({ parentSpanId }) => parentSpanId === operation.spanId);
    assert.deepEqual([...new Set(stages.map(({ name }) => name))].sort(), [
      'auth',
      'connect',
      'open',
      'queue',
      'record',
      'rename',
      'transfer',
      'verify',
    ]);
    assert.equal(spans.length, stages.length + 2);
    // One after the other, none outside of the operation.
    let from = operation.fromNs;
    for (const stage of stages.toSorted((a, b) => Number(a.fromNs - b.fromNs))) {
      assert.ok(stage.fromNs >= from && stage.toNs >= stage.fromNs, stage.name);
      from = stage.toNs;
    }
    assert.ok(from <= operation.toNs && request.fromNs <= operation.fromNs && operation.toNs <= request.toNs);

    const timing = answer.headers['server-timing'];
    const timed = String(timing)
      .split(', ')
      .map((entry) => /^([a-z]+);dur=\d+(\.\d{1,2})?$/.exec(entry)?.[1]);
    assert.deepEqual(
      timed.filter((name) => name !== 'queue'),
      ['connect', 'auth', 'open', 'transfer', 'verify', 'rename', 'record'],
    );

    for (const message of ['request', 'operation']) {
      const line = () => logLines(gateway, message).find(({ traceId }) => traceId === TRACE);
      await eventually(() => line() !== undefined, `the log line of the ${message}`);
      assert.equal(line()?.['requestId'], answer.headers['x-request-id']);
    }
  });

  test('a failure is marked with its code; a mistake of the client is not an error of the server', async () => {
    const trace = TRACE.replace(/^./, '5');
    const answer = await gateway.api.get('/api/download/sandbox', {
      query: { path: '/absent.txt' },
      headers: traced(trace),
    });
    assert.equal(answer.status, 404);
    const spans = await traceOf(trace, 'GET /api/download/:connectionId');
    const operation = named(spans, 'download sftp');
    assert.deepEqual([operation.hasFailed, operation.attributes['error.type']], [true, 'not_found']);
    const request = named(spans, 'GET /api/download/:connectionId');
    assert.deepEqual([request.hasFailed, request.attributes['ftg.error.code']], [false, 'not_found']);
    assert.match(String(answer.headers['server-timing']), /open;dur=/);
  });

  test('the fetch of a url upload continues the trace', async () => {
    const source = await startSource();
    try {
      const trace = TRACE.replace(/^./, '6');
      const answer = await gateway.api.post('/api/upload/sandbox', { url: source.url }, { headers: traced(trace) });
      assert.equal(answer.status, 200, answer.text);
      const spans = await traceOf(trace, 'POST /api/upload/:connectionId');
      const operation = named(spans, 'upload sftp');
      assert.equal(source.asked[0]?.['traceparent'], `00-${trace}-${operation.spanId}-01`);
      assert.equal(source.asked[0]['tracestate'], 'vendor=state');
      named(spans, 'fetch');
      assert.match(String(answer.headers['server-timing']), /^fetch;dur=/);
    } finally {
      source.close();
    }
  });

  test('a webhook carries the trace of its delivery', async () => {
    const files = join(folder, 'on', 'sandbox', 'watched');
    mkdirSync(files, { recursive: true });
    writeFileSync(join(files, 'new.txt'), 'new');
    const webhookUrl = `${receiver.url}?token=in-the-query`;
    const wanted = { connectionId: 'sandbox', path: '/watched', webhookUrl, initial: 'report' };
    const created = await gateway.api.post('/api/watched-folders', wanted);
    assert.equal(created.status, 201, created.text);
    await eventually(() => receiver.received.length > 0, 'the webhook');
    const field = receiver.received[0]?.headers['traceparent'];
    const [, trace, spanId] = /^00-([\da-f]{32})-([\da-f]{16})-01$/.exec(String(field)) ?? [];
    assert.ok(trace, `traceparent: ${String(field)}`);
    const delivery = named(await traceOf(trace, 'POST'), 'POST');
    assert.equal(delivery.spanId, spanId);
    assert.equal(delivery.kind, 3);
    assert.equal(delivery.attributes['http.response.status_code'], 204);
    assert.equal(delivery.attributes['server.port'], receiver.port);
    assert.equal(delivery.attributes['ftg.webhook.event.id'], receiver.received[0]?.headers['webhook-id']);
    await eventually(() => logLines(gateway, 'webhook attempt')[0]?.['traceId'] === trace, 'the log line');
  });

  test('a client that leaves before its answer has a trace and a complete log line', async () => {
    const trace = TRACE.replace(/^./, '7');
    const sent = http.request({
      port: gateway.port,
      method: 'POST',
      path: '/api/upload/sandbox?filename=never.txt',
      headers: {
        ...RAW,
        ...traced(trace),
        Authorization: `Bearer ${KEY}`,
        // A shorter one takes no session before it is complete.
        'Content-Length': 1_000_000,
        'X-Request-Id': 'left',
      },
    });
    sent.on('error', () => undefined);
    sent.write('only this');
    await eventually(
      async () => /^ftg_pool_leases\{.*\} 1$/m.test((await gateway.api.get('/metrics')).text),
      'a lease',
    );
    sent.destroy();
    const request = named(await traceOf(trace, 'POST /api/upload/:connectionId'), 'POST /api/upload/:connectionId');
    assert.equal(request.attributes['error.type'], 'client_gone');
    const line = () => logLines(gateway, 'request').find(({ requestId }) => requestId === 'left');
    await eventually(() => line() !== undefined, 'the log line');
    assert.deepEqual([line()?.['route'], line()?.['errorCode']], ['/api/upload/:connectionId', 'client_gone']);
  });

  test('neither secrets nor paths nor queries are sent, nor probes', async () => {
    await gateway.api.get('/healthz');
    await upload(TRACE.replace(/^./, '8'), 'secret-name.txt');
    await traceOf(TRACE.replace(/^./, '8'), 'POST /api/upload/:connectionId');
    const all = collector.bodies.map(({ bytes }) => bytes.toString()).join('\n');
    assert.ok(all.includes('http.route'));
    for (const secret of [KEY, 'secret-name', 'in-the-query', 'whsec_', 'healthz', '/metrics', 'absent.txt']) {
      assert.ok(!all.includes(secret), secret);
    }
  });
});

test('every thread traces, in protobuf by default, and the last spans are sent at the end', async () => {
  const collector = await startOtlpReceiver();
  const probe = moduleProbe();
  const gateway = await startGateway({
    config: { ...CONFIG, server: { threads: 2 } },
    env: {
      ...probe.env,
      OTEL_TRACES_EXPORTER: 'otlp',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/custom/traces`,
      OTEL_BSP_SCHEDULE_DELAY: '600000',
    },
  });
  try {
    const threads = (): number => new Set(logLines(gateway, 'request').map(({ thread }) => thread)).size;
    // Connections are distributed in turn.
    const one = (): Promise<number> =>
      new Promise((resolve, reject) => {
        const headers = { Authorization: `Bearer ${KEY}`, Connection: 'close' };
        const path = '/api/list/sandbox';
        http
          .get({ port: gateway.port, path, headers, agent: false }, (response) => {
            response.resume().once('end', () => resolve(response.statusCode ?? 0));
          })
          .on('error', reject);
      });
    for (let count = 0; count < 4; count++) assert.equal(await one(), 200);
    await eventually(() => threads() === 2, 'both threads have served');
    assert.equal(collector.bodies.length, 0);
    assert.equal(await gateway.stop(), 0);
    const sent = collector.bodies.filter(({ bytes }) => bytes.includes('GET /api/list/:connectionId'));
    assert.equal(sent.length, 2);
    for (const { path, type } of sent) assert.deepEqual([path, type], ['/custom/traces', 'application/x-protobuf']);
    assert.ok(probe.loaded().some((script) => TRACER.test(script)));
  } finally {
    await gateway.stop();
    await collector.close();
  }
});

test("by default nothing is loaded or sent, and others' traces are passed on", async () => {
  const [collector, source] = await startTogether([startOtlpReceiver(), startSource()]);
  const probe = moduleProbe();
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_SDK_DISABLED: 'true', ...probe.env };
  const gateway = await startGateway({ config: CONFIG, env });
  try {
    const fields = traced(TRACE);
    const answer = await gateway.api.post('/api/upload/sandbox', { url: source.url }, { headers: fields });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(source.asked[0]?.['traceparent'], fields['traceparent']);
    assert.equal(source.asked[0]?.['tracestate'], fields['tracestate']);
    await eventually(() => logLines(gateway, 'operation')[0]?.['traceId'] === TRACE, 'the log line');
    const plain = await gateway.api.post(
      '/api/upload/sandbox',
      { url: source.url },
      { headers: { traceparent: 'odd' } },
    );
    assert.equal(plain.status, 200);
    assert.equal(source.asked[1]?.['traceparent'], undefined);
    assert.equal(await gateway.stop(), 0);
    assert.equal(collector.connections, 0);
    const loaded = probe.loaded();
    assert.ok(loaded.some((script) => /\/main\.js$/.test(script)));
    assert.deepEqual(
      loaded.filter((script) => TRACER.test(script)),
      [],
    );
  } finally {
    await gateway.stop();
    source.close();
    await collector.close();
  }
});
