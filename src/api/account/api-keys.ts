/** API keys of an account. */
import { MINUTE_MS } from '../../contract/units.js';
import type { Static } from 'typebox';
import { refusal, unknown } from '../../base/errors.js';
import { type ApiKey, apiKeyExample, apiKeyFields, type KeyRights } from '../../contract/api-key.js';
import { count, described, flag, listOf, object, text, withDefault } from '../../contract/schema.js';
import { changedFields, exampleOf, shownFields, viewOf, withDefaults } from '../../contract/thing.js';
import { FORMATS } from '../../base/formats.js';
import type { Caller } from '../../http/types.js';
import { CLOSED } from '../fields.js';
import { LATER } from '../../contract/examples.js';
import { actorOf, type AtItem, badField, itemId, type Services, refuseConfigured } from '../services.js';
import { endpoints, itemParameter } from '../endpoint.js';
import { s3EndpointExample, s3EndpointFields, s3EndpointsOf } from './s3-endpoints.js';

const endpoint = endpoints('API keys');
export const keyEndpoints = endpoint.all;

const DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/;

const apiKey = object('ApiKey', shownFields(apiKeyFields, 'owner'));
const rights = changedFields(apiKeyFields);
const changes = object('ApiKeyChanges', rights, { ...CLOSED, minProperties: 1 });
const shownKey = described(apiKey, 'The API key, without the key itself.');
const shownOnce = text('The API key; shown only once.');

const sample = exampleOf(apiKeyFields, apiKeyExample, 'owner');
const sampleKey = 'ftg_3yQ0Zr6VbX1w0yB6uQvTgqk2x5n3m8p1';

endpoint('GET /manage/api-keys', {
  operationId: 'listApiKeys',
  summary: 'List API keys',
  description: 'Newest first; revoked ones stay for 30 days. The keys themselves are never shown again.',
  answer: {
    schema: object('ApiKeysAnswer', { apiKeys: listOf(apiKey, 'API keys.') }),
    example: { apiKeys: [sample] },
  },
}).handle(async ({ caller }, { storage }) => {
  const keys = await storage.keys.list(caller.accountId);
  return { apiKeys: keys.map(keyView) };
});

endpoint('POST /manage/api-keys', {
  operationId: 'createApiKey',
  summary: 'Issue an API key',
  description:
    '`key` is shown only once. Without `scopes` it may read, write and watch; `exec` and `admin` must be asked for.',
  body: object('NewApiKey', { ...rights, name: apiKeyFields.name.schema }, CLOSED),
  bodyExamples: { body: { name: 'ci', scopes: ['read', 'write'], connections: ['warehouse'] } },
  answer: {
    status: 201,
    description: 'Issued.',
    schema: object('NewKeyAnswer', { apiKey: shownKey, key: shownOnce }),
    example: { apiKey: sample, key: sampleKey },
  },
  errors: ['already_exists'],
}).handle(async (input, services) => {
  const rights = await rightsOf(services, input.caller, input.body, {});
  const { id, key } = await services.storage.keys.create(actorOf(input), rights);
  return { apiKey: keyView(await keyOf(services, input, id)), key };
});

endpoint('PATCH /manage/api-keys/:id', {
  operationId: 'editApiKey',
  summary: 'Edit an API key',
  description: 'The fields that change; the others stay.',
  body: changes,
  bodyExamples: { body: { allowedIps: ['192.0.2.0/24'] } },
  answer: { schema: apiKey, example: sample },
  errors: ['already_exists', 'unknown_item', 'from_configuration', 'not_running'],
}).handle(async (input, services) => {
  const former = await livingKey(services, input);
  const rights = await rightsOf(services, input.caller, input.body, former);
  await services.storage.keys.update(actorOf(input), former.id, rights, Object.keys(input.body));
  return keyView(await keyOf(services, input, former.id));
});

endpoint('POST /manage/api-keys/:id/rotate', {
  operationId: 'rotateApiKey',
  summary: 'Replace an API key',
  description: 'A new key with the same rights; the former one works until the overlap is over.',
  body: object(
    'RotateRequest',
    { overlapMinutes: withDefault(count('How long the former key still works.', { maximum: 43_200 }), 60) },
    CLOSED,
  ),
  bodyExamples: { body: { overlapMinutes: 60 } },
  answer: {
    status: 201,
    description: 'Issued.',
    schema: object('RotatedKeyAnswer', {
      apiKey: shownKey,
      key: shownOnce,
      previous: described(apiKey, 'The former key, as it is now.'),
    }),
    example: { apiKey: sample, key: sampleKey, previous: { ...sample, expiresAt: LATER } },
  },
  errors: ['unknown_item', 'from_configuration', 'not_running'],
}).handle(async (input, services) => {
  const former = await livingKey(services, input);
  if (stateOf(former) === 'expired') {
    throw refusal('not_running', `API key "${former.name}" has expired; edit expiresAt or make a new one`);
  }
  const endsAt = new Date(Date.now() + input.body.overlapMinutes * MINUTE_MS);
  const { id, key } = await services.storage.keys.rotate(actorOf(input), former, endsAt);
  const [apiKey, previous] = [await keyOf(services, input, id), await keyOf(services, input, former.id)];
  return { apiKey: keyView(apiKey), key, previous: keyView(previous) };
});

/**
 * Keys of the configuration file can also be revoked: the owner of a lost key must not have to wait for a restart.
 */
