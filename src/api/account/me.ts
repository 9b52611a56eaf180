import { count, object, text } from '../../base/schema.js';
import { endpoint } from '../endpoint.js';
import type { ApiServices } from '../services.js';

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
    }),
    example: { email: 'ops@example.com', plan: 'pro', connections: 3, transfers: 1729 },
  },
}).handle(async ({ caller }, { storage }: ApiServices) => {
  const [connections, transfers] = await Promise.all([
    storage.connections.count(caller.accountId),
    storage.history.count(caller.accountId),
  ]);
  return { email: caller.email, plan: caller.plan, connections, transfers };
});
