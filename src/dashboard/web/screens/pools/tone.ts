import type { PoolState } from '../../api/types.ts';
import type { Tone } from '../../ui/basics.tsx';

/** Sessions that there may be: what the server was found to admit, below the limit of the connection. */
export function mostOf({ maxSessions, learned }: PoolState): number {
  return Math.min(maxSessions, learned ?? maxSessions);
}

/** A waiting operation is worse than a fully used pool. */
export function toneOf(pool: PoolState): Tone {
  if (pool.waiting > 0) return 'bad';
  return pool.leased >= mostOf(pool) ? 'warn' : 'info';
}
