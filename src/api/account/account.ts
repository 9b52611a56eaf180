/** Whether an API key is valid, and for which account. */
import { ALL_SCOPES } from '../../contract/scopes.js';
import { accountExample, accountFields } from '../../contract/account.js';
import { listOf, object, oneOf } from '../../contract/schema.js';
import { exampleOf, shownFields } from '../../contract/thing.js';
import { endpoint } from '../endpoint.js';
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
