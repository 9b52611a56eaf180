import { listOf, flag, object } from '../../base/schema.js';
import { summaryFields } from '../../connections/summary.js';
import { endpoint } from '../endpoint.js';
import { CONNECTION_EXAMPLE } from '../fields.js';
import type { ApiServices } from '../services.js';

const connection = object('Connection', { ...summaryFields, isActive: flag('Whether it is switched on.') });

export const listConnections = endpoint({
  method: 'GET',
  path: '/api/connections',
  access: 'any',
  isEssential: true,
  operationId: 'listConnections',
  tag: 'Account',
  summary: 'List connections',
  description: 'The connections that this API key may use.',
  answer: {
    description: 'The connections.',
    schema: object('ConnectionsAnswer', {
      connections: listOf(connection, 'The connections that the API key may use.'),
    }),
    example: { connections: [{ ...CONNECTION_EXAMPLE, isActive: true }] },
  },
}).handle(async ({ caller }, { storage }: ApiServices) => {
  const all = await storage.connections.list(caller.accountId);
  const visible = caller.connections.length === 0 ? all : all.filter(({ id }) => caller.connections.includes(id));
  return { connections: visible.map(({ id, name, type, isActive }) => ({ id, name, type, isActive })) };
});
