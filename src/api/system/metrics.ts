import { timingSafeEqual } from 'node:crypto';
import { Type } from 'typebox';
import { refusal } from '../../base/errors.js';
import { isInBlocks } from '../../http/client-address.js';
import type { HttpRequest } from '../../http/types.js';
import { withoutNames } from '../../observe/unnamed-metrics.js';
import { endpoint } from '../endpoint.js';

export interface MetricsServices {
  readonly metrics: { readonly contentType: string; text(): Promise<string> };
  /** The bearer that it wants; "" = none. */
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

/** Asked on this machine itself, and not by a proxy for somebody else. */
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
