/** All shared resources of the process, each with its bound. */
import { Budget, type BudgetGauge } from './budget.js';

/** For the whole process; see config/gateway.example.yaml. */
interface BudgetLimits {
  readonly memoryBytes: number;
  readonly requests: number;
  readonly waiting: number;
  readonly sessions: number;
  readonly lookups: number;
}

export interface Budgets {
  /** Bytes of bodies and answers that wait in memory. */
  readonly memoryBytes: Budget;
  /** Requests under way. */
  readonly requests: Budget;
  /** Requests without a key whose body is awaited, by client address: logins. */
  readonly unsigned: Budget;
  /** Operations that wait for a session of any pool. */
  readonly waiting: Budget;
  /** Open sessions of all pools. */
  readonly sessions: Budget;
  /** Names that are being resolved. */
  readonly lookups: Budget;
}

/** The budgets that accounts share; the names are those of the configuration. */
export const ACCOUNT_BUDGETS = ['memoryBytes', 'requests', 'waiting', 'sessions', 'lookups'] as const;

/** The share of the requests; a login's body is small, and arrives soon or never. */
const UNSIGNED_REQUESTS = 1 / 8;
/**
 * These requests are few and small: login, health and reading one's own state still work when everything else is taken.
 */
const RESERVED_REQUESTS = 1 / 16;

/** The part of one of `threads` event loops: each has its own requests and sessions. */
export function createBudgets(limits: BudgetLimits, threads: number): Budgets {
  const capacityOf = (limit: number): number => Math.max(1, Math.floor(limit / threads));
  const part = (name: keyof BudgetLimits, unit: string, reserve = 0): Budget => {
    const capacity = capacityOf(limits[name]);
    return new Budget({ name, unit, capacity, reserve: Math.floor(capacity * reserve) });
  };
  return {
    memoryBytes: part('memoryBytes', 'bytes in memory'),
    requests: part('requests', 'requests', RESERVED_REQUESTS),
    unsigned: new Budget({
      name: 'unsigned',
      unit: 'requests without a key',
      capacity: capacityOf(limits.requests * UNSIGNED_REQUESTS),
      setting: 'budgets.requests',
    }),
    waiting: part('waiting', 'places of operations that wait'),
    sessions: part('sessions', 'sessions'),
    lookups: part('lookups', 'name look-ups'),
  };
}

export function gaugesOf(budgets: Budgets): readonly BudgetGauge[] {
  return Object.values(budgets).map((budget: Budget) => budget.gauge);
}
