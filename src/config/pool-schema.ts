/** The limits of a session pool, as a whole or in part. */
import type { PoolLimits } from '../connections/connection.js';
import { integer, type Key, milliseconds, optional, preset, type Schema } from './schema-parts.js';

const limits: { readonly [N in keyof PoolLimits]: Schema<number> } = {
  maxSessions: integer(1, 10_000),
  maxChannelsPerSession: integer(1, 1000),
  idleTimeoutMs: milliseconds(1),
  maxWaiting: integer(0, 1_000_000),
  acquireTimeoutMs: milliseconds(1),
  connectTimeoutMs: milliseconds(1),
  stallTimeoutMs: milliseconds(1),
};

type PoolKeys<P extends 'present' | 'absent'> = { readonly [N in keyof PoolLimits]: Key<number, P> };

/** All limits with these defaults; without defaults each one may be left out. */
export function poolKeys(defaults: PoolLimits): PoolKeys<'present'>;
export function poolKeys(): PoolKeys<'absent'>;
export function poolKeys(defaults?: PoolLimits): PoolKeys<'present' | 'absent'> {
  const key = (name: keyof PoolLimits): Key<number> =>
    defaults === undefined ? optional(limits[name]) : preset(defaults[name], limits[name]);
  return {
    maxSessions: key('maxSessions'),
    maxChannelsPerSession: key('maxChannelsPerSession'),
    idleTimeoutMs: key('idleTimeoutMs'),
    maxWaiting: key('maxWaiting'),
    acquireTimeoutMs: key('acquireTimeoutMs'),
    connectTimeoutMs: key('connectTimeoutMs'),
    stallTimeoutMs: key('stallTimeoutMs'),
  };
}
