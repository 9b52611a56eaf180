/** What an API key may use. */
import { ALL_SCOPES } from '../../contract/api-key.js';
import { accountExample, accountFields } from '../../contract/account.js';
import { flag, listOf, object, oneOf } from '../../contract/schema.js';
import { exampleOf, shownFields } from '../../contract/thing.js';
import { summaryFields } from '../../contract/connection/schemas.js';
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
      ...shownFields(accountFields, 'key'),
      scopes: listOf(oneOf(ALL_SCOPES, 'A scope.'), 'What the key may do.'),
    }),
    example: { ...exampleOf(accountFields, accountExample, 'key'), scopes: ['read', 'write'] },
  },
}).handle(async ({ caller }, { storage }: Services) => {
  const { email, plan, scopes, accountId } = caller;
  return { email, plan, scopes: [...scopes], ...(await storage.accounts.holdings(accountId)) };
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
