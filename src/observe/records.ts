/** Records each request, operation, check and webhook attempt: a log line, metrics, and the end of its span. */
import { NO_SPAN, type Span } from '../base/span.js';
import { maskSecrets } from '../config/secrecy.js';
import type { ExchangeRecord } from '../http/exchange.js';
import type { OperationOutcome } from '../operations/operation.js';
import type { CheckFacts } from '../watch/scheduler.js';
import type { AttemptFacts } from '../events/deliver.js';
import type { Logger } from './log.js';
import type { Metrics } from './metrics.js';

export function recordRequest(record: ExchangeRecord, logger: Logger, metrics: Metrics): void {
  const { method, status, durationMs, facts } = record;
  metrics.request({ route: facts?.route, status, seconds: durationMs / 1_000 });
  const isProbe = facts?.route === '/healthz' || facts?.route === '/readyz' || facts?.route === '/metrics';
  const span = facts?.span ?? NO_SPAN;
  // A span that does not end is not sent: traces of probes are useless.
  if (span.isRecorded && !isProbe) endRequestSpan(span, record);
  // Programs for S3 try what the front does not implement.
  const isFailure = status >= 500 && status !== 501;
  const level = isProbe ? 'debug' : isFailure ? 'error' : 'info';
  if (!logger.isLevelEnabled(level)) return;
  // A successful request was matched with a route and a key: only its id can be the client's own text.
  const isClean = facts !== undefined && facts.error === undefined && isPlain(facts.requestId);
  (isClean ? logger.gathered : logger)[level](
    {
      requestId: facts?.requestId,
      traceId: span.traceId,
      method,
      route: facts?.route,
      status,
      durationMs: Math.round(durationMs),
      bytesIn: record.bytesIn,
      bytesOut: record.bytesOut,
      isComplete: record.isComplete,
      keyId: facts?.keyId,
      remoteAddress: record.remoteAddress,
      errorCode: facts?.error?.code,
    },
    'request',
  );
}

/** Whether an id chosen by others contains nothing to hide. Every mark of a secret that an id can contain has a "_". */
function isPlain(id: string): boolean {
  return !id.includes('_') || maskSecrets(id) === id;
}

/** The path of a link is a secret: anyone who has it can use the link. */
function isSecret(route: string): boolean {
  return route.startsWith('/l/');
}

function endRequestSpan(span: Span, { method, status, facts, ...record }: ExchangeRecord): void {
  const isRouted = facts !== undefined && facts.route !== 'unknown';
  span.end({
    name: isRouted ? `${method} ${facts.route}` : method,
    // A client's mistake is not an error of the server (semantic conventions for HTTP).
    error: status >= 500 || !record.isComplete ? (facts?.error?.code ?? String(status)) : undefined,
    attributes: {
      'http.request.method': method,
      'http.route': isRouted ? facts.route : undefined,
      // A path without a route may contain anything, even secrets.
      'url.path': !isRouted ? undefined : isSecret(facts.route) ? facts.route : record.path,
      'http.response.status_code': status === 0 ? undefined : status,
      'http.request.body.size': record.bytesIn,
      'http.response.body.size': record.bytesOut,
      'client.address': record.remoteAddress,
      'ftg.request.id': facts?.requestId,
      'ftg.api_key.id': facts?.keyId,
      'ftg.error.code': facts?.error?.code,
    },
  });
}

export function recordOperation(outcome: OperationOutcome, logger: Logger, metrics: Metrics): void {
  const { type, protocol, durationMs, bytes, direction, stages, error } = outcome;
  metrics.operation({
    type,
    protocol,
    connection: outcome.connectionId,
    direction,
    bytes,
    seconds: durationMs / 1_000,
    stages,
    ...(error === undefined ? {} : { code: error.code }),
  });
  if (!logger.isLevelEnabled('info')) return;
  const stagesMs: Record<string, number> = {};
  stages.forEach((ms, stage) => (stagesMs[stage] = Math.round(ms * 100) / 100));
  const isClean = error === undefined && isPlain(outcome.requestId ?? '') && isPlain(outcome.connectionId);
  (isClean ? logger.clean : logger).info(
    {
      requestId: outcome.requestId,
      traceId: outcome.traceId,
      transferId: outcome.transferId,
      connectionId: outcome.connectionId,
      type,
      protocol,
      bytes,
      durationMs: Math.round(durationMs),
      stagesMs,
      errorCode: error?.code,
      error: error?.clientText,
      step: error?.step,
    },
    'operation',
  );
}

export function recordCheck({ outcome, kind, lagMs }: CheckFacts, logger: Logger, metrics: Metrics): void {
  const { folder, check, detections, events, error } = outcome;
  const seconds = check.durationMs / 1_000;
  metrics.check({ kind, outcome: check.outcome, seconds, lagSeconds: lagMs / 1_000, detections });
  logger[error !== undefined ? 'warn' : detections > 0 ? 'info' : 'debug'](
    {
      watchedFolderId: folder.id,
      connectionId: folder.connectionId,
      checkId: check.id,
      kind,
      counts: check.counts,
      detections,
      events,
      lagMs: Math.round(lagMs),
      durationMs: check.durationMs,
      errorCode: error?.code,
      error: error?.clientText,
    },
    'watched folder checked',
  );
}

export function recordAttempt(facts: AttemptFacts, logger: Logger, metrics: Metrics): void {
  const { event, verdict, status, durationMs, ageMs, error } = facts;
  metrics.webhookAttempt({ outcome: verdict, seconds: durationMs / 1_000 });
  logger[verdict === 'delivered' ? 'info' : 'warn'](
    {
      eventId: event.eventId,
      watchedFolderId: event.watchedFolderId ?? undefined,
      jobId: event.jobId ?? undefined,
      webhookId: event.webhookId ?? undefined,
      type: event.type,
      verdict,
      status,
      attempt: event.attempts + 1,
      durationMs,
      ageMs,
      traceId: facts.traceId,
      errorCode: error?.code,
      error: error?.clientText,
    },
    'webhook attempt',
  );
}
