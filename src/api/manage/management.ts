/** Puts the management API together. */
import type { Budgets } from '../../budgets/budgets.js';
import type { Remotes } from '../../remotes/registry.js';
import type { DescribedRoute } from '../endpoint.js';
import type { LiveTransfers } from '../../operations/live.js';
import type { WatchService } from '../../watch/service.js';
import { ConnectionTester, type TesterOptions } from './connection-test.js';
import { LoginGuard } from './login/guard.js';
import { OwnerSessions } from './login/owner-sessions.js';
import { manageRoutes } from './endpoints.js';
import type { ManageServices, ManageStorage, PlanLimits } from './services.js';
import { TransferBoard } from './transfers/board.js';

export interface ManagementOptions extends TesterOptions {
  readonly storage: ManageStorage;
  readonly live: LiveTransfers;
  readonly watching: WatchService;
  readonly remotes: Pick<Remotes, 'gaugeOf'>;
  readonly budgets: Budgets;
  readonly makeKeyPair: ManageServices['makeKeyPair'];
  readonly plans: Readonly<Record<string, PlanLimits>>;
  readonly publicUrl: string;
  readonly isTls: boolean;
  readonly log: (level: 'debug', message: string, facts?: Record<string, unknown>) => void;
}

export interface ManagementApi {
  readonly routes: readonly DescribedRoute[];
  readonly sessions: OwnerSessions;
  readonly board: TransferBoard;
}

/** What an account has whose plan is no longer configured. */
const SMALLEST_PLAN: PlanLimits = { connections: 1, monthlyActions: 1 };

export function createManagement(options: ManagementOptions): ManagementApi {
  const { storage, plans, publicUrl, isTls } = options;
  const sessions = new OwnerSessions({ sessions: storage.management.sessions, publicUrl, isTls });
  const board = new TransferBoard({ live: options.live, storage: storage.management, log: options.log });
  const routes = manageRoutes({
    storage,
    owners: sessions,
    guard: new LoginGuard(storage.management),
    remotes: options.remotes,
    budgets: options.budgets,
    tester: new ConnectionTester(options),
    board,
    watching: options.watching,
    makeKeyPair: options.makeKeyPair,
    planOf: (plan) => plans[plan] ?? SMALLEST_PLAN,
  });
  return { routes, sessions, board };
}
