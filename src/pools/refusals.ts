/** Why a request got no session, in words for the client. */
import { GatewayError } from '../base/errors.js';
import type { PoolLimits } from '../contract/connection/fields.js';

/** Everything that the pool may have is in use or wanted: a probe does not wait for it. */
export class PoolBusy extends Error {
  constructor(host: string) {
    super(`no session on ${host} is free`);
  }
}

export function poolFull(host: string, { maxWaiting }: PoolLimits): GatewayError {
  return new GatewayError(
    'pool_full',
    `${maxWaiting} requests already wait for a session on ${host} (pools maxWaiting)`,
    { step: 'acquire', retryAfterMs: 1_000 },
  );
}

/** `refusal`: the server's last words when it admitted no further session. */
export function waitedTooLong(
  host: string,
  { acquireTimeoutMs }: PoolLimits,
  refusal: GatewayError | undefined,
): GatewayError {
  return new GatewayError(
    'acquire_timeout',
    `no session on ${host} became free within ${acquireTimeoutMs} ms (pools maxSessions, acquireTimeoutMs)`,
    { step: 'acquire', retryAfterMs: 1_000, remote: refusal?.remote },
  );
}

export function linksAreFull(host: string, { acquireTimeoutMs }: PoolLimits): GatewayError {
  return new GatewayError(
    'acquire_timeout',
    `links use all sessions on ${host} that they may, and none became free within ${acquireTimeoutMs} ms (links.poolPercent)`,
    { step: 'acquire', retryAfterMs: 1_000 },
  );
}

export function exhausted(host: string, count: number): GatewayError {
  return new GatewayError(
    'sessions_exhausted',
    `this operation needs ${count} sessions on ${host} at once, which maxSessions (and the server) do not allow; raise maxSessions`,
    { step: 'acquire' },
  );
}
