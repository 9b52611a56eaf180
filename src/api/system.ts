/** What operators and probes ask: is it alive, is it ready, how does it do. */
import { timingSafeEqual } from 'node:crypto';
import { GatewayError } from '../base/errors.js';
import { json } from '../http/answer.js';
import { isInBlocks } from '../http/client-address.js';
import type { HttpRequest, Route } from '../http/types.js';
import { withoutNames } from '../observe/unnamed-metrics.js';
import type { Storage } from '../storage/storage.js';

export interface SystemServices {
  readonly storage: Pick<Storage, 'ready'>;
  /** Undefined while GET /metrics is switched off. */
  readonly metrics: { readonly contentType: string; text(): Promise<string> } | undefined;
  /** The bearer that /metrics wants; "" = none. */
  readonly metricsToken: string;
  readonly isDraining: () => boolean;
  /** Somebody decides by the answer where requests go. */
  readonly onReadyAsked: () => void;
}

export function systemRoutes({ storage, metrics, metricsToken, isDraining, onReadyAsked }: SystemServices): Route[] {
  const open = { method: 'GET', access: 'public', body: 'none', head: true } as const;
  const probes: Route[] = [
    { ...open, path: '/healthz', handle: async () => json(200, { status: 'ok' }) },
    {
      ...open,
      path: '/readyz',
      handle: async () => {
        onReadyAsked();
        if (isDraining()) throw new GatewayError('draining', 'the gateway is stopping', { retryAfterMs: 1_000 });
        try {
          await storage.ready();
        } catch (error) {
          throw error instanceof GatewayError
            ? error
            : new GatewayError('database_away', 'the database cannot be reached', {
                retryAfterMs: 1_000,
                cause: error,
              });
        }
        return json(200, { status: 'ready' });
      },
    },
  ];
  if (metrics === undefined) return probes;
  const show: Route = {
    ...open,
    path: '/metrics',
    handle: async ({ request }) => {
      if (metricsToken !== '') requireToken(request.headers.get('authorization'), metricsToken);
      const text = await metrics.text();
      const body = metricsToken !== '' || isFromHere(request) ? text : withoutNames(text);
      return { status: 200, headers: { 'Content-Type': metrics.contentType }, body };
    },
  };
  return [...probes, show];
}

/** Asked on this machine itself, and not by a proxy for somebody else. */
function isFromHere({ remoteAddress, headers }: HttpRequest): boolean {
  const isPassedOn = ['x-forwarded-for', 'x-real-ip', 'forwarded'].some((name) => headers.has(name));
  return !isPassedOn && isInBlocks(remoteAddress, ['127.0.0.0/8', '::1']);
}

function requireToken(field: string | undefined, token: string): void {
  const given = Buffer.from(/^Bearer +(.*)$/i.exec(field ?? '')?.[1] ?? '');
  const wanted = Buffer.from(token);
  if (given.length === wanted.length && timingSafeEqual(given, wanted)) return;
  throw new GatewayError('unauthenticated', 'metrics need the bearer token of metrics.token', { step: 'request' });
}
