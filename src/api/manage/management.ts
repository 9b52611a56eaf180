/** The management API, put together; docs/operate/manage-api.md describes each endpoint. */
import type { AlarmService } from '../../alarms/service.js';
import type { Budgets } from '../../budgets/budgets.js';
import type { ScheduleService } from '../../jobs/schedules.js';
import type { JobService } from '../../jobs/service.js';
import type { LiveTransfers } from '../../operations/live.js';
import type { Remotes } from '../../remotes/registry.js';
import type { WatchService } from '../../watch/service.js';
import type { DescribedRoute, Endpoint } from '../endpoint.js';
import type { JobEvents } from '../jobs/job-events.js';
import { confirmAlarmRecipient, saveAlarms, sendAlarmCode, sendAlarmTest, showAlarms } from './account/alarms.js';
import { listAudit, showAccount, showPools } from './account/account.js';
import { showFigures } from './account/figures.js';
import { showOverview } from './account/overview.js';
import { showUsage } from './account/usage.js';
import { createKey, editKey, listKeys, revokeKey, rotateKey } from './api-keys.js';
import { ConnectionTester, type TesterOptions } from './connection-test.js';
import {
  activateConnection,
  createConnection,
  deactivateConnection,
  deleteConnection,
  duplicateConnection,
  editConnection,
  listConnections,
  listConnectionTypes,
  showConnection,
  showDependents,
} from './connections/connections.js';
import { listHealth, showHealth } from './connections/health.js';
import {
  acceptHostKey,
  forgetHostKeys,
  pinHostKey,
  rejectHostKey,
  scanHostKeys,
  showHostKeys,
} from './connections/host-keys.js';
import { createKeyPair, deleteKeyPair, listKeyPairs } from './connections/key-pairs.js';
import { testConnection, testDraft } from './connections/test.js';
import { listFeed } from './feed.js';
import { listJobs, showJob, watchManagedJob } from './jobs/jobs.js';
import { listSchedules, showSchedule } from './jobs/schedules.js';
import { LoginGuard } from './login/guard.js';
import { currentSession, listSessions, login, logout, revokeOtherSessions, revokeSession } from './login/sessions.js';
import { OwnerSessions } from './login/owner-sessions.js';
import { changePassword, confirmTotp, disableTotp, enrolTotp, renewRecoveryCodes } from './login/credentials.js';
import type { ManageServices, ManageStorage, PlanLimits } from './services.js';
import { TransferBoard } from './transfers/board.js';
import { exportTransfers, listTransfers, showTransfer } from './transfers/history.js';
import { cancelTransfer, listLiveTransfers, watchTransfers } from './transfers/live.js';
import { checkFolder, dryRunFolder, forgetFiles, listChecks, listFiles, showCheck } from './watched-folders/checks.js';
import { listAttempts, listCopies, sendTestEvent } from './watched-folders/attempts.js';
import {
  listDeliveries,
  listReceivers,
  replayDeliveries,
  replayDelivery,
  showDelivery,
} from './watched-folders/deliveries.js';
import {
  createFolder,
  deleteFolder,
  editFolder,
  listFolders,
  pauseFolder,
  resumeFolder,
  rotateSecret,
  showFolder,
  showSecret,
} from './watched-folders/folders.js';
import { rotateWebhookSecret, showWebhookSecret } from './webhook-secret.js';

const endpoints: readonly Endpoint<ManageServices>[] = [
  login,
  logout,
  ...[currentSession, listSessions, revokeSession, revokeOtherSessions],
  changePassword,
  ...[enrolTotp, confirmTotp, renewRecoveryCodes, disableTotp],
  ...[showAccount, showOverview, showFigures, showUsage, showPools, listAudit],
  ...[showAlarms, saveAlarms, sendAlarmCode, confirmAlarmRecipient, sendAlarmTest],
  listConnectionTypes,
  ...[listConnections, createConnection, showConnection, editConnection, deleteConnection],
  ...[activateConnection, deactivateConnection, duplicateConnection, showDependents],
  ...[testConnection, testDraft],
  ...[listHealth, showHealth],
  ...[showHostKeys, pinHostKey, forgetHostKeys, scanHostKeys, acceptHostKey, rejectHostKey],
  ...[listKeyPairs, createKeyPair, deleteKeyPair],
  ...[listKeys, createKey, editKey, rotateKey, revokeKey],
  // Before the one with an id: the first that fits is taken.
  ...[listTransfers, listLiveTransfers, exportTransfers, showTransfer, cancelTransfer, watchTransfers],
  ...[listJobs, showJob, watchManagedJob, listSchedules, showSchedule],
  ...[listFeed, showWebhookSecret, rotateWebhookSecret],
  ...[listFolders, createFolder, showFolder, editFolder, deleteFolder, pauseFolder, resumeFolder],
  ...[checkFolder, dryRunFolder, listFiles, forgetFiles, listChecks, showCheck, showSecret, rotateSecret],
  ...[sendTestEvent, listReceivers, listDeliveries, replayDeliveries],
  ...[showDelivery, listAttempts, listCopies, replayDelivery],
];

export function manageRoutes(services: ManageServices): DescribedRoute[] {
  return endpoints.map((one) => one.route(services));
}

interface ManagementOptions extends TesterOptions {
  readonly storage: ManageStorage;
  readonly alarms: AlarmService;
  readonly live: LiveTransfers;
  readonly watching: WatchService;
  readonly jobs: JobService;
  readonly schedules: ScheduleService;
  readonly jobEvents: JobEvents;
  readonly remotes: Pick<Remotes, 'gaugeOf'>;
  readonly budgets: Budgets;
  readonly makeKeyPair: ManageServices['makeKeyPair'];
  readonly plans: Readonly<Record<string, PlanLimits>>;
  readonly publicUrl: string;
  readonly isTls: boolean;
  readonly uploads: ManageServices['uploads'];
  readonly log: ManageServices['log'];
}

interface ManagementApi {
  readonly routes: readonly DescribedRoute[];
  readonly sessions: OwnerSessions;
  readonly board: TransferBoard;
}

/** What an account has whose plan is no longer configured. */
const SMALLEST_PLAN: PlanLimits = { connections: 1, monthlyActions: 1 };

export function planOf(plans: Readonly<Record<string, PlanLimits>>, plan: string): PlanLimits {
  return plans[plan] ?? SMALLEST_PLAN;
}

export function createManagement(options: ManagementOptions): ManagementApi {
  const { storage, plans, publicUrl, isTls } = options;
  const sessions = new OwnerSessions({ sessions: storage.management.sessions, publicUrl, isTls });
  const board = new TransferBoard({ live: options.live, storage: storage.management, log: options.log });
  const routes = manageRoutes({
    storage,
    alarms: options.alarms,
    owners: sessions,
    guard: new LoginGuard(storage.management),
    remotes: options.remotes,
    budgets: options.budgets,
    tester: new ConnectionTester(options),
    board,
    watching: options.watching,
    jobs: options.jobs,
    schedules: options.schedules,
    jobEvents: options.jobEvents,
    uploads: options.uploads,
    log: options.log,
    makeKeyPair: options.makeKeyPair,
    planOf: (plan) => planOf(plans, plan),
  });
  return { routes, sessions, board };
}
