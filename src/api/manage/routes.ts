/** The table of the management endpoints; docs/manage-api.md describes each. */
import type { Route } from '../../http/types.js';
import { createKey, editKey, listKeys, revokeKey, rotateKey } from './api-keys.js';
import { schemas as connectionSchemas } from './connection-schemas.js';
import {
  createConnection,
  deleteConnection,
  duplicateConnection,
  editConnection,
  forgetHostKeys,
  listConnections,
  pinHostKey,
  scanHostKeys,
  showConnection,
  showDependents,
  showHostKeys,
  switchConnection,
  testConnection,
  testDraft,
} from './connections.js';
import { createKeyPair, deleteKeyPair, listKeyPairs } from './key-pairs.js';
import {
  changePassword,
  confirmTotp,
  currentSession,
  disableTotp,
  enrolTotp,
  listSessions,
  login,
  logout,
  renewRecoveryCodes,
  revokeOtherSessions,
  revokeSession,
} from './login.js';
import { listAudit, showAccount, showOverview, showPools, showUsage } from './overview.js';
import { rowsOf } from './rows.js';
import * as schemas from './schemas.js';
import type { ManageServices } from './services.js';
import {
  cancelTransfer,
  exportTransfers,
  listLiveTransfers,
  listTransfers,
  showTransfer,
  watchTransfers,
} from './transfers.js';
import { watchRoutes } from './watch-routes.js';

export function manageRoutes(services: ManageServices): Route[] {
  const { open, get, post, patch, remove } = rowsOf(services);
  return [
    open('login', login, schemas.loginBody),
    post('logout', logout),
    get('session', currentSession),
    get('sessions', listSessions),
    remove('sessions/:id', revokeSession),
    post('sessions/revoke-others', revokeOtherSessions),
    post('password', changePassword, schemas.changePasswordBody),
    post('totp/enrol', enrolTotp, schemas.passwordBody),
    post('totp/confirm', confirmTotp, schemas.codeBody),
    post('totp/recovery-codes', renewRecoveryCodes, schemas.passwordBody),
    post('totp/disable', disableTotp, schemas.passwordBody),

    get('account', showAccount),
    get('overview', showOverview),
    get('usage', showUsage),
    get('pools', showPools),
    get('audit', listAudit, schemas.auditQuery),

    get('connections', listConnections),
    post('connections', createConnection, connectionSchemas.create),
    get('connections/:id', showConnection),
    patch('connections/:id', editConnection, connectionSchemas.changes),
    remove('connections/:id', deleteConnection, schemas.deleteConnectionQuery),
    post('connections/:id/activate', switchConnection(true)),
    post('connections/:id/deactivate', switchConnection(false)),
    post('connections/:id/duplicate', duplicateConnection, schemas.duplicateBody),
    get('connections/:id/dependents', showDependents),
    post('connections/:id/test', testConnection, schemas.testBody),
    post('test-connection', testDraft, connectionSchemas.testDraft),
    get('connections/:id/host-keys', showHostKeys),
    post('connections/:id/host-keys', pinHostKey, schemas.hostKeyBody),
    remove('connections/:id/host-keys', forgetHostKeys),
    post('connections/:id/host-keys/scan', scanHostKeys),

    get('key-pairs', listKeyPairs),
    post('key-pairs', createKeyPair, schemas.keyPairBody),
    remove('key-pairs/:id', deleteKeyPair),

    get('api-keys', listKeys),
    post('api-keys', createKey, schemas.createKeyBody),
    patch('api-keys/:id', editKey, schemas.editKeyBody),
    post('api-keys/:id/rotate', rotateKey, schemas.rotateKeyBody),
    remove('api-keys/:id', revokeKey),

    get('transfers', listTransfers, schemas.transfersQuery),
    // Before the id: the first row that fits is taken.
    get('transfers/live', listLiveTransfers),
    { ...get('transfers/export', exportTransfers, schemas.exportQuery), isEssential: false },
    get('transfers/:id', showTransfer),
    post('transfers/:id/cancel', cancelTransfer),
    { ...get('events', watchTransfers), isEssential: false },

    ...watchRoutes(services),
  ];
}
