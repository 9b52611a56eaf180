/** Endpoints for operators and probes: liveness, readiness, metrics. */
import { timingSafeEqual } from 'node:crypto';
import { Type } from 'typebox';
import { GatewayError, refusal } from '../../base/errors.js';
import { object, text } from '../../contract/schema.js';
import { isInBlocks } from '../../http/client-address.js';
import type { HttpRequest } from '../../http/types.js';
import { withoutNames } from '../../observe/unnamed-metrics.js';
import type { Storage } from '../../storage/storage.js';
import { endpoint } from '../endpoint.js';

export interface ReadyServices {
  readonly storage: Pick<Storage, 'ready'>;
  readonly isDraining: () => boolean;
  /** A load balancer uses the answer to direct requests. */
  readonly onReadyAsked: () => void;
}

const status = object('StatusAnswer', { status: text('`ok` or `ready`.') });

export const health = endpoint({
  method: 'GET',
  path: '/healthz',
  access: 'public',
  head: true,
  operationId: 'health',
  tag: 'System',
  summary: 'Is it alive?',
  description: 'Answers as soon as the process serves.',
  answer: { description: 'It is.', schema: status, example: { status: 'ok' } },
}).handle(async () => ({ status: 'ok' }));

export const readiness = endpoint({
  method: 'GET',
  path: '/readyz',
  access: 'public',
  head: true,
  operationId: 'readiness',
  tag: 'System',
  summary: 'Is it ready?',
  description: 'Whether the database can be reached and takes writes, and requests should be sent here.',
  answer: { description: 'It is.', schema: status, example: { status: 'ready' } },
  errors: ['draining', 'database_away'],
}).handle(async (_, { storage, isDraining, onReadyAsked }: ReadyServices) => {
  onReadyAsked();
  if (isDraining()) throw new GatewayError('draining', 'the gateway is stopping', { retryAfterMs: 1_000 });
  try {
    await storage.ready();
  } catch (error) {
    throw error instanceof GatewayError
      ? error
      : new GatewayError('database_away', 'the database cannot be reached', { retryAfterMs: 1_000, cause: error });
  }
  return { status: 'ready' };
});

export interface MetricsServices {
  readonly metrics: { readonly contentType: string; text(): Promise<string> };
  /** The required bearer token; "" = none. */
  readonly metricsToken: string;
}

export const showMetrics = endpoint({
  method: 'GET',
  path: '/metrics',
  access: 'public',
  head: true,
  operationId: 'metrics',
  tag: 'System',
  summary: 'Metrics for Prometheus',
  description: 'Counters, gauges and histograms; asks for the bearer token `metrics.token` where one is configured.',
  answers: {
    200: {
      description: 'Text in the exposition format.',
      content: {
        'text/plain': {
          schema: Type.String(),
          examples: { gauge: { value: '# TYPE ftg_open_requests gauge\nftg_open_requests 1\n' } },
        },
      },
    },
  },
  errors: ['unauthenticated'],
}).handle(async ({ request }, { metrics, metricsToken }: MetricsServices) => {
  if (metricsToken !== '') requireToken(request.headers.get('authorization'), metricsToken);
  const text = await metrics.text();
  const body = metricsToken !== '' || isFromHere(request) ? text : withoutNames(text);
  return { status: 200, headers: { 'Content-Type': metrics.contentType }, body };
});

/** Whether the request comes from this machine itself, and not through a proxy. */
function isFromHere({ remoteAddress, headers }: HttpRequest): boolean {
  const isPassedOn = ['x-forwarded-for', 'x-real-ip', 'forwarded'].some((name) => headers.has(name));
  return !isPassedOn && isInBlocks(remoteAddress, ['127.0.0.0/8', '::1']);
}

function requireToken(field: string | undefined, token: string): void {
  const given = Buffer.from(/^Bearer +(.*)$/i.exec(field ?? '')?.[1] ?? '');
  const wanted = Buffer.from(token);
  if (given.length === wanted.length && timingSafeEqual(given, wanted)) return;
  throw refusal('unauthenticated', 'metrics need the bearer token of metrics.token');
}
