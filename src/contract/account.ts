/** An account: the owner of connections, keys and a history. */
import { ID, TIME } from './examples.js';
import { count, dateTime, flag, group, text } from './schema.js';
import { derived, type ExampleOf, hidden, kept, type RowOf } from './thing.js';

const OWNERS = { isOwners: true } as const;

export const accountFields = {
  id: kept(text('Identifier.'), OWNERS),
  email: kept(text('E-mail address of the account.')),
  plan: kept(text('Name of the plan.')),
  createdAt: kept(dateTime('When it was made.'), OWNERS),
  limits: derived(
    group(
      { connections: count('Connections.'), monthlyActions: count('Actions a month.') },
      'What the plan has room for; 0 = unlimited.',
    ),
    OWNERS,
  ),
  connections: derived(count('How many connections the account has.')),
  transfers: derived(count('How many transfers the history holds.')),
  /** The reading statement computes this and the next two fields. */
  hasPassword: kept(flag('Whether it can log in.'), OWNERS),
  isTotpEnabled: hidden<boolean>(),
  recoveryCodesLeft: hidden<number>(),
  totp: derived(
    group(
      {
        isEnabled: flag('Whether a login asks for one.'),
        recoveryCodesLeft: count('Recovery codes that were not used yet.'),
      },
      'One-time passwords.',
    ),
    OWNERS,
  ),
};

export type Account = RowOf<typeof accountFields>;

export const accountExample = {
  id: ID,
  email: 'ops@example.com',
  plan: 'pro',
  createdAt: TIME,
  limits: { connections: 0, monthlyActions: 0 },
  connections: 3,
  transfers: 1729,
  hasPassword: true,
  totp: { isEnabled: true, recoveryCodesLeft: 9 },
} as const satisfies ExampleOf<typeof accountFields>;
