/** The account itself, its share of common resources, and its audit log. */
import { Type } from 'typebox';
import type { Caller } from '../../base/caller.js';
import { unknown } from '../../base/errors.js';
import { imageTypeOf } from '../../base/image-type.js';
import { ACTOR_KINDS } from '../../contract/audit.js';
import { brandFields } from '../../contract/brand.js';
import { LOGO_BYTES } from '../../contract/units.js';
import { accountExample, accountFields } from '../../contract/account.js';
import { auditListFilters, queryOf } from '../../contract/filters.js';
import { changedFields, exampleOf, shownFields, viewOf } from '../../contract/thing.js';
import {
  count,
  countOrNull,
  dateTime,
  group,
  listOf,
  object,
  oneOf,
  orNull,
  text,
  textOrNull,
  texts,
} from '../../contract/schema.js';
import { ACCOUNT_BUDGETS } from '../../budgets/budgets.js';
import { CLOSED, cursor, facts, id, nextCursor, page, periodOf } from '../fields.js';
import { ID, TIME } from '../../contract/examples.js';
import { actorOf, badField, type Services, requireCursor } from '../services.js';
import { endpoints } from '../endpoint.js';

const endpoint = endpoints('Account');
export const ownerEndpoints = endpoint.all;

endpoint('GET /manage/account', {
  operationId: 'showAccount',
  summary: 'Show the account',
  description: 'The account, its plan and how it logs in. 0 in `limits` is unlimited.',
  answer: {
    schema: object('Account', shownFields(accountFields, 'owner')),
    example: exampleOf(accountFields, accountExample, 'owner'),
  },
  errors: ['unknown_item'],
}).handle(async ({ caller }, { storage, operations }) => {
  const [owner, holdings] = await Promise.all([
    storage.accounts.find(caller.accountId),
    storage.accounts.holdings(caller.accountId),
  ]);
  if (owner === undefined) throw unknown('account', caller.accountId);
  const { isTotpEnabled: isEnabled, recoveryCodesLeft } = owner;
  const made = { ...holdings, limits: operations.planOf(owner), totp: { isEnabled, recoveryCodesLeft } };
  return viewOf(accountFields, { ...owner, ...made }, 'owner');
});

const brandAnswer = {
  schema: object('Brand', shownFields(brandFields, 'owner')),
  example: { name: 'ACME Ltd', color: '#0757b8', logo: null },
};

endpoint('GET /manage/account/brand', {
  operationId: 'showBrand',
  summary: 'Show the brand',
  description: 'What the pages of links show of who made them. null = nothing.',
  answer: brandAnswer,
  errors: ['unknown_item'],
}).handle(async ({ caller }, services) => brandOf(caller, services));

endpoint('PATCH /manage/account/brand', {
  operationId: 'changeBrand',
  summary: 'Change the brand',
  description: 'A field that is left out stays; null removes it. A brand in `gateway.yaml` is set again at each start.',
  body: object('BrandChanges', changedFields(brandFields), CLOSED),
  bodyExamples: { body: { name: 'ACME Ltd', color: '#0757b8' } },
  answer: brandAnswer,
  errors: ['unknown_item'],
}).handle(async (input, services) => {
  const { logo, ...others } = input.body;
  const changes = { ...others, ...(logo === undefined ? {} : { logo: logo === null ? null : logoIn(logo) }) };
  await services.storage.accounts.changeBrand(actorOf(input), changes);
  return brandOf(input.caller, services);
});

async function brandOf({ accountId }: Caller, { storage }: Services) {
  const brand = await storage.accounts.brand(accountId);
  if (brand === undefined) throw unknown('account', accountId);
  return viewOf(brandFields, brand, 'owner');
}

/** The bytes decide what an image is: its name and type are words of the sender. */
function logoIn(text: string): Buffer {
  const logo = Buffer.from(text, 'base64');
  if (logo.length > LOGO_BYTES) throw badField('logo', `has ${logo.length} bytes; it may have ${LOGO_BYTES}`);
  if (imageTypeOf(logo) !== undefined) return logo;
  throw badField('logo', 'must be a PNG, JPEG or WebP image, as its first bytes show');
}

endpoint('GET /manage/pools', {
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
          learned: countOrNull(
            'How many the server was found to admit; null = it has refused none. After ten minutes one more is tried.',
          ),
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
          learned: 3,
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
    const pool = pools.get(key) ?? { gauge: { ...gauge, learned: gauge.learned ?? null }, connectionIds: [] };
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

type Gauge = Omit<NonNullable<ReturnType<Services['remotes']['gaugeOf']>>, 'key' | 'learned'> & {
  readonly learned: number | null;
};

endpoint('GET /manage/audit', {
  operationId: 'listAudit',
  summary: 'List what was changed',
  description: 'Every change and every login, refused ones too, newest first; no secrets.',
  query: Type.Object({ ...queryOf(auditListFilters), cursor: cursor(ID) }, CLOSED),
  answer: {
    schema: page('AuditAnswer', {
      entries: listOf(
        object('AuditEntry', {
          id: id(),
          at: dateTime('When it happened.'),
          actor: group(
            {
              kind: oneOf(ACTOR_KINDS, 'A login session, an API key or the gateway itself.'),
              id: textOrNull('Id of the session or key.'),
              name: text('E-mail address of the account, or name of the key.'),
            },
            'Who did it.',
          ),
          action: text('`area.verb`, such as `connection.update`.'),
          target: orNull(
            Type.Object({ kind: text('What it is.'), id: text('Its id.'), name: text('Its name.') }),
            'What was changed.',
          ),
          address: text('Where the request came from.'),
          requestId: text('Finds the request in the log.'),
          details: facts('What was changed; no secrets.'),
        }),
        'Newest first.',
      ),
    }),
    example: {
      entries: [
        {
          id: ID,
          at: TIME,
          actor: { kind: 'session', id: ID, name: 'ops@example.com' },
          action: 'connection.update',
          target: { kind: 'connection', id: 'warehouse', name: 'Warehouse' },
          address: '192.0.2.10',
          requestId: 'order-4711',
          details: { fields: ['port'] },
        },
      ],
      nextCursor: null,
    },
  },
}).handle(async ({ caller, query }, { storage }) => {
  requireCursor(query.cursor);
  const entries = await storage.management.audit.list(caller.accountId, { ...query, ...periodOf(query) });
  return { entries, nextCursor: nextCursor(entries, query.limit, ({ id }) => id) };
});
