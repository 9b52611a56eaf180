/** The connections of an account. */
import { count, listOf, object } from '../../../base/schema.js';
import { connectionView } from '../connection-input.js';
import { TIME } from '../fields.js';
import { connectionAt, ownerEndpoints } from '../services.js';
import { managedConnection, sample } from './view.js';

const endpoint = ownerEndpoints('Connections');

export const listConnections = endpoint('GET /manage/connections', {
  operationId: 'listManagedConnections',
  summary: 'List connections',
  description: 'All connections of the account; `secrets` says which are set. `limit` 0 is unlimited.',
  answer: {
    schema: object('ManagedConnectionsAnswer', {
      connections: listOf(managedConnection, 'All connections of the account.'),
      limit: count('How many connections the plan has room for; 0 = unlimited.'),
    }),
    example: { connections: [sample], limit: 0 },
  },
}).handle(async ({ caller }, { storage, planOf }) => {
  const connections = await storage.management.connections.list(caller.accountId);
  return { connections: connections.map(connectionView), limit: planOf(caller.plan).connections };
});

export const showConnection = endpoint('GET /manage/connections/:id', {
  operationId: 'showConnection',
  summary: 'Show a connection',
  description: 'With `card`: what the last good test learned of the server.',
  answer: {
    schema: managedConnection,
    example: {
      ...sample,
      card: { software: 'OpenSSH_9.2p1', home: '/home/gw', canExec: true, testedAt: TIME },
    },
  },
  errors: ['unknown_connection'],
}).handle(async (input, services) => {
  const connection = await connectionAt(services, input);
  return { ...connectionView(connection), card: connection.lastTest?.card ?? null };
});
