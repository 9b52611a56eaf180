/** API keys of an account. */
import { type Scope } from '../../base/caller.js';
import { FORMATS } from '../../base/formats.js';
import { json } from '../../http/answer.js';
import type { HttpAnswer, RequestContext } from '../../http/types.js';
import { GatewayError } from '../../base/errors.js';
import type { KeyRights, ManagedKey } from '../../storage/tables/key-editor.js';
import { actorOf, badField, itemId, type ManageServices, refuseConfigured, unknownItem } from './services.js';

/** Nobody gets to run commands or to manage the account by leaving a field out. */
const DEFAULT_SCOPES: readonly Scope[] = ['read', 'write', 'watch'];
const DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/;

interface KeyInput {
  readonly name?: string;
  readonly scopes?: readonly Scope[];
  readonly connections?: readonly string[];
  readonly allowedIps?: readonly string[];
  readonly expiresAt?: string | null;
}

export async function listKeys({ storage }: ManageServices, { caller }: RequestContext): Promise<HttpAnswer> {
  const keys = await storage.management.keys.list(caller.accountId);
  return json(200, { apiKeys: keys.map(keyView) });
}

export async function createKey(services: ManageServices, context: RequestContext): Promise<HttpAnswer> {
  const rights = await rightsOf(services, context, {
    name: '',
    scopes: DEFAULT_SCOPES,
    connections: [],
    allowedIps: [],
    expiresAt: null,
  });
  const { id, key } = await services.storage.management.keys.create(actorOf(context), rights);
  return json(201, { apiKey: keyView(await keyOf(services, context, id)), key });
}

export async function editKey(services: ManageServices, context: RequestContext): Promise<HttpAnswer> {
  const former = await livingKey(services, context);
  const rights = await rightsOf(services, context, former);
  const fields = Object.keys(context.json as object);
  await services.storage.management.keys.update(actorOf(context), former.id, rights, fields);
  return json(200, keyView(await keyOf(services, context, former.id)));
}

export async function rotateKey(services: ManageServices, context: RequestContext): Promise<HttpAnswer> {
  const former = await livingKey(services, context);
  if (stateOf(former) === 'expired') {
    throw new GatewayError('not_running', `API key "${former.name}" has expired; edit expiresAt or make a new one`, {
      step: 'request',
    });
  }
  const { overlapMinutes } = context.json as { readonly overlapMinutes: number };
  const endsAt = new Date(Date.now() + overlapMinutes * 60_000);
  const { id, key } = await services.storage.management.keys.rotate(actorOf(context), former, endsAt);
  const [apiKey, previous] = [await keyOf(services, context, id), await keyOf(services, context, former.id)];
  return json(201, { apiKey: keyView(apiKey), key, previous: keyView(previous) });
}

/** Also one of the configuration file: whoever has lost a key must not wait for a restart. */
export async function revokeKey(services: ManageServices, context: RequestContext): Promise<HttpAnswer> {
  const key = await keyOf(services, context, itemId(context, 'API key'));
  await services.storage.management.keys.revoke(actorOf(context), key);
  const revoked = await keyOf(services, context, key.id);
  return json(200, { apiKey: keyView(revoked), comesBack: key.isConfigured });
}

async function livingKey(services: ManageServices, context: RequestContext): Promise<ManagedKey> {
  const key = await keyOf(services, context, itemId(context, 'API key'));
  refuseConfigured(key.isConfigured, `API key "${key.name}"`);
  if (key.revokedAt === null) return key;
  throw new GatewayError('not_running', `API key "${key.name}" was revoked; make a new one`, { step: 'request' });
}

async function keyOf({ storage }: ManageServices, { caller }: RequestContext, id: string): Promise<ManagedKey> {
  const key = await storage.management.keys.find(caller.accountId, id);
  if (key === undefined) throw unknownItem('API key', id);
  return key;
}

/** What the body says, over what was before. @throws GatewayError bad_request */
async function rightsOf(
  { storage }: ManageServices,
  { caller, json: body }: RequestContext,
  before: KeyRights,
): Promise<KeyRights> {
  const input = body as KeyInput;
  const rights: KeyRights = {
    name: input.name ?? before.name,
    scopes: input.scopes ?? before.scopes,
    connections: input.connections ?? before.connections,
    allowedIps: input.allowedIps ?? before.allowedIps,
    expiresAt: input.expiresAt === undefined ? before.expiresAt : dateOf(input.expiresAt),
  };
  for (const entry of rights.allowedIps) {
    if (!FORMATS['ip-or-cidr'](entry)) throw badField('allowedIps', 'must hold IP addresses and CIDR blocks alone');
  }
  if (rights.scopes.includes('admin') && rights.connections.length > 0) {
    throw badField('connections', 'must be empty for a key with the scope admin, which may edit all of them');
  }
  if (input.connections !== undefined && input.connections.length > 0) {
    const known = new Set((await storage.connections.list(caller.accountId)).map(({ id }) => id));
    const unknown = input.connections.find((id) => !known.has(id));
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

function stateOf({ revokedAt, expiresAt }: ManagedKey): 'active' | 'expired' | 'revoked' {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && expiresAt.getTime() <= Date.now() ? 'expired' : 'active';
}

function keyView(key: ManagedKey): object {
  const { id, name, hint, scopes, connections, allowedIps, expiresAt, createdAt, lastUsedAt, revokedAt } = key;
  return {
    id,
    name,
    hint,
    scopes,
    connections,
    allowedIps,
    expiresAt,
    createdAt,
    lastUsedAt,
    revokedAt,
    state: stateOf(key),
    source: key.isConfigured ? 'configuration' : 'dashboard',
  };
}
