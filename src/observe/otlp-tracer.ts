/**
 * The tracer that sends spans; only this file imports OpenTelemetry, and it is loaded only if traces are switched on.
 */
import { type Context, diag, DiagLogLevel, ROOT_CONTEXT, type Span as OtelSpan } from '@opentelemetry/api';
import { SpanKind, SpanStatusCode, trace, type Tracer as OtelTracer } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, detectResources, envDetector } from '@opentelemetry/resources';
import { resourceFromAttributes, serviceInstanceIdDetector } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { within } from '../base/deadline.js';
import { readManifest } from '../base/package-root.js';
import type { Span, SpanAttributes, SpanEnd, SpanStart, Tracer } from '../base/span.js';

export type Warn = (message: string, facts?: Record<string, unknown>) => void;

const SERVICE_NAME = 'file-transfer-gateway';
/** Longest wait at the end of the gateway; an unreachable collector must not delay it more. */
const CLOSE_MS = 5_000;

export function openOtlpTracer(protocol: 'http/protobuf' | 'http/json', warn: Warn): Tracer {
  const { version } = readManifest();
  diag.setLogger(
    {
      error: (message) => warn('OpenTelemetry', { reason: message }),
      warn: (message) => warn('OpenTelemetry', { reason: message }),
      info: () => undefined,
      debug: () => undefined,
      verbose: () => undefined,
    },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  const exporter = protocol === 'http/json' ? new JsonExporter() : new ProtobufExporter();
  const provider = new BasicTracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': SERVICE_NAME, 'service.version': version }))
      // OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME take precedence.
      .merge(detectResources({ detectors: [serviceInstanceIdDetector, envDetector] })),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  });
  const tracer: OtelTracer = provider.getTracer(SERVICE_NAME, version);
  const w3c = new W3CTraceContextPropagator();
  const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL };

  /**
   * `clock`: the difference between performance.now() and the time of day; one for a whole tree, so that it stays in
   * order.
   */
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

function present(attributes: SpanAttributes = {}): Record<string, string | number> {
  const kept: Record<string, string | number> = {};
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) kept[name] = value;
  return kept;
}
