/** The account itself. */
import { count, dateTime, flag, group, object, text } from '../../../base/schema.js';
import { id, ID, TIME } from '../fields.js';
import { ownerEndpoints, unknownItem } from '../services.js';

const endpoint = ownerEndpoints('Account');

export const showAccount = endpoint('GET /manage/account', {
  operationId: 'showAccount',
  summary: 'Show the account',
  description: 'The account, its plan and how it logs in. 0 in `limits` is unlimited.',
  answer: {
    schema: object('Account', {
      id: id(),
      email: text('E-mail address of the account.'),
      plan: text('Name of the plan.'),
      createdAt: dateTime('When it was made.'),
      limits: group(
        { connections: count('Connections.'), monthlyActions: count('Actions a month.') },
        'What the plan has room for; 0 = unlimited.',
      ),
      connections: count('How many connections the account has.'),
      transfers: count('How many transfers the history holds.'),
      hasPassword: flag('Whether it can log in.'),
      totp: group(
        {
          isEnabled: flag('Whether a login asks for one.'),
          recoveryCodesLeft: count('Recovery codes that were not used yet.'),
        },
        'One-time passwords.',
      ),
    }),
    example: {
      id: ID,
      email: 'ops@example.com',
      plan: 'pro',
      createdAt: TIME,
      limits: { connections: 0, monthlyActions: 0 },
      connections: 3,
      transfers: 1729,
      hasPassword: true,
      totp: { isEnabled: true, recoveryCodesLeft: 9 },
    },
  },
  errors: ['unknown_item'],
}).handle(async ({ caller }, { storage, planOf }) => {
  const [owner, connections, transfers] = await Promise.all([
    storage.management.credentials.find(caller.accountId),
    storage.connections.count(caller.accountId),
    storage.history.count(caller.accountId),
  ]);
  if (owner === undefined) throw unknownItem('account', caller.accountId);
  return {
    id: owner.accountId,
    email: owner.email,
    plan: owner.plan,
    createdAt: owner.createdAt,
    limits: planOf(owner.plan),
    connections,
    transfers,
    hasPassword: owner.hasPassword,
    totp: { isEnabled: owner.isTotpEnabled, recoveryCodesLeft: owner.recoveryCodesLeft },
  };
});
