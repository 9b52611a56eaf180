import type { PoolState } from '../../api/types.ts';
import type { Tone } from '../../ui/basics.tsx';

/** A waiting operation is worse than a fully used pool. */
export function toneOf({ leased, maxSessions, waiting }: PoolState): Tone {
  if (waiting > 0) return 'bad';
  return leased >= maxSessions ? 'warn' : 'info';
}