endpoint('DELETE /manage/api-keys/:id', {
  operationId: 'revokeApiKey',
  summary: 'Revoke an API key',
  description:
    'On every node within a second. `comesBack` is true for one that the configuration file gives back at the next start.',
  answer: {
    schema: object('RevokedKeyAnswer', {
      apiKey: shownKey,
      comesBack: flag('Whether the configuration file gives it back at the next start.'),
    }),
    example: { apiKey: { ...sample, revokedAt: LATER, state: 'revoked' }, comesBack: false },
  },
  errors: ['unknown_item'],
}).handle(async (input, services) => {
  const key = await keyOf(services, input, itemId(input, 'API key'));
  await services.storage.keys.revoke(actorOf(input), key);
  const revoked = await keyOf(services, input, key.id);
  return { apiKey: keyView(revoked), comesBack: key.isConfigured };
});

endpoint('POST /manage/api-keys/:id/s3', {
  operationId: 'createS3AccessKey',
  summary: 'Make an S3 access key for an API key',
  description:
    'Programs for S3 sign with it, and have the scopes, connections and addresses of the API key. `secretAccessKey` is shown only once. An API key has five at most; they end with it, and move to the new one when it is replaced.',
  answer: {
    status: 201,
    description: 'It is made.',
    schema: object('NewS3AccessKey', {
      accessKeyId: text('Its id.'),
      secretAccessKey: text('Its secret; shown only once.'),
      ...s3EndpointFields,
      apiKey: shownKey,
    }),
    example: {
      accessKeyId: apiKeyExample.s3[0].accessKeyId,
      secretAccessKey: '6uQvTgqk2x5n3m8p13yQ0Zr6VbX1w0yB9cDfH7Lk',
      ...s3EndpointExample,
      apiKey: sample,
    },
  },
  errors: ['unknown_item', 'from_configuration', 'not_running', 'share_exceeded'],
}).handle(async (input, services) => {
  const key = await livingKey(services, input);
  const pair = await services.storage.s3AccessKeys.create(actorOf(input), key);
  const addresses = s3EndpointsOf(services.s3, services.address, input.request);
  return { ...pair, ...addresses, apiKey: keyView(await keyOf(services, input, key.id)) };
});

endpoint('DELETE /manage/api-keys/:id/s3/:accessKeyId', {
  operationId: 'deleteS3AccessKey',
  summary: 'Delete an S3 access key',
  description: 'On every node within a second. The API key stays.',
  params: {
    ...itemParameter,
    accessKeyId: text('Id of the access key.', { minLength: 1, examples: [apiKeyExample.s3[0].accessKeyId] }),
  },
  answer: { schema: apiKey, example: { ...sample, s3: [] } },
  errors: ['unknown_item', 'from_configuration', 'not_running'],
}).handle(async (input, services) => {
  const key = await livingKey(services, input);
  const { accessKeyId } = input.params;
  if (!(await services.storage.s3AccessKeys.remove(actorOf(input), key, accessKeyId))) {
    throw unknown('S3 access key', accessKeyId);
  }
  return keyView(await keyOf(services, input, key.id));
});

async function livingKey(services: Services, input: AtItem): Promise<ApiKey> {
  const key = await keyOf(services, input, itemId(input, 'API key'));
  refuseConfigured(key.isConfigured, `API key "${key.name}"`);
  if (key.revokedAt === null) return key;
  throw refusal('not_running', `API key "${key.name}" was revoked; make a new one`);
}

async function keyOf({ storage }: Services, { caller }: { caller: Caller }, id: string): Promise<ApiKey> {
  const key = await storage.keys.find(caller.accountId, id);
  if (key === undefined) throw unknown('API key', id);
  return key;
}

/** The body's values over the former ones. @throws GatewayError bad_request */
async function rightsOf(
  { storage }: Services,
  { accountId }: Caller,
  given: Static<typeof changes>,
  before: Partial<KeyRights>,
): Promise<KeyRights> {
  const { expiresAt, ...others } = given;
  const ends = expiresAt === undefined ? {} : { expiresAt: dateOf(expiresAt) };
  const rights = withDefaults(apiKeyFields, { ...before, ...others, ...ends });
  for (const entry of rights.allowedIps) {
    if (!FORMATS['ip-or-cidr'](entry)) throw badField('allowedIps', 'must hold IP addresses and CIDR blocks alone');
  }
  if (rights.scopes.includes('admin') && rights.connections.length > 0) {
    throw badField('connections', 'must be empty for a key with the scope admin, which may edit all of them');
  }
  if (given.connections !== undefined && given.connections.length > 0) {
    const known = new Set((await storage.connections.list(accountId)).map(({ id }) => id));
    const unknown = given.connections.find((id) => !known.has(id));
    if (unknown !== undefined)
      throw badField('connections', `names ${unknown}, which is no connection of this account`);
  }
  return rights;
}

function dateOf(text: string | null): Date | null {
  if (text === null) return null;
  const date = DATE_TIME.test(text) ? new Date(text) : new Date(NaN);
  if (Number.isNaN(date.getTime()))
    throw badField('expiresAt', 'must be a date-time such as 2027-01-31T00:00:00Z, or null');
  if (date.getTime() <= Date.now()) throw badField('expiresAt', 'must lie in the future');
  return date;
}

function stateOf({ revokedAt, expiresAt }: ApiKey): Static<typeof apiKeyFields.state.schema> {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && expiresAt.getTime() <= Date.now() ? 'expired' : 'active';
}

function keyView(key: ApiKey) {
  const source = key.isConfigured ? 'configuration' : 'dashboard';
  return viewOf(apiKeyFields, { ...key, state: stateOf(key), source }, 'owner');
}
