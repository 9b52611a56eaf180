/** Everything of the process that tenants share, each with its bound. */
import { Budget, type BudgetGauge } from './budget.js';

/** Of the whole process; see config/gateway.example.yaml. */
export interface BudgetLimits {
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
  /** Operations that wait for a session of whichever pool. */
  readonly waiting: Budget;
  /** Open sessions of all pools. */
  readonly sessions: Budget;
  /** Names that are being resolved. */
  readonly lookups: Budget;
}

/** Requests are a few, and small: login, health and reading one's own state go on when all else is taken. */
const RESERVED_REQUESTS = 1 / 16;

/** The part of one of `threads` event loops: each has requests and sessions of its own. */
export function createBudgets(limits: BudgetLimits, threads: number): Budgets {
  const part = (name: keyof BudgetLimits, unit: string, reserve = 0): Budget => {
    const capacity = Math.max(1, Math.floor(limits[name] / threads));
    return new Budget({ name, unit, capacity, reserve: Math.floor(capacity * reserve) });
  };
  return {
    memoryBytes: part('memoryBytes', 'bytes in memory'),
    requests: part('requests', 'requests', RESERVED_REQUESTS),
    waiting: part('waiting', 'places of operations that wait'),
    sessions: part('sessions', 'sessions'),
    lookups: part('lookups', 'name look-ups'),
  };
}

export function gaugesOf(budgets: Budgets): readonly BudgetGauge[] {
  return Object.values(budgets).map((budget: Budget) => budget.gauge);
}
