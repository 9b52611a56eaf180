/** The options of a pool, and its gauges. */
import type { SessionPermits } from '../shares/permits.js';
import type { PoolBudgets } from './places.js';
import type { OpenSession } from './session.js';
import type { PoolLimits } from '../contract/connection/fields.js';
import type { GiveWayLimits } from './slow-leases.js';

export interface PoolGauge {
  readonly host: string;
  readonly open: number;
  readonly leased: number;
  readonly waiting: number;
  /** The sessions that the server was found to admit; absent = it has refused none. */
  readonly learned?: number;
}

export interface PoolOptions<T> {
  /** host:port, for error texts and gauges. */
  readonly host: string;
  readonly limits: PoolLimits;
  /** The expected leases per session, before the first session has reported its capacity. */
  readonly leasesPerSession: number;
  readonly open: OpenSession<T>;
  /** Absent = no bounds except its own limits. */
  readonly budgets?: PoolBudgets;
  /** Present if pools of other threads share the limit of sessions. */
  readonly permits?: SessionPermits;
  /** Absent: no lease is ended for waiters. */
  readonly giveWay?: GiveWayLimits;
}
