/** The limits of a session pool: in gateway.yaml as a whole or in part, of a connection in part. */
import type { TInteger } from 'typebox';
import type { PoolLimits } from '../pools/session.js';
import { component } from '../base/schema.js';
import { integer, mapping, milliseconds, optional, preset } from '../base/allowed.js';

const DAY_MS = 86_400_000;

/** Each with what gateway.yaml allows, how much the API does, and its words. */
const LIMITS: { readonly [N in keyof PoolLimits]: readonly [inFile: TInteger, inApi: TInteger, words: string] } = {
  maxSessions: [integer(1, 10_000), integer(1, 10_000), 'Open sessions to the server.'],
  maxChannelsPerSession: [integer(1, 1000), integer(1, 1000), 'SFTP channels that share one SSH connection.'],
  idleTimeoutMs: [milliseconds(1), integer(1, DAY_MS), 'Milliseconds until an idle session is closed.'],
  maxWaiting: [integer(0, 1_000_000), integer(0, 1_000_000), 'Requests that may wait for a session.'],
  acquireTimeoutMs: [milliseconds(1), integer(1, DAY_MS), 'Milliseconds that a request waits for a session.'],
  connectTimeoutMs: [milliseconds(1), integer(1, DAY_MS), 'Milliseconds that a login may take.'],
  stallTimeoutMs: [milliseconds(1), integer(1, DAY_MS), 'Milliseconds without a byte until a transfer fails.'],
};

type Keys<S> = { [N in keyof PoolLimits]: S };

function keys<S>(of: (inFile: TInteger, name: keyof PoolLimits) => S): Keys<S> {
  const names = Object.keys(LIMITS) as (keyof PoolLimits)[];
  return Object.fromEntries(names.map((name) => [name, of(LIMITS[name][0], name)])) as Keys<S>;
}

/** All limits, with these defaults. */
export const poolKeys = (defaults: PoolLimits) => keys((schema, name) => preset(defaults[name], schema));

/** Some limits, in gateway.yaml. */
export const somePoolLimits = mapping(keys((schema) => optional(schema)));

/** Some limits, in the API. */
export const poolLimits = component('PoolLimits', {
  type: 'object',
  properties: Object.fromEntries(
    Object.entries(LIMITS).map(([name, [, schema, description]]) => [name, { ...schema, description }]),
  ),
  additionalProperties: false,
});
