/**
 * Traces over OTLP, switched on by the standard environment variables of OpenTelemetry; its only importer. Spans are
 * handed from caller to callee as values: nothing here is global, and nothing follows asynchronous calls by itself.
 */
import type { Context, Span as OtelSpan, Tracer as OtelTracer } from '@opentelemetry/api';
import type { SpanExporter } from '@opentelemetry/sdk-trace-base';
import { within } from '../base/deadline.js';
import { readManifest } from '../base/package-root.js';
import { PASSING_ON, type Span, type SpanAttributes, type SpanEnd, type SpanStart, type Tracer } from '../base/span.js';

type Environment = Readonly<Record<string, string | undefined>>;
type Protocol = 'http/protobuf' | 'http/json';
type Warn = (message: string, facts?: Record<string, unknown>) => void;

export interface TracingOptions {
  /** What decides whether there are traces. The rest is read by OpenTelemetry itself, from the process's environment. */
  readonly env: Environment;
  readonly warn: Warn;
}

const SERVICE_NAME = 'file-transfer-gateway';
/** What the gateway waits for at its end; a collector that is away must not keep it. */
const CLOSE_MS = 5_000;

/**
 * Off, and with nothing loaded, unless OTEL_TRACES_EXPORTER holds `otlp`, or it is unset and an OTLP endpoint is set.
 * OTEL_SDK_DISABLED=true switches off what the others switch on.
 */
export async function openTracer({ env, warn }: TracingOptions): Promise<Tracer> {
  const protocol = env['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'] || env['OTEL_EXPORTER_OTLP_PROTOCOL'] || 'http/protobuf';
  if (!isWanted(env, warn)) return PASSING_ON;
  if (protocol !== 'http/protobuf' && protocol !== 'http/json') {
    warn('no traces: OTEL_EXPORTER_OTLP_PROTOCOL is not supported; use http/protobuf or http/json', { protocol });
    return PASSING_ON;
  }
  return load(protocol, warn);
}

function isWanted(env: Environment, warn: Warn): boolean {
  if (env['OTEL_SDK_DISABLED']?.trim().toLowerCase() === 'true') return false;
  const named = env['OTEL_TRACES_EXPORTER']?.trim() ?? '';
  if (named === '') return Boolean(env['OTEL_EXPORTER_OTLP_ENDPOINT'] || env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']);
  const exporters = named.split(',').map((exporter) => exporter.trim());
  const unknown = exporters.filter((exporter) => exporter !== 'otlp' && exporter !== 'none');
  if (unknown.length > 0) warn('OTEL_TRACES_EXPORTER: only otlp and none are supported', { exporters: unknown });
  return exporters.includes('otlp');
}

async function load(protocol: Protocol, warn: Warn): Promise<Tracer> {
  const [api, core, resources, sdk, exporter] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/core'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/sdk-trace-base'),
    openExporter(protocol),
  ]);
  const { version } = readManifest();
  const { DiagLogLevel, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } = api;
  api.diag.setLogger(
    {
      error: (message) => warn('OpenTelemetry', { reason: message }),
      warn: (message) => warn('OpenTelemetry', { reason: message }),
      info: () => undefined,
      debug: () => undefined,
      verbose: () => undefined,
    },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  const { envDetector, serviceInstanceIdDetector } = resources;
  const provider = new sdk.BasicTracerProvider({
    resource: resources
      .defaultResource()
      .merge(resources.resourceFromAttributes({ 'service.name': SERVICE_NAME, 'service.version': version }))
      // OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME win.
      .merge(resources.detectResources({ detectors: [serviceInstanceIdDetector, envDetector] })),
    spanProcessors: [new sdk.BatchSpanProcessor(exporter)],
  });
  const tracer: OtelTracer = provider.getTracer(SERVICE_NAME, version);
  const w3c = new core.W3CTraceContextPropagator();
  const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL };

  /** `clock`: what has to be added to performance.now() for the time of day; one for a whole tree, so that it stays in order. */
  function open(name: string, start: SpanStart, parent: Context, clock: number): Span {
    const { kind = 'internal', at = performance.now(), attributes } = start;
    const options = { kind: kinds[kind], startTime: clock + at, attributes: present(attributes) };
    return wrap(tracer.startSpan(name, options, parent), parent, clock);
  }

  function wrap(span: OtelSpan, parent: Context, clock: number): Span {
    const context = trace.setSpan(parent, span);
    let hasEnded = false;
    return {
      traceId: span.spanContext().traceId,
      isRecorded: span.isRecording(),
      get headers() {
        const carrier: Record<string, string> = {};
        w3c.inject(context, carrier, {
          set: (_to, name, value) => {
            if (value !== '') carrier[name] = value;
          },
        });
        return carrier;
      },
      child: (name, start = {}) => open(name, start, context, clock),
      end: ({ attributes, error, at = performance.now(), name }: SpanEnd = {}) => {
        if (hasEnded) return;
        hasEnded = true;
        if (name !== undefined) span.updateName(name);
        span.setAttributes(present(attributes));
        if (error !== undefined) {
          span.setAttribute('error.type', error);
          span.setStatus({ code: SpanStatusCode.ERROR });
        }
        span.end(clock + at);
      },
    };
  }

  return {
    begin: (name, start, headers) => {
      const fields = headers ?? new Map<string, string>();
      const getter = { keys: () => [...fields.keys()], get: (_: unknown, key: string) => fields.get(key) };
      const parent = w3c.extract(ROOT_CONTEXT, fields, getter);
      return open(name, start, parent, Date.now() - performance.now());
    },
    close: async () => {
      const sent = provider
        .shutdown()
        .catch((error: unknown) => warn('the last spans were not sent', { reason: String(error) }));
      await within(sent, CLOSE_MS, () => undefined, { isPatient: false });
    },
  };
}

async function openExporter(protocol: Protocol): Promise<SpanExporter> {
  const { OTLPTraceExporter } =
    protocol === 'http/json'
      ? await import('@opentelemetry/exporter-trace-otlp-http')
      : await import('@opentelemetry/exporter-trace-otlp-proto');
  return new OTLPTraceExporter();
}

function present(attributes: SpanAttributes = {}): Record<string, string | number> {
  const kept: Record<string, string | number> = {};
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) kept[name] = value;
  return kept;
}
