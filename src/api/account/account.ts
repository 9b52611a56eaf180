/** What an API key may use. */
import { ALL_SCOPES } from '../../contract/api-key.js';
import { count, flag, listOf, object, oneOf, text } from '../../contract/schema.js';
import { summaryFields } from '../../connections/schemas.js';
import { endpoint } from '../endpoint.js';
import { CONNECTION_EXAMPLE } from '../fields.js';
import type { Services } from '../services.js';

export const verifyKey = endpoint({
  method: 'GET',
  path: '/api/me',
  access: 'any',
  isEssential: true,
  operationId: 'verifyKey',
  tag: 'Account',
  summary: 'Verify the API key',
  description: 'Verifies the API key and shows its account.',
  answer: {
    description: 'The key is valid.',
    schema: object('AccountInfo', {
      email: text('The account.'),
      plan: text('Name of the plan.'),
      connections: count('How many connections the account has.'),
      transfers: count('How many transfers the history holds.'),
      scopes: listOf(oneOf(ALL_SCOPES, 'A scope.'), 'What the key may do.'),
    }),
    example: { email: 'ops@example.com', plan: 'pro', connections: 3, transfers: 1729, scopes: ['read', 'write'] },
  },
}).handle(async ({ caller }, { storage }: Services) => {
  const { connections, transfers } = await storage.accounts.holdings(caller.accountId);
  return { email: caller.email, plan: caller.plan, connections, transfers, scopes: [...caller.scopes] };
});

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
}).handle(async ({ caller }, { storage }: Services) => {
  const all = await storage.connections.list(caller.accountId);
  const visible = caller.connections.length === 0 ? all : all.filter(({ id }) => caller.connections.includes(id));
  return { connections: visible.map(({ id, name, type, isActive }) => ({ id, name, type, isActive })) };
});
