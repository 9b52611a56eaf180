/**
 * Traces over OTLP, switched on by the standard environment variables of OpenTelemetry. Spans are passed from caller to
 * callee as values: nothing here is global, and nothing follows asynchronous calls by itself.
 */
import { PASSING_ON, type Tracer } from '../base/span.js';
import type { Warn } from './otlp-tracer.js';

type Environment = Readonly<Record<string, string | undefined>>;

interface TracingOptions {
  /**
   * Decides whether there are traces. OpenTelemetry itself reads the other settings, from the process's environment.
   */
  readonly env: Environment;
  readonly warn: Warn;
}

/**
 * Off, and with nothing loaded, unless OTEL_TRACES_EXPORTER contains `otlp`, or it is unset and an OTLP endpoint is
 * set. OTEL_SDK_DISABLED=true overrides both.
 */
export async function openTracer({ env, warn }: TracingOptions): Promise<Tracer> {
  const protocol = env['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'] || env['OTEL_EXPORTER_OTLP_PROTOCOL'] || 'http/protobuf';
  if (!isWanted(env, warn)) return PASSING_ON;
  if (protocol !== 'http/protobuf' && protocol !== 'http/json') {
    warn('no traces: OTEL_EXPORTER_OTLP_PROTOCOL is not supported; use http/protobuf or http/json', { protocol });
    return PASSING_ON;
  }
  const { openOtlpTracer } = await import('./otlp-tracer.js');
  return openOtlpTracer(protocol, warn);
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
