/** Every endpoint of the management API, in the order of its document; docs/manage-api.md describes each. */
import type { DescribedRoute, Endpoint } from '../endpoint.js';
import { showAccount } from './account/account.js';
import { listAudit } from './account/audit.js';
import { showOverview } from './account/overview.js';
import { showPools } from './account/pools.js';
import { showUsage } from './account/usage.js';
import { createKey, editKey, listKeys, revokeKey, rotateKey } from './api-keys.js';
import { createConnection, duplicateConnection } from './connections/create.js';
import { deleteConnection, showDependents } from './connections/delete.js';
import { activateConnection, deactivateConnection, editConnection } from './connections/edit.js';
import { forgetHostKeys, pinHostKey, scanHostKeys, showHostKeys } from './connections/host-keys.js';
import { listConnectionTypes } from './connections/types.js';
import { createKeyPair, deleteKeyPair, listKeyPairs } from './connections/key-pairs.js';
import { listConnections, showConnection } from './connections/show.js';
import { testConnection, testDraft } from './connections/test.js';
import { login, logout } from './login/login.js';
import { changePassword } from './login/password.js';
import { currentSession, listSessions, revokeOtherSessions, revokeSession } from './login/sessions.js';
import { confirmTotp, disableTotp, enrolTotp, renewRecoveryCodes } from './login/totp.js';
import type { ManageServices } from './services.js';
import { exportTransfers } from './transfers/export.js';
import { listTransfers, showTransfer } from './transfers/history.js';
import { cancelTransfer, listLiveTransfers, watchTransfers } from './transfers/live.js';
import { checkFolder, dryRunFolder, listChecks, showCheck } from './watched-folders/checks.js';
import { listAttempts, listDeliveries, replayDelivery, sendTestEvent } from './watched-folders/deliveries.js';
import {
  createFolder,
  deleteFolder,
  editFolder,
  listFolders,
  pauseFolder,
  resumeFolder,
  showFolder,
} from './watched-folders/folders.js';
import { forgetFiles, listFiles } from './watched-folders/known-files.js';
import { rotateSecret, showSecret } from './watched-folders/secret.js';

const endpoints: readonly Endpoint<ManageServices>[] = [
  login,
  logout,
  ...[currentSession, listSessions, revokeSession, revokeOtherSessions],
  changePassword,
  ...[enrolTotp, confirmTotp, renewRecoveryCodes, disableTotp],
  ...[showAccount, showOverview, showUsage, showPools, listAudit],
  listConnectionTypes,
  ...[listConnections, createConnection, showConnection, editConnection, deleteConnection],
  ...[activateConnection, deactivateConnection, duplicateConnection, showDependents],
  ...[testConnection, testDraft],
  ...[showHostKeys, pinHostKey, forgetHostKeys, scanHostKeys],
  ...[listKeyPairs, createKeyPair, deleteKeyPair],
  ...[listKeys, createKey, editKey, rotateKey, revokeKey],
  // Before the one with an id: the first that fits is taken.
  ...[listTransfers, listLiveTransfers, exportTransfers, showTransfer, cancelTransfer, watchTransfers],
  ...[listFolders, createFolder, showFolder, editFolder, deleteFolder, pauseFolder, resumeFolder],
  ...[checkFolder, dryRunFolder, listFiles, forgetFiles, listChecks, showCheck, showSecret, rotateSecret],
  ...[sendTestEvent, listDeliveries, listAttempts, replayDelivery],
];

export function manageRoutes(services: ManageServices): DescribedRoute[] {
  return endpoints.map((one) => one.route(services));
}
