/** The connections of an account. */
import { count, listOf, object } from '../../../base/schema.js';
import { endpoint } from '../../endpoint.js';
import { connectionView } from '../connection-input.js';
import { itemParameter, TIME } from '../fields.js';
import { connectionAt, type ManageServices } from '../services.js';
import { managedConnection, sample } from './view.js';

export const listConnections = endpoint({
  method: 'GET',
  path: '/manage/connections',
  access: 'owner',
  operationId: 'listManagedConnections',
  tag: 'Connections',
  summary: 'List connections',
  description: 'All connections of the account; `secrets` says which are set. `limit` 0 is unlimited.',
  answer: {
    schema: object('ManagedConnectionsAnswer', {
      connections: listOf(managedConnection, 'All connections of the account.'),
      limit: count('How many connections the plan has room for; 0 = unlimited.'),
    }),
    example: { connections: [sample], limit: 0 },
  },
}).handle(async ({ caller }, { storage, planOf }: ManageServices) => {
  const connections = await storage.management.connections.list(caller.accountId);
  return { connections: connections.map(connectionView), limit: planOf(caller.plan).connections };
});

export const showConnection = endpoint({
  method: 'GET',
  path: '/manage/connections/:id',
  access: 'owner',
  operationId: 'showConnection',
  tag: 'Connections',
  summary: 'Show a connection',
  description: 'With `card`: what the last good test learned of the server.',
  params: itemParameter,
  answer: {
    schema: managedConnection,
    example: {
      ...sample,
      card: { software: 'OpenSSH_9.2p1', home: '/home/gw', canExec: true, testedAt: TIME },
    },
  },
  errors: ['unknown_connection'],
}).handle(async (input, services: ManageServices) => {
  const connection = await connectionAt(services, input);
  return { ...connectionView(connection), card: connection.lastTest?.card ?? null };
});
