/** What the account holds now of what all accounts share. */
import { Type } from 'typebox';
import { count, listOf, object, oneOf, text, texts } from '../../../base/schema.js';
import { ACCOUNT_BUDGETS } from '../../../budgets/budgets.js';
import { type ManageServices, ownerEndpoints } from '../services.js';

const endpoint = ownerEndpoints('Account');

export const showPools = endpoint('GET /manage/pools', {
  operationId: 'showPools',
  summary: 'Show the sessions that are open, and the use of what accounts share',
  description:
    "Sessions of this thread to the account's own servers, and what the account holds now of each budget of this " +
    'thread. Accounts get fair shares: what is refused to one is 429 `share_exceeded`, or 503 `overloaded` where the whole is in use.',
  answer: {
    schema: object('PoolsAnswer', {
      pools: listOf(
        Type.Object({
          host: text('Host and port.'),
          connectionIds: texts('Connections that use it.'),
          open: count('Open sessions.'),
          leased: count('Sessions and SFTP channels in use.'),
          waiting: count('Operations that wait for a session.'),
          maxSessions: count('How many sessions there may be.'),
        }),
        'One for each server and login that has sessions.',
      ),
      shares: listOf(
        Type.Object({
          name: oneOf(ACCOUNT_BUDGETS, 'As under `budgets` in the configuration.'),
          used: count('What the account holds now.'),
          capacity: count('For all accounts together.'),
          refused: count('How often the account was refused more, lately.'),
        }),
        'One for each of what all accounts share.',
      ),
    }),
    example: {
      pools: [
        {
          host: 'sftp.example.com:22',
          connectionIds: ['warehouse'],
          open: 2,
          leased: 1,
          waiting: 0,
          maxSessions: 8,
        },
      ],
      shares: [{ name: 'requests', used: 3, capacity: 2048, refused: 0 }],
    },
  },
}).handle(async ({ caller }, services) => {
  const { storage, remotes } = services;
  const listed = await storage.connections.list(caller.accountId);
  const opened = await Promise.all(listed.map(({ id }) => storage.connections.find(caller.accountId, id)));
  const pools = new Map<string, { gauge: Gauge; connectionIds: string[] }>();
  for (const connection of opened) {
    const found = connection === undefined ? undefined : remotes.gaugeOf(connection);
    if (connection === undefined || found === undefined) continue;
    const { key, ...gauge } = found;
    const pool = pools.get(key) ?? { gauge, connectionIds: [] };
    pool.connectionIds.push(connection.id);
    pools.set(key, pool);
  }
  return {
    pools: [...pools.values()].map(({ gauge, connectionIds }) => ({ ...gauge, connectionIds })),
    shares: ACCOUNT_BUDGETS.map((name) => {
      const budget = services.budgets[name];
      return { name, capacity: budget.gauge.capacity, ...budget.of(caller.accountId) };
    }),
  };
});

type Gauge = Omit<NonNullable<ReturnType<ManageServices['remotes']['gaugeOf']>>, 'key'>;
