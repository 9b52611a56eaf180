import type { PoolState } from '../../api/types.ts';
import type { Tone } from '../../ui/basics.tsx';

/** Whoever waits is worse off than one who has the last session. */
export function toneOf({ leased, maxSessions, waiting }: PoolState): Tone {
  if (waiting > 0) return 'bad';
  return leased >= maxSessions ? 'warn' : 'info';
}
