/** What a pool is made of, and what it shows of itself. */
import type { SessionPermits } from '../shares/permits.js';
import type { PoolBudgets } from './places.js';
import type { OpenSession, PoolLimits } from './session.js';
import type { GiveWayLimits } from './slow-leases.js';

export interface PoolGauge {
  readonly host: string;
  readonly open: number;
  readonly leased: number;
  readonly waiting: number;
}

export interface PoolOptions<T> {
  /** host:port, for error texts and gauges. */
  readonly host: string;
  readonly limits: PoolLimits;
  /** What one session can carry, before the first one has told. */
  readonly leasesPerSession: number;
  readonly open: OpenSession<T>;
  /** Absent = no bounds but its own limits. */
  readonly budgets?: PoolBudgets;
  /** Where pools of other threads share the limit of sessions. */
  readonly permits?: SessionPermits;
  /** Absent: no lease gives way to those who wait. */
  readonly giveWay?: GiveWayLimits;
}
