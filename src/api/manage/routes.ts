/** The table of the management endpoints; docs/manage-api.md describes each. */
import type { Route } from '../../http/types.js';
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
import { endpoints } from './endpoints.js';
import { rowsOf } from './rows.js';
import * as schemas from './schemas.js';
import type { ManageServices } from './services.js';
import { watchRoutes } from './watch-routes.js';

export function manageRoutes(services: ManageServices): Route[] {
  const { get, post, patch, remove } = rowsOf(services);
  return [
    ...endpoints.map((one) => one.route(services)),
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
    ...watchRoutes(services),
  ];
}
