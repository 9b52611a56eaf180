/** The limits that hold for one connection: what the operator set for its host, and what the connection says itself. */
import type { PoolLimits } from '../pools/session.js';
import type { Connection } from '../connections/connection.js';

export interface OperatorLimits {
  readonly default: PoolLimits;
  /** By `host:port`. */
  readonly hosts: Readonly<Record<string, Partial<PoolLimits>>>;
}

type Limit = keyof PoolLimits;
/** What a host can bear; the others are times, which concern the one who waits. */
const OF_THE_HOST: readonly Limit[] = ['maxSessions', 'maxChannelsPerSession', 'maxWaiting'];

/**
 * A tenant's connection never exceeds the operator's limits. One of the operator's own, in the configuration, may exceed
 * the defaults, but not what is set for its host.
 */
export function limitsFor(
  { pool, isConfigured = false }: Connection,
  host: string,
  limits: OperatorLimits,
): PoolLimits {
  const forHost = limits.hosts[host] ?? {};
  const operators = { ...limits.default, ...forHost };
  if (!isConfigured) return { ...operators, ...lowered(operators, pool) };
  const capped = Object.fromEntries(OF_THE_HOST.flatMap((key) => (key in forHost ? [[key, operators[key]]] : [])));
  return { ...operators, ...pool, ...lowered(capped, pool) };
}

/** The smaller of the two, where both name a limit. */
function lowered(ceilings: Partial<PoolLimits>, own: Partial<PoolLimits>): Partial<PoolLimits> {
  const names = Object.keys(own) as Limit[];
  return Object.fromEntries(
    names.flatMap((name) => {
      const [ceiling, wanted] = [ceilings[name], own[name]];
      return ceiling === undefined || wanted === undefined ? [] : [[name, Math.min(ceiling, wanted)]];
    }),
  );
}
